"""Is what a whole crowd sends, drawn at once, of the law of its people?

Means and frequencies may be simulated without any people: `draw_sums` and
`draw_support_counts` draw what all messages add up to. For people who hold one value, at
each level, these are compared with the moments of the law. And whoever estimates a mean
computes with `unit`, the same mechanism between -1 and 1, which must send the same.
"""

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable, find_messages
from shuffledp.testing.message_distribution import message_distribution
from shuffledp.types import Floats

ABOUT = "estimator"
_PEOPLE = 100_000
# Standard errors: a false alarm in 2e-9 of all comparisons.
_ERRORS = 6.0
_ROUNDING = 1e-7


def check_aggregate_support(
    subject: DistributionTable, *, rng: Rng
) -> ConformanceFinding:
    """Compares support that is drawn at once with the law."""
    device, levels = subject.randomizer, np.array(subject.levels)
    k, most = device.num_categories, 0.0
    if subject.one_coordinate:
        # What becomes of a 1, for the value held, and of a 0, for each other one.
        held = [0]
        expected = np.repeat(subject.table[:, 1, 1], k).reshape(levels.size, 1, k)
        expected[:, 0, 0] = subject.table[:, 0, 1]
    else:
        size = len(subject.messages)
        support = device.support_counts(subject.messages, np.arange(size), size)
        held = [int(value) for value in subject.values]
        expected = subject.table @ support.astype(np.float64)
    generator = _generator(rng)
    for place, value in enumerate(held):
        holders = np.zeros((levels.size, k), dtype=np.int64)
        holders[:, value] = _PEOPLE
        drawn = device.draw_support_counts(holders, levels, rng=generator)
        chances = expected[:, place]
        spread = np.sqrt(_PEOPLE * chances * (1.0 - chances))
        most = max(most, _errors(drawn - _PEOPLE * chances, spread))
    return ConformanceFinding(
        ABOUT,
        f"support by {_PEOPLE:,} people drawn at once is off by at most {most:.2g} "
        "standard errors.",
        most <= _ERRORS,
    )


def check_aggregate_sums(subject: DistributionTable, *, rng: Rng) -> ConformanceFinding:
    """Compares sums and sums of squares that are drawn at once with the law."""
    device, levels = subject.randomizer, np.array(subject.levels)
    counts, generator, most = np.full((levels.size, 1), _PEOPLE), _generator(rng), 0.0
    for place, value in enumerate(subject.values):
        held = np.array([value], dtype=np.float64)
        try:
            sums = device.draw_sums(held, counts, levels, rng=generator)
        except InvalidInputError as error:
            return ConformanceFinding(
                ABOUT, f"sums are not drawn at once: {error}", None
            )
        if not np.all(sums[:, 0] == _PEOPLE):
            return ConformanceFinding(
                ABOUT, "draw_sums draws messages of other people.", False
            )
        laws = subject.table[:, place]
        for power in (1, 2):
            powers = subject.messages.astype(np.float64) ** power
            mean = laws @ powers
            spread = np.sqrt(
                _PEOPLE * np.sum(laws * (powers - mean[:, None]) ** 2, axis=1)
            )
            off = sums[:, power].astype(np.float64) - _PEOPLE * mean
            # Rounding of the sums of a law's many chances.
            lost = _ROUNDING * _PEOPLE * np.abs(mean) / _ERRORS
            most = max(most, _errors(off, spread + lost))
    return ConformanceFinding(
        ABOUT,
        f"sums of {_PEOPLE:,} messages drawn at once are off by at most {most:.2g} "
        "standard errors.",
        most <= _ERRORS,
    )


def check_unit(subject: DistributionTable) -> ConformanceFinding:
    """Compares the laws of the mechanism between -1 and 1 with its own."""
    device = subject.randomizer
    unit, most = device.unit, 0.0
    if (unit.low, unit.high) != (-1.0, 1.0):
        return ConformanceFinding(
            ABOUT, "its unit has another range than -1 to 1.", False
        )
    # Halves, as the length of a range may exceed the largest number.
    low, half = device.low / 2.0, device.high / 2.0 - device.low / 2.0
    for place, value in enumerate(subject.values):
        scaled = min(max((value / 2.0 - low) / half * 2.0 - 1.0, -1.0), 1.0)
        for level, epsilon in enumerate(subject.levels):
            try:
                messages, chances = message_distribution(unit, epsilon, scaled)
            except ValueError as error:
                return ConformanceFinding(
                    ABOUT, f"its unit states no law about {scaled:g}: {error}", None
                )
            known = find_messages(messages, subject.messages)
            row = np.zeros(len(subject.messages) + 1)
            np.add.at(row, known, chances)
            off = np.abs(row[:-1] - subject.table[level, place]).max()
            most = max(most, float(off), float(row[-1]))
    return ConformanceFinding(
        ABOUT,
        f"chances of its unit's messages differ from its own by {most:.2g}.",
        most <= _ROUNDING,
    )


def _errors(off: Floats, spread: Floats) -> float:
    """Returns by how many standard errors numbers are off at most."""
    return float((np.abs(off) / np.maximum(spread, 1e-3)).max())


def _generator(rng: Rng) -> np.random.Generator:
    """Returns a simulation's generator, whatever devices draw from."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(int(rng.integers(0, 2**62, 1)[0]))
