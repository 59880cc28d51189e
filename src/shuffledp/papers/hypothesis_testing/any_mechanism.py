"""Clone probabilities as type-I errors, for whatever devices run.

As in any_density.py, with sums over all messages a device may send, each with its exact
chance, in place of integrals: k-ary response, hashed and Hadamard messages, bits, noise on
its grid. Randomizers that are given by a density are integrated. p_i is the smallest of
p_i^0 and p_i^1, whatever category the person holds, or at the ends of a range of numbers,
which the paper takes for the worst case. The victim's two values are the ends, or the first
and the last category.

Erratum. The ends are the worst case of Laplace noise, and not of every mechanism: with
Clip-Laplace on [-1, 1] and a budget of 1 for everybody, p_i is 0.378 at -1 and 0.152 at
-0.75.

Source: Liu, Liu, Xiong, Gu, Chen (2024), "Enhanced Privacy Bound for Shuffle Model with
Personalized Privacy", Section 3.2.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.papers.bounds.bound import require
from shuffledp.papers.hypothesis_testing.any_density import (
    MessageDensity,
    confusion_of,
    flip_of,
)
from shuffledp.randomizers.from_density import DensityRandomizer
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.testing.message_distribution import (
    has_distribution,
    message_distribution,
    values_to_check,
)
from shuffledp.types import Floats

# Message by message, a level takes about a millisecond.
_MOST_LEVELS = 1_000


def check_mechanism(mechanism: Any, levels: int) -> None:
    """Raises OutsidePreconditions unless all messages and their chances are known."""
    known = isinstance(mechanism, DensityRandomizer) or has_distribution(mechanism)
    name = "any randomizer" if mechanism is None else mechanism.mechanism
    require(known, "a mechanism whose messages have known chances", name)
    require(mechanism.changes == 1, "one message per person", f"{mechanism.changes}")
    require(levels <= _MOST_LEVELS, f"at most {_MOST_LEVELS} levels", f"{levels}")


def mechanism_confusion(
    mechanism: Any, epsilons: Floats, victim: float
) -> tuple[Floats, float]:
    """Returns p_i of each level, shape (levels,), and the victim's w.

    >>> import shuffledp as sdp
    >>> found, flip = mechanism_confusion(
    ...     sdp.KRandomizedResponse(2), np.log([2.0, 3.0]), np.log(3.0))
    >>> found.round(4), round(flip, 4)
    (array([0.3333, 0.25  ]), 0.25)

    Args:
        mechanism: That `check_mechanism` accepts.
        epsilons: Local budgets > 0, shape (levels,).
        victim: Her local budget > 0.
    """
    if isinstance(mechanism, DensityRandomizer):
        return _by_density(mechanism, epsilons, victim)
    values = values_to_check(mechanism)
    if isinstance(mechanism, AddedNoise):
        values = (values[0], values[-1])
    tail = 0.5 * float(mechanism.delta_local)
    first, second = (
        message_distribution(mechanism, victim, v) for v in (values[0], values[-1])
    )
    found = np.empty(epsilons.size)
    # A law depends on its level in a way of its own: one at a time.
    for place, level in enumerate(epsilons.tolist()):
        found[place] = min(
            min(
                _mistaken(
                    message_distribution(mechanism, level, value), first, second, tail
                )
            )
            for value in values
        )
    messages, one, other = _aligned(first, second)
    flips = (
        float((one * _inside(one, messages, tail))[one < other].sum()),
        float((other * _inside(other, messages, tail))[other < one].sum()),
    )
    return found, min(flips)


def _mistaken(own: Any, first: Any, second: Any, tail: float) -> tuple[float, float]:
    """Returns p_i^0 and p_i^1 of one law."""
    messages, mine, one, other = _aligned(own, first, second)
    kept = mine * _inside(mine, messages, tail)
    return (
        float(kept[(mine <= one) & (other < one)].sum()),
        float(kept[(mine <= other) & (one < other)].sum()),
    )


def _aligned(*laws: tuple[NDArray[Any], Floats]) -> tuple[NDArray[Any], ...]:
    """Returns all messages, and the chances of each law, in the same order."""
    lists = [messages for messages, _ in laws]
    if all(np.array_equal(lists[0], messages) for messages in lists):
        return (lists[0], *(chances for _, chances in laws))
    # Only noise reaches farther at one level than at another; its cells are numbers.
    if any(messages.ndim > 1 for messages in lists):
        raise InvalidInputError("Expected the same messages at all levels.")
    every = np.unique(np.concatenate(lists))
    rows = []
    for messages, chances in laws:
        row = np.zeros(every.size)
        row[np.searchsorted(every, messages)] = chances
        rows.append(row)
    return (every, *rows)


def _inside(chances: Floats, messages: NDArray[Any], tail: float) -> NDArray[np.bool_]:
    """Returns which messages are in neither tail of this probability."""
    if tail == 0.0 or messages.ndim > 1:
        return np.ones(chances.size, dtype=bool)
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    inside: NDArray[np.bool_] = (below >= tail) & (above >= tail)
    return inside


def _by_density(
    mechanism: DensityRandomizer, epsilons: Floats, victim: float
) -> tuple[Floats, float]:
    def law(level: float, value: float) -> MessageDensity:
        return MessageDensity(
            lambda messages: mechanism.density(messages, value, level),
            mechanism.low,
            mechanism.high,
            mechanism.breakpoints,
        )

    values = mechanism.values
    first, second = law(victim, values[0]), law(victim, values[-1])
    found = [
        min(min(confusion_of(law(level, v), first, second)) for v in values)
        for level in epsilons.tolist()
    ]
    return np.array(found), flip_of(first, second)
