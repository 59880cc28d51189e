"""Do devices draw from the law that is stated?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.randomness import Rng
from shuffledp.testing.findings import Finding
from shuffledp.testing.subject import Subject, places_of
from shuffledp.types import Floats

ABOUT = "drawn law"
# All comparisons of one check together raise a false alarm this rarely.
FALSE_ALARM = 1e-6
# Of few messages, and of many, which take longer to draw.
_DRAWS, _FEWER, _MANY = 200_000, 50_000, 200
# Messages are put together until that many are expected, or this share of all.
_EXPECTED, _SHARE = 50.0, 1.0 / 200.0


def drawn_law(subject: Subject, *, rng: Rng) -> Iterator[Finding]:
    """Compares draws with the law by chi-square, for several levels and values.

    People of all levels are drawn in one batch: whoever mixes them up is found out.
    """
    if not hasattr(subject.randomizer, "randomize") and not isinstance(
        subject.randomizer, Rappor
    ):
        yield Finding(ABOUT, "it draws nothing.", None)
        return
    last = len(subject.values) - 1
    held = sorted({0, 1, last // 2, last})
    tests = len(subject.levels) * len(held)
    size = _DRAWS if len(subject.messages) <= _MANY else _FEWER
    smallest, width = 1.0, len(subject.levels)
    for value in held:
        drawn = draws(subject, np.tile(subject.levels, size), value, rng=rng)
        everybody = places_of(drawn, subject.messages)
        for level, epsilon in enumerate(subject.levels):
            chance = _chance(everybody[level::width], subject.table[level, value])
            smallest = min(smallest, chance)
            if chance * tests < FALSE_ALARM:
                yield Finding(
                    ABOUT,
                    f"{size:,} messages at level {epsilon:g} about value "
                    f"{subject.values[value]:g} are not of the stated law; if they were, "
                    f"they would look like this with chance {chance:.1g}.",
                    False,
                )
                return
    yield Finding(
        ABOUT,
        f"{tests} times {size:,} messages, smallest p-value {smallest:.2g}; false "
        f"alarms in {FALSE_ALARM:g} of all checks.",
        True,
    )


def draws(subject: Subject, levels: Floats, value: int, *, rng: Rng) -> NDArray[Any]:
    """Draws messages; of vectors of bits, one coordinate.

    Args:
        subject: What is checked.
        levels: Each person's local budget, shape (n,).
        value: The place of the value that all people hold.
        rng: The only source of randomness.
    """
    device, size = subject.randomizer, levels.size
    if isinstance(device, Rappor):
        filters = np.zeros((size, device.num_bits), dtype=np.bool_)
        filters[:, : device.num_hashes] = True
        kept = device.permanent_response(filters, levels, rng=rng)
        bits = device.instantaneous_response(kept, rng=rng)
        return bits[:, 0 if subject.values[value] else -1].astype(np.int64)
    if isinstance(device, UnaryEncoding):
        zeros = np.zeros(size, dtype=np.int64)
        bits = device.randomize(zeros, levels, rng=rng)
        return bits[:, 0 if subject.values[value] else -1].astype(np.int64)
    people = np.full(size, subject.values[value])
    return np.asarray(device.randomize(people, levels, rng=rng))


def _chance(places: NDArray[np.int64], chances: Floats) -> float:
    """Returns the chance of counts at least as far from what is expected."""
    if places.min() < 0:
        return 0.0
    counts = np.bincount(places, minlength=chances.size)
    # Rarely sent messages stay separate from often sent ones: each group is one of them.
    wanted = max(_EXPECTED / places.size, _SHARE if chances.size > _MANY else 0.0)
    group = np.floor(np.cumsum(chances) / wanted * (1.0 - 1e-12)).astype(np.int64)
    if chances.size <= _MANY:
        # A message that is expected often enough is a group by itself.
        often = chances >= wanted
        group = np.where(often, np.arange(chances.size), -1)
    _, group = np.unique(group, return_inverse=True)
    expected = np.bincount(group, chances) * places.size
    found = np.bincount(group, counts)
    if np.any((expected <= 0.0) & (found > 0.0)):
        return 0.0
    kept = expected > 0.0
    expected, found = expected[kept], found[kept]
    if expected.size < 2:
        return 1.0
    distance = float(np.sum((found - expected) ** 2 / expected))
    return float(chi2.sf(distance, expected.size - 1))
