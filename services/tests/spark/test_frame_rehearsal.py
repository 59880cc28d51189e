"""A collection over frames agrees with one process, except for the random draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

from pyspark.sql import SparkSession
from spark_frames import SECRET, framed, started, table

import shuffledp as sdp
from shuffledp.errors import InvalidInputError, MissingValueError
from shuffledp.statistics.questionnaire.rehearsed.column_kinds import columns_of
from shuffledp_services import spark as frames

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
NAMES = ("ant", "bee", "cat", "dog", "NA")
WHERE: dict[str, Any] = {"person": "id", "level": "level", "delta": 1e-6}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with started() as session:
        yield session


def named(people: pl.DataFrame) -> pl.DataFrame:
    texts = pl.Series("animal", [f" {NAMES[place]}" for place in people["answer"]])
    bits = pl.Series("bit", (people["answer"] == 1).cast(pl.Int64))
    return people.with_columns(texts, bits)


@pytest.mark.parametrize(
    ("protocol", "value", "read", "names"),
    [
        (sdp.Frequency(5), "animal", "answer", NAMES),
        (sdp.Mean(0, 2, mode="stratified"), "amount", "amount", None),
        (sdp.BinarySum(), "bit", "bit", None),
    ],
    ids=["frequency", "mean", "sum"],
)
def test_a_rehearsal_says_what_its_parts_say(
    spark: SparkSession, protocol: Any, value: str, read: str, names: Any
) -> None:
    people = named(table(5_000))
    frame = framed(spark, people)

    found = frames.rehearse(
        frame, protocol, value=value, names=names, secret=SECRET, **WHERE
    ).summary

    crowd = sdp.Population.from_budgets(people["level"].to_numpy())
    sent = frames.randomize(
        frame, protocol, person="id", value=read, level="level", secret=SECRET
    )
    expected = protocol.estimate(frames.tally(sent, protocol), crowd)
    assert found.rows[0].estimate == np.atleast_1d(expected.value)[0]
    own = sdp.account(protocol, crowd, delta=1e-6)
    assert found.guarantee.to_dict() == own.to_dict()
    truth = people[value].mean() if names is None else None
    shares = np.bincount(people["answer"], minlength=5) / people.height
    exact = {"mean": truth, "sum": people["bit"].sum(), "frequency": shares[0]}
    # A mean is added up in steps of 1e-12 of its range.
    assert found.rows[0].truth == pytest.approx(exact[found.words.name], abs=2e-12)


def test_what_cannot_be_rehearsed_is_said_in_a_sentence(spark: SparkSession) -> None:
    people = named(table(100))
    frame = framed(spark, people, parts=2)

    with pytest.raises(InvalidInputError, match="frequency, mean or sum on Spark"):
        frames.rehearse(frame, sdp.Strings(16, 2), value="animal", **WHERE)
    other = {"value": "animal", "names": ("ant", "bee", "cat", "dog", "fox"), **WHERE}
    with pytest.raises(MissingValueError, match=r"found none in \d+ of 100 rows"):
        frames.rehearse(frame, sdp.Frequency(5), **other)
    eels = framed(spark, people.with_columns(animal=pl.lit("eel")), parts=2)
    with pytest.raises(InvalidInputError, match="one of the 5 categories"):
        frames.rehearse(eels, sdp.Frequency(5), **other)


QUESTIONS: tuple[Any, ...] = (
    sdp.ChoiceQuestion("way", ("bus", "car", "tram")),
    sdp.ChoiceQuestion("pets", ("ant", "bee", "cat"), most=2),
    sdp.NumberQuestion("age", 0, 100, digits=3, skippable=True),
    sdp.DistributionQuestion("hours", tuple(range(0, 21, 5)), fan_out=2),
    sdp.GroupMeanQuestion("pay", ("f", "m"), 0, 10, digits=2),
)


def asked_of(questions: tuple[Any, ...], count: int) -> sdp.Questionnaire:
    groups = [group for question in questions for group in question.groups]
    noise = tuple(sdp.PoissonNoise(80.0) for _ in groups)
    return sdp.Questionnaire(questions, noise, (1.0, 2.0), (1.0, 1.0), count, 40)


def answers(count: int) -> pl.DataFrame:
    rng = np.random.default_rng(6)
    pets = np.array([[0, 1], [2, -1], [-1, -1], [1, 2]])[rng.integers(0, 4, count)]
    pay = [rng.integers(-1, 2, count), rng.uniform(0.0, 10.0, count)]
    age = rng.uniform(0.0, 100.0, count)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "way": rng.integers(-1, 3, count),
            "pets": pets.tolist(),
            "age": [None if a < 20.0 else a for a in age.tolist()],
            "hours": rng.uniform(0.0, 20.0, count),
            "pay": np.stack(pay, axis=1).tolist(),
            "level": rng.choice([1.0, 2.0], count),
        }
    )


def test_a_rehearsed_questionnaire_says_what_its_parts_say(spark: SparkSession) -> None:
    count = 5_000
    people, asked = answers(count), asked_of(QUESTIONS, count)
    frame, columns = framed(spark, people), {q.name: q.name for q in QUESTIONS}

    result = frames.rehearse(frame, asked, value=columns, secret=SECRET, **WHERE)

    sent = frames.randomize(
        frame, asked, person="id", value=columns, level="level", secret=SECRET
    )
    crowd = sdp.Population.from_budgets(people["level"].to_numpy())
    expected = asked.estimate(frames.tally(sent, asked), crowd)
    own = sdp.account(asked, crowd, delta=1e-6)
    assert result.summary.guarantee.to_dict() == own.to_dict()
    for name, estimate in result.summary.estimates.items():
        assert np.array_equal(estimate.value, expected[name].value)
    known = {
        name: columns_of([question], {})[0]
        for name, question in zip(columns, QUESTIONS, strict=True)
    }
    truths = [
        (row.name, row.truth)
        for name, each in known.items()
        for section in each.sections(
            expected[name], each.truth(encoded(people[name])), 0.95
        )
        for row in section.rows
    ]
    assert [row.name for row in result.summary.rows] == [name for name, _ in truths]
    for row, (name, truth) in zip(result.summary.rows, truths, strict=True):
        # Counts of ranges do not tell quantiles.
        unknown = name.endswith("of people are below")
        # Numbers are added up in steps of 1e-12 of their range.
        wanted = None if unknown else pytest.approx(truth, abs=1e-10)
        assert row.truth == wanted
    assert "way" in str(result)


def encoded(column: pl.Series) -> Any:
    if column.dtype == pl.List:
        return np.array(column.to_list())
    return (
        column.to_numpy().reshape(-1, 1) if column.name == "way" else column.to_numpy()
    )


def test_questions_whose_truth_does_not_add_up_are_refused(spark: SparkSession) -> None:
    people = answers(100)
    table_of = sdp.TableQuestion("who", {"sex": ("f", "m"), "home": ("city", "land")})
    frame = framed(spark, people, parts=2)

    with pytest.raises(InvalidInputError, match="TableQuestion 'who': rehearse it in"):
        frames.rehearse(
            frame, asked_of((table_of,), 100), value={"who": "pets"}, **WHERE
        )
    asked = asked_of(QUESTIONS[:1], 100)
    with pytest.raises(InvalidInputError, match="no names with a questionnaire"):
        frames.rehearse(frame, asked, value={"way": "way"}, names=("a",), **WHERE)
    with pytest.raises(InvalidInputError, match="a column for each question"):
        frames.rehearse(frame, asked, value="way", **WHERE)
    with pytest.raises(InvalidInputError, match="one column of values"):
        frames.rehearse(frame, sdp.Frequency(4), value={"way": "way"}, **WHERE)
