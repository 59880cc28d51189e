"""Comparison of draws with the stated distribution.

One batch has users of all levels and values, in random order. Each level and value is
compared with its distribution by a chi-square test, the sum of all these statistics by a
two-sided one, each bit of a report by exact binomial tails, and all users together by how
often a message is evidence of the value held, which detects rare leaks.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shuffledp.randomness import Rng
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.testing.message_sender import MessageSender, can_draw
from shuffledp.testing.tail_probabilities import (
    DrawComparison,
    chi_square_tails,
    count_tail,
    sum_tail,
)
from shuffledp.testing.uniform_ranks import UniformRanks
from shuffledp.types import Floats, Ints

ABOUT = "drawn law"
# Probability of a false alarm in any of the comparisons.
FALSE_ALARM = 4e-7
# Total number of entries; fewer where there are many messages, which take longer to draw.
_DRAWS, _FEWER_DRAWS, _MANY_MESSAGES = 1_200_000, 600_000, 200
_MIN_DRAWS, _MAX_DRAWS, _MIN_USERS = 2_000, 200_000, 200
# Messages are grouped until this number, or this share of all, is expected of a group.
_MIN_EXPECTED, _MIN_SHARE = 50.0, 1.0 / 200.0
# A leak is called visible if it is detected with this probability.
_DETECTION_PROBABILITY = 0.9


def check_drawn_distribution(
    distributions: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Compares draws with the stated distribution, for all levels and values."""
    if not can_draw(distributions.randomizer):
        yield ConformanceFinding(ABOUT, "it draws nothing.", None)
        return
    outcome = sampling_comparisons(distributions, rng=rng)
    if outcome is None:
        yield ConformanceFinding(
            ABOUT, "it sends messages that its distribution lacks.", False
        )
        return
    comparisons, probabilities = outcome
    outlier = min(comparisons, key=lambda comparison: comparison.p_value)
    # The union bound over comparisons.
    if outlier.p_value * len(comparisons) < FALSE_ALARM:
        yield ConformanceFinding(
            ABOUT,
            f"{outlier.about}; if messages were of the stated distribution, they would "
            "look like "
            f"this with probability {outlier.p_value:.1g}.",
            False,
        )
        return
    visible = _visible_leak(probabilities, FALSE_ALARM / len(comparisons))
    yield ConformanceFinding(
        ABOUT,
        f"{len(comparisons)} comparisons of {probabilities.size:,} draws, smallest "
        f"p-value {outlier.p_value:.2g}; false alarms in {FALSE_ALARM:g} of all checks. "
        f"If a value is sent in clear by {visible:.2%} of all messages, this is seen "
        f"with probability {_DETECTION_PROBABILITY:g}, and rarer leaks less often.",
        True,
    )


def sampling_comparisons(
    distributions: DistributionTable, *, rng: Rng
) -> tuple[list[DrawComparison], Floats] | None:
    """Draws messages about all values at all levels, and compares them.

    Args:
        distributions: Exact distributions of the device under test.
        rng: The only source of randomness.

    Returns:
        The comparisons, and the probability that an entry is evidence of the value held,
        shape (n, width). None if a message is outside the support of its distribution.
    """
    sender = MessageSender.of(distributions)
    cells = len(distributions.levels) * sender.num_values
    draws = _DRAWS if len(distributions.messages) <= _MANY_MESSAGES else _FEWER_DRAWS
    per_cell = draws // (cells * sender.width)
    per_cell = min(max(per_cell, _MIN_DRAWS // sender.width, 1), _MAX_DRAWS)
    # One draw of `rng` fixes the order, which is then the same for every device.
    seed = int(rng.integers(0, 2**62, size=1)[0])
    cells_in_order = (
        np.random.default_rng(seed).permutation(cells * per_cell) // per_cell
    )
    # With very wide reports, a part of the values has no user.
    cells_in_order = cells_in_order[: max(draws // sender.width, _MIN_USERS)]
    levels, values = (
        cells_in_order // sender.num_values,
        cells_in_order % sender.num_values,
    )
    indices = sender.send(values, levels, rng=rng)
    if indices.min() < 0:
        return None
    rows = sender.rows(values)
    if distributions.one_coordinate:
        comparisons = _bit_comparisons(distributions, indices, rows, levels)
    else:
        comparisons = _cell_comparisons(distributions, indices[:, 0], values, levels)
    leaks, probabilities = UniformRanks(distributions).leaks(indices, rows, levels)
    # One sum over all users detects a leak too rare for the test of any single value.
    total = float(np.sum(leaks - probabilities))
    variance = float(np.sum(probabilities * (1.0 - probabilities)))
    defect = "more, or fewer, messages speak for the value held than should"
    comparisons.append(DrawComparison(sum_tail(total, variance, 1.0), defect))
    return comparisons, probabilities


def _visible_leak(probabilities: Floats, alarm: float) -> float:
    """Returns the share of values in clear detected with `_DETECTION_PROBABILITY`."""
    hidden_mass, variance = (
        float(np.sum(1.0 - probabilities)),
        np.sum(probabilities * (1.0 - probabilities)),
    )
    # A leak shifts the sum: by both quantiles, it passes the alarm often enough.
    errors = float(norm.isf(alarm / 2.0) + norm.isf(1.0 - _DETECTION_PROBABILITY))
    return min(errors * float(np.sqrt(variance)) / max(hidden_mass, 1e-300), 1.0)


def _cell_comparisons(
    distributions: DistributionTable, indices: Ints, values: Ints, levels: Ints
) -> list[DrawComparison]:
    """Compares the messages about each value at each level with their distribution."""
    comparisons, total, freedom = [], 0.0, 0
    num_values, size = len(distributions.values), len(distributions.messages)
    cell = levels * num_values + values
    by_cell = np.argsort(cell, kind="stable")
    edges = np.arange(len(distributions.levels) * num_values + 1)
    ends = np.searchsorted(cell[by_cell], edges)
    for level, epsilon in enumerate(distributions.levels):
        for value, value_held in enumerate(distributions.values):
            number = level * num_values + value
            messages = indices[by_cell[ends[number] : ends[number + 1]]]
            counts = np.bincount(messages, minlength=size)
            distance, groups = _distance(
                counts, distributions.probabilities[level, value]
            )
            total, freedom = total + distance, freedom + groups - 1
            _, tail = chi_square_tails(distance, max(groups - 1, 1))
            defect = (
                f"{messages.size:,} messages at level {epsilon:g} about value "
                f"{value_held:g} are not of the stated distribution"
            )
            comparisons.append(DrawComparison(tail, defect))
    if freedom:
        # Too small a sum reveals draws that are balanced rather than independent.
        low, high = chi_square_tails(total, freedom)
        defect = "messages are nearer to their expected numbers than draws are"
        comparisons.append(DrawComparison(low, defect))
        comparisons.append(
            DrawComparison(
                high, "messages of all values are not of their distributions"
            )
        )
    return comparisons


def _bit_comparisons(
    distributions: DistributionTable, indices: Ints, rows: Ints, levels: Ints
) -> list[DrawComparison]:
    """Compares each bit, by whether the user holds it, with its probability."""
    comparisons = []
    for level, epsilon in enumerate(distributions.levels):
        users = levels == level
        for row, word in enumerate(("held", "not held")):
            of_row = rows[users] == row
            size = of_row.sum(axis=0)
            hits = (of_row & (indices[users] == 1)).sum(axis=0)
            probability = np.full(
                size.shape, distributions.probabilities[level, row, 1]
            )
            tails = count_tail(hits, size, probability)
            column = int(np.argmin(tails))
            defect = (
                f"bit {column} is a 1 for {hits[column]:,} of {size[column]:,} people at "
                f"level {epsilon:g} for whom it is {word}, and should be with probability "
                f"{probability[column]:.6g}"
            )
            # The union bound over columns.
            smallest_tail = min(float(tails[column]) * tails.size, 1.0)
            comparisons.append(DrawComparison(smallest_tail, defect))
    return comparisons


def _distance(counts: NDArray[np.int64], probabilities: Floats) -> tuple[float, int]:
    """Returns the chi-square statistic of counts, and the number of groups.

    It is infinite if a message with probability 0 was sent.
    """
    has_many, size = len(probabilities) > _MANY_MESSAGES, int(counts.sum())
    # Each group has messages of similar cumulative rank.
    least_mass = max(_MIN_EXPECTED / size, _MIN_SHARE if has_many else 0.0)
    # The factor keeps a sum that ends on a boundary in its group.
    group = np.floor(np.cumsum(probabilities) / least_mass * (1.0 - 1e-12)).astype(
        np.int64
    )
    if not has_many:
        # A message with enough expected draws forms a group of its own.
        often = probabilities >= least_mass
        group = np.where(often, np.arange(probabilities.size), -1)
    _, group = np.unique(group, return_inverse=True)
    expected = np.bincount(group, probabilities) * size
    comparisons = np.bincount(group, counts)
    if np.any((probabilities <= 0.0) & (counts > 0)):
        return float("inf"), max(int(expected.size), 2)
    # Groups that expect nothing got nothing, as checked above, and would be 0 / 0.
    expected_some = expected > 0.0
    expected, comparisons = expected[expected_some], comparisons[expected_some]
    return float(np.sum((comparisons - expected) ** 2 / expected)), int(expected.size)
