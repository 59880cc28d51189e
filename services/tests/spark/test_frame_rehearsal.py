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
    people = named(table(20_000))
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
