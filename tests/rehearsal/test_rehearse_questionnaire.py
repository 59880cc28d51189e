"""`sdp.rehearse` with questions, and the same on the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.errors import (
    DataError,
    InvalidInputError,
    MissingValueError,
    UnknownLevelError,
)

NUM_USERS = 1_000
QUESTIONS: dict[str, Any] = {
    "way": {"options": ["bus", "car", "<b>"], "text": "How?"},
    "age": {"kind": "number", "low": 0, "high": 120, "interest": 2.0},
}


@pytest.fixture(scope="module")
def people() -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    ways = rng.choice(["bus", "car", ""], NUM_USERS, p=[0.5, 0.4, 0.1])
    return {
        "way": [way or None for way in ways.tolist()],
        "age": rng.integers(18, 90, NUM_USERS).tolist(),
        "target": rng.choice([4.0, 6.0], NUM_USERS).tolist(),
    }


@pytest.fixture(scope="module")
def result(people: dict[str, list[Any]]) -> sdp.Rehearsed:
    return sdp.rehearse(people, questions=QUESTIONS, targets="target", seed=3)


@pytest.mark.slow
def test_a_result_holds_estimates_truths_plan_and_guarantee(
    result: sdp.Rehearsed, people: dict[str, list[Any]]
) -> None:
    frame = result.to_frame()

    assert frame["answer"].to_list() == ["bus", "car", "<b>", "mean"]
    assert frame["question"].to_list() == ["way"] * 3 + ["age"]
    shares = [people["way"].count(way) / NUM_USERS for way in ("bus", "car", "<b>")]
    assert frame["truth"].to_list() == [*shares, pytest.approx(np.mean(people["age"]))]
    errors = (frame["estimate"] - frame["truth"]).to_list()
    assert frame["error"].to_list() == errors
    assert np.all(np.abs(errors) < 5.0 * frame["standard_error"].to_numpy())
    # Raw estimates can compute more, and are in people.
    assert result.estimates["way"].value / NUM_USERS == pytest.approx(
        frame["estimate"][:3].to_numpy(), rel=1e-12
    )
    assert [level.target for level in result.guarantee.levels] == [4.0, 6.0]
    assert all(level.epsilon_central <= 4.0 for level in result.guarantee.levels)
    assert result.plan.questionnaire.identity == result.guarantee.protocol
    assert sdp.verify(result.guarantee).holds


@pytest.mark.slow
def test_a_seed_repeats_a_rehearsal(
    result: sdp.Rehearsed, people: dict[str, list[Any]]
) -> None:
    again = sdp.rehearse(
        pl.DataFrame(people), questions=QUESTIONS, level="target", seed=3
    )

    assert again.to_frame().equals(result.to_frame())


@pytest.mark.slow
def test_a_report_has_a_section_and_a_picture_of_each_question(
    result: sdp.Rehearsed, tmp_path: Path
) -> None:
    written = {path.name for path in result.report(tmp_path / "report")}

    page = (tmp_path / "report" / "report.html").read_text()
    assert {"estimates.svg", "estimates-2.svg", "estimates.csv"} <= written
    assert "<h3>way</h3>" in page
    assert "<h3>age</h3>" in page
    assert page.count("Root mean square error") == 2
    # An option's name is text, and not a tag.
    assert "<td>&lt;b&gt;</td>" in page
    assert "<td><b>" not in page
    assert "way (1,000 people, rehearsed)" in str(result)


@pytest.mark.slow
def test_numbers_cannot_be_left_out_but_people_can(
    people: dict[str, list[Any]],
) -> None:
    holes = {**people, "age": [None, None, *people["age"][2:]]}

    with pytest.raises(MissingValueError, match=r"rows 0 and 1 .* skippable = true"):
        sdp.rehearse(holes, questions=QUESTIONS, targets="target")
    rest = sdp.rehearse(
        holes, questions=QUESTIONS, targets="target", missing="drop", seed=3
    )

    assert rest.summary.num_users == NUM_USERS - 2
    assert any("2 of 1,000 people were left out" in c for c in rest.summary.caveats)


@pytest.mark.parametrize(
    ("changes", "options", "error", "why"),
    [
        ({"age": [121, *[20] * 9]}, {}, InvalidInputError, "column 'age'.*row 0"),
        ({"way": ["tram", *["bus"] * 9]}, {}, InvalidInputError, "'way'.*row 0"),
        ({"target": ["x", *["1"] * 9]}, {}, DataError, "a finite number"),
        ({"target": [None, *[1.0] * 9]}, {}, MissingValueError, "'target'.*row 0"),
        (
            {"target": [*[1.0] * 8, 0.0, -1.0]},
            {},
            InvalidInputError,
            "targets above 0.*'target', got 0.0 and others in rows 8 and 9",
        ),
        ({"target": [*["1"] * 9, "x"]}, {}, DataError, "'target', got 'x' in row 9"),
        ({"age": [*["20"] * 8, "x", "y"]}, {}, DataError, "'x' and others in rows 8"),
        ({}, {"targets": "aim"}, DataError, "aim"),
        ({}, {"targets": None}, InvalidInputError, "targets=COLUMN"),
        ({}, {"targets": ["target"]}, InvalidInputError, "targets as"),
        ({}, {"targets": True}, InvalidInputError, "targets as"),
        ({}, {"level": "target"}, InvalidInputError, "not both"),
        ({}, {"targets": "age"}, DataError, "different columns"),
        ({}, {"mode": "stratified"}, InvalidInputError, "never carry a target"),
        ({}, {"value": "way"}, InvalidInputError, "no value"),
        ({}, {"questions": {}}, InvalidInputError, "path of a TOML file"),
        ({}, {"questions": {"job": {"options": ["a", "b"]}}}, DataError, "job"),
        ({}, {"questions": {"way": {"most": 2}}}, InvalidInputError, "question way"),
        ({}, {"questions": [sdp.NumberQuestion("age", 0, 120)] * 2},
         InvalidInputError, "different names"),
        ({}, {"targets": None, "level": "target", "levels": [2.0]},
         UnknownLevelError, "level"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    changes: dict[str, Any], options: dict[str, Any], error: type[Exception], why: str
) -> None:
    frame = {"way": ["bus"] * 10, "age": [20] * 10, "target": [1.0] * 10, **changes}
    given = {"questions": QUESTIONS, "targets": "target", "delta": 0.01, **options}

    with pytest.raises(error, match=why):
        sdp.rehearse(frame, **given)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"targets": None}, "targets=COLUMN or targets={TARGET: SHARE, ...}"),
        ({"targets": {1.0: -1, 2.0: 2}}, "shares of people above 0 .* got -1 for 1"),
        ({"targets": {1.0: 0.5, 2.0: 0.6}}, "add up to 1, got a sum of 1.1"),
        ({"consistent": None}, "consistent to be True or False, got None"),
    ],
)
def test_refusals_name_what_a_questionnaire_takes(
    options: dict[str, Any], why: str
) -> None:
    given = {"questions": QUESTIONS, "targets": 1.0, **options}

    with pytest.raises(InvalidInputError, match=why):
        sdp.rehearse({"way": ["bus"] * 10, "age": [20] * 10}, **given)


def test_a_frame_without_columns_is_refused() -> None:
    with pytest.raises(DataError, match="found no column at all"):
        sdp.rehearse({}, questions=QUESTIONS, targets=1.0)


def test_an_empty_frame_and_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="at least one person"):
        sdp.rehearse(
            {"way": [], "age": [], "target": []}, questions=QUESTIONS, targets="target"
        )
    with pytest.raises(DataError, match="equal length"):
        sdp.rehearse({"way": ["bus"], "age": []}, questions=QUESTIONS, targets=1.0)


def test_too_many_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = {"way": ["bus"] * 500}
    module = "shuffledp.statistics.questionnaire.rehearsed.questionnaire_summary"
    monkeypatch.setattr(f"{module}.MAX_MESSAGES", 400)

    with pytest.raises(InvalidInputError, match=r"at most 400 messages .* 500 people"):
        sdp.rehearse(
            frame, questions={"way": {"options": ["bus", "car"]}}, targets=5.0, seed=1
        )


@pytest.mark.slow
def test_a_choice_among_very_many_is_rehearsed_beside_others(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(4), 5_000
    ranks = np.arange(1, 20_001)
    pages = rng.choice(20_000, n, p=1 / ranks / (1 / ranks).sum())
    frame = pl.DataFrame(
        {"page": pages, "way": rng.choice(["bus", "car"], n)}
    ).with_columns(
        page=pl.when(pl.int_range(pl.len()) % 10 != 0).then("page")  # Others skip it.
    )
    path = tmp_path / "city.toml"
    path.write_text(
        '[questions.page]\nkind = "hashed-choice"\nnum_categories = 20000\n'
        'messages = 60\n[questions.way]\noptions = ["bus", "car"]\n'
    )

    result = sdp.rehearse(frame, questions=path, targets=1.0, seed=1, consistent=True)

    page = result.summary.sections[0]
    assert page.words.title.startswith("page: ")
    listed = [row for row in page.rows if row.listed]
    assert next(row.name for row in listed) == "0"
    people = dict(frame["page"].value_counts().rows())
    for row in listed:
        assert row.truth == people[int(row.name)] / n
        assert row.consistent is not None
        assert 0.0 <= row.consistent <= row.estimate
    # About 2,400 pages: 95%, less 5 deviations of that many intervals that were apart.
    assert page.num_covered > (0.95 - 5 * 0.0045) * len(page.rows)
    assert sdp.verify(result.guarantee).holds
    written = {each.name for each in result.report(tmp_path / "report")}
    assert {"estimates.svg", "estimates-2.svg", "certificate.json"} <= written
