"""`--spark URL`: the same tables, read and counted by a real Spark."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command

pytest.importorskip("pyspark", reason="Needs the extra spark.")

import spark_frames  # noqa: F401 - skips where Java is missing, and configures engines.

from shuffledp_services.analyst.shard_opening import open_on_all_cores
from shuffledp_services.commands import spark
from shuffledp_services.spark.opening import OpenOnSpark

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
SPARK = ("--spark", "local[2]")


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    n, rng = 2_000, np.random.default_rng(8)
    path = tmp_path / "survey.csv"
    values = rng.choice(["yes", " no", 'per"haps; x'], n)
    levels = rng.choice([0.5, 1.0], n).astype(object)
    levels[:3] = "NA"
    table = pl.DataFrame({"answer": values, "level": [str(one) for one in levels]})
    table.write_csv(path, separator=";")
    return path


def test_estimate_says_the_same_of_people_and_promises(
    command: Command, survey: Path
) -> None:
    asked = ("estimate", str(survey), "--value", "answer", "--level", "level")
    rest = ("--missing", "drop", "--json", "--seed", "1")

    own = command(*asked, *rest).json()
    found = command(*asked, *rest, *SPARK)

    assert found.err == ""
    result = found.json()
    assert result["guarantee"] == own["guarantee"]
    truths = [
        {row["category"]: row["truth"] for row in each["estimates"]}
        for each in (own, result)
    ]
    assert truths[0] == truths[1]
    assert result["dependence"] == own["dependence"]
    trimmed, left_out = result["caveats"][-2:]
    assert trimmed in own["caveats"]
    assert left_out in own["caveats"]
    assert command(*asked, *rest, *SPARK).json() == result


def test_account_says_the_same_to_the_last_digit(
    command: Command, survey: Path
) -> None:
    # The engine may have been started in another folder: whole paths.
    path = survey.with_name("levels.parquet")
    table = pl.read_csv(survey, separator=";").filter(pl.col("level") != "NA")
    table.with_columns(pl.col("level").cast(pl.Float64)).write_parquet(path)
    asked = ("account", "--categories", "4", "--delta", "1e-6", "--json")
    file = ("--budgets", str(path), "--column", "level")

    own, found = command(*asked, *file), command(*asked, *file, *SPARK)

    assert found.json() == own.json()


def test_what_goes_wrong_is_said_in_one_line(command: Command, survey: Path) -> None:
    asked = ("estimate", str(survey), "--value", "answer", "--level")
    path = survey.with_name("long.csv")
    path.write_text("answer,level\nyes,1\nno,1,surprise\n")
    long = ("estimate", str(path), "--value", "answer", "--level", "level")

    for arguments, said in (
        ((*asked, "level", *SPARK), "found none in 3 of 2,000 rows"),
        ((*asked, "nobody", *SPARK), "Expected one column 'nobody'"),
        ((*long, *SPARK), "MALFORMED"),
        (("estimate", "/gone.csv", *long[2:], *SPARK), "PATH_NOT_FOUND"),
        ((*asked, "level", "--spark", "localhost"), "Expected --spark local[*]"),
        (
            (*asked, "level", "--statistic", "strings", *SPARK),
            "frequency, mean or sum on Spark, got strings",
        ),
    ):
        outcome = command(*arguments)

        assert outcome.is_refusal, outcome
        assert said in outcome.err
        assert "surprise" not in outcome.err


def test_a_service_opens_on_its_cores_or_on_the_engine_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    @contextmanager
    def session(url: str) -> Iterator[object]:
        begun.append(url)
        yield object()
        begun.append("stopped")

    monkeypatch.setattr("shuffledp_services.spark.session.session", session)

    on_cores: object = open_on_all_cores
    with spark.opening(None) as found:
        assert found is on_cores
    with spark.opening("spark://host:7077") as found:
        assert isinstance(found, OpenOnSpark)
    assert begun == ["spark://host:7077", "stopped"]


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_where_nobody_listens_nobody_waits(
    command: Command, survey: Path, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    url = f"{scheme}://127.0.0.1:{port}"

    start = time.monotonic()
    outcome = command(
        "account",
        "--budgets",
        str(survey),
        "--column",
        "level",
        "--delta",
        "1e-6",
        "--categories",
        "3",
        "--spark",
        url,
    )

    assert outcome.is_refusal, outcome
    assert "got no answer from there" in outcome.err
    # By itself the engine tries for minutes.
    assert time.monotonic() - start < 30
