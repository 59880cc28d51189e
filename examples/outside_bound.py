"""Template of a bound from outside: replace `delta_of` by your own formula.

    cd examples
    shuffledp audit accountant outside_bound:account --seconds 5
    shuffledp leaderboard --bound outside_bound:account

An accountant gets the randomizer of all devices, the people (levels and counts), and
epsilon. It answers with the delta of each level. What it cannot answer it refuses with
`shuffledp.InvalidInputError`; a refusal states nothing, and is counted.
"""

import math
from dataclasses import dataclass
from typing import Any

import shuffledp as sdp


@dataclass(frozen=True)
class Level:
    """What the accountant states about the people of one level."""

    epsilon_local: float
    delta_central: float


@dataclass(frozen=True)
class Answer:
    """What the accountant states about everybody."""

    levels: tuple[Level, ...]


def account(device: Any, people: sdp.Population, *, epsilon: float) -> Answer:
    """Returns the delta at epsilon that is stated for each level."""
    # `device.mechanism` is a name such as "kary-response", `device.parameters` its
    # parameters, `people.counts` the number of people at each level.
    if device.delta_local > 0.0:
        raise sdp.InvalidInputError("Expected a pure randomizer.")
    levels = people.epsilons.tolist()
    return Answer(tuple(Level(level, delta_of(level, epsilon)) for level in levels))


def delta_of(level: float, epsilon: float) -> float:
    """Returns the delta of the message alone: right for everybody, and loose."""
    # The largest divergence of any two messages of a device that keeps its level.
    if epsilon >= level:
        return 0.0
    return -math.expm1(epsilon - level) / (1.0 + math.exp(-level))
