"""`shuffledp calibrate`: five questions, each answered and certified."""

import click
import pytest
from command_line import Command

from shuffledp.cli.calibrate_command import calibrate_command
from shuffledp.cli.plan_command import plan_command

DEVICES = ("--mechanism", "kary-response(categories=17)")
SHARED = (*DEVICES, "--delta", "1e-6", "--json")
LEVELS = ("--levels", "0.5:25,1.0:50")


def test_levels(command: Command) -> None:
    outcome = command("calibrate", "levels", *SHARED, "--targets", "0.1:500,0.2:500")

    answer = outcome.json()
    assert [level["count"] for level in answer["levels"]] == [500, 500]
    centrals = [e["epsilon_central"] for e in answer["guarantee"]["levels"]]
    assert centrals[0] <= 0.100002
    assert centrals[1] <= 0.200003


def test_levels_name_their_targets_where_these_change_order(command: Command) -> None:
    # Apart from the others, 20 people need a smaller level for a larger target.
    apart = ("--mechanism", "laplace(mode=stratified)", "--delta", "1e-6")
    targets = ("--targets", "0.3:2000,0.4:20")

    answer = command("calibrate", "levels", *apart, *targets, "--json").json()
    table = command("calibrate", "levels", *apart, *targets).out

    named = [(level["count"], level["target"]) for level in answer["levels"]]
    assert named == [(20, 0.4), (2000, 0.3)]
    cells = [
        [cell.strip() for cell in line.split("│")[2:6]]
        for line in table.splitlines()
        if line.startswith("│")
    ]
    assert cells == [["20", "20", "0.4", "0.4"], ["2,000", "2,000", "0.3", "0.3"]]
    assert " target " in table


def test_scale(command: Command) -> None:
    outcome = command("calibrate", "scale", *SHARED, *LEVELS, "--targets", "0.3")

    answer = outcome.json()
    assert [e["epsilon_local"] for e in answer["levels"]] == [
        0.5 * answer["scale"],
        answer["scale"],
    ]
    assert [level["target"] for level in answer["levels"]] == [0.3, 0.3]


def test_level(command: Command) -> None:
    one = ("--change", "1.0:0.5")

    outcome = command("calibrate", "level", *SHARED, *LEVELS, *one)

    answer = outcome.json()
    assert answer["levels"][0] == {"epsilon_local": 0.5, "count": 25}
    assert answer["levels"][1]["target"] == 0.5
    assert answer["guarantee"]["levels"][1]["epsilon_central"] <= 0.500006


def test_people_is_a_sentence_for_people(command: Command) -> None:
    outcome = command(
        "calibrate", "people", *SHARED[:-1], *LEVELS, "--targets", "0.05,0.1"
    )

    assert outcome.code == 0
    assert "people are enough" in outcome.out
    assert "certified" in outcome.out


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("ratio", ["0.5:1,1:1", "0.5:1000,1:1000"])
def test_absent_percents_are_of_the_crowd_that_is_found(
    command: Command, ratio: str
) -> None:
    given = [*DEVICES, "--delta", "1e-6", "--absent", "10%", "--json"]

    answer = command(
        "calibrate", "people", *given, "--levels", ratio, "--targets", "0.1"
    ).json()

    crowd = ",".join(f"{e['epsilon_local']}:{e['count']}" for e in answer["levels"])
    found = command("account", *given, "--levels", crowd).json()
    assert found["absent"] == -(-found["num_users"] // 10)
    assert max(level["epsilon_central"] for level in found["levels"]) <= 0.1


@pytest.mark.slow
def test_rounds(command: Command) -> None:
    outcome = command("calibrate", "rounds", *SHARED, *LEVELS, "--targets", "0.9,1.9")

    assert outcome.json()["guarantee"]["rounds"] >= 1


def test_rounds_that_no_certificate_states_are_not_denied(command: Command) -> None:
    many = (*DEVICES, "--delta", "1e-6", "--levels", "0.0001:10000")
    outcome = command("calibrate", "rounds", *many, "--targets", "10")

    assert "100,000,000 rounds, the most that one certificate states" in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("levels", *SHARED, "--targets", "0.1"),
        ("levels", *SHARED, "--targets", "0:500"),
        ("levels", *SHARED, "--targets", "nan:500"),
        ("scale", *SHARED, *LEVELS, "--targets", "0.1,0.2,0.3"),
        ("scale", *SHARED, *LEVELS, "--targets", "-1"),
        ("level", *SHARED, *LEVELS, "--change", "3:0.1"),
        ("level", *SHARED, *LEVELS, "--change", "1"),
        ("level", *SHARED, *LEVELS, "--change", "1:0.5,0.5:0.2"),
        ("people", *SHARED, *LEVELS, "--targets", "0.1", "--absent", "100%"),
        ("rounds", *SHARED, *LEVELS, "--targets", "1e-9"),
        (
            "rounds",
            "--delta",
            "1",
            *DEVICES,
            *LEVELS,
            "--targets",
            "0.5",
        ),
        ("levels", "--delta", "1e-6", "--targets", "0.1:500"),
    ],
)
def test_bad_input_is_refused(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("calibrate", *arguments).is_refusal


@pytest.mark.parametrize("name", ["targets", "delta"])
def test_targets_and_delta_are_explained_as_in_plans(name: str) -> None:
    explained = {
        (option.metavar, option.help)
        for asked in (
            calibrate_command.commands["levels"],
            plan_command.commands["items"],
        )
        for option in asked.params
        if isinstance(option, click.Option) and option.name == name
    }

    assert len(explained) == 1
