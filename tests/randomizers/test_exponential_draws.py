from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering

from shuffledp import SystemRandom
from shuffledp.randomizers.exponential_draws import exponential_draws, logistic_draws
from shuffledp.types import Floats

EXPONENTS = [0.0, 1e-12, 2.44e-4, 0.3, 1.0, 7.7, 30.0, 36.5]


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(320):
        yield


class ScriptedRandom(SystemRandom):
    """Draws the 53-bit words it is given, one after the other, and then fails."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def random(self, size: int) -> Floats:
        drawn, self.words = self.words[:size], self.words[size:]
        assert len(drawn) == size, "more bits were drawn than the decision takes"
        return np.array(drawn) * 2.0**-53


def logistic(exponent: float) -> Any:
    return 1 / (1 + mp.exp(mp.mpf(exponent)))


def exponential(exponent: float) -> Any:
    return mp.exp(-mp.mpf(exponent))


def words_of(chance: Any, count: int) -> list[int]:
    """The binary expansion of a chance, 53 bits at a time."""
    whole = int(mp.floor(chance * mp.mpf(2) ** (53 * count)))
    return [whole >> (53 * k) & (2**53 - 1) for k in range(count - 1, -1, -1)]


@covering(
    ("exponent", [*EXPONENTS[1:], 50.0, 100.0, 600.0]),
    (("flip", "exact"), [(logistic_draws, logistic), (exponential_draws, exponential)]),
)
def test_coins_compare_uniform_numbers_with_the_exact_chance(
    flip: Any, exact: Any, exponent: float
) -> None:
    # Given the chance's own bits, up to a last word that is one more, or one less,
    count = 4 + int(exponent / 36.0)
    words = words_of(exact(exponent), count)
    for place in range(count):
        for change in (-1, 1):
            last = words[place] + change
            if not 0 <= last < 2**53:
                continue
            rng = ScriptedRandom([*words[:place], last])

            (hit,) = flip(np.array([exponent]), rng=rng)

            # then that word decides, and decimals saw to all those before it.
            assert hit == (change == -1)
            assert not rng.words


@pytest.mark.parametrize("exponent", [1e5, 1e9, 5e11])
def test_chances_below_every_double_are_not_zero(exponent: float) -> None:
    # One word of zeros decides nothing; a word that is not 0 does.
    for flip in (logistic_draws, exponential_draws):
        rng = ScriptedRandom([0, 0, 0, 5])

        (hit,) = flip(np.array([exponent]), rng=rng)

        assert not hit
        assert not rng.words


def test_doubles_are_as_close_to_the_chances_as_coins_suppose() -> None:
    exponents = np.concatenate([np.geomspace(1e-12, 36.7, 1000), [0.0]])
    decay = np.exp(-exponents)
    ratios = [decay / (1.0 + decay), decay]

    for approximate, exact in zip(ratios, (logistic, exponential), strict=True):
        errors = [
            abs(p / exact(a) - 1)
            for p, a in zip(approximate.tolist(), exponents.tolist(), strict=True)
        ]
        assert max(errors) < 1e-14


def test_shares_of_heads_are_the_chances() -> None:
    # Five standard errors at 18 shares: a false alarm in 10^5 fixed seeds.
    rng, size = np.random.default_rng(7), 200_000

    for exponent in [0.0, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0]:
        for flip, exact in [
            (logistic_draws, logistic),
            (exponential_draws, exponential),
        ]:
            chance = float(exact(exponent))

            hits = flip(np.full(size, exponent), rng=rng)

            error = (chance * (1.0 - chance) / size) ** 0.5
            assert abs(hits.mean() - chance) <= 5.0 * error
