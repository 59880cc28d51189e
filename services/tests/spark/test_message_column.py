"""Messages of protocols of several answers, as executors write and read them."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="Needs the extra spark.")

import pyarrow as pa

import shuffledp as sdp
from shuffledp.errors import InvalidInputError, MissingValueError
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
        [
            np.zeros(NUM_USERS, int),
            np.full(NUM_USERS, -1),
            rng.integers(0, 2, NUM_USERS),
        ]
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


QUESTIONS = (
    sdp.ChoiceQuestion("papers", ("a", "b", "c"), most=2),
    sdp.NumberQuestion("age", 0, 100, digits=3, skippable=True),
    sdp.TableQuestion("who", {"sex": ("f", "m"), "home": ("city", "land", "sea")}),
)
NOISE = tuple(sdp.PoissonNoise(60.0) for _ in range(5))
ASKED = sdp.Questionnaire(
    QUESTIONS, NOISE, (0.5, 1.0), (1.0, 1.0), NUM_USERS, report_size=14
)


def known_answers(rng: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    age = rng.uniform(0.0, 100.0, NUM_USERS)
    age[::4] = np.nan
    papers = np.argsort(rng.random((NUM_USERS, 4)), axis=1)[:, :2] - 1
    home = rng.integers(-1, 3, NUM_USERS)
    who = np.column_stack([rng.integers(-1, 2, NUM_USERS), home])
    return {"papers": papers, "age": age, "who": who}


def test_questionnaires_are_randomized_in_parts_and_tallied() -> None:
    answers = known_answers(np.random.default_rng(2))
    people, levels = pa.array(np.arange(NUM_USERS)), np.full(NUM_USERS, 0.5)
    levels[::2] = 1.0
    randomizer = FrameRandomizer.of(ASKED, bytes(range(32)))

    messages = randomizer.messages(people, answers, levels)
    half = NUM_USERS // 3
    parts = [
        randomizer.messages(
            people[part],
            {name: column[part] for name, column in answers.items()},
            levels[part],
        )
        for part in (slice(0, half), slice(half, NUM_USERS))
    ]
    spelled = {
        **answers,
        "age": np.where(np.isnan(answers["age"]), -np.nan, answers["age"]),
    }
    again = randomizer.messages(people, spelled, levels)
    read = randomizer.column.read(randomizer.column.written(messages))

    assert not randomizer.column.levels
    np.testing.assert_array_equal(np.concatenate(parts), messages)
    np.testing.assert_array_equal(read, messages)
    np.testing.assert_array_equal(again, messages)
    tally = ASKED.tally(ShuffledReports(ASKED.identity, read, None, "pool"))
    crowd = sdp.Population.from_counts({0.5: NUM_USERS // 2, 1.0: NUM_USERS // 2})
    estimate = ASKED.estimate(tally, crowd)
    cells = np.bincount((answers["who"] + 1) @ [4, 1], minlength=12)
    truths: dict[str, Any] = {
        "papers": np.bincount(answers["papers"].ravel() + 1, minlength=4)[1:],
        "age": [np.nanmean(answers["age"])],
        "who": cells.reshape(3, 4)[1:, 1:].ravel(),
    }
    for name, truth in truths.items():
        found = estimate[name]
        assert np.all(np.abs(found.value - truth) <= 5.0 * found.standard_error)


def test_a_questionnaire_needs_a_column_of_numbers_for_each_question() -> None:
    randomizer = FrameRandomizer.of(ASKED, bytes(range(32)))
    columns = {"papers": "p", "age": "a", "who": "w"}

    named = randomizer.value_columns(dict(reversed(columns.items())))

    assert list(named.items()) == [
        ("answer to papers", "p"),
        ("answer to age", "a"),
        ("answer to who", "w"),
    ]
    wrong: list[Any] = [
        "p",
        {},
        {"papers": "p"},
        {**columns, "x": "x"},
        ["p", "a", "w"],
    ]
    for value in wrong:
        with pytest.raises(InvalidInputError, match="by its name: papers, age, who"):
            randomizer.value_columns(value)
    other = FrameRandomizer.of(sdp.Frequency(3), bytes(range(32)))
    with pytest.raises(InvalidInputError, match="there are none"):
        other.value_columns(columns)


@pytest.mark.parametrize(
    ("column", "error", "why"),
    [
        (pa.array(["a", "b"]), InvalidInputError, "positions of options"),
        (pa.array([[0, 1], None]), MissingValueError, "'answer to papers'"),
        (pa.array([[0, 1], [0]]), InvalidInputError, "one length"),
        (pa.array([[0, 9], [0, 1]]), InvalidInputError, "papers: Expected positions"),
    ],
)
def test_other_answers_end_the_job(
    column: Any, error: type[Exception], why: str
) -> None:
    randomizer = FrameRandomizer.of(ASKED, bytes(range(32)))
    batch = pa.RecordBatch.from_pydict(
        {
            "person": pa.array([1, 2]),
            "answer to papers": column,
            "answer to age": pa.array([1.0, None]),
            "answer to who": pa.array([[0, 1], [2, 2]]),
            "level": pa.array([0.5, 1.0]),
        }
    )

    with pytest.raises(error, match=why):
        list(randomizer.run(iter([batch])))


def test_sizes_that_vary_have_no_column() -> None:
    loose = sdp.Questionnaire(QUESTIONS, NOISE, (0.5,), (1.0,), NUM_USERS)

    with pytest.raises(InvalidInputError, match="reports have one size"):
        FrameRandomizer.of(loose, bytes(range(32)))
