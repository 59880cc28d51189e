"""`shuffledp account --method`: published bounds beside the certificate."""

import pytest
from conftest import Command

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
    assert claim["proven"] == "false as stated"
    assert claim["number"] < answer["levels"][0]["epsilon_central_lower"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--method", "unheard-of"), "Expected one of"),
        (("--method", "all", "--rounds", "2"), "one collection"),
        (("--method", "all", "--absent", "3"), "one collection"),
        (("--method", "all", "--mode", "stratified"), "agnostic"),
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
