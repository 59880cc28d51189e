"""Frames of a real Spark: many workers give the results of one process, bit for bit."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from spark_frames import CONNECT, PEOPLE, SECRET, framed, started, table

import shuffledp as sdp
from shuffledp.errors import (
    InvalidInputError,
    MissingValueError,
    PopulationError,
    ShuffledpError,
)
from shuffledp.statistics.items.protocol import Items
from shuffledp_services import spark as frames

# Starting the engine alone takes as long as many other tests; pandas 3 is warned of.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module", params=["local[2, 4]", CONNECT])
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    with started(request.param) as session:
        yield session


def sent(frame: DataFrame, protocol: Any, value: str, **changed: Any) -> DataFrame:
    named = {"person": "id", "value": value, "level": "level", "secret": SECRET}
    return frames.randomize(frame, protocol, **(named | changed))


PROTOCOLS = [
    (sdp.Frequency(5), "answer"),
    (sdp.Frequency(5, mode="stratified"), "answer"),
    (sdp.Frequency(5, randomizer=sdp.SubsetSelection(5, 2)), "answer"),
    (sdp.Frequency(5, randomizer=sdp.UnaryEncoding(5)), "answer"),
    (sdp.Frequency(5, randomizer=sdp.LocalHashing(5, 3)), "answer"),
    (sdp.Mean(0, 1), "amount"),
    (sdp.Mean(0, 1, randomizer=sdp.Laplace(0, 1)), "amount"),
]


@pytest.mark.parametrize(("protocol", "value"), PROTOCOLS, ids=repr)
def test_many_workers_count_what_one_process_counts_of_the_same_messages(
    spark: SparkSession, protocol: Any, value: str
) -> None:
    frame = sent(framed(spark, table()), protocol, value)
    rows = frame.toArrow()
    column = frames.message_column.MessageColumn.of(protocol)
    messages = column.read(rows.column("message").combine_chunks())
    levels = rows.column("level").to_numpy()

    counted = frames.tally(frame, protocol)

    seen = sdp.ShuffledReports(protocol.identity, messages, levels, column.arrangement)
    assert counted == protocol.tally(seen)
    again = sent(framed(spark, table(), parts=3).orderBy("amount"), protocol, value)
    assert frames.tally(again, protocol) == counted


def test_other_names_secrets_and_protocols_have_other_coins(
    spark: SparkSession,
) -> None:
    protocol = sdp.Frequency(5)
    frame = framed(spark, table())
    tallies = [
        frames.tally(sent(frame, protocol, "answer", **changed), protocol)
        for changed in ({}, {}, {"person": "name"}, {"secret": bytes(32)})
    ]

    assert tallies[0] == tallies[1]
    assert tallies[0] != tallies[2] != tallies[3] != tallies[0]


def test_sets_of_items_are_counted_and_estimated(spark: SparkSession) -> None:
    rng = np.random.default_rng(3)
    sets = np.argsort(rng.random((PEOPLE, 6)), axis=1)[:, :2]
    people = pl.DataFrame(
        {
            "id": np.arange(PEOPLE),
            "items": sets.tolist(),
            "level": rng.choice([1.0, 3.0], PEOPLE),
        }
    )
    protocol = Items(6, 2, (1.0, 3.0), (0.4, 0.9), 1.5, 6)

    counted = frames.tally(sent(framed(spark, people), protocol, "items"), protocol)

    crowd = sdp.Population.from_budgets(people["level"].to_numpy())
    found = protocol.estimate(counted, crowd)
    truth = np.bincount(sets.ravel(), minlength=6) / PEOPLE
    # Six numbers: a false alarm in 4e-6 of all seeds, which are fixed.
    assert np.all(np.abs(found.value - truth) < 5.0 * found.standard_error)


def test_a_questionnaire_is_counted_estimated_and_certified(
    spark: SparkSession,
) -> None:
    rng, count = np.random.default_rng(5), 5_000
    age = [None if skips else a for a, skips in zip(
        rng.uniform(0.0, 100.0, count).tolist(), rng.random(count) < 0.3, strict=True
    )]  # fmt: skip
    people = pl.DataFrame(
        {
            "id": np.arange(count),
            "way": rng.integers(-1, 3, count),
            "age": age,
            "who": np.column_stack([rng.integers(-1, 2, (count, 2))]).tolist(),
            "level": rng.choice([1.0, 2.0], count),
        }
    )
    questions = (
        sdp.ChoiceQuestion("How?", ("bus", "car", "tram")),
        sdp.NumberQuestion("age", 0, 100, digits=3, skippable=True),
        sdp.TableQuestion("who", {"sex": ("f", "m"), "home": ("city", "land")}),
    )
    noise = tuple(sdp.PoissonNoise(80.0) for _ in range(5))
    asked = sdp.Questionnaire(questions, noise, (1.0, 2.0), (1.0, 1.0), count, 24)
    columns = {"age": "age", "How?": "way", "who": "who"}
    frame = framed(spark, people)

    messages = frames.randomize(
        frame, asked, person="id", value=columns, level="level", secret=SECRET
    )
    counted = frames.tally(messages, asked)

    assert messages.columns == ["message"]
    crowd = frames.population(frame, "level")
    found = asked.estimate(counted, crowd)
    truths: dict[str, Any] = {
        "How?": np.bincount(people["way"] + 1, minlength=4)[1:],
        "age": [people["age"].mean()],
        "who": [
            sum(cell == who for who in people["who"].to_list())
            for cell in ([0, 0], [0, 1], [1, 0], [1, 1])
        ],
    }
    for name, truth in truths.items():
        assert np.all(
            np.abs(found[name].value - truth) < 5.0 * found[name].standard_error
        )
    spread = frames.account(frame, asked, budget="level", delta=1e-6)
    assert spread.to_dict() == sdp.account(asked, crowd, delta=1e-6).to_dict()
    again = frames.randomize(
        framed(spark, people, parts=3).orderBy("age"),
        asked,
        person="id",
        value=columns,
        level="level",
        secret=SECRET,
    )
    assert frames.tally(again, asked) == counted
    with pytest.raises(InvalidInputError, match="a column for each question"):
        sent(frame, asked, "way")
    needed = sdp.Questionnaire(
        (sdp.NumberQuestion("age", 0, 100, digits=3),), noise[:3], (1.0, 2.0),
        (1.0, 1.0), count, 8,
    )  # fmt: skip
    with pytest.raises(ShuffledpError, match="age: Expected numbers"):
        frames.tally(
            frames.randomize(
                frame, needed, person="id", value={"age": "age"}, level="level",
                secret=SECRET,
            ),
            needed,
        )  # fmt: skip


def test_estimates_are_of_the_truth_and_certified_for_the_people(
    spark: SparkSession,
) -> None:
    people, protocol = table(), sdp.Frequency(5)
    frame = framed(spark, people)

    crowd = frames.population(frame, "level")
    found = protocol.estimate(
        frames.tally(sent(frame, protocol, "answer"), protocol), crowd
    )

    own = sdp.Population.from_budgets(people["level"].to_numpy())
    assert (crowd.epsilons.tolist(), crowd.counts.tolist()) == (
        own.epsilons.tolist(),
        own.counts.tolist(),
    )
    truth = np.bincount(people["answer"], minlength=5) / PEOPLE
    assert np.all(np.abs(found.value - truth) < 5.0 * found.standard_error)
    spread = sdp.account(protocol, crowd, delta=1e-6)
    assert spread.to_dict() == sdp.account(protocol, own, delta=1e-6).to_dict()


def test_hundreds_of_thousands_of_budgets_are_certified_as_in_one_process(
    spark: SparkSession,
) -> None:
    budgets = np.random.default_rng(4).uniform(0.1, 3.0, 200_000)
    frame = framed(spark, pl.DataFrame({"budget": budgets}))

    found = frames.account(frame, sdp.Frequency(4), budget="budget", delta=1e-6)

    own = sdp.Population.from_budgets(budgets)
    # The digest of all budgets and counts stands in it, too.
    assert found.to_dict() == sdp.account(sdp.Frequency(4), own, delta=1e-6).to_dict()


def test_budgets_are_those_of_a_table_however_they_are_written(
    spark: SparkSession,
) -> None:
    texts = pl.DataFrame({"budget": ["0.1", " 1.0", "1", "2e0"]})
    single = texts.select(pl.Series("budget", [0.1, 1, 1, 2], pl.Float32))

    for people in (texts, single):
        crowd = frames.population(framed(spark, people, parts=2), "budget")

        # Single precision has no 0.1: it stands for the decimal.
        assert crowd.epsilons.tolist() == [0.1, 1.0, 2.0]
        assert crowd.counts.tolist() == [1, 2, 1]
    gaps = texts.with_columns(pl.Series("budget", ["1", "NA", "nan", ""]))
    with pytest.raises(MissingValueError, match="found none in 3 of them"):
        frames.population(framed(spark, gaps, parts=2), "budget")


@pytest.mark.parametrize("work", ["randomize", "tally", "account"])
def test_a_killed_worker_changes_nothing(
    spark: SparkSession, tmp_path: Path, work: str
) -> None:
    protocol, frame = sdp.Frequency(5), framed(spark, table(), parts=8)

    def found(people: DataFrame, messages: DataFrame) -> Any:
        if work == "account":
            asked = frames.account(people, protocol, budget="level", delta=1e-6)
            return asked.to_dict()
        return frames.tally(messages, protocol)

    expected = found(frame, sent(frame, protocol, "answer"))
    killed = tmp_path / "killed"

    def dies_once(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    if work != "tally":
        frame = frame.mapInArrow(dies_once, frame.schema)
        messages = sent(frame, protocol, "answer")
    else:
        messages = sent(frame, protocol, "answer")
        messages = messages.mapInArrow(dies_once, messages.schema)

    assert found(frame, messages) == expected
    assert killed.exists()


@pytest.mark.parametrize(
    ("column", "entry", "said"),
    [
        ("answer", 7, "integers in"),
        ("answer", None, "a value in every row"),
        ("level", -1.0, "budget"),
        ("level", float("nan"), "budget"),
        ("level", None, "a value in every row"),
        ("id", None, "name its person"),
    ],
)
def test_a_wrong_row_ends_the_job(
    spark: SparkSession, column: str, entry: object, said: str
) -> None:
    people = table(100)
    wrong = pl.Series(column, [entry, *people[column].to_list()[1:]])
    frame = framed(spark, people.with_columns(wrong))

    with pytest.raises(ShuffledpError, match=said):
        frames.tally(sent(frame, sdp.Frequency(5), "answer"), sdp.Frequency(5))


def test_what_cannot_be_meant_is_refused_before_any_work(spark: SparkSession) -> None:
    frame, protocol = framed(spark, table(100)), sdp.Frequency(5)

    with pytest.raises(InvalidInputError, match="one column 'nobody' with values"):
        sent(frame, protocol, "nobody")
    with pytest.raises(InvalidInputError, match="whole numbers, texts or bytes"):
        sent(frame, protocol, "answer", person="amount")
    with pytest.raises(InvalidInputError, match="secret of at least 16 bytes"):
        sent(frame, protocol, "answer", secret=b"short")
    with pytest.raises(InvalidInputError, match="no cohorts"):
        sent(frame, sdp.Strings(16, 2, num_cohorts=4), "name")
    with pytest.raises(InvalidInputError, match="messages as bigint, got string"):
        frames.tally(frame.select("level", f.col("name").alias("message")), protocol)
    nobody = sent(frame.filter("id < 0"), protocol, "answer")
    with pytest.raises(InvalidInputError, match="at least one message"):
        frames.tally(nobody, protocol)
    with pytest.raises(PopulationError):
        frames.population(frame.filter("id < 0"), "level")
    with pytest.raises(MissingValueError, match="a budget in every row"):
        frames.population(frame.withColumn("level", f.lit(None)), "level")
