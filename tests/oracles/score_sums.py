"""Exact distributions of sums of scores, in 60 digits."""

from collections.abc import Sequence
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]

from shuffledp.cover import ScoreAttack


def exact_distributions(
    attack: ScoreAttack, counts: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Returns the distributions of the sum with the target user's x, and with x'.

    Args:
        attack: Probabilities of scores; score 0 takes what they lack of their total.
        counts: Others of each level, the target user excluded.
    """
    with mp.workdps(60):
        others = [mp.mpf(1)]
        for row, count in zip(attack.others, counts, strict=True):
            for _ in range(count):
                others = _product(others, _exact_row(row, total=1))
        second = _exact_row(attack.second, total=1)
        change = _exact_row(attack.difference, total=0)
        first = [p + q for p, q in zip(second, change, strict=True)]
        return _product(others, first), _product(others, second)


def _exact_row(row: Any, *, total: int) -> list[Any]:
    numbers = [mp.mpf(float(entry)) for entry in row]
    return [total - mp.fsum(numbers[1:]), *numbers[1:]]


def _product(left: list[Any], right: list[Any]) -> list[Any]:
    result = [mp.mpf(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result
