"""Do estimates rest on the law that is drawn, and are foreign messages refused?"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomness import Rng
from shuffledp.testing.aggregate_sampling import (
    check_aggregate_sums,
    check_aggregate_support,
    check_unit,
)
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.types import Floats

ABOUT = "estimator"
# Of sums of doubles, and of a cut-off tail; noise on a fine grid has moments of its own.
_ROUNDING, _GRID = 1e-9, 1e-6
_DRAWS, _REPORTS = 4_000, 100


def check_estimator(
    subject: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Compares exact expectations with what is stated for estimates."""
    device = subject.randomizer
    if isinstance(device, FrequencyOracle):
        stated = _support(subject)
        yield stated
        if stated.holds:
            yield check_aggregate_support(subject, rng=rng)
    elif isinstance(device, NumberRandomizer):
        yield from _numbers(subject)
        yield check_unit(subject)
        yield check_aggregate_sums(subject, rng=rng)
    else:
        yield ConformanceFinding(
            ABOUT, "it estimates neither categories nor numbers.", None
        )


def check_message_validation(
    subject: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Checks that messages are accepted, and what is none is refused."""
    about, device = "messages", subject.randomizer
    if not hasattr(device, "check_messages"):
        yield ConformanceFinding(about, "it checks no messages.", None)
        return
    if subject.one_coordinate:
        yield from _reports(subject, rng=rng)
        return
    held = np.tile(np.array(subject.values), _DRAWS // len(subject.values) + 1)
    drawn = device.randomize(held, np.full(held.size, subject.levels[-1]), rng=rng)
    for part in (drawn, subject.messages):
        if not _accepts(device, part):
            yield ConformanceFinding(
                about, "it refuses messages that it sends itself.", False
            )
            return
    foreign = _foreign(device, subject.messages)
    for name, wrong in foreign.items():
        if _accepts(device, wrong):
            yield ConformanceFinding(
                about, f"it accepts {name}, which it never sends.", False
            )
            return
    yield ConformanceFinding(
        about,
        f"{len(subject.messages):,} messages are accepted, {len(foreign)} kinds of others "
        "are refused.",
        True,
    )
    if hasattr(device, "decode"):
        numbers = device.decode(subject.messages)
        line = np.polyfit(subject.messages[[0, -1]], numbers[[0, -1]], 1)
        bend = float(np.abs(np.polyval(line, subject.messages) - numbers).max())
        size = max(float(np.abs(numbers).max()), 1e-300)
        yield ConformanceFinding(
            about,
            f"decode is off a straight line by {bend / size:.2g} of its largest number.",
            bend <= _ROUNDING * size,
        )


def _support(subject: DistributionTable) -> ConformanceFinding:
    device = subject.randomizer
    try:
        keep, flip = device.densities(np.array(subject.levels))
    except InvalidInputError as error:
        return ConformanceFinding(ABOUT, f"it is no frequency oracle: {error}", None)
    if subject.one_coordinate:
        found = np.stack([subject.table[:, 0, 1], subject.table[:, 1, 1]], axis=1)
        stated = np.stack([keep, flip], axis=1)
    else:
        size = len(subject.messages)
        groups = np.arange(size)
        support = device.support_counts(subject.messages, groups, size)
        found = subject.table @ support.astype(np.float64)
        held = np.array(subject.values)[:, None] == np.arange(device.num_categories)
        stated = np.where(held, keep[:, None, None], flip[:, None, None])
    off = float(np.abs(found - stated).max())
    return ConformanceFinding(
        ABOUT,
        f"chances of support differ from the stated densities by {off:.2g}.",
        off <= _ROUNDING,
    )


def _numbers(subject: DistributionTable) -> Iterator[ConformanceFinding]:
    device = subject.randomizer
    numbers = device.decode(subject.messages)
    values = np.array(subject.values, dtype=np.float64)
    mean, variance = device.moments(np.array(subject.levels), values)
    exact = subject.table @ numbers
    spread = np.sum(subject.table * (numbers - exact[..., None]) ** 2, axis=2)
    width = float(device.high) - float(device.low)
    off = float(np.abs(exact - mean).max()) / width
    scale = variance + width**2
    more = float((np.abs(spread - variance) / scale).max())
    yield ConformanceFinding(
        ABOUT,
        f"exact means differ from the stated ones by {off:.2g} of the range, variances by "
        f"{more:.2g}.",
        off <= _GRID and more <= _GRID,
    )
    bend = _bend(exact, values) / width
    if device.unbiased:
        yield ConformanceFinding(
            ABOUT,
            f"means of messages are off a straight line of the values by {bend:.2g} of "
            "the range.",
            bend <= _GRID,
        )


def _bend(exact: Floats, values: Floats) -> float:
    """Returns how far means are off the line through those of the two ends."""
    share = (values - values[0]) / (values[-1] - values[0])
    line = exact[:, :1] + (exact[:, -1:] - exact[:, :1]) * share
    return float(np.abs(exact - line).max())


def _reports(subject: DistributionTable, *, rng: Rng) -> Iterator[ConformanceFinding]:
    """Checks whole reports of bits."""
    about, device = "messages", subject.randomizer
    width = round(device.bits_per_person(np.array(subject.levels)))
    bits = rng.integers(0, 2, size=_REPORTS * width).reshape(_REPORTS, width)
    if not _accepts(device, bits):
        yield ConformanceFinding(about, "it refuses reports that it may send.", False)
        return
    foreign: dict[str, Any] = {
        "longer reports": np.zeros((2, width + 1), dtype=np.int64),
        "a 2 for a bit": bits + 1,
        "numbers that are not whole": bits / 2.0,
    }
    for name, wrong in foreign.items():
        if _accepts(device, wrong):
            yield ConformanceFinding(
                about, f"it accepts {name}, which it never sends.", False
            )
            return
    yield ConformanceFinding(
        about,
        f"reports are accepted, {len(foreign)} kinds of others are refused.",
        True,
    )


def _foreign(device: Any, sent: Any) -> dict[str, Any]:
    """Returns things that are no messages."""
    found: dict[str, Any] = {
        "numbers that are not whole": np.asarray(sent[:2], dtype=np.float64) + 0.5,
        "lists in lists": np.zeros((2, 3, 4), dtype=np.int64),
    }
    beyond = int(getattr(device, "cells_beyond", 0))
    if not beyond:
        largest, smallest = int(np.max(sent)), int(np.min(sent))
        found["a message below the smallest"] = np.full_like(
            sent[:1], smallest - 1, dtype=np.int64
        )
        found["a message beyond the largest"] = np.full_like(
            sent[:1], largest + 1, dtype=np.int64
        )
    return found


def _accepts(device: Any, wanted: Any) -> bool:
    try:
        device.check_messages(wanted)
    except InvalidInputError:
        return False
    return True
