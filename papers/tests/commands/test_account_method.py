"""`shuffledp account --method`: published bounds beside the certificate."""

import pytest
from command_line import Command

ASKED = (
    "account",
    "--mechanism",
    "laplace",
    "--levels",
    "0.5:1,2:999",
    "--delta",
    "1e-4",
)


def test_all_bounds_stand_below_the_certificate(command: Command) -> None:
    outcome = command(*ASKED, "--method", "all")

    assert outcome.code == 0
    assert "certified" in outcome.out
    assert "too small here" in outcome.out
    assert "feldman2023-kary states nothing here" in outcome.out


def test_one_bound_comes_with_its_note_and_as_json(command: Command) -> None:
    answer = command(*ASKED, "--method", "eapes-pure", "--json").json()

    (claim,) = answer["published"]
    assert claim["method"] == "eapes-pure"
    assert claim["proven"] == "asymptotic only"
    assert claim["number"] < answer["levels"][0]["epsilon_central_lower"]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--method", "unheard-of"), "Expected one of"),
        (("--method", "all", "--rounds", "2"), "one collection"),
        (("--method", "all", "--absent", "3"), "one collection"),
        (("--method", "all", "--mechanism", "one-bit(mode=stratified)"), "agnostic"),
    ],
)
def test_senseless_comparisons_are_refused_in_one_line(
    command: Command, more: tuple[str, ...], message: str
) -> None:
    outcome = command(*ASKED, *more)

    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_infinite_claims_are_no_numbers(command: Command) -> None:
    asked = ("account", "--categories", "10", "--levels", "350:1000", "--delta", "1e-6")

    answer = command(*asked, "--method", "girgis2021-closed", "--json").json()

    (claim,) = answer["published"]
    assert claim["number"] is None


S_APES = (
    "account",
    "--mechanism",
    "clip-laplace",
    "--levels",
    "0.5:1000,1:1000",
    "--delta",
    "3.6e-5",
    "--s-apes",
)


@pytest.mark.slow
def test_what_is_stated_of_a_selection_is_said_apart(command: Command) -> None:
    plain = command(*S_APES[:-1], "--json").json()
    answer = command(*S_APES, "157/785", "--json").json()
    stated = answer.pop("s_apes")

    # Not compared: the certificate is the same, of one coordinate that is sent.
    assert answer == plain
    assert (stated["selected"], stated["coordinates"]) == (157, 785)
    # 2 b coordinates at what one of them is stated to keep; delta' is below delta.
    assert 0.0 < stated["epsilon_printed"] < stated["epsilon_corrected"]
    assert stated["proven"] == "unproven"
    shown = " ".join(command(*S_APES, "157/785").out.split())
    assert "157 largest of 785 coordinates" in shown
    assert "This is unproven." in shown
    assert "The table above is of another mechanism" in shown
    assert "too small here" not in shown


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("level", "selection", "words"),
    [
        # 785 ln((1 + e^(1/2)) / 2) = 220.5, and at 0.1 19.87.
        ("1", "157/785", "220.5, more than the 157 stated"),
        ("1", "700/785", "220.5, which does not refute the 700 stated"),
        ("0.1", "157/785", "19.87, more than the 15.7 stated"),
        ("0.1", "220/785", "19.87, which does not refute the 22 stated"),
    ],
)
def test_the_local_loss_is_that_of_the_setting(
    command: Command, level: str, selection: str, words: str
) -> None:
    ask = [f"{level}:1500" if ":" in part else part for part in S_APES]

    shown = " ".join(command(*ask, selection).out.split())
    stated = command(*ask, selection, "--json").json()["s_apes"]

    assert f"at level {level}, one pair of updates shows a loss of {words}" in shown
    more = stated["epsilon_local_shown"] > stated["epsilon_local"]
    assert more == ("more than" in words)


@pytest.mark.parametrize(
    "selection", ["157", "0/785", "785/785", "a/b", "1/2/3", "-1/5"]
)
def test_selections_that_cannot_be_are_refused(
    command: Command, selection: str
) -> None:
    outcome = command(*S_APES, selection)

    assert outcome.is_refusal
    assert "Expected" in outcome.err


def test_a_selection_is_of_clip_laplace_messages_at_a_delta(command: Command) -> None:
    laplace = command(*(part.removeprefix("clip-") for part in S_APES), "1/2")
    no_delta = command(*S_APES[:-3], "--epsilon", "0.1", "--s-apes", "1/2")

    assert laplace.is_refusal
    assert "mechanism clip-laplace" in laplace.err
    assert no_delta.is_refusal
    assert "--delta with --s-apes" in no_delta.err


@pytest.mark.parametrize(
    "option",
    [
        ("--rounds", "2"),
        ("--coordinates", "785"),
        ("--absent", "10"),
        ("--absent", "10%"),
    ],
)
def test_a_selection_is_of_one_collection_that_nobody_misses(
    command: Command, option: tuple[str, str]
) -> None:
    outcome = command(*S_APES, "157/785", *option)

    assert outcome.is_refusal
    assert "--s-apes without" in outcome.err
