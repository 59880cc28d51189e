"""Clone probabilities as type-I errors, for any mechanism of the library.

As in any_density.py, with sums over all messages and their exact probabilities in place of
integrals: k-ary response, hashed and Hadamard messages, bits, noise on its grid. Densities
are integrated. p_i is the smallest of p_i^0 and p_i^1 over all categories of the user, or
over the ends of a range of numbers, which the paper takes for the worst case. The target
user's two values are the ends, or the first and the last category.

Erratum. The ends are the worst case of Laplace noise, and not of every mechanism: with
Clip-Laplace on [-1, 1] and a budget of 1 for all users, p_i is 0.378 at -1 and 0.152 at
-0.75.

Source: Liu, Liu, Xiong, Gu, Chen (2024), "Enhanced Privacy Bound for Shuffle Model with
Personalized Privacy", Section 3.2.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.from_density import DensityRandomizer
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.testing.message_distribution import (
    has_distribution,
    message_distribution,
    values_to_check,
)
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import require
from shuffledp_papers.hypothesis_testing.any_density import (
    MessageDensity,
    density_clone_probabilities,
    density_target_error,
)

# Message by message, a level takes about a millisecond.
_MOST_LEVELS = 1_000


def check_mechanism(mechanism: Any, levels: int) -> None:
    """Raises OutsidePreconditions unless all messages have known probabilities."""
    known = isinstance(mechanism, DensityRandomizer) or has_distribution(mechanism)
    name = "any randomizer" if mechanism is None else mechanism.mechanism
    require(known, "a mechanism whose messages have known chances", name)
    require(mechanism.changes == 1, "one message per person", f"{mechanism.changes}")
    require(levels <= _MOST_LEVELS, f"at most {_MOST_LEVELS} levels", f"{levels}")


def mechanism_clone_probabilities(
    mechanism: Any, epsilons: Floats, target_user: float
) -> tuple[Floats, float]:
    """Returns p_i of each level, shape (levels,), and the target user's w.

    >>> import shuffledp as sdp
    >>> clone_probabilities, target_error = mechanism_clone_probabilities(
    ...     sdp.KRandomizedResponse(2), np.log([2.0, 3.0]), np.log(3.0))
    >>> clone_probabilities.round(4), round(target_error, 4)
    (array([0.3333, 0.25  ]), 0.25)

    Args:
        mechanism: One that `check_mechanism` accepts.
        epsilons: Local budgets > 0, shape (levels,).
        target_user: The target user's local budget > 0.
    """
    if isinstance(mechanism, DensityRandomizer):
        return _by_density(mechanism, epsilons, target_user)
    values = values_to_check(mechanism)
    if isinstance(mechanism, AddedNoise):
        # The ends are the worst case of Laplace noise, as the paper takes them.
        values = (values[0], values[-1])
    tail = 0.5 * float(mechanism.delta_local)
    first, second = (
        message_distribution(mechanism, target_user, v) for v in (values[0], values[-1])
    )
    clone_probabilities = np.empty(epsilons.size)
    # Each level has its own distribution, and noise its own grid: one level at a time.
    for index, level in enumerate(epsilons.tolist()):
        clone_probabilities[index] = min(
            min(
                _mistaken_probabilities(
                    message_distribution(mechanism, level, value), first, second, tail
                )
            )
            for value in values
        )
    messages, f_0, f_1 = _aligned(first, second)
    target_errors = (
        float((f_0 * _inside(f_0, messages, tail))[f_0 < f_1].sum()),
        float((f_1 * _inside(f_1, messages, tail))[f_1 < f_0].sum()),
    )
    return clone_probabilities, min(target_errors)


def _mistaken_probabilities(
    other_distribution: Any, first: Any, second: Any, tail: float
) -> tuple[float, float]:
    """Returns p_i^0 and p_i^1 of one distribution."""
    messages, f_i, f_0, f_1 = _aligned(other_distribution, first, second)
    masses = f_i * _inside(f_i, messages, tail)
    return (
        float(masses[(f_i <= f_0) & (f_1 < f_0)].sum()),
        float(masses[(f_i <= f_1) & (f_0 < f_1)].sum()),
    )


def _aligned(*distributions: tuple[NDArray[Any], Floats]) -> tuple[NDArray[Any], ...]:
    """Returns all messages, and their probabilities in each distribution."""
    lists = [messages for messages, _ in distributions]
    if all(np.array_equal(lists[0], messages) for messages in lists):
        return (lists[0], *(probabilities for _, probabilities in distributions))
    # Only noise reaches farther at one level than at another; its cells are numbers.
    if any(messages.ndim > 1 for messages in lists):
        raise InvalidInputError("Expected the same messages at all levels.")
    every = np.unique(np.concatenate(lists))
    rows = []
    for messages, probabilities in distributions:
        row = np.zeros(every.size)
        row[np.searchsorted(every, messages)] = probabilities
        rows.append(row)
    return (every, *rows)


def _inside(
    probabilities: Floats, messages: NDArray[Any], tail: float
) -> NDArray[np.bool_]:
    """Returns a mask of the messages in neither tail of this probability."""
    # Messages of several columns have no order, and so no tails.
    if tail == 0.0 or messages.ndim > 1:
        return np.ones(probabilities.size, dtype=bool)
    below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
    inside: NDArray[np.bool_] = (below >= tail) & (above >= tail)
    return inside


def _by_density(
    mechanism: DensityRandomizer, epsilons: Floats, target_user: float
) -> tuple[Floats, float]:
    def distribution(level: float, value: float) -> MessageDensity:
        return MessageDensity(
            lambda messages: mechanism.density(messages, value, level),
            mechanism.low,
            mechanism.high,
            mechanism.breakpoints,
        )

    values = mechanism.values
    first, second = (
        distribution(target_user, values[0]),
        distribution(target_user, values[-1]),
    )
    clone_probabilities = [
        min(
            min(density_clone_probabilities(distribution(level, v), first, second))
            for v in values
        )
        for level in epsilons.tolist()
    ]
    return np.array(clone_probabilities), density_target_error(first, second)
