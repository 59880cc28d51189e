"""The task of a query has, for one round, the guarantee that the page shows."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import shuffledp as sdp
from shuffledp_services.commands.task_command import task_group
from shuffledp_services.explore.answers import guarantee_of
from shuffledp_services.explore.explore_query import read_query
from shuffledp_services.explore.task_export import task_of
from shuffledp_services.storage.key_files import load_task

SMALL = {"levels": "0.5:60,2:40", "absent": "3", "delta": "1e-4"}


@pytest.mark.parametrize(
    "given",
    [
        {"categories": "5"},
        pytest.param(
            {"categories": "4", "mechanism": "hadamard-response", "mode": "stratified"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"categories": "6", "mechanism": "subset-selection", "subset_size": "2"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"statistic": "mean", "low": "-2", "high": "3"}, marks=pytest.mark.slow
        ),
    ],
    ids=["frequency", "hadamard", "subsets", "mean"],
)
def test_the_command_makes_a_task_that_promises_what_is_shown(
    given: dict[str, str], tmp_path: Path
) -> None:
    query = read_query(SMALL | given)
    runner, folder = CliRunner(), tmp_path / "analyst"
    for role in ("analyst", "shuffler", "enroller"):
        words = ["init", role, str(tmp_path / role)]
        assert runner.invoke(task_group, words).exit_code == 0

    words = shlex.split(task_of(query)["command"])
    files = {
        f"--{role}={role}.public.json": f"--{role}={tmp_path / role}/{role}.public.json"
        for role in ("shuffler", "enroller")
    }
    words = [files.get(word, word) for word in words]
    words[words.index("FOLDER")] = str(folder)
    made = runner.invoke(task_group, words[2:], catch_exceptions=False)

    assert made.exit_code == 0, made.output
    task = load_task(folder)
    assert (task.absent, task.minimum, task.epochs) == (3, (60, 40), 1)
    for promise, level in zip(task.promise, guarantee_of(query).levels, strict=True):
        # Promises leave room for reports that turn out to be spoiled.
        assert level.epsilon_central <= promise <= 1.05 * level.epsilon_central


def test_rounds_are_epochs_and_values_may_begin_with_a_minus() -> None:
    given = {"statistic": "mean", "low": "-2", "rounds": "7"}

    words = shlex.split(task_of(read_query(given))["command"])

    assert words[:4] == ["shuffledp", "task", "create", "FOLDER"]
    assert {"--epochs=7", "--low=-2", "--high=10"} <= set(words)


@pytest.mark.parametrize(
    "given",
    [
        {"mechanism": "unary-encoding"},
        {"statistic": "mean", "mechanism": "laplace"},
        {"categories": "51"},
    ],
    ids=["unary", "laplace", "many"],
)
def test_what_the_services_do_not_ask_has_no_command(given: dict[str, str]) -> None:
    with pytest.raises(sdp.InvalidInputError, match=r"for a (task|command)"):
        task_of(read_query(given))
