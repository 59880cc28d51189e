"""`shuffledp estimate --statistic items`: sets of items at central epsilons."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command, Outcome

from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.items import rehearsal

NUM_PEOPLE, NUM_ITEMS, SET_SIZE = 400, 12, 3
SETS = ("--statistic", "items", "--person", "visitor", "--value", "page")
ASKED = (*SETS, "--level", "epsilon", "--delta", "1e-5")
MSNBC = ("--dataset", "msnbc", "--statistic", "items", "--levels", "0.5:0.5,2.0:0.5")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """400 people with 1 to 3 of 12 items; the level called strict depends on items."""
    rng = np.random.default_rng(5)
    people, items = [], []
    for person in range(NUM_PEOPLE):
        # Item 0 is common, and the others are not.
        size = int(rng.integers(1, SET_SIZE + 1))
        some = rng.choice(np.arange(1, NUM_ITEMS), size=size, replace=False)
        if rng.random() < 0.5:
            some[0] = 0
        people += [person] * size
        items += some.tolist()
    levels = rng.choice([0.5, 2.0], size=NUM_PEOPLE)
    fans = np.isin(np.arange(NUM_PEOPLE), np.array(people)[np.array(items) == 0])
    rows = len(people)
    path = tmp_path / "visits.csv"
    pl.DataFrame(
        {
            "visitor": people,
            "page": [f"page <{item:02}>" for item in items],
            "epsilon": levels[people],
            "strict": np.where(fans, 0.5, 2.0)[people],
            "changing": np.resize([0.5, 2.0], rows),
            "none": [0.0] * rows,
            "words": ["high"] * rows,
            "gaps": [None, *people[1:]],
            "same": ["one"] * rows,
        }
    ).sample(fraction=1.0, shuffle=True, seed=1).write_csv(path)  # fmt: skip
    return path


def estimate(command: Command, visits: Path, *arguments: str) -> Outcome:
    return command("estimate", str(visits), "--seed", "3", *arguments)


@pytest.mark.slow
def test_targets_may_be_reported_with_noise(command: Command, visits: Path) -> None:
    answer = estimate(command, visits, *ASKED, "--target-budget", "2", "--json").json()

    caveats = " ".join(answer["caveats"])
    assert "What a person reported about a target is worth" in caveats
    assert "Estimated numbers of people by target: 0.5: " in caveats
    for row in answer["estimates"]:
        # Five standard errors, estimated targets included, of 12 items.
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"]
    plain = estimate(command, visits, *ASKED, "--json").json()
    assert not any("reported about a target" in each for each in plain["caveats"])


@pytest.mark.parametrize("budget", ["0", "-1", "nan"])
def test_budgets_of_targets_are_above_0(
    command: Command, visits: Path, budget: str
) -> None:
    refused = estimate(command, visits, *ASKED, "--target-budget", budget)

    assert refused.is_refusal
    assert "budget of a choice" in refused.err


@pytest.mark.slow
def test_items_and_guarantee_of_everybody(command: Command, visits: Path) -> None:
    answer = estimate(command, visits, *ASKED, "--json").json()

    rows = pl.read_csv(visits)
    assert (answer["statistic"], answer["mode"]) == ("items", "agnostic")
    assert answer["num_users"] == NUM_PEOPLE
    # Dummy items, which fill the sets of others, are not among them.
    assert len(answer["estimates"]) == NUM_ITEMS
    for row in answer["estimates"]:
        held = rows.filter(pl.col("page") == row["item"]).height
        assert row["truth"] == held / NUM_PEOPLE
        # Five standard errors: a false alarm in 100,000 runs of 12 items.
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"]
    assert not answer["dependence"]["suspected"]
    guarantee = answer["guarantee"]
    assert guarantee["protocol"]["mechanism"] == "poisson-items"
    parameters = guarantee["protocol"]["parameters"]
    asked = rows.unique("visitor")["epsilon"]
    assert guarantee["certified"]
    assert (parameters["items"], parameters["set_size"]) == (NUM_ITEMS, SET_SIZE)
    assert guarantee["delta"] == 1e-5
    assert [level["target"] for level in guarantee["levels"]] == [0.5, 2.0]
    for level in guarantee["levels"]:
        assert level["count"] == (asked == level["target"]).sum()
        assert level["epsilon_central_lower"] <= level["epsilon_central"]
        # Rounded upward in the sixth digit.
        assert level["epsilon_central"] <= level["target"] * (1 + 1.1e-5)
    said = " ".join(answer["caveats"])
    sent = f"{parameters['report_size']} messages, m = {parameters['blanket']} "
    assert sent in said
    assert f"{parameters['rates'][0]} at target 0.5" in said
    assert "holds more than 3 items" in said
    assert "know theirs beforehand" in said


@pytest.mark.slow
def test_report_of_items_holds_its_numbers(
    command: Command, visits: Path, tmp_path: Path
) -> None:
    outcome = estimate(command, visits, *ASKED)

    folder = tmp_path / "shuffledp-report"
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "estimates.svg",
        "guarantee.svg",
        "estimate.json",
        "certificate.json",
        "estimates.csv",
        "estimates.parquet",
        "estimates.arrow",
    }
    guarantee = json.loads((folder / "estimate.json").read_text())["guarantee"]
    page = (folder / "report.html").read_text()
    assert "page <" not in page
    assert "How many people hold each item" in page
    assert "asked for" in (folder / "guarantee.svg").read_text()
    assert (folder / "estimates.csv").read_text().startswith("item,estimate,")
    for level in guarantee["levels"]:
        cells = [
            f"{level[key]}" for key in ("epsilon_central", "epsilon_central_lower")
        ]
        for text in (page, outcome.out):
            assert all(cell in text for cell in cells)
        assert f'<td class="certified">{level["epsilon_central"]}</td>' in page
    printed = " ".join(outcome.out.split())
    assert f"Theorem: {guarantee['theorem']}." in page
    assert "asked for" in printed


@pytest.mark.slow
def test_sets_that_are_cut_are_said_to_be_cut(command: Command, visits: Path) -> None:
    answer = estimate(command, visits, *ASKED, "--set-size", "1", "--json").json()

    sizes = pl.read_csv(visits).group_by("visitor").len()["len"]
    assert sum(row["truth"] for row in answer["estimates"]) == pytest.approx(1.0)
    assert answer["guarantee"]["protocol"]["parameters"]["set_size"] == 1
    assert f"{(sizes > 1).sum()} people had more than 1, " in " ".join(
        answer["caveats"]
    )


@pytest.mark.slow
def test_levels_can_be_dealt_out_and_items_named(
    command: Command, visits: Path
) -> None:
    shares = ("--levels", "0.5:0.25,2.0:0.75")
    names = ("--categories", ",".join(f"page <{item:02}>" for item in range(14)))

    answer = estimate(command, visits, *SETS, *shares, *names, "--json").json()

    assert [row["truth"] for row in answer["estimates"][NUM_ITEMS:]] == [0.0, 0.0]
    assert answer["guarantee"]["protocol"]["parameters"]["items"] == 14
    assert "beforehand" not in " ".join(answer["caveats"])

    counts = [level["count"] for level in answer["guarantee"]["levels"]]
    assert counts == [NUM_PEOPLE // 4, 3 * NUM_PEOPLE // 4]


@pytest.mark.slow
def test_levels_that_depend_on_items_are_pointed_out(
    command: Command, visits: Path
) -> None:
    asked = (*SETS, "--level", "strict", "--json")

    answer = estimate(command, visits, *asked).json()

    assert answer["dependence"]["suspected"]
    # Fans of item 0 chose the level that sends less.
    assert answer["dependence"]["largest_bias"] < 0.0
    (warning,) = answer["warnings"]
    assert "for 'page <00>'" in warning
    assert "stratified" not in warning


@pytest.mark.slow
def test_visits_of_a_news_site(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(*, set_size: int, rng: np.random.Generator, progress: object) -> object:
        if set_size == 2:
            raise InvalidInputError("Two pages.")
        return draw_uniform_sets(
            NUM_PEOPLE, num_items=NUM_ITEMS, set_size=set_size, rng=rng
        )

    monkeypatch.setattr(rehearsal, "load_msnbc_sets", few)

    budget = ("--target-budget", "2")
    answer = command("estimate", *MSNBC, *budget, "--seed", "1", "--json").json()
    other = command("estimate", *MSNBC, "--set-size", "2", "--json")

    assert answer["guarantee"]["protocol"]["parameters"]["set_size"] == 4
    assert len(answer["estimates"]) == NUM_ITEMS
    assert "Estimated numbers of people by target: 0.5: " in " ".join(answer["caveats"])
    assert "Two pages" in other.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--statistic", "items", "--level", "epsilon"), "--person COLUMN"),
        (SETS, "--level COLUMN or --levels"),
        ((*ASKED, "--mode", "stratified"), "--mode agnostic"),
        ((*ASKED, "--mechanism", "kary-response"), "--mechanism only with"),
        ((*ASKED, "--candidates", "list"), "--candidates only with"),
        ((*ASKED, "--central", "1"), "--central only with"),
        ((*ASKED, "--value", "missing"), "column 'missing'"),
        ((*ASKED, "--person", "missing"), "column 'missing'"),
        ((*ASKED, "--level", "missing"), "column 'missing'"),
        (
            (*ASKED, "--person", "gaps"),
            "Expected a value in every row of column 'gaps'",
        ),
        ((*ASKED, "--value", "visitor"), "different columns"),
        ((*ASKED, "--level", "visitor"), "different columns"),
        ((*ASKED, "--value", "same"), "different values in column 'same'"),
        ((*ASKED, "--categories", "a,b"), "one of the 2 categories"),
        ((*ASKED, "--value", "gaps"), "column 'gaps'"),
        ((*ASKED, "--level", "changing"), "the same level in all rows of a person"),
        ((*ASKED, "--level", "none"), "targets above 0"),
        ((*ASKED, "--level", "words"), "Expected a number for every person"),
        ((*ASKED, "--levels", "0.5,1.0"), "level"),
        ((*SETS, "--levels", "0.5:0.5,2.0:0.4"), "add up to 1"),
        ((*ASKED, "--set-size", "0"), "at least 1 item"),
        ((*ASKED, "--set-size", "13"), "13"),
        ((*ASKED, "--delta", "0"), "delta"),
        ((*ASKED, "--delta", "1"), "delta"),
    ],
)
def test_bad_requests_are_refused(
    command: Command, visits: Path, arguments: tuple[str, ...], words: str
) -> None:
    outcome = estimate(command, visits, *arguments, "--json")

    assert outcome.is_refusal
    assert words in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*MSNBC, "--person", "visitor"), "none of"),
        ((*MSNBC, "--value", "page"), "none of"),
        ((*MSNBC, "--level", "epsilon"), "none of"),
        (MSNBC[:-2], "Expected --levels"),
        (("file.csv", *MSNBC), "either FILE or --dataset"),
        (
            ("file.csv", "--value", "a", "--level", "b", "--person", "c"),
            "--person only",
        ),
        (("file.csv", "--value", "a", "--level", "b", "--set-size", "0"), "items."),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    command: Command, arguments: tuple[str, ...], words: str
) -> None:
    outcome = command("estimate", *arguments, "--json")

    assert outcome.is_refusal
    assert words in outcome.err


@pytest.mark.slow
def test_more_messages_than_fit_into_memory_are_refused(
    command: Command, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.statistics.items.rehearsal.MAX_MESSAGES", 1000)

    outcome = estimate(command, visits, *ASKED, "--json")

    assert outcome.is_refusal
    assert "at most 1,000 messages" in outcome.err


def test_help_has_an_example(command: Command) -> None:
    outcome = command("estimate", "--help")

    assert "--statistic items" in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 96
