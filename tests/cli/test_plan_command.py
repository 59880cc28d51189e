"""`shuffledp plan`: a recommendation, its reason, and yardsticks."""

import pytest
from command_line import Command

from shuffledp.cli.plan_command import plan_command

MEAN = ("plan", "mean", "--low", "0", "--high", "1")
FREQUENCY = ("plan", "frequency", "--categories", "2")
LEVELS = ("--levels", "0.5:50,1.0:100", "--delta", "1e-4")


@pytest.mark.slow
def test_mean_is_a_table_for_people(command: Command) -> None:
    outcome = command(*MEAN, *LEVELS)

    assert outcome.code == 0
    assert "Recommended: grid-response(values=" in outcome.out
    for words in ("trusted curator", "local model", "strictest", "Left out: gaussian"):
        assert words in outcome.out
    assert outcome.err == ""


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("asked", ["levels", "targets"])
def test_frequency_is_json_for_machines(command: Command, asked: str) -> None:
    wish = LEVELS if asked == "levels" else ("--targets", "0.5:150", *LEVELS[2:])

    answer = command(*FREQUENCY, *wish, "--json").json()

    given = {"levels": {"0.5": 50, "1.0": 100}, "targets": {"0.5": 150}}
    assert answer["statistic"] == "frequency"
    assert answer[asked] == given[asked]
    assert [name for name in given if answer[name] is not None] == [asked]
    assert answer["recommended"]["name"] == "kary-response"
    assert [y["name"] for y in answer["yardsticks"]] == [
        "trusted curator",
        "several messages per person",
        "local model, no shuffler",
        "all people at the strictest choice",
    ]
    # A level of devices has no target.
    if asked == "levels":
        assert answer["options"][0]["levels"] == [
            {"epsilon_local": 0.5, "count": 50},
            {"epsilon_local": 1.0, "count": 100},
        ]


@pytest.mark.slow
def test_levels_name_their_targets_where_these_change_order(command: Command) -> None:
    # Apart from the others, 20 people need a smaller level for a larger target.
    targets = ("--targets", "0.3:2000,0.4:20")

    mean = command(*MEAN, *targets, "--json").json()

    named = {
        option["mode"]: [(each["count"], each["target"]) for each in option["levels"]]
        for option in mean["options"]
    }
    assert named["agnostic"] == [(2000, 0.3), (20, 0.4)]
    assert named["stratified"] == [(20, 0.4), (2000, 0.3)]


def test_counts_name_the_targets_of_single_messages(command: Command) -> None:
    counts = ("plan", "counts", "--buckets", "2", "--max-messages", "3")

    answer = command(*counts, "--targets", "0.5:900,1:100", "--json").json()

    single = answer["single_message"]
    assert [(each["count"], each["target"]) for each in single["levels"]] == [
        (900, 0.5),
        (100, 1.0),
    ]
    for design in (*answer["designs"], answer["noise_from_shuffler"]):
        levels = design["guarantee"]["levels"]
        assert [level["target"] for level in levels] == [0.5, 1.0]


@pytest.mark.parametrize("statistic", [FREQUENCY])
@pytest.mark.slow
def test_infinite_errors_are_null_for_machines_and_infinite_for_people(
    command: Command, statistic: tuple[str, ...]
) -> None:
    wish = ("--levels", "0:50,1.0:100", "--delta", "1e-4")

    answer = command(*statistic, *wish, "--json").json()
    shown = command(*statistic, *wish).out

    assert answer["yardsticks"][2]["standard_error"] is None
    assert "infinite" in shown
    assert "inf " not in shown
    assert any("level 0" in line for line in answer["left_out"])


@pytest.mark.slow
def test_terminals_alone_show_which_step_is_computed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = ("plan", "counts", "--buckets", "4", "--targets", "1:2000")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    written = command(*wish, "--json")

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    seen = command(*wish, "--json")

    assert written.err == ""
    # A bar is drawn once more at its end, with the last step.
    assert "yardsticks" in seen.err
    assert seen.json() == written.json()


@pytest.mark.slow
def test_absent_people_may_be_given_as_a_share(command: Command) -> None:
    number = command(*FREQUENCY, *LEVELS, "--absent", "15", "--json").json()
    share = command(*FREQUENCY, *LEVELS, "--absent", "10%", "--json").json()

    assert number["absent"] == 15
    assert number == share


@pytest.mark.parametrize(
    "arguments",
    [
        MEAN,
        (*MEAN, *LEVELS, "--targets", "0.1:150"),
        (*MEAN, "--levels", "0.5"),
        (*MEAN, "--levels", "0.5:0"),
        (*MEAN, "--levels", "-1:50"),
        (*MEAN, "--levels", "0.5:1.5"),
        (*MEAN, "--levels", ""),
        (*MEAN, "--levels", "0:50"),
        (*MEAN, "--targets", "0:50"),
        (*MEAN, "--levels", "0.5:50", "--delta", "0"),
        (*MEAN, "--levels", "0.5:50", "--delta", "1"),
        (*MEAN, "--levels", "0.5:50", "--delta", "nan"),
        (*MEAN, "--levels", "0.5:50", "--absent", "-1"),
        (*MEAN, "--levels", "0.5:50", "--absent", "200%"),
        (*MEAN, *LEVELS, "--mean", "2"),
        (*MEAN, *LEVELS, "--spread", "0.7"),
        (*MEAN, *LEVELS, "--mean", "0.1", "--spread", "0.5"),
        ("plan", "mean", "--low", "1", "--high", "0", *LEVELS),
        ("plan", "mean", "--low", "0", "--high", "inf", *LEVELS),
        ("plan", "mean", *LEVELS),
        ("plan", "frequency", *LEVELS),
        ("plan", "frequency", "--categories", "1", *LEVELS),
        (*FREQUENCY, *LEVELS, "--share", "1.5"),
        (*FREQUENCY, *LEVELS, "--share", "nan"),
        ("plan", "median", *LEVELS),
    ],
)
def test_bad_input_is_refused(command: Command, arguments: tuple[str, ...]) -> None:
    assert command(*arguments).is_refusal


def test_all_plans_have_one_default_delta() -> None:
    deltas = {
        option.default
        for planned in plan_command.commands.values()
        for option in planned.params
        if option.name == "delta"
    }

    assert deltas == {1e-6}


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("plan mean --low 0 --levels 1:100", "--high"),
        ("plan frequency --levels 1:100", "--categories"),
        ("plan items --items 9 --targets 1:100", "--set-size"),
        ("plan items --items 9 --set-size 2", "--targets"),
    ],
)
def test_an_option_that_is_missing_is_named(
    words: str, missing: str, command: Command
) -> None:
    outcome = command(*words.split())

    assert outcome.is_refusal
    assert f"Missing option '{missing}'." in outcome.err


ITEMS = ("plan", "items", "--items", "16", "--set-size", "2")


@pytest.mark.slow
def test_items_are_a_table_for_people_and_json_for_machines(command: Command) -> None:
    targets = ("--targets", "0.5:500,1:500")

    outcome = command(*ITEMS, *targets)
    answer = command(*ITEMS, *targets, "--json").json()

    assert outcome.code == 0
    assert "Sets of up to 2 of 16 items from 1,000 people" in outcome.out
    assert answer["guarantee"]["delta"] == 1e-6
    for level in answer["guarantee"]["levels"]:
        assert level["epsilon_central"] <= level["target"] * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--targets", "0.5:100", "--blanket", "1"), "--blanket only with --published"),
        (("--targets", "0.5:100", "--published", "--absent", "2"), "without --absent"),
        (("--targets", "0.5"), "--targets EPSILON:PEOPLE"),
        (("--targets", "0.5:100", "--delta", "0"), "delta"),
        (("--targets", "0.5:100", "--absent", "100"), "absent"),
        (("--targets", "0.5:100", "--max-messages", "1"), "messages"),
        (
            ("--targets", "0.5:100", "--set-size", "17"),
            "Expected at most 16 items per set, as there are no others, got 17.",
        ),
        (
            ("--targets", "0.5:100", "--set-size", "5000", "--items", "10000"),
            "Expected at most 4096 items per set, got 5000.",
        ),
        (
            ("--targets", "0.5:100", "--items", "9999999999"),
            "Expected at most 2147483648 items, got 9999999999.",
        ),
    ],
)
def test_senseless_plans_of_items_are_refused_in_one_line(
    command: Command, more: tuple[str, ...], message: str
) -> None:
    outcome = command(*ITEMS, *more)

    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
