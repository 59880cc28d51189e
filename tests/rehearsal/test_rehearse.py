"""`sdp.rehearse`: the rehearsal of `shuffledp estimate`, from Python."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.option_text import Argument, option_text
from shuffledp.statistics.frequency import rehearsal as frequency_rehearsal

NUM_USERS = 2_000


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(9)
    smokes = rng.random(NUM_USERS) < 0.3
    return pl.DataFrame(
        {
            "answer": rng.choice(["yes", "no", "<b>maybe</b>"], NUM_USERS),
            "age": rng.integers(18, 90, NUM_USERS),
            "smokes": smokes,
            "epsilon": rng.choice([0.5, 2.0], NUM_USERS),
            "hushed": np.where(smokes, 0.5, 2.0),
            "gaps": [None, *["a", "b"] * (NUM_USERS // 2 - 1), "a"],
        }
    )


@pytest.fixture(scope="module")
def result(people: pl.DataFrame) -> sdp.Rehearsed:
    return sdp.rehearse(people, value="answer", level="epsilon", seed=3)


def test_bits_of_all_people_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    few = pl.DataFrame({"answer": ["a", "b", "c", "a"], "epsilon": [1.0] * 4})
    asked: dict[str, Any] = {
        "value": "answer",
        "level": "epsilon",
        "delta": 1e-2,
        "seed": 1,
    }

    monkeypatch.setattr(frequency_rehearsal, "MAX_UNARY_BITS", 11)
    with pytest.raises(InvalidInputError, match="4 people with 3 bits each"):
        sdp.rehearse(few, mechanism="unary-encoding", **asked)
    # A number takes no bits per category; and as many bits as fit are welcome.
    sdp.rehearse(few, mechanism="kary-response", **asked)
    monkeypatch.setattr(frequency_rehearsal, "MAX_UNARY_BITS", 12)
    sdp.rehearse(few, mechanism="unary-encoding", **asked)


@pytest.mark.parametrize(
    ("column", "statistic", "options"),
    [
        ("answer", "frequency", {}),
        pytest.param("age", "mean", {"low": 0, "high": 100}, marks=pytest.mark.slow),
        pytest.param("smokes", "sum", {}, marks=pytest.mark.slow),
        pytest.param(
            "answer", "strings", {"cohorts": 2, "bits": 32}, marks=pytest.mark.slow
        ),
    ],
)
def test_a_frame_gives_the_numbers_that_the_command_gives_for_a_file(
    column: str,
    statistic: str,
    options: dict[str, Any],
    people: pl.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    people.write_csv(tmp_path / "survey.csv")
    written = [f"--{name}={value}" for name, value in options.items()]

    from shuffledp.cli.main import app

    app(
        [
            "estimate", str(tmp_path / "survey.csv"), "--value", column, "--level",
            "epsilon", "--statistic", statistic, *written, "--seed", "5", "--json",
        ],
        standalone_mode=False,
    )  # fmt: skip
    found = sdp.rehearse(
        people, value=column, level="epsilon", statistic=statistic, seed=5, **options
    )

    record = json.loads(capsys.readouterr().out)
    assert record == found.summary.to_dict() | {
        "source": f"survey.csv, column {column}",
    }


@pytest.mark.slow
def test_sets_of_items_are_rehearsed_from_a_row_per_person_and_item() -> None:
    rng = np.random.default_rng(4)
    visits = pl.DataFrame(
        {
            "visitor": np.repeat(np.arange(500), 2),
            "page": rng.choice(["a", "b", "c"], 1000),
            "target": 1.0,
        }
    )

    found = sdp.rehearse(
        visits,
        level="target",
        statistic="items",
        person="visitor",
        value="page",
        seed=1,
    )

    assert found.to_frame()["item"].to_list() == ["a", "b", "c"]
    assert found.guarantee.worst.epsilon_central <= 1.0


def test_levels_that_depend_on_values_are_warned_of(people: pl.DataFrame) -> None:
    rows = pl.concat([people] * 5)

    found = sdp.rehearse(rows, value="smokes", level="hushed", statistic="sum", seed=1)

    (warning,) = found.warnings
    assert "Levels seem to depend on values" in warning
    assert "use the stratified mode" in warning
    assert "Levels seem to depend on" in str(found)
    assert "Levels seem to depend on" in found._repr_html_()


def test_people_without_a_value_are_refused_or_left_out(people: pl.DataFrame) -> None:
    with pytest.raises(sdp.MissingValueError, match='with missing="drop"'):
        sdp.rehearse(people, value="gaps", level="epsilon")

    found = sdp.rehearse(people, value="gaps", level="epsilon", missing="drop", seed=1)

    assert found.summary.num_users == NUM_USERS - 1
    assert "1 of 2,000 people was left out" in str(found)


def test_levels_are_dealt_out_or_checked(people: pl.DataFrame) -> None:
    dealt = sdp.rehearse(people, value="answer", levels={0.5: 0.25, 1.0: 0.75}, seed=2)
    with pytest.raises(sdp.UnknownLevelError):
        sdp.rehearse(people, value="answer", level="epsilon", levels=[0.5])

    assert [level.count for level in dealt.guarantee.levels] == [500, 1500]
    for wrong in ([0.5, 1.0], {0.5: "all"}, 0.5, "0.5:1"):
        with pytest.raises(sdp.InvalidInputError, match="Expected levels="):
            sdp.rehearse(people, value="answer", levels=wrong)  # type: ignore[arg-type]
    with pytest.raises(sdp.InvalidInputError, match="Expected levels="):
        sdp.rehearse(people, value="answer", level="epsilon", levels={0.5: 1.0})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "value=COLUMN, and level=COLUMN or levels={EPSILON: SHARE, ...}"),
        ({"statistic": "mean"}, 'low=A and high=B, .* with statistic="mean"'),
        ({"statistic": "items"}, 'person=COLUMN and value=COLUMN.*statistic="items"'),
        ({"statistic": "median"}, "one of frequency, mean"),
        ({"value": ["answer"]}, "value to name a column, got list"),
        ({"value": "answer", "buckets": 5}, "no option but .* got buckets"),
        (
            {"value": "answer", "mechanism": "local-hashing(buckets=five)"},
            "buckets to be a whole number",
        ),
        ({"value": "answer", "mechanism": "laplace"}, "mechanism to be one of"),
        ({"value": "answer", "dataset": "msnbc"}, "no option but"),
        ({"value": "answer", "clip": True}, "no option but .* got clip"),
        ({"value": "answer", "categories": True}, "categories to be"),
        ({"value": "answer", "categories": ["yes"]}, "Expected categories to be"),
        ({"value": "answer", "seed": -1}, "seed >= 0"),
        ({"value": "answer", "mode": "mixed"}, "agnostic"),
    ],
)
def test_what_makes_no_sense_is_said_in_words_of_python(
    given: dict[str, Any], said: str, people: pl.DataFrame
) -> None:
    settings = {"level": "epsilon"} | given if "value" in given else given

    with pytest.raises(sdp.InvalidInputError, match=said) as refusal:
        sdp.rehearse(people, **settings)

    assert "--" not in str(refusal.value)


def test_names_of_categories_may_be_a_list(people: pl.DataFrame) -> None:
    names = ["yes", "no", "<b>maybe</b>", "a, b"]

    found = sdp.rehearse(people, value="answer", level="epsilon", categories=names)

    assert found.to_frame()["category"].to_list() == names


@pytest.mark.slow
def test_candidates_may_be_a_list(people: pl.DataFrame) -> None:
    strings = sdp.rehearse(
        people, value="answer", level="epsilon", statistic="strings",
        candidates=["yes", "no"], bits=32, cohorts=2,
    )  # fmt: skip
    assert {"yes", "no"} < set(strings.to_frame()["string"])


def test_a_result_fits_a_screen_and_escapes_what_people_wrote(
    result: sdp.Rehearsed,
) -> None:
    text, page = str(result), result._repr_html_()

    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert text.startswith("Frequencies of 2,000 people, rehearsed: data frame")
    assert "<b>maybe</b>" in text
    assert "<b>" not in page
    assert "&lt;b&gt;maybe" in page


def test_what_a_console_shows_is_what_is_printed(result: sdp.Rehearsed) -> None:
    assert repr(result) == str(result)
    assert repr(result.guarantee) == str(result.guarantee)


def test_a_result_is_a_frame_with_all_its_numbers(result: sdp.Rehearsed) -> None:
    frame = result.to_frame()

    assert frame.columns == [
        "category", "estimate", "standard_error", "low", "high", "truth",
    ]  # fmt: skip
    assert frame["estimate"].to_list() == [r.estimate for r in result.summary.rows]
    levels = result.guarantee.to_frame()
    assert levels["epsilon_local"].to_list() == [0.5, 2.0]
    certified = [level.epsilon_central for level in result.guarantee.levels]
    assert levels["epsilon_central"].to_list() == certified


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (None, "got NoneType"),
        (3, "got int"),
        ("", "got an empty text"),
        ("x.txt", r"ends in \.html, or of a folder .*got x\.txt"),
        (Path("results.PDF"), r"got results\.PDF"),
    ],
    ids=["nothing", "number", "empty", "text", "picture"],
)
def test_a_report_is_a_page_or_a_folder(
    result: sdp.Rehearsed, path: Any, words: str
) -> None:
    with pytest.raises(
        InvalidInputError, match=f"Expected the path of a page.*{words}"
    ):
        result.report(path)


@pytest.mark.parametrize(
    "terms",
    [
        {"level": "epsilon", "value": "way"},
        {"targets": 1.0, "questions": {"way": {"options": ["bike", "bus"]}}},
    ],
    ids=["one", "several"],
)
def test_confidence_is_checked_before_the_table_is_read(terms: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="0 < confidence < 1, got 2"):
        sdp.rehearse("nowhere.csv", confidence=2, **terms)


@pytest.mark.slow
def test_a_result_is_drawn_and_reported(result: sdp.Rehearsed, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = result.plot()
    for ending, magic in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        path = tmp_path / f"shares{ending}"
        picture.save(path)
        assert path.read_bytes().startswith(magic)
    with pytest.raises(sdp.InvalidInputError, match=r"\.svg, \.png or \.pdf"):
        picture.save(tmp_path / "shares.jpeg")
    assert picture._repr_svg_().startswith("<svg")

    assert result.report(tmp_path / "page.html") == [tmp_path / "page.html"]
    written = result.report(tmp_path / "folder")

    assert {path.name for path in written} >= {"report.html", "estimates.csv"}
    assert (tmp_path / "page.html").read_text() == written[0].read_text()
    for there in ("page.html", "folder"):
        with pytest.raises(
            sdp.DataError, match=r"there already|has files.* force=True\."
        ):
            result.report(tmp_path / there)
        assert result.report(tmp_path / there, force=True)
    assert not (tmp_path / "shares.jpeg").exists()


def test_names_of_files_and_columns_are_repeated_as_they_are(tmp_path: Path) -> None:
    name = "run--level 3, --force.csv"

    with pytest.raises(sdp.DataError) as caught:
        sdp.rehearse(tmp_path / name, value="v", level="l", statistic="frequency")

    assert name in str(caught.value)


def test_texts_that_look_like_options_stay_as_they_are() -> None:
    text = option_text("Expected {} of {}.", Argument("set_size", "N"), "--low A {}")

    assert text == "Expected --set-size N of --low A {}."
    assert text.in_python == "Expected set_size=N of --low A {}."
    assert pickle.loads(pickle.dumps(text)).in_python == text.in_python


@pytest.mark.parametrize(("repeats", "warned"), [(1, True), (2, False)])
def test_names_of_single_people_are_no_list_of_categories(
    repeats: int, warned: bool
) -> None:
    names = [f"name {number}" for number in range(100)] * repeats
    people = pl.DataFrame({"name": names, "epsilon": [1.0] * len(names)})

    result = sdp.rehearse(people, value="name", level="epsilon", seed=1)

    assert any("by one person each" in text for text in result.warnings) is warned


def test_whole_numbers_among_others_in_a_column_are_numbers() -> None:
    frame = {"v": ["a", "b"] * 50, "e": [1, 2.0] * 50}

    result = sdp.rehearse(frame, value="v", level="e", seed=1)

    assert [level.epsilon_local for level in result.guarantee.levels] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"v": ["a", 1] * 50, "e": [1.0] * 100},
            "column 'v' as a list of values of one",
        ),
        ({"v": ["a", "b"] * 50, "e": [1.0] * 99}, "columns of equal length"),
        ({"v": ["a", "b"] * 50, 3: [1.0] * 100}, "names of columns as texts, got 3"),
    ],
)
def test_a_mapping_says_which_column_is_wrong(
    columns: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        sdp.rehearse(columns, value="v", level="e")
