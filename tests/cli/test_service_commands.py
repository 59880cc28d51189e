"""task, enrol and device: what they write, and what they refuse in one line."""

import base64
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command

pytest.importorskip("cryptography")

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.protocols.frequency import Frequency
from shuffledp.service.secrets import (
    AnalystSecrets,
    ShufflerSecrets,
    load_task,
)
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.tokens import TokenCheck

CREATE = (
    "task", "create", "folder", "--name", "Test", "--question", "How is it?",
    "--levels", "0.5,2", "--minimum", "1000,500", "--delta", "1e-4",
)  # fmt: skip
NAMES = ("--category", "good", "--category", "fair", "--category", "bad")


def test_create_writes_three_files_that_belong_together(
    command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *NAMES, "--epochs", "4", "--absent", "10")

    folder = tmp_path / "folder"
    task = load_task(folder)
    assert outcome.code == 0
    assert task.identity in outcome.out
    assert (task.levels, task.minimum, task.absent) == ((0.5, 2.0), (1000, 500), 10)
    assert task.question.categories == ("good", "fair", "bad")
    assert task.budget == tuple(4 * epsilon for epsilon in task.promise)
    analyst = AnalystSecrets.load(folder / "analyst.json", Suite.X25519)
    assert analyst.public_keys(Suite.X25519) == (
        task.analyst_key,
        task.analyst_signing_key,
    )
    ShufflerSecrets.load(folder / "shuffler.json")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert (modes["shuffler.json"], modes["analyst.json"]) == (0o600, 0o600)


def test_promises_are_what_the_smallest_crowd_keeps_and_hardly_more(
    command: Command, tmp_path: Path
) -> None:
    command(*CREATE, *NAMES)

    crowd = Population.from_counts({0.5: 1000, 2.0: 500})
    certified = account(Frequency(3), crowd, delta=1e-4, quantiles=False)
    for level, promise in zip(
        certified.levels, load_task(tmp_path / "folder").promise, strict=True
    ):
        assert level.epsilon_central <= promise <= 1.01 * level.epsilon_central


def test_promises_that_the_minimum_cannot_keep_are_refused(
    command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *NAMES, "--promise", "0.001,2")

    assert outcome.is_refusal
    assert "level 0.5: certified epsilon 0.0" in outcome.err
    assert not (tmp_path / "folder").exists()


def test_promises_that_are_kept_are_taken_as_they_are(
    command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *NAMES, "--promise", "0.4,1.5", "--suite", "x-wing")

    task = load_task(tmp_path / "folder")
    assert outcome.code == 0
    assert (task.promise, task.suite) == ((0.4, 1.5), Suite.X_WING)


def test_items_promise_their_levels_with_room_for_some_to_stay_away(
    command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *NAMES, "--statistic", "items", "--set-size", "2")

    task = load_task(tmp_path / "folder")
    assert outcome.code == 0
    for level, promise in zip(task.levels, task.promise, strict=True):
        assert level < promise < 1.25 * level


@pytest.mark.parametrize(
    "changes",
    [
        NAMES[:2],
        (*NAMES, *NAMES),
        (*NAMES, "--low", "0"),
        (*NAMES, "--set-size", "2"),
        (*NAMES, "--levels", "2,0.5"),
        (*NAMES, "--levels", "0.5,nan"),
        (*NAMES, "--minimum", "10,10,10"),
        (*NAMES, "--minimum", "-5"),
        (*NAMES, "--minimum", "1e3"),
        (*NAMES, "--minimum", "9" * 30),
        (*NAMES, "--minimum", "0"),
        (*NAMES, "--absent", "2000"),
        (*NAMES, "--absent", "-1"),
        (*NAMES, "--delta", "0"),
        (*NAMES, "--delta", "nan"),
        (*NAMES, "--epochs", "0"),
        (*NAMES, "--promise", "1"),
        (*NAMES, "--promise", "1,inf"),
        (*NAMES, "--name", " "),
        (*NAMES, "--mode", "secret"),
        ("--statistic", "mean", "--low", "0"),
        ("--statistic", "mean", "--low", "1", "--high", "1"),
        ("--statistic", "sum", *NAMES),
        ("--statistic", "items", *NAMES),
        ("--statistic", "items", "--set-size", "9", *NAMES),
    ],
    ids=lambda changes: " ".join(changes)[-40:],
)
def test_tasks_that_make_no_sense_are_refused_in_one_line(
    changes: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *changes)

    assert outcome.is_refusal
    assert not (tmp_path / "folder").exists()


def test_a_task_is_never_overwritten(command: Command, tmp_path: Path) -> None:
    command(*CREATE, *NAMES)
    before = {path: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    (tmp_path / "folder" / "shuffler.json").unlink()

    outcome = command(*CREATE, *NAMES)

    assert outcome.is_refusal
    left = {path: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    assert left == {p: text for p, text in before.items() if p.name != "shuffler.json"}


def test_enrol_writes_valid_tokens_for_its_epoch_that_only_the_owner_reads(
    command: Command, tmp_path: Path
) -> None:
    command(*CREATE, *NAMES)
    outcome = command("enrol", "folder", "--count", "7", "--epoch", "3")

    path = tmp_path / "tokens.txt"
    tokens = [base64.urlsafe_b64decode(line + "=") for line in path.read_text().split()]
    key = ShufflerSecrets.load(tmp_path / "folder" / "shuffler.json").token_key
    task_id = load_task(tmp_path / "folder").task_id
    assert outcome.code == 0
    assert len(set(tokens)) == 7
    assert all(TokenCheck(key, task_id, 3).valid(token) for token in tokens)
    assert not any(TokenCheck(key, task_id, 1).valid(token) for token in tokens)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert command("enrol", "folder", "--count", "7").is_refusal


@pytest.mark.parametrize(
    "arguments",
    [
        ("enrol", "nowhere", "--count", "7"),
        ("enrol", "folder", "--count", "0"),
        ("enrol", "folder", "--count", "7", "--epoch", "0"),
        ("enrol", "folder", "--count", "7", "--epoch", str(2**32)),
        ("enrol", "folder", "--count", "7", "--output", "nowhere/tokens.txt"),
        ("task", "close", "nowhere", "--shuffler", "http://127.0.0.1:9"),
        ("task", "close", "folder", "--shuffler", "http://shuffler.example"),
        ("task", "next", "folder", "--shuffler", "nonsense"),
        ("serve", "analyst", "nowhere", "--database", "sqlite:///a.db"),
        ("serve", "analyst", "folder", "folder", "--database", "sqlite:///a.db"),
        ("serve", "analyst", "folder", "--database", "mysql://secret@host/name"),
        ("serve", "analyst", "folder", "--database", "sqlite:///"),
        ("serve", "shuffler", "folder", "--database", "sqlite:///a.db"),
        (
            "serve",
            "shuffler",
            "folder",
            "--database",
            "sqlite:///a.db",
            "--analyst",
            "a",
        ),
        ("serve", "demo", "--people", "5"),
        ("serve", "demo", "--people", "many"),
    ],
    ids=" ".join,
)
def test_commands_that_make_no_sense_are_refused_in_one_line(
    arguments: tuple[str, ...], command: Command
) -> None:
    command(*CREATE, *NAMES)

    outcome = command(*arguments)

    assert outcome.is_refusal
    assert "secret" not in outcome.err.replace("secret keys", "")


SEND = (
    "device", "send", "people.csv", "--level", "epsilon", "--tokens", "tokens.txt",
    "--task", "folder/task.json", "--shuffler", "http://127.0.0.1:9",
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "--value"),
        (("--value", "answer", "--item", "answer"), "--value"),
        (("--value", "none"), "column 'none'"),
        (("--value", "wrong"), "one of the 3 categories"),
        (("--value", "answer", "--level", "odd"), "one that the task offers"),
        (("--value", "answer", "--tokens", "none.txt"), "none.txt"),
        (("--value", "answer", "--tokens", "people.csv"), "Expected tokens"),
        (("--value", "answer", "--tokens", "few.txt"), "found 1"),
        (("--value", "answer", "--task", "none.json"), "none.json"),
        (("--value", "answer", "--shuffler", "http://far.example"), "https://"),
        (("--value", "answer"), "Expected an answer"),
    ],
    ids=range(11),
)
def test_send_says_what_is_wrong_before_anything_is_sent(
    changes: tuple[str, ...],
    said: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shuffledp.service.calls._FIRST_PAUSE", 0.0)
    (tmp_path / "people.csv").write_text(
        "answer,wrong,epsilon,odd\ngood,best,0.5,0.5\nbad,bad,2,1\n"
    )
    command(*CREATE, *NAMES)
    command("enrol", "folder", "--count", "2")
    (tmp_path / "few.txt").write_text((tmp_path / "tokens.txt").read_text()[:44])

    outcome = command(*SEND, *changes)

    assert outcome.is_refusal
    assert said in outcome.err


def test_without_the_extra_the_other_commands_work_and_these_say_what_to_install() -> (
    None
):
    script = (
        "import sys\n"
        "for n in ('cryptography', 'httpx', 'starlette', 'uvicorn'):\n"
        "    sys.modules[n] = None\n"
        "from shuffledp.cli.main import main\n"
        "main()\n"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    help_text, created = run("--help"), run(*CREATE, *NAMES)

    assert help_text.returncode == 0
    assert created.returncode == 2
    assert "install shuffledp[service]" in created.stderr
    assert created.stderr.count("\n") == 1


def test_help_teaches_the_order_of_commands(command: Command) -> None:
    pages = [
        command(*words, "--help").out
        for words in (("task",), ("task", "create"), ("serve",), ("device", "send"))
    ]

    assert all("shuffledp" in page for page in pages)
    for step in ("task create", "enrol", "serve", "task close", "task next"):
        assert f"shuffledp {step}" in pages[0]
    assert json.dumps(pages).count("Examples") == 2
