"""task, enrol and device: what they write, and what they refuse in one line."""

import asyncio
import hashlib
import json
import re
import socket
import sqlite3
import stat
import subprocess
import sys
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, Outcome

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.grid_response import GridResponse
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.protocol import Mean
from shuffledp_services import participant
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.commands.receipts_file import receipts_file
from shuffledp_services.device.simulated_devices import Delivery
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.http.http_client import Refused, Reply, UnreachableError
from shuffledp_services.operator import server as service_run
from shuffledp_services.operator import shuffler_commands
from shuffledp_services.operator.task_setup import rounded_up
from shuffledp_services.operator.task_signatures import draw_keys
from shuffledp_services.participant import NOT_BUILT
from shuffledp_services.storage.key_files import (
    AnalystSecrets,
    EnrollerSecrets,
    ShufflerSecrets,
    load_task,
)
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.inclusion import keep_receipt
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import read_roster
from shuffledp_services.wire.sealing import Suite

NEW = (
    "task", "create", "folder", "--name", "Test", "--question", "How is it?",
    "--asker", "Somebody", "--contact", "somebody@example.org",
    "--consent", "All answers are counted.",
    "--shuffler", "folder/shuffler.public.json",
    "--enroller", "folder/enroller.public.json",
)  # fmt: skip
CREATE = (
    *NEW, "--levels", "0.5,2", "--minimum", "1000,500", "--delta", "1e-4",
)  # fmt: skip
ITEMS = (
    *NEW,
    "--statistic", "items", "--targets", "0.5,2", "--minimum", "1000,500",
    "--delta", "1e-4",
)  # fmt: skip
NAMES = ("--category", "good", "--category", "fair", "--category", "bad")


@pytest.fixture(autouse=True)
def keys(tmp_path: Path) -> None:
    """Three parties in one folder: `test_agreement` keeps them apart."""
    for role in Role:
        draw_keys(tmp_path / "folder", role, Suite.X25519)


GERMAN = {
    "language": "de", "name": "Probe", "question": "Wie ist es?",
    "answers": ["gut", "geht so", "schlecht"], "consent": "Alles wird gezählt.",
}  # fmt: skip


def without(party: str) -> None:
    """Takes a party's keys out of the folder: a service has no other's."""
    Path("folder", f"{party}.json").unlink()


def create(command: Command, *more: str) -> Outcome:
    outcome = command(*CREATE, *NAMES, *more)
    if outcome.code == 0:
        assert command("task", "sign", "folder").code == 0
    return outcome


def test_translations_are_read_from_files_and_become_part_of_the_task(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "de.json"
    file.write_text(json.dumps(GERMAN | {"answers": ["gut"]}))
    refused = create(command, "--translation", "de.json")
    file.write_text(json.dumps(GERMAN | {"extra": 1}))
    unknown = create(command, "--translation", "de.json")
    file.write_text(json.dumps(GERMAN), encoding="utf-8-sig")
    outcome = create(command, "--translation", "de.json")

    assert refused.is_refusal
    assert "3 answers in de" in refused.err
    assert unknown.is_refusal
    assert "de.json" in unknown.err
    assert outcome.code == 0
    (entry,) = load_task(tmp_path / "folder").notice.translations
    assert {"language": entry.language, **entry.to_dict()} == GERMAN


def test_create_writes_a_task_that_names_the_parties_keys(
    command: Command, tmp_path: Path
) -> None:
    outcome = create(command, "--epochs", "4", "--absent", "10")

    folder = tmp_path / "folder"
    task = load_task(folder)
    assert outcome.code == 0
    assert task.identity in outcome.out
    assert (task.choices, task.minimum, task.absent) == ((0.5, 2.0), (1000, 500), 10)
    assert task.question.survey.labels == ("good", "fair", "bad")
    for allowance, epsilon in zip(task.allowance, task.promise, strict=True):
        assert reduce(add, [epsilon] * 4) <= allowance < 4.0001 * epsilon
    analyst = AnalystSecrets.load(folder / "analyst.json")
    shuffler = ShufflerSecrets.load(folder / "shuffler.json")
    enroller = EnrollerSecrets.load(folder / "enroller.json")
    assert (*analyst.public_keys(), shuffler.verify_key, enroller.verify_key) == (
        task.analyst_key,
        task.analyst_signing_key,
        task.shuffler_signing_key,
        task.enroller_signing_key,
    )
    written = (folder / "task.json").read_bytes()
    assert hashlib.sha256(written).hexdigest() == task.fingerprint
    assert f"sha256 of task.json: {task.fingerprint}\n" in outcome.out


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for entry in value.values() for leaf in leaves(entry)]
    if isinstance(value, list):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_whoever_signs_is_shown_everything_on_a_narrow_terminal(
    mode: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = " ".join(f"word{number}" for number in range(60)) + " " + "x" * 90
    german = GERMAN | {
        "answers": ["gut", ":heart: [b]geht[/b] so", long],
        "name": long[:99],
    }
    (tmp_path / "de.json").write_text(json.dumps(german))
    mechanism = ("--mechanism", "subset-selection(subset_size=2)")
    create(
        command, "--translation", "de.json", "--mode", mode, *mechanism,
        "--promise", "0.4123456,1.5", "--absent", "7",
    )  # fmt: skip

    outcome = command("task", "sign", "folder")

    task, said = load_task(tmp_path / "folder"), "".join(outcome.out.split())
    value = task.to_dict()
    # Keys are compared by their signatures; all else can be read.
    shown = {name: value[name] for name in ("name", "notice", "question", "suite")}
    for text in leaves(shown):
        assert "".join(text.split()) in said
    numbers = [*value["choices"], *value["promise"], 4.123456, 15.0, 2, 7]
    for number in numbers:
        assert repr(number).removesuffix(".0") in outcome.out
    # Without the digit that covers sums in floating point.
    assert not any(repr(number) in outcome.out for number in value["allowance"])
    assert ("seesthelevelofevery" in said) == (mode == "stratified")
    assert ("thelevelofnomessage" in said) == (mode == "agnostic")
    rows = outcome.out[outcome.out.index("de ") :].splitlines()
    numbered = [row.split()[1] for row in rows if row.startswith("answer ")]
    assert numbered == ["1", "2", "3"]
    digest = f"sha256 of task.json: {task.fingerprint}"
    lines = outcome.out.splitlines()
    assert digest in lines
    assert max(len(line) for line in lines if line != digest) <= 80


def test_a_task_that_would_play_tricks_on_terminals_is_not_shown(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    path = tmp_path / "folder" / "task.json"
    text = path.read_text()

    for name, honest in (("name", "Test"), ("text", "How is it?")):
        changed = f'"{name}":"{honest}\\u001b[2J"'
        path.write_text(text.replace(f'"{name}":"{honest}"', changed))
        outcome = command("task", "sign", "folder")
        assert outcome.is_refusal
        assert "control characters" in outcome.err


@pytest.mark.parametrize("added", ["\n", " ", "\r\n"], ids=ascii)
def test_a_task_of_other_bytes_than_were_signed_is_refused(
    added: str, command: Command, tmp_path: Path
) -> None:
    create(command)
    path = tmp_path / "folder" / "task.json"
    path.write_bytes(path.read_bytes() + added.encode())

    for words in (
        ("task", "sign", "folder"),
        (*SERVE_ANALYST, "--port", "0"),
        ("enrol", "folder", "--count", "1500"),
    ):
        outcome = command(*words)
        assert outcome.is_refusal
        assert "sha256sum" in outcome.err


ALIKE = ("bad ", " bad", "bad\u200b", "\u2060bad", "b\u200dad", "Bad", "b\u00adad")


@pytest.mark.parametrize("text", [*ALIKE, "a  b"], ids=ascii)
def test_answers_that_look_alike_are_refused(
    text: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "de.json").write_text(
        json.dumps(GERMAN | {"answers": ["bad", "a b", text]})
    )

    own = command(*CREATE, "--category", "bad", "--category", "a b", "--category", text)
    translated = create(command, "--translation", "de.json")

    for outcome in (own, translated):
        assert outcome.is_refusal
        reasons = ("alike", "at their ends", "not seen")
        assert any(reason in outcome.err for reason in reasons)
    assert not (tmp_path / "folder" / "task.json").exists()


def test_promises_are_what_the_smallest_crowd_keeps_and_hardly_more(
    command: Command, tmp_path: Path
) -> None:
    create(command)

    crowd = Population.from_counts({0.5: 1000, 2.0: 500})
    # A hundredth of 500 may hide nobody, and as many reports may be spoiled besides.
    certified = account(Frequency(3), crowd, delta=1e-4, absent=10, quantiles=False)
    assert load_task(tmp_path / "folder").absent == 5
    for level, promise in zip(
        certified.levels, load_task(tmp_path / "folder").promise, strict=True
    ):
        assert level.epsilon_central <= promise <= 1.01 * level.epsilon_central


@pytest.mark.slow
def test_a_task_says_which_mechanism_runs_and_promises_what_it_keeps(
    command: Command, tmp_path: Path
) -> None:
    crowd = Population.from_counts({0.5: 1000, 2.0: 500})
    several: dict[str, FrequencyOracle] = {
        "kary-response": KRandomizedResponse(3),
        "subset-selection": SubsetSelection(3, 2),
        "hadamard-response": HadamardResponse(3),
    }
    for name, oracle in several.items():
        size = "(subset_size=2)" if name == "subset-selection" else ""

        draw_keys(tmp_path / name, Role.ANALYST, Suite.X25519)
        outcome = command(
            *CREATE[:2], name, *CREATE[3:], *NAMES, "--mechanism", name + size
        )

        task, protocol = load_task(tmp_path / name), Frequency(3, randomizer=oracle)
        certified = account(protocol, crowd, delta=1e-4, absent=10, quantiles=False)
        assert outcome.code == 0
        assert task.protocol == protocol.identity
        assert list(task.promise) == [
            rounded_up(level.epsilon_central) for level in certified.levels
        ]


def test_a_task_of_a_mean_says_how_its_numbers_are_rounded(
    command: Command, tmp_path: Path
) -> None:
    mean = ("--statistic", "mean", "--low", "0", "--high", "8")
    grid = ("--mechanism", "grid-response(values=9)")
    several = {"usual": (), "grid": grid}

    for name, more in several.items():
        draw_keys(tmp_path / name, Role.ANALYST, Suite.X25519)
        outcome = command(*CREATE[:2], name, *CREATE[3:], *mean, *more)
        assert outcome.code == 0, outcome.err

    usual, task = (load_task(tmp_path / name) for name in several)
    assert usual.protocol == Mean(0.0, 8.0).identity
    assert usual.question.to_dict()["terms"] == {"low": 0.0, "high": 8.0}
    randomizer = GridResponse(0.0, 8.0, num_values=9)
    assert task.protocol == Mean(0.0, 8.0, randomizer=randomizer).identity


def test_promises_that_the_minimum_cannot_keep_are_refused(
    command: Command, tmp_path: Path
) -> None:
    outcome = create(command, "--promise", "0.001,2")

    assert outcome.is_refusal
    assert "level 0.5: certified epsilon 0.0" in outcome.err
    assert not (tmp_path / "folder" / "task.json").exists()


def test_promises_without_room_for_spoiled_reports_are_refused(
    command: Command,
) -> None:
    crowd = Population.from_counts({0.5: 1000, 2.0: 500})
    kept = [
        account(Frequency(3), crowd, delta=1e-4, absent=absent, quantiles=False).levels
        for absent in (2, 7)
    ]
    exact, roomy = (
        ",".join(str(level.epsilon_central) for level in levels) for levels in kept
    )

    refused = create(command, "--absent", "2", "--promise", exact)
    taken = create(command, "--absent", "2", "--promise", roomy)

    assert refused.is_refusal
    assert "5 spoiled reports among them" in refused.err
    assert taken.code == 0
    assert "if 2 of its people hide nobody and up to 5 reports" in taken.out


def test_promises_that_are_kept_are_taken_as_they_are(
    command: Command, tmp_path: Path
) -> None:
    outcome = create(command, "--promise", "0.4,1.5")

    task = load_task(tmp_path / "folder")
    assert outcome.code == 0
    assert (task.promise, task.suite) == ((0.4, 1.5), Suite.X25519)


@pytest.mark.slow
def test_items_promise_their_targets(command: Command, tmp_path: Path) -> None:
    outcome = command(*ITEMS, *NAMES, "--set-size", "2")

    task = load_task(tmp_path / "folder")
    assert outcome.code == 0
    assert task.promise == task.choices
    assert task.plan_rule is not None


@pytest.mark.parametrize(
    "changes",
    [
        NAMES[:2],
        (*NAMES, *NAMES),
        (*NAMES, "--low", "0"),
        (*NAMES, "--set-size", "2"),
        (*NAMES, "--mechanism", "subset-selection(categories=3, subset_size=2)"),
        (*NAMES, "--mechanism", "grid-response(values=9)"),
        (*NAMES, "--mechanism", "local-hashing(buckets=2)"),
        (*NAMES, "--mechanism", "subset-selection"),
        (*NAMES, "--mechanism", "subset-selection(subset_size=3)"),
        (*NAMES, "--mechanism", "subset-selection(subset_size=0)"),
        (*NAMES, "--mechanism", "hadamard-response(subset_size=2)"),
        ("--statistic", "sum", "--mechanism", "kary-response"),
        (*NAMES, "--levels", "2,0.5"),
        (*NAMES, "--levels", "0.5,nan"),
        (*NAMES, "--minimum", "10,10,10"),
        (*NAMES, "--minimum", "-5"),
        (*NAMES, "--minimum", "1e3"),
        (*NAMES, "--minimum", "9" * 30),
        (*NAMES, "--minimum", "0"),
        (*NAMES, "--name", "clear\x1b[2J"),
        (*NAMES, "--question", "One\nline?"),
        (*NAMES, "--category", "a\tb"),
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
        ("--statistic", "items", "--set-size", "2", *NAMES),
        ("--statistic", "median", *NAMES),
        (*NAMES, "--targets", "0.5,2"),
    ],
    ids=lambda changes: " ".join(changes)[-40:],
)
def test_tasks_that_make_no_sense_are_refused_in_one_line(
    changes: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    outcome = command(*CREATE, *changes)

    assert outcome.is_refusal
    assert not (tmp_path / "folder" / "task.json").exists()


@pytest.mark.parametrize(
    "changes",
    [
        NAMES,
        ("--set-size", "2"),
        ("--set-size", "4", *NAMES),
        ("--set-size", "0", *NAMES),
        ("--set-size", "2", "--levels", "0.5,2", *NAMES),
        ("--set-size", "2", "--low", "0", *NAMES),
        ("--set-size", "2", "--mode", "stratified", *NAMES),
    ],
    ids=lambda changes: " ".join(changes)[:40],
)
def test_tasks_about_items_that_make_no_sense_are_refused_in_one_line(
    changes: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    outcome = command(*ITEMS, *changes)

    assert outcome.is_refusal
    assert not (tmp_path / "folder" / "task.json").exists()


def test_a_task_is_never_overwritten(command: Command, tmp_path: Path) -> None:
    create(command)
    before = {path: path.read_bytes() for path in (tmp_path / "folder").iterdir()}

    outcome = create(command)

    assert outcome.is_refusal
    assert before == {
        path: path.read_bytes() for path in (tmp_path / "folder").iterdir()
    }


def test_enrol_writes_tokens_that_only_the_owner_reads_and_their_roster(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    outcome = command("enrol", "folder", "--count", "1500", "--epoch", "3")

    path = tmp_path / "tokens.txt"
    invitations = [Invitation.read(line) for line in path.read_text().split()]
    tokens = [each.token for each in invitations]
    task = load_task(tmp_path / "folder")
    roster = read_roster((tmp_path / "folder" / "roster-3.bin").read_bytes(), task)
    assert outcome.code == 0
    assert task.fingerprint in outcome.out
    assert len(set(tokens)) == roster.enrolment.tokens == 1500
    assert roster.enrolment.epoch == 3
    assert all(roster.valid(token) for token in tokens)
    assert {(each.epoch, each.task) for each in invitations} == {(3, task.digest)}
    # The shuffler has nothing of what is never sent.
    assert len({each.secret for each in invitations} - set(tokens)) == 1500
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert command("enrol", "folder", "--count", "1500").is_refusal
    assert not (tmp_path / "folder" / "roster-1.bin").exists()


def test_links_hold_a_token_the_epoch_and_the_digest_of_the_task(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    asked = ("enrol", "folder", "--count", "1500", "--page")

    refused = command(*asked, "http://shuffler.example")
    command(*asked, "https://shuffler.example/")

    task = load_task(tmp_path / "folder")
    begin = f"https://shuffler.example/tasks/{task.identity}/take-part#token="
    lines = (tmp_path / "tokens.txt").read_text().splitlines()
    assert "https://" in refused.err
    assert len(lines) == 1500
    for line in lines:
        assert line.startswith(begin)
        assert line.endswith(f"&epoch=1&task={task.fingerprint}")


@pytest.mark.parametrize(
    "page",
    ["https://a\nb", "https://a.example/\u2028", "https://a b", "https://a:99999"],
)
def test_links_that_would_not_stay_on_their_lines_are_refused(
    page: str, command: Command, tmp_path: Path
) -> None:
    create(command)

    outcome = command("enrol", "folder", "--count", "1500", "--page", page)

    assert outcome.is_refusal
    assert not (tmp_path / "tokens.txt").exists()
    assert not (tmp_path / "folder" / "roster-1.bin").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--database", "sqlite:///db"), "postgresql://USER@HOST/NAME"),
        (
            ("--database", "postgresql://a@b/c", "--metrics-port", "65535"),
            "--metrics-port with 1 more ports after it",
        ),
    ],
)
def test_workers_that_cannot_share_what_they_need_do_not_start(
    options: tuple[str, ...], expected: str, command: Command, tmp_path: Path
) -> None:
    create(command)

    outcome = command(
        *("serve", "shuffler", "folder", "--analyst", "https://a.example"),
        *("--workers", "2", *options),
    )

    assert outcome.is_refusal
    assert expected in outcome.err
    assert not (tmp_path / "db").exists()


def test_a_task_that_somebody_has_not_signed_does_not_run(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    (tmp_path / "folder" / "task.enroller.sig").unlink()

    for words in (
        ("enrol", "folder", "--count", "1500"),
        (*SERVE_ANALYST, "--port", "0"),
        (*SERVE_SHUFFLER, "--port", "0", "--analyst", "http://localhost:1"),
        ("task", "close", "folder", "--shuffler", "http://127.0.0.1:9"),
    ):
        outcome = command(*words)
        assert outcome.is_refusal
        assert "task.enroller.sig" in outcome.err


SERVE_ANALYST = ("serve", "analyst", "folder", "--database", "sqlite:///a.db")
CANARIES = ("audit", "canaries", "--task", "folder/task.json")
COLLECTION = ("audit", "collection", "folder/task.json", "--task", "folder/task.json")


@pytest.mark.few_cases(6)
@pytest.mark.parametrize(
    "arguments",
    [
        ("enrol", "nowhere", "--count", "1500"),
        ("enrol", "folder", "--count", "0"),
        ("enrol", "folder", "--count", "1499"),
        ("enrol", "folder", "--count", "1500", "--epoch", "21"),
        ("task", "init", "shuffler", "folder"),
        ("task", "init", "shuffler", "new", "--suite", "x-wing"),
        ("task", "init", "juggler", "new"),
        ("task", "sign", "nowhere"),
        ("enrol", "folder", "--count", "1500", "--epoch", "0"),
        ("enrol", "folder", "--count", "1500", "--epoch", str(2**32)),
        ("enrol", "folder", "--count", "1500", "--output", "nowhere/tokens.txt"),
        ("task", "close", "nowhere", "--shuffler", "http://127.0.0.1:9"),
        ("task", "close", "folder", "--shuffler", "http://shuffler.example"),
        ("task", "next", "folder", "--shuffler", "nonsense"),
        ("task", "status", "folder", "--shuffler", "http://127.0.0.1:99999"),
        ("task", "close", "folder", "--shuffler", "http://127.0.0.1:65536"),
        (
            "task",
            "deadline",
            "folder",
            "--shuffler",
            "http://127.0.0.1:99999",
            "--at",
            "2099-01-31T17:00Z",
        ),
        ("serve", "analyst", "nowhere", "--database", "sqlite:///a.db"),
        ("serve", "analyst", "folder", "folder", "--database", "sqlite:///a.db"),
        ("serve", "analyst", "folder", "--database", "mysql://secret@host/name"),
        ("serve", "analyst", "folder", "--database", "sqlite:///"),
        ("serve", "analyst", "folder", "--database", "sqlite:///:memory:"),
        ("serve", "analyst", "folder", "--database", "sqlite:///folder"),
        ("serve", "analyst", "folder", "--database", "sqlite:///folder/task.json"),
        ("serve", "analyst", "folder", "--database", "sqlite:///a.db", "--host", "x y"),
        (
            "serve",
            "shuffler",
            "folder",
            "--analyst",
            "http://localhost:8001",
            "--port",
            "0",
            "--database",
            "sqlite:///nowhere/shuffler.db",
        ),
        (
            "serve",
            "shuffler",
            "folder",
            "--analyst",
            "http://localhost:8001",
            "--port",
            "0",
            "--database",
            "postgresql://me:secret@127.0.0.1:9/name",
        ),
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
        (
            "serve",
            "shuffler",
            "folder",
            "--database",
            "sqlite:///a.db",
            "--analyst",
            "http://127.0.0.1:99999",
        ),
        ("serve", "analyst", "folder", "--database", "sqlite:///a\n.db"),
        (*SERVE_ANALYST, "--keep-batches", "folder/task.json/kept"),
        (*SERVE_ANALYST, "--audit", "nowhere.json", "--auditor", "Me"),
        (*SERVE_ANALYST, "--audit", "folder/task.json", "--auditor", "Me"),
        (*COLLECTION, "--result", "folder/task.json"),
        (*COLLECTION, "--result", "nowhere.json"),
        (*CANARIES, "--count", "3", "--record", "r"),
        CANARIES,
        (
            *CANARIES,
            "--record",
            "r",
            "--tokens",
            "none",
            "--shuffler",
            "http://localhost",
        ),
        ("serve", "demo", "--people", "5"),
        ("serve", "demo", "--people", "many"),
    ],
    ids=" ".join,
)
def test_commands_that_make_no_sense_are_refused_in_one_line(
    arguments: tuple[str, ...], command: Command
) -> None:
    create(command)
    if arguments[0] == "serve":
        without("shuffler" if arguments[1] == "analyst" else "analyst")

    outcome = command(*arguments)

    assert outcome.is_refusal
    assert "secret" not in outcome.err.replace("secret keys", "")


SERVE_SHUFFLER = ("serve", "shuffler", "folder", "--database", "sqlite:///s.db")


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (SERVE_ANALYST, "shuffler"),
        ((*SERVE_SHUFFLER, "--analyst", "http://localhost:1"), "analyst"),
    ],
)
def test_two_services_secrets_in_one_folder_are_refused(
    words: tuple[str, ...], other: str, command: Command
) -> None:
    create(command)

    outcome = command(*words, "--port", "0")

    assert outcome.is_refusal
    assert f"Expected no folder/{other}.json" in outcome.err


def test_a_port_that_is_taken_is_refused(command: Command) -> None:
    create(command)
    without("shuffler")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        outcome = command(*SERVE_ANALYST, "--port", str(port))

    assert outcome.is_refusal
    assert f"127.0.0.1:{port}" in outcome.err


def test_a_task_that_was_changed_under_its_database_is_refused(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    task, path = load_task(tmp_path / "folder"), tmp_path / "folder" / "task.json"
    store = SqliteAnalystStore(tmp_path / "a.db")
    store.open([task])
    store.close()
    path.write_text(path.read_text().replace('"good"', '"best"'))
    without("shuffler")

    outcome = command(*SERVE_ANALYST, "--port", "0")

    assert outcome.is_refusal


def test_a_database_of_something_else_is_refused(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    without("shuffler")
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE states (other TEXT)")
    database.close()

    outcome = command(*SERVE_ANALYST, "--port", "0")

    assert outcome.is_refusal


def test_the_services_have_ports_of_their_own(command: Command) -> None:
    shown = {
        party: " ".join(command("serve", party, "--help").out.split())
        for party in ("shuffler", "analyst")
    }

    assert "default: 8000" in shown["shuffler"]
    assert "default: 8001" in shown["analyst"]


def test_a_name_that_looks_like_markup_is_shown_as_it_is(
    command: Command, tmp_path: Path
) -> None:
    outcome = create(command, "--name", "[/red] x")

    assert outcome.code == 0
    assert "[/red] x" in outcome.out
    assert load_task(tmp_path / "folder").name == "[/red] x"


def test_a_minimum_that_is_too_large_is_said_to_be_that(command: Command) -> None:
    outcome = create(command, "--minimum", "2000000000")

    assert outcome.is_refusal
    assert "at most 1,000,000,000" in outcome.err


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("enrol", "--count", "1500"), "enroller.json"),
        (("task", "close"), "shuffler.json"),
    ],
)
def test_keys_of_another_task_are_refused(
    words: tuple[str, ...], file: str, command: Command, tmp_path: Path
) -> None:
    create(command)
    ShufflerSecrets.new().save(tmp_path / "other.json")
    (tmp_path / "other.json").replace(tmp_path / "folder" / file)
    more = ("--shuffler", "http://127.0.0.1:9") if words[0] == "task" else ()

    outcome = command(*words, "folder", *more)

    assert outcome.is_refusal
    assert "belong to the task" in outcome.err
    assert not (tmp_path / "tokens.txt").exists()


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(
    ("now", "code", "said"),
    [
        ({"phase": "delivered", "stage": "answer"}, 0, "Epoch 2: delivered; the analyst"),
        ({"phase": "open", "stage": "answer"}, 0, "people now send their answers"),
        ({"phase": "delivered", "stage": "choice"}, 0, "the epoch is over"),
        ({"phase": "closed", "stage": "answer"}, 0, "does not have it yet"),
        (
            {"phase": "closed", "stage": "answer", "hand_over": {"refused": "unreadable"}},
            2,
            "refused its batch: unreadable",
        ),
    ],
    ids=range(5),
)  # fmt: skip
def test_close_says_what_became_of_the_batch(
    now: dict[str, Any],
    code: int,
    said: str,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ask(_client: object, _method: str, _url: str, **_named: object) -> Reply:
        await asyncio.sleep(0)
        return Reply({"epoch": 2, "challenge": "A" * 22, **now}, 1)

    monkeypatch.setattr(shuffler_commands, "ask", ask)
    monkeypatch.setattr(shuffler_commands, "HAND_OVER_SECONDS", 0.1)
    monkeypatch.setattr(shuffler_commands, "_POLL", 0.01)
    create(command)

    outcome = command("task", "close", "folder", "--shuffler", "http://127.0.0.1:9")

    assert outcome.code == code
    assert said in outcome.out + outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("task", "close", "folder", "--shuffler"),
        ("task", "status", "folder", "--shuffler"),
    ],
)
def test_a_terminal_shows_that_a_service_is_waited_for(
    arguments: tuple[str, ...], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(command)
    monkeypatch.setattr("shuffledp_services.http.http_client.ATTEMPTS", 1)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    in_log = command(*arguments, "http://127.0.0.1:9")

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    on_terminal = command(*arguments, "http://127.0.0.1:9")

    assert in_log.is_refusal
    assert "wait for the shuffler" in on_terminal.err
    # The line that is shown while it is waited for is cleared before the error.
    assert on_terminal.err.endswith("\x1b[2K" + in_log.err)


def test_a_close_that_was_heard_before_it_was_answered_is_done(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is killed between its disk and its answer: it is asked again."""
    refusal = Refusal(Reason.NOT_OPEN, "Expected an open step.")
    state = {"epoch": 2, "stage": "answer", "phase": "open", "challenge": "A" * 22}
    errors: list[Exception] = []
    then = "delivered"

    async def ask(_client: object, method: str, _url: str, **_named: object) -> Reply:
        await asyncio.sleep(0)
        if method == "GET":
            return Reply(dict(state), 1)
        state["phase"] = then
        raise errors.pop(0)

    monkeypatch.setattr(shuffler_commands, "ask", ask)
    monkeypatch.setattr(shuffler_commands, "_PAUSE", 0.0)
    create(command)
    close = ("task", "close", "folder", "--shuffler", "http://127.0.0.1:9")

    errors += [UnreachableError("No answer.")]
    done = command(*close)
    # Refused at once, somebody else did it; and where nothing changed, nothing was done.
    state["phase"] = "open"
    errors += [Refused(refusal, 1)]
    by_somebody_else = command(*close)
    state["phase"] = then = "open"
    errors += [UnreachableError("No answer."), Refused(refusal, 1)]
    refused = command(*close)

    assert done.code == 0
    assert "delivered" in done.out
    assert by_somebody_else.is_refusal
    assert refused.is_refusal
    assert not errors


def test_an_operator_s_folder_is_of_the_task_that_is_served(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_client: object, method: str, _url: str, **_named: object) -> Reply:
        await asyncio.sleep(0)
        assert method == "GET"
        return Reply({"epoch": 1, "stage": "answer", "digest": "12" * 32}, 1)

    monkeypatch.setattr(shuffler_commands, "ask", ask)
    create(command)

    outcome = command("task", "close", "folder", "--shuffler", "http://127.0.0.1:9")

    assert outcome.is_refusal
    assert "were keys replaced?" in outcome.err
    assert "12" * 32 in outcome.err


def test_receipts_are_read_by_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "receipts.jsonl"

    with receipts_file(path) as keep:
        keep(b"one\n")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"one\n"


@pytest.mark.parametrize(
    "at",
    [
        "tomorrow",
        "2027-01-31T18:00",
        "1800000000",
        "",
        "0001-01-01T00:00+23:59",
        "9999-12-31T23:59-23:59",
    ],
)
def test_a_deadline_without_its_zone_is_refused(command: Command, at: str) -> None:
    outcome = command(
        "task", "deadline", "folder", "--shuffler", "http://127.0.0.1:1", "--at", at
    )

    assert outcome.is_refusal
    assert "a time with its zone" in outcome.err


def test_status_says_exactly_how_many_people_answered(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    said: dict[str, Any] = {
        "epoch": 2,
        "stage": "answer",
        "phase": "open",
        "people": [1412, 499],
        "refused": {"message-repeated": 3, "malformed": 0},
        "challenge": "A" * 22,
        "enrolment": {"tokens": 2_000},
    }

    async def ask(_client: object, method: str, url: str, **_named: object) -> Reply:
        await asyncio.sleep(0)
        asked.append((method, url.rpartition("/")[2]))
        return Reply(said, 1)

    monkeypatch.setattr(shuffler_commands, "ask", ask)
    create(command)
    url = ("--shuffler", "http://127.0.0.1:9")

    outcome = command("task", "status", "folder", *url)
    said["enrolment"] = None
    unknown = command("task", "status", "folder", *url)
    begun = command("task", "next", "folder", *url)
    said["people"] = "<b>"
    nonsense = command("task", "status", "folder", *url)

    lines = [line.strip() for line in outcome.out.splitlines()]
    assert lines[0] == "Epoch 2, step answer: open."
    assert lines[1:] == [
        "level 0.5: 1,412 of 1,000 people",
        "level 2: 499 of 500 people",
        "refused since the task began: 3 (The same sealed message was sent before)",
    ]
    missing = "roster-2.bin is not in the shuffler's folder"
    assert missing not in outcome.out
    assert missing in unknown.out
    assert "it takes answers once roster-2.bin is" in begun.out
    assert asked[1] == ("POST", "commands")
    assert nonsense.code == 2
    assert "<b>" not in nonsense.out + nonsense.err


def test_a_batch_that_is_on_its_way_is_waited_for(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    phases = ["open", "closed", "closed", "closed", "delivered"]

    async def ask(_client: object, method: str, _url: str, **_named: object) -> Reply:
        await asyncio.sleep(0)
        phase = phases.pop(0) if method == "GET" else ""
        return Reply(
            {"epoch": 1, "stage": "answer", "phase": phase, "challenge": "A" * 22}, 1
        )

    monkeypatch.setattr(shuffler_commands, "ask", ask)
    monkeypatch.setattr(shuffler_commands, "_POLL", 0.01)
    create(command)

    outcome = command("task", "close", "folder", "--shuffler", "http://127.0.0.1:9")

    assert outcome.out == "Epoch 1: delivered; the analyst has it.\n"
    assert phases == []


@pytest.mark.parametrize(
    ("delivery", "code", "said"),
    [
        (Delivery(0, {Reason.TOKEN_FORGED: 2}), 2, "see shuffledp enrol --epoch"),
        (Delivery(0, {Reason.TOKEN_SPENT: 2}), 2, "2 were refused: token-spent"),
        (Delivery(1, {Reason.TOKEN_SPENT: 1}), 1, "1 of 2 reports were accepted"),
        (Delivery(2, {Reason.TOKEN_SPENT: 1}), 1, "1 were refused: token-spent (a rep"),
        (Delivery(2, {}), 0, "2 of 2 reports were accepted"),
    ],
    ids=range(5),
)
def test_the_exit_code_of_send_says_whether_reports_were_refused(
    delivery: Delivery,
    code: int,
    said: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def send(*_: object, **named: object) -> Delivery:
        await asyncio.sleep(0)
        assert named["dummy"] is True
        return delivery

    monkeypatch.setattr("shuffledp_services.device.simulated_devices.send", send)
    (tmp_path / "people.csv").write_text("answer,epsilon\ngood,0.5\nbad,2\n")
    create(command)
    command("enrol", "folder", "--count", "1500")

    outcome = command(*SEND, "--value", "answer", "--dummy")

    assert outcome.code == code
    assert outcome.is_refusal == (code == 2)
    assert said in outcome.out + outcome.err


@pytest.mark.slow
def test_a_service_says_where_it_is_and_ends_when_it_is_told_to(
    command: Command, tmp_path: Path
) -> None:
    create(command)
    begun = [
        ((*SERVE_ANALYST, "--port", "0"), r"Dashboard: http://127.0.0.1:\d+/"),
        (
            (*SERVE_SHUFFLER, "--analyst", "http://localhost:8001", "--port", "0"),
            r"Shuffler listening on (http://127.0.0.1:\d+)"
            r"(; take part at \1/tasks/.*/take-part#token=\.\.\.)?",
        ),
    ]

    for arguments, said in begun:
        # Keys of one service at a time.
        party = "shuffler" if arguments[1] == "analyst" else "analyst"
        Path("folder", f"{party}.json").rename(f"{party}.json")
        process = subprocess.Popen(
            [sys.executable, "-m", "shuffledp", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        process.terminate()
        _, errors = process.communicate(timeout=30)
        Path(f"{party}.json").rename(f"folder/{party}.json")

        assert re.fullmatch(said, line)
        assert errors.removeprefix(f"{NOT_BUILT}\n") == "started\nstopped\n"
    # Closed in good order: the logs of both databases are gone.
    assert not list(tmp_path.glob("*-wal"))


@pytest.mark.parametrize("built", [True, False])
def test_people_are_invited_to_the_page_only_where_it_was_built(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: bool
) -> None:
    url = "http://127.0.0.1:9"
    monkeypatch.setattr(service_run, "run", lambda *_, started, **__: started(url))
    monkeypatch.setattr(participant, "page_folder", lambda: tmp_path if built else None)
    create(command)
    without("analyst")

    outcome = command(*SERVE_SHUFFLER, "--analyst", url)

    page = rf"; take part at {url}/tasks/[\w-]+/take-part#token=\.\.\." if built else ""
    task = load_task(tmp_path / "folder")
    digest = f"sha256 of task.json of {task.identity}: {task.fingerprint}"
    assert re.fullmatch(f"Shuffler listening on {url}{page}\n{digest}\n", outcome.out)


SEND = (
    "device", "send", "people.csv", "--level", "epsilon", "--tokens", "tokens.txt",
    "--task", "folder/task.json", "--shuffler", "http://127.0.0.1:9",
)  # fmt: skip


@pytest.mark.few_cases(5)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "--value"),
        (("--value", "answer", "--person", "answer"), "--value"),
        (("--value", "none"), "column 'none'"),
        (("--value", "wrong"), "one of the 3 categories"),
        (("--value", "answer", "--level", "odd"), "entry 2 of 2. It offers 0.5, 2."),
        (("--value", "answer", "--tokens", "empty.txt"), "Expected 2 links"),
        (("--value", "answer", "--receipts", "people.csv"), "people.csv: File exists."),
        (("--value", "answer", "--receipts", "missing/x"), "x: No such file or direc"),
        (("--value", "answer", "--tokens", "none.txt"), "none.txt"),
        (("--value", "answer", "--tokens", "people.csv"), "line 1 of people.csv"),
        (("--value", "answer", "--tokens", "cut.txt"), "line 2 of cut.txt, whole"),
        (("--value", "answer", "--tokens", "twice.txt"), "line 2 of twice.txt repeats"),
        (("--value", "answer", "--tokens", "few.txt"), "found 1"),
        (("--value", "answer", "--task", "none.json"), "none.json"),
        (("--value", "answer", "--shuffler", "http://far.example"), "https://"),
        (("--value", "answer"), "Expected an answer"),
    ],
    ids=range(16),
)
def test_send_says_what_is_wrong_before_anything_is_sent(
    changes: tuple[str, ...],
    said: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shuffledp_services.http.http_client._FIRST_PAUSE", 0.0)
    (tmp_path / "people.csv").write_text(
        "answer,wrong,epsilon,odd\ngood,best,0.5,0.5\nbad,bad,2,1\n"
    )
    create(command)
    command("enrol", "folder", "--count", "1500")
    (tmp_path / "empty.txt").touch()
    first, second = (tmp_path / "tokens.txt").read_text().split()[:2]
    (tmp_path / "few.txt").write_text(first)
    (tmp_path / "cut.txt").write_text(f"{first}\n{second[:-1]}\n")
    (tmp_path / "twice.txt").write_text(f"{first}\n{first}\n")

    outcome = command(*SEND, *changes)

    assert outcome.is_refusal
    assert said in outcome.err
    if "--receipts" in changes:
        # Nor is a state of devices begun.
        assert not (tmp_path / "device.db").exists()


def test_a_file_of_tokens_without_the_only_link_lacks_1_link(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("answer,epsilon\ngood,0.5\n")
    create(command)
    (tmp_path / "tokens.txt").touch()

    outcome = command(*SEND, "--value", "answer")

    assert "Expected 1 link in tokens.txt, found 0." in outcome.err


@pytest.mark.parametrize("digest", ["the task's", "another"])
def test_links_are_good_for_their_own_task(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: str
) -> None:
    sent: list[bytes] = []

    async def send(people: SimulatedPeople, **_: object) -> Delivery:
        await asyncio.sleep(0)
        sent.extend(people.tokens)
        return Delivery(len(people.tokens), {})

    monkeypatch.setattr("shuffledp_services.device.simulated_devices.send", send)
    (tmp_path / "people.csv").write_text("answer,epsilon\ngood,0.5\nbad,2\n")
    create(command)
    command("enrol", "folder", "--count", "1500", "--page", "https://s.example")
    task, tokens = load_task(tmp_path / "folder"), tmp_path / "tokens.txt"
    if digest == "another":
        first, *others = tokens.read_text().splitlines()
        others = [line.replace(task.fingerprint, "0" * 64) for line in others]
        tokens.write_text("\n".join([first, *others]))

    outcome = command(*SEND, "--value", "answer")

    roster = read_roster((tmp_path / "folder" / "roster-1.bin").read_bytes(), task)
    if digest == "another":
        assert outcome.is_refusal
        assert "this very task in line 2 of tokens.txt" in outcome.err
        assert not sent
    else:
        assert outcome.code == 0
        assert len(sent) == 2
        assert all(roster.valid(token) for token in sent)


@pytest.mark.parametrize(
    ("stage", "missing", "code", "said"),
    [
        (0, 0, 0, "The signed result of epoch 2 counts its message."),
        (0, 1, 2, "1 of 1 messages are missing in the batch"),
        (1, 1, 0, "messages are listed for answers alone"),
    ],
)
def test_a_receipt_is_checked_against_what_was_published(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: int,
    missing: int,
    code: int,
    said: str,
) -> None:
    async def missing_messages(*_: object, **__: object) -> int:
        await asyncio.sleep(0)
        return missing

    monkeypatch.setattr(
        "shuffledp_services.device.receipt_check.missing_messages", missing_messages
    )
    create(command)
    task = load_task(tmp_path / "folder")
    key = ShufflerSecrets.load(tmp_path / "folder" / "shuffler.json").signing_key
    hashes = [sha256(b"sealed")]
    digest = messages_digest(hashes)
    receipt = json.loads(Receipt(task.digest, 2, stage, digest, 1, ()).signed(key))
    line = keep_receipt(task, hashes, receipt)
    path = tmp_path / "receipt.json"
    path.write_bytes(line + line)  # Saved twice, it is one.
    asked = ("device", "check", "receipt.json", "--task", "folder/task.json")

    outcome = command(*asked, "--analyst", "https://analyst.example")
    path.write_bytes(keep_receipt(task, hashes, {**receipt, "epoch": 3}))
    forged = command(*asked, "--analyst", "https://analyst.example")

    assert outcome.code == code
    assert said in outcome.out + outcome.err
    assert "signed this receipt" in outcome.out
    assert forged.is_refusal
    assert forged.out == ""


def test_help_teaches_the_order_of_commands(command: Command) -> None:
    pages = [
        command(*words, "--help").out
        for words in (("task",), ("task", "create"), ("serve",), ("device", "send"))
    ]

    assert all("shuffledp" in page for page in pages)
    for step in ("task create", "enrol", "serve", "task close", "task next"):
        assert f"shuffledp {step}" in pages[0]
    assert json.dumps(pages).count("Examples") == 2


def test_verify_refuses_to_say_of_a_published_result_that_its_certificate_holds(
    command: Command, tmp_path: Path
) -> None:
    crowd = Population.from_counts({0.5: 1000, 2.0: 500})
    certified = account(Frequency(3), crowd, delta=1e-4, quantiles=False).to_dict()
    result = {"epoch": 1, "certificate": certified, "spent": [0.1, 0.2]}
    (tmp_path / "result.json").write_text(json.dumps(result))
    (tmp_path / "other.json").write_text(json.dumps({"certificate": certified}))
    create(command)

    alone = command("verify", "result.json")
    incomplete = command("verify", "result.json", "--task", "folder")
    without = command("verify", "result.json", "--task", "nowhere")
    other = command("verify", "other.json")

    for outcome, words in (
        (alone, "--task TASK.JSON"),
        (incomplete, "missing, or unknown"),
        (without, "nowhere"),
    ):
        assert outcome.is_refusal
        assert words in outcome.err
    assert other.code == 0
    assert other.out.startswith("Read: `certificate` of other.json, and nothing else")


def test_evidence_is_shown_with_the_name_of_who_wrote_it(
    command: Command, tmp_path: Path
) -> None:
    start = ("serve", "analyst", str(tmp_path), "--database", "sqlite:///a.db")

    for arguments in (
        ("--audit", "evidence.json"),
        ("--auditor", "The union"),
        ("--audit", "evidence.json", "--auditor", " "),
        ("--audit", "evidence.json", "--auditor", "The\x1bunion"),
    ):
        outcome = command(*start, *arguments)

        assert outcome.is_refusal
        assert "Expected --audit with --auditor, a name" in outcome.err


@pytest.mark.slow
def test_a_task_with_a_level_that_is_not_private_is_called_that(
    command: Command,
) -> None:
    for party in ("analyst", "shuffler", "enroller"):
        command("task", "init", party, "survey")

    outcome = command(
        "task", "create", "survey", "--name", "Survey", "--question", "Do you smoke?",
        "--asker", "Somebody", "--contact", "somebody@example.org",
        "--consent", "All answers are counted.", "--statistic", "sum",
        "--levels", "1,50", "--minimum", "60,30", "--delta", "1e-3",
        "--shuffler", "survey/shuffler.public.json",
        "--enroller", "survey/enroller.public.json",
    )  # fmt: skip

    assert outcome.code == 0, outcome.err
    printed = " ".join(outcome.out.split())
    for words in (
        "level 50 is not private by any standard",
        "only 90 people take part",
    ):
        assert words in printed


QUESTIONS = """
[questions.way]
text = "How do you get to work?"
options = ["bike", "bus", "car"]
"""


def test_a_shuffler_adds_the_noise_from_a_secret_of_its_own(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "questions.toml").write_text(QUESTIONS)
    asked = (
        *("--statistic", "counts", "--questions", "questions.toml"),
        *("--targets", "1", "--minimum", "500", "--noise", "shuffler"),
    )
    uncommitted = command(*NEW, *asked)
    for file in ("shuffler.json", "shuffler.public.json"):
        Path("folder", file).unlink()
    other = command("task", "init", "analyst", "other", "--dummies")
    drawn = command("task", "init", "shuffler", "folder", "--dummies")

    made = command(*NEW, *asked)
    signed = command("task", "sign", "folder")

    assert uncommitted.is_refusal
    assert "shuffledp task init shuffler FOLDER --dummies" in " ".join(
        uncommitted.err.split()
    )
    assert other.is_refusal
    assert "can subtract the noise" in " ".join(drawn.out.split())
    assert (made.code, signed.code) == (0, 0)
    assert "the shuffler adds the noise" in " ".join(made.out.split())
    without("analyst")
    Path("folder", "dummies.json").rename("dummies.json")
    serve = ("serve", "shuffler", "folder", "--database", "sqlite:///s.db")
    outcome = command(*serve, "--analyst", "http://127.0.0.1:9", "--port", "0")
    assert outcome.is_refusal
    assert "Copy the file from the folder" in " ".join(outcome.err.split())
