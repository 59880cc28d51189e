"""Comparison of declared moments and densities with exact ones, and message validation."""

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
# Bound on the rounding error of sums of doubles and of truncated tails; the second one
# allows for the moments of noise on a grid, which differ from those of continuous noise.
_ROUNDING, _GRID = 1e-9, 1e-6
_NUM_DRAWS, _NUM_REPORTS = 4_000, 100


def check_estimator(
    distributions: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Compares exact expectations with the densities or moments that estimates use."""
    device = distributions.randomizer
    if isinstance(device, FrequencyOracle):
        stated = _check_support(distributions)
        yield stated
        if stated.holds:
            yield check_aggregate_support(distributions, rng=rng)
    elif isinstance(device, NumberRandomizer):
        yield from _check_moments(distributions)
        yield check_unit(distributions)
        yield check_aggregate_sums(distributions, rng=rng)
    else:
        yield ConformanceFinding(
            ABOUT, "it estimates neither categories nor numbers.", None
        )


def check_message_validation(
    distributions: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Checks that valid messages are accepted, and foreign ones refused."""
    about, device = "messages", distributions.randomizer
    if not hasattr(device, "check_messages"):
        yield ConformanceFinding(about, "it checks no messages.", None)
        return
    if distributions.one_coordinate:
        yield from _check_reports(distributions, rng=rng)
        return
    values = np.tile(
        np.array(distributions.values), _NUM_DRAWS // len(distributions.values) + 1
    )
    sent_messages = device.randomize(
        values, np.full(values.size, distributions.levels[-1]), rng=rng
    )
    # Rare messages may be missing among those drawn, so that all are tried, too.
    for valid in (sent_messages, distributions.messages):
        if not _accepts(device, valid):
            yield ConformanceFinding(
                about, "it refuses messages that it sends itself.", False
            )
            return
    foreign = _foreign_messages(device, distributions.messages)
    for name, wrong in foreign.items():
        if _accepts(device, wrong):
            yield ConformanceFinding(
                about, f"it accepts {name}, which it never sends.", False
            )
            return
    yield ConformanceFinding(
        about,
        f"{len(distributions.messages):,} messages are accepted, {len(foreign)} kinds of "
        "others are refused.",
        True,
    )
    if hasattr(device, "decode"):
        numbers = device.decode(distributions.messages)
        # Estimates add up messages before they are decoded, so decode must be affine.
        line = np.polyfit(distributions.messages[[0, -1]], numbers[[0, -1]], 1)
        curvature = float(
            np.abs(np.polyval(line, distributions.messages) - numbers).max()
        )
        size = max(float(np.abs(numbers).max()), 1e-300)
        yield ConformanceFinding(
            about,
            f"decode is off a straight line by {curvature / size:.2g} of its largest "
            "number.",
            curvature <= _ROUNDING * size,
        )


def _check_support(distributions: DistributionTable) -> ConformanceFinding:
    device = distributions.randomizer
    try:
        keep, flip = device.densities(np.array(distributions.levels))
    except InvalidInputError as error:
        return ConformanceFinding(ABOUT, f"it is not a frequency oracle: {error}", None)
    if distributions.one_coordinate:
        probabilities = np.stack(
            [
                distributions.probabilities[:, 0, 1],
                distributions.probabilities[:, 1, 1],
            ],
            axis=1,
        )
        stated = np.stack([keep, flip], axis=1)
    else:
        size = len(distributions.messages)
        groups = np.arange(size)
        support = device.support_counts(distributions.messages, groups, size)
        probabilities = distributions.probabilities @ support.astype(np.float64)
        is_held = np.array(distributions.values)[:, None] == np.arange(
            device.num_categories
        )
        stated = np.where(is_held, keep[:, None, None], flip[:, None, None])
    deviation = float(np.abs(probabilities - stated).max())
    return ConformanceFinding(
        ABOUT,
        f"probabilities of support differ from the stated densities by {deviation:.2g}.",
        deviation <= _ROUNDING,
    )


def _check_moments(distributions: DistributionTable) -> Iterator[ConformanceFinding]:
    device = distributions.randomizer
    numbers = device.decode(distributions.messages)
    values = np.array(distributions.values, dtype=np.float64)
    mean, variance = device.moments(np.array(distributions.levels), values)
    exact = distributions.probabilities @ numbers
    exact_variance = np.sum(
        distributions.probabilities * (numbers - exact[..., None]) ** 2, axis=2
    )
    width = float(device.high) - float(device.low)
    deviation = float(np.abs(exact - mean).max()) / width
    # Relative to the variance, but not where that is small against the range.
    scale = variance + width**2
    variance_deviation = float((np.abs(exact_variance - variance) / scale).max())
    yield ConformanceFinding(
        ABOUT,
        f"exact means differ from the stated ones by {deviation:.2g} of the range, "
        f"variances by {variance_deviation:.2g}.",
        deviation <= _GRID and variance_deviation <= _GRID,
    )
    curvature = _curvature(exact, values) / width
    # Clipped noise is biased: its means need not be on a line.
    if device.unbiased:
        yield ConformanceFinding(
            ABOUT,
            f"means of messages are off a straight line of the values by {curvature:.2g} "
            "of the range.",
            curvature <= _GRID,
        )


def _curvature(exact: Floats, values: Floats) -> float:
    """Returns the largest distance of means from the line through the two end points."""
    share = (values - values[0]) / (values[-1] - values[0])
    line = exact[:, :1] + (exact[:, -1:] - exact[:, :1]) * share
    return float(np.abs(exact - line).max())


def _check_reports(
    distributions: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Checks the validation of whole reports of bits."""
    about, device = "messages", distributions.randomizer
    width = round(device.bits_per_person(np.array(distributions.levels)))
    bits = rng.integers(0, 2, size=_NUM_REPORTS * width).reshape(_NUM_REPORTS, width)
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


def _foreign_messages(device: Any, messages: Any) -> dict[str, Any]:
    """Returns inputs that are not messages of this device, by description."""
    foreign: dict[str, Any] = {
        "numbers that are not whole": np.asarray(messages[:2], dtype=np.float64) + 0.5,
        "lists in lists": np.zeros((2, 3, 4), dtype=np.int64),
    }
    # Unbounded noise has no smallest and no largest message.
    cells_beyond = int(getattr(device, "cells_beyond", 0))
    if not cells_beyond:
        largest_message, smallest_message = int(np.max(messages)), int(np.min(messages))
        foreign["a message below the smallest"] = np.full_like(
            messages[:1], smallest_message - 1, dtype=np.int64
        )
        foreign["a message beyond the largest"] = np.full_like(
            messages[:1], largest_message + 1, dtype=np.int64
        )
    return foreign


def _accepts(device: Any, messages: Any) -> bool:
    try:
        device.check_messages(messages)
    except InvalidInputError:
        return False
    return True
