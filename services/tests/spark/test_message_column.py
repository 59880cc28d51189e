"""Messages of protocols of several answers, as executors write and read them."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="Needs the extra spark.")

import pyarrow as pa

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.reports import ShuffledReports
from shuffledp_services.spark.frame_randomizer import FrameRandomizer
from shuffledp_services.spark.message_column import MessageColumn

NUM_USERS = 2_000
GROUPS = (
    sdp.CountGroup(4, 2, sdp.PoissonNoise(60.0)),
    sdp.CountGroup(2, 1, sdp.PoissonNoise(40.0)),
)


def test_counts_are_randomized_in_parts_and_tallied() -> None:
    counts = sdp.Counts(GROUPS, (0.5, 1.0), (1.0, 1.0), NUM_USERS, report_size=12)
    rng = np.random.default_rng(2)
    answers = np.column_stack(
        [np.zeros(NUM_USERS, int), np.full(NUM_USERS, 4), rng.integers(0, 2, NUM_USERS)]
    )
    people, levels = pa.array(np.arange(NUM_USERS)), np.full(NUM_USERS, 0.5)
    randomizer = FrameRandomizer.of(counts, bytes(range(32)))

    messages = randomizer.messages(people, answers, levels)
    half = NUM_USERS // 2
    parts = [
        randomizer.messages(people[part], answers[part], levels[part])
        for part in (slice(0, half), slice(half, NUM_USERS))
    ]
    read = randomizer.column.read(randomizer.column.written(messages))

    assert not randomizer.column.levels
    np.testing.assert_array_equal(np.concatenate(parts), messages)
    np.testing.assert_array_equal(read, messages)
    tally = counts.tally(ShuffledReports(counts.identity, read, None, "pool"))
    plus = tally.counts[0, 0, ::2]
    held = [NUM_USERS, 0, 0, 0, *np.bincount(answers[:, 2])]
    noise = plus - held
    mean = np.repeat([60.0, 40.0], [4, 2])
    # Seven standard deviations of Poisson numbers.
    assert np.all(np.abs(noise - mean) <= 7.0 * np.sqrt(mean))


def test_reports_without_noise_of_their_own_have_no_column() -> None:
    group = sdp.CountGroup(4, 1, sdp.ShufflerNoise(0.6, dummies=40))
    counts = sdp.Counts((group,), (1.0,), (1.0,), honest=1)

    with pytest.raises(InvalidInputError, match="noise devices add"):
        MessageColumn.of(counts)
    with pytest.raises(InvalidInputError, match="noise devices add"):
        FrameRandomizer.of(counts, bytes(range(32)))


def test_reports_of_varying_size_have_no_column() -> None:
    counts = sdp.Counts(GROUPS, (1.0,), (1.0,), NUM_USERS)

    with pytest.raises(InvalidInputError, match="one size"):
        MessageColumn.of(counts)
