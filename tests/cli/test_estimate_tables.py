"""`shuffledp estimate` on the tables that people have: gaps, spellings, separators."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command

NUM_PEOPLE, GAPS = 400, [3, 10, 11, 350]
ITEMS = ("--statistic", "items", "--person", "person", "--value", "answer")
# What each statistic is asked of: the same table has a column for all.
STATISTICS = {
    "frequency": ("--value", "answer"),
    "mean": ("--statistic", "mean", "--value", "age", "--low", "0", "--high", "99"),
    "sum": ("--statistic", "sum", "--value", "smokes"),
    "strings": ("--statistic", "strings", "--value", "answer", "--cohorts", "4"),
    "items": ITEMS,
}
LEVEL = ("--level", "epsilon", "--delta", "1e-4", "--seed", "1")

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Returns a function that writes 400 people to a file, with changes to cells."""

    def written(
        name: str = "survey.csv", separator: str = ",", **cells: list[str]
    ) -> Path:
        rng = np.random.default_rng(1)
        answers = rng.choice(["bike", "bus", "foot"], size=NUM_PEOPLE).tolist()
        ages = [str(age) for age in rng.integers(99, size=NUM_PEOPLE)]
        smokes = [str(bit) for bit in rng.integers(2, size=NUM_PEOPLE)]
        levels = rng.choice(["0.5", "2"], size=NUM_PEOPLE).tolist()
        people = [f"p{number}" for number in range(NUM_PEOPLE)]
        table = dict(person=people, answer=answers, age=ages, smokes=smokes)  # noqa: C408
        table["epsilon"] = levels
        changes = [(name, text) for name, texts in cells.items() for text in texts]
        for place, (column, text) in zip(GAPS, changes, strict=False):
            table[column][place] = text
        frame, path = pl.DataFrame(table), tmp_path / name
        if path.suffix == ".jsonl":
            frame.write_ndjson(path)
        else:
            frame.write_csv(path, separator=separator)
        return path

    return written


@pytest.mark.parametrize("statistic", STATISTICS)
def test_people_without_a_value_are_refused_with_their_rows(
    command: Command, write: Write, tmp_path: Path, statistic: str
) -> None:
    value = {"mean": "age", "sum": "smokes"}.get(statistic, "answer")
    path = write(**{value: ["NA", " n/a"], "epsilon": ["", "None"]})

    outcome = command("estimate", str(path), *STATISTICS[statistic], *LEVEL)

    assert outcome.is_refusal
    assert outcome.err == (
        f"shuffledp: Expected a value in every row of columns '{value}' and 'epsilon' of "
        "survey.csv, found none in rows 5, 12, 13 and 352 (the header is row 1). Leave "
        "such people out with --missing drop.\n"
    )
    assert set(tmp_path.iterdir()) == {path}


@pytest.mark.slow
@pytest.mark.parametrize(
    "statistic",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "strings"))
        for name in STATISTICS
    ],
)
def test_people_without_a_value_are_left_out_and_counted(
    command: Command, write: Write, tmp_path: Path, statistic: str
) -> None:
    value = {"mean": "age", "sum": "smokes"}.get(statistic, "answer")
    path = write(**{value: ["NA", " n/a"], "epsilon": ["", "None"]})
    asked = ("estimate", str(path), *STATISTICS[statistic], *LEVEL, "--missing", "drop")
    said = (
        f"4 of 400 people were left out, for want of a value in columns '{value}' and "
        "'epsilon'."
    )

    answer = command(*asked, "--json").json()
    shown = command(*asked)

    if statistic != "strings":  # People are counted per cohort there.
        assert answer["num_users"] == 396
    assert said in answer["caveats"]
    assert said in " ".join(shown.out.split())
    page = (tmp_path / "shuffledp-report" / "report.html").read_text()
    assert said in page.replace("&#39;", "'")


def test_gaps_of_a_sum_with_the_same_noise_for_all(
    command: Command, write: Write
) -> None:
    path = write(smokes=["null"])
    asked = ("estimate", str(path), "--statistic", "sum", "--value", "smokes")
    central = ("--central", "1", "--delta", "1e-4", "--json")

    assert "found none in row 5 " in command(*asked, *central).err
    answer = command(*asked, *central, "--missing", "drop").json()
    assert answer["num_users"] == 399


@pytest.mark.parametrize(
    ("statistic", "name"),
    [
        ("frequency", "category"),
        ("items", "item"),
        pytest.param("strings", "string", marks=pytest.mark.slow),
    ],
)
def test_a_category_that_is_called_na_can_be_named(
    command: Command, write: Write, tmp_path: Path, statistic: str, name: str
) -> None:
    path = write(answer=["NA", "NA"])
    (tmp_path / "list.txt").write_text("bike\nNA\n")
    named = ("--categories", "bike,bus,foot,NA")
    if statistic == "strings":
        named = ("--candidates", str(tmp_path / "list.txt"))

    answer = command(
        "estimate", str(path), *STATISTICS[statistic], *LEVEL, *named, "--json"
    )

    found = {row[name]: row["truth"] for row in answer.json()["estimates"]}
    assert found["NA"] == 2 / NUM_PEOPLE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "what"),
    [
        ("frequency", "Categories"),
        ("items", "Items"),
        pytest.param("strings", "Strings", marks=pytest.mark.slow),
    ],
)
def test_spellings_of_one_answer_are_warned_of(
    command: Command, write: Write, statistic: str, what: str
) -> None:
    path = write(answer=["Bike", " bike ", "BUS"])
    warning = (
        f"{what} that look alike, or differ in case, white space or Unicode form only, "
        "are counted apart: 'BUS' and 'bus'; 'Bike' and 'bike'."
    )
    asked = ("estimate", str(path), *STATISTICS[statistic], *LEVEL)

    answer = command(*asked, "--json").json()
    shown = command(*asked)

    assert answer["warnings"] == [warning]
    assert "White space around 1 value was removed." in answer["caveats"]
    printed = " ".join(shown.out.split())
    assert warning in printed
    assert "White space around 1 value was removed." in printed


@pytest.mark.slow
def test_spellings_beside_the_candidates_are_warned_of(
    command: Command, write: Write, tmp_path: Path
) -> None:
    path = write(answer=["Bike"])
    (tmp_path / "list.txt").write_text(" bike\nbus \n")

    answer = command(
        "estimate", str(path), *STATISTICS["strings"], *LEVEL,
        "--candidates", str(tmp_path / "list.txt"), "--json",
    ).json()  # fmt: skip

    assert "'Bike' and 'bike'" in answer["warnings"][0]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("name", "separator", "said"),
    [
        ("survey.csv", ",", []),
        ("survey.jsonl", "", []),
        ("survey.csv", ";", ["The columns of survey.csv are separated by semicolons."]),
        ("survey.csv", "|", ["The columns of survey.csv are separated by bars."]),
        ("survey.txt", "\t", ["The columns of survey.txt are separated by tabs."]),
    ],
)
def test_tables_of_all_kinds_give_the_same(
    command: Command, write: Write, name: str, separator: str, said: list[str]
) -> None:
    asked = (*STATISTICS["frequency"], *LEVEL, "--json")
    usual = command("estimate", str(write("usual.csv")), *asked).json()

    answer = command("estimate", str(write(name, separator)), *asked).json()

    assert answer["caveats"] == said
    assert answer["estimates"] == usual["estimates"]
    assert answer["guarantee"] == usual["guarantee"]


@pytest.mark.parametrize(
    ("name", "content", "arguments", "words"),
    [
        ("a.csv", "answer,epsilon\nx,1\n", ("Answer", "epsilon"), "mean 'answer'?"),
        ("a.csv", "answer,epsilon\nx,1\n", ("answer", "level"), "found 'answer', 'eps"),
        (
            "a.csv",
            "answer;epsilon\nx;1\n",
            ("reply", "epsilon"),
            "found 'answer', 'eps",
        ),
        ("a.jsonl", '{"answer":"x"}\n', ("answer", "epsilon"), "found 'answer'."),
        ("a.csv", "x,1\ny,2\n", ("answer", "epsilon"), "first line should name"),
        ("a.xlsx", "answer,epsilon\nx,1\n", ("answer", "epsilon"), "got a.xlsx"),
        (
            "a.csv",
            "answer;epsilon\nx;0,5\ny;1\n",
            ("answer", "epsilon"),
            "decimal comma",
        ),
        ("a.csv", "answer,epsilon\nx\ny,1\n", ("answer", "epsilon"), "none in row 2 ("),
        ("a.csv", "answer,epsilon\nx,1\n\ny,1\n", ("answer", "epsilon"), "row 3 ("),
        ("a.jsonl", '{"answer":[1],"epsilon":1}', ("answer", "epsilon"), "not lists"),
        ("a.jsonl", "answer", ("answer", "epsilon"), "a JSON object in every line"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    command: Command,
    tmp_path: Path,
    name: str,
    content: str,
    arguments: tuple[str, str],
    words: str,
) -> None:
    path = tmp_path / name
    path.write_text(content)
    value, level = arguments

    outcome = command("estimate", str(path), "--value", value, "--level", level)

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {path}


def test_missing_values_are_no_matter_of_datasets(command: Command) -> None:
    outcome = command(
        "estimate", "--dataset", "msnbc", "--levels", "1:1", "--missing", "drop"
    )

    assert outcome.is_refusal
    assert "none of --value, --level, --missing" in outcome.err
