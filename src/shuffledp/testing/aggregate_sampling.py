"""Comparison of aggregate sampling with the distribution of single messages.

Means and frequencies may be simulated without single messages: `draw_sums` and
`draw_support_counts` draw the totals of a population. For users who all hold one value, at
each level, these totals are compared with the moments of the exact distribution. Estimates
of means rest on `unit`, the same mechanism between -1 and 1, which must send the same
messages.
"""

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable, find_messages
from shuffledp.testing.message_distribution import message_distribution
from shuffledp.types import Floats

ABOUT = "estimator"
_NUM_USERS = 100_000
# Standard errors: a false alarm in 2e-9 of all comparisons.
_MAX_STANDARD_ERRORS = 6.0
_ROUNDING = 1e-7


def check_aggregate_support(
    distributions: DistributionTable, *, rng: Rng
) -> ConformanceFinding:
    """Compares support counts that are drawn in aggregate with the exact distribution."""
    device, levels = distributions.randomizer, np.array(distributions.levels)
    k, num_errors = device.num_categories, 0.0
    if distributions.one_coordinate:
        # The bit of the value held is a 1 before it is perturbed, all other bits are 0.
        held_values = [0]
        expected = np.repeat(distributions.probabilities[:, 1, 1], k).reshape(
            levels.size, 1, k
        )
        expected[:, 0, 0] = distributions.probabilities[:, 0, 1]
    else:
        size = len(distributions.messages)
        support = device.support_counts(distributions.messages, np.arange(size), size)
        held_values = [int(value) for value in distributions.values]
        expected = distributions.probabilities @ support.astype(np.float64)
    generator = _generator(rng)
    for index, value in enumerate(held_values):
        holders = np.zeros((levels.size, k), dtype=np.int64)
        holders[:, value] = _NUM_USERS
        counts = device.draw_support_counts(holders, levels, rng=generator)
        probabilities = expected[:, index]
        spread = np.sqrt(_NUM_USERS * probabilities * (1.0 - probabilities))
        num_errors = max(
            num_errors, _standard_errors(counts - _NUM_USERS * probabilities, spread)
        )
    return ConformanceFinding(
        ABOUT,
        f"support by {_NUM_USERS:,} people drawn at once is off by at most "
        f"{num_errors:.2g} standard errors.",
        num_errors <= _MAX_STANDARD_ERRORS,
    )


def check_aggregate_sums(
    distributions: DistributionTable, *, rng: Rng
) -> ConformanceFinding:
    """Compares sums and sums of squares drawn in aggregate with the exact distribution."""
    device, levels = distributions.randomizer, np.array(distributions.levels)
    counts, generator, num_errors = (
        np.full((levels.size, 1), _NUM_USERS),
        _generator(rng),
        0.0,
    )
    for index, value in enumerate(distributions.values):
        held_values = np.array([value], dtype=np.float64)
        try:
            sums = device.draw_sums(held_values, counts, levels, rng=generator)
        except InvalidInputError as error:
            return ConformanceFinding(
                ABOUT, f"sums are not drawn at once: {error}", None
            )
        # The columns are sums of powers 0, 1 and 2 of messages: power 0 counts them.
        if not np.all(sums[:, 0] == _NUM_USERS):
            return ConformanceFinding(
                ABOUT, "draw_sums draws messages of other people.", False
            )
        probabilities = distributions.probabilities[:, index]
        for power in (1, 2):
            powers = distributions.messages.astype(np.float64) ** power
            mean = probabilities @ powers
            spread = np.sqrt(
                _NUM_USERS
                * np.sum(probabilities * (powers - mean[:, None]) ** 2, axis=1)
            )
            off = sums[:, power].astype(np.float64) - _NUM_USERS * mean
            # The exact means are sums of many probabilities, which are rounded.
            rounding = _ROUNDING * _NUM_USERS * np.abs(mean) / _MAX_STANDARD_ERRORS
            num_errors = max(num_errors, _standard_errors(off, spread + rounding))
    return ConformanceFinding(
        ABOUT,
        f"sums of {_NUM_USERS:,} messages drawn at once are off by at most "
        f"{num_errors:.2g} standard errors.",
        num_errors <= _MAX_STANDARD_ERRORS,
    )


def check_unit(distributions: DistributionTable) -> ConformanceFinding:
    """Compares the distributions of the mechanism between -1 and 1 with its own."""
    device = distributions.randomizer
    unit, largest_gap = device.unit, 0.0
    if (unit.low, unit.high) != (-1.0, 1.0):
        return ConformanceFinding(
            ABOUT, "its unit has another range than -1 to 1.", False
        )
    # Halves, as high - low may overflow.
    low, half = device.low / 2.0, device.high / 2.0 - device.low / 2.0
    for index, value in enumerate(distributions.values):
        # Rounding may move an end of the range just outside of [-1, 1].
        scaled = min(max((value / 2.0 - low) / half * 2.0 - 1.0, -1.0), 1.0)
        for level, epsilon in enumerate(distributions.levels):
            try:
                messages, probabilities = message_distribution(unit, epsilon, scaled)
            except ValueError as error:
                return ConformanceFinding(
                    ABOUT,
                    f"its unit states no distribution about {scaled:g}: {error}",
                    None,
                )
            indices = find_messages(messages, distributions.messages)
            # Index -1, a message that is absent, adds to the extra last entry.
            row = np.zeros(len(distributions.messages) + 1)
            np.add.at(row, indices, probabilities)
            differences = np.abs(row[:-1] - distributions.probabilities[level, index])
            largest_gap = max(largest_gap, float(differences.max()), float(row[-1]))
    return ConformanceFinding(
        ABOUT,
        f"probabilities of its unit's messages differ from its own by {largest_gap:.2g}.",
        largest_gap <= _ROUNDING,
    )


def _standard_errors(off: Floats, spread: Floats) -> float:
    """Returns the largest deviation in standard errors."""
    # Counts of certain messages have no spread: here, 1 off is 1,000 standard errors.
    return float((np.abs(off) / np.maximum(spread, 1e-3)).max())


def _generator(rng: Rng) -> np.random.Generator:
    """Returns `rng` itself, or a NumPy generator seeded from it."""
    if isinstance(rng, np.random.Generator):
        return rng
    # Totals need binomial and similar draws, which other sources do not offer.
    return np.random.default_rng(int(rng.integers(0, 2**62, 1)[0]))
