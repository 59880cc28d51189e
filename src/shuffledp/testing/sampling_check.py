"""Do devices draw from the law that is stated?

People of all levels and all values are asked about in one batch, in random order. Each
level and value is compared with its law by chi-square, the sum of all these distances with
what it should be on both sides, each bit of a report by exact binomial tails, and all
people together by how often a message speaks for the value held, which sees rare leaks.
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
# All comparisons together raise a false alarm this rarely.
FALSE_ALARM = 4e-7
# Entries drawn in all, of few messages, and of many, which take longer to draw.
_DRAWS, _FEWER, _MANY = 1_200_000, 600_000, 200
_LEAST, _MOST, _LEAST_PEOPLE = 2_000, 200_000, 200
# Messages are put together until that many are expected, or this share of all.
_EXPECTED, _SHARE = 50.0, 1.0 / 200.0
# A leak is called visible if it is seen with this probability.
_SEEN = 0.9


def check_drawn_law(
    subject: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Compares draws with the law, for all levels and values."""
    if not can_draw(subject.randomizer):
        yield ConformanceFinding(ABOUT, "it draws nothing.", None)
        return
    drawn = sampling_comparisons(subject, rng=rng)
    if drawn is None:
        yield ConformanceFinding(ABOUT, "it sends messages that its law lacks.", False)
        return
    comparisons, chances = drawn
    worst = min(comparisons, key=lambda one: one.chance)
    if worst.chance * len(comparisons) < FALSE_ALARM:
        yield ConformanceFinding(
            ABOUT,
            f"{worst.about}; if messages were of the stated law, they would look like "
            f"this with chance {worst.chance:.1g}.",
            False,
        )
        return
    visible = _visible_leak(chances, FALSE_ALARM / len(comparisons))
    yield ConformanceFinding(
        ABOUT,
        f"{len(comparisons)} comparisons of {chances.size:,} draws, smallest p-value "
        f"{worst.chance:.2g}; false alarms in {FALSE_ALARM:g} of all checks. If a value is "
        f"sent in clear by {visible:.2%} of all messages, this is seen with chance "
        f"{_SEEN:g}, and rarer leaks less often.",
        True,
    )


def sampling_comparisons(
    subject: DistributionTable, *, rng: Rng
) -> tuple[list[DrawComparison], Floats] | None:
    """Draws messages about all values at all levels, and compares them with the law.

    Args:
        subject: What is checked.
        rng: The only source of randomness.

    Returns:
        Comparisons, and the chance of each entry to speak for the value held, shape
        (n, width). None if something was sent that is not in the law.
    """
    sender = MessageSender.of(subject)
    cells = len(subject.levels) * sender.num_held
    draws = _DRAWS if len(subject.messages) <= _MANY else _FEWER
    each = draws // (cells * sender.width)
    each = min(max(each, _LEAST // sender.width, 1), _MOST)
    # Whatever simulates it, the order is the same for every device.
    seed = int(rng.integers(0, 2**62, size=1)[0])
    order = np.random.default_rng(seed).permutation(cells * each) // each
    # Of reports with very many bits, not every value is held.
    order = order[: max(draws // sender.width, _LEAST_PEOPLE)]
    levels, held = order // sender.num_held, order % sender.num_held
    places = sender.send(held, levels, rng=rng)
    if places.min() < 0:
        return None
    rows = sender.rows(held)
    if subject.one_coordinate:
        comparisons = _bits(subject, places, rows, levels)
    else:
        comparisons = _cells(subject, places[:, 0], held, levels)
    speaks, chances = UniformRanks(subject).leaks(places, rows, levels)
    total = float(np.sum(speaks - chances))
    variance = float(np.sum(chances * (1.0 - chances)))
    about = "more, or fewer, messages speak for the value held than should"
    comparisons.append(DrawComparison(sum_tail(total, variance, 1.0), about))
    return comparisons, chances


def _visible_leak(chances: Floats, alarm: float) -> float:
    """Returns the share of values sent in clear that is seen with chance `_SEEN`."""
    room, variance = float(np.sum(1.0 - chances)), np.sum(chances * (1.0 - chances))
    errors = float(norm.isf(alarm / 2.0) + norm.isf(1.0 - _SEEN))
    return min(errors * float(np.sqrt(variance)) / max(room, 1e-300), 1.0)


def _cells(
    subject: DistributionTable, places: Ints, held: Ints, levels: Ints
) -> list[DrawComparison]:
    """Compares the messages about each value at each level with their law."""
    found, total, freedom = [], 0.0, 0
    num_values, size = len(subject.values), len(subject.messages)
    cell = levels * num_values + held
    by_cell = np.argsort(cell, kind="stable")
    edges = np.arange(len(subject.levels) * num_values + 1)
    ends = np.searchsorted(cell[by_cell], edges)
    for level, epsilon in enumerate(subject.levels):
        for value, shown in enumerate(subject.values):
            number = level * num_values + value
            sent = places[by_cell[ends[number] : ends[number + 1]]]
            counts = np.bincount(sent, minlength=size)
            distance, groups = _distance(counts, subject.table[level, value])
            total, freedom = total + distance, freedom + groups - 1
            _, tail = chi_square_tails(distance, max(groups - 1, 1))
            about = (
                f"{sent.size:,} messages at level {epsilon:g} about value {shown:g} are "
                "not of the stated law"
            )
            found.append(DrawComparison(tail, about))
    if freedom:
        low, high = chi_square_tails(total, freedom)
        about = "messages are nearer to their expected numbers than draws are"
        found.append(DrawComparison(low, about))
        found.append(
            DrawComparison(high, "messages of all values are not of their laws")
        )
    return found


def _bits(
    subject: DistributionTable, places: Ints, rows: Ints, levels: Ints
) -> list[DrawComparison]:
    """Compares each bit, where the person holds it and where not, with its chance."""
    found = []
    for level, epsilon in enumerate(subject.levels):
        people = levels == level
        for row, word in enumerate(("held", "not held")):
            of_row = rows[people] == row
            size = of_row.sum(axis=0)
            hits = (of_row & (places[people] == 1)).sum(axis=0)
            chance = np.full(size.shape, subject.table[level, row, 1])
            tails = count_tail(hits, size, chance)
            column = int(np.argmin(tails))
            about = (
                f"bit {column} is a 1 for {hits[column]:,} of {size[column]:,} people at "
                f"level {epsilon:g} for whom it is {word}, and should be with chance "
                f"{chance[column]:.6g}"
            )
            smallest = min(float(tails[column]) * tails.size, 1.0)
            found.append(DrawComparison(smallest, about))
    return found


def _distance(counts: NDArray[np.int64], chances: Floats) -> tuple[float, int]:
    """Returns the chi-square distance of counts, and of how many groups.

    It is infinite where something was sent that has no chance.
    """
    many, size = len(chances) > _MANY, int(counts.sum())
    # Rarely sent messages stay separate from often sent ones: each group is one of them.
    wanted = max(_EXPECTED / size, _SHARE if many else 0.0)
    group = np.floor(np.cumsum(chances) / wanted * (1.0 - 1e-12)).astype(np.int64)
    if not many:
        # A message that is expected often enough is a group by itself.
        often = chances >= wanted
        group = np.where(often, np.arange(chances.size), -1)
    _, group = np.unique(group, return_inverse=True)
    expected = np.bincount(group, chances) * size
    found = np.bincount(group, counts)
    if np.any((chances <= 0.0) & (counts > 0)):
        return float("inf"), max(int(expected.size), 2)
    kept = expected > 0.0
    expected, found = expected[kept], found[kept]
    return float(np.sum((found - expected) ** 2 / expected)), int(expected.size)
