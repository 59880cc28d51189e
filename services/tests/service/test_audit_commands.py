"""`shuffledp audit canaries` and `audit collection`, as an auditor types them."""

import asyncio
import json
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest
from analyst_parties import Parties, parties
from audited_collection import Audited, collect, local_promises
from service_parties import parties as shuffling_parties
from test_device import Shuffler

from shuffledp.cli.main import main
from shuffledp_services.audit import canary_uploads, epoch_audit
from shuffledp_services.audit.canary_records import with_receipts
from shuffledp_services.commands import audit_canaries
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import (
    AuditFinding,
    EpochFindings,
    EpochTest,
    Evidence,
)
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason, Refusal

COUNT = 12


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Audit = Callable[..., Said]


@pytest.fixture
def audit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Audit:
    """Runs `shuffledp audit ...` in a folder of its own, without certificates."""
    monkeypatch.setattr(epoch_audit, "promised_profiles", local_promises)
    monkeypatch.chdir(tmp_path)
    # Where a pipe ends lines is no matter of this test.
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["shuffledp", "audit", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Said(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def who() -> Parties:
    return parties(allowance=(50.0, 50.0, 50.0))


@pytest.fixture(scope="module")
def audited(who: Parties, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return collect(tmp_path_factory.mktemp("honest"), who)


@pytest.fixture(scope="module")
def dropped(who: Parties, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return collect(tmp_path_factory.mktemp("dropped"), who, lost=1)


def files_of(audited: Audited, who: Parties) -> list[str]:
    """What an auditor has, in the working folder; returns the command."""
    Path("task.json").write_bytes(who.task.to_json())
    Path("canaries.json").write_text(audited.record.to_json())
    Path("canaries.json.receipts").write_bytes(b"".join(audited.receipts))
    Path("result.json").write_text(json.dumps(audited.result))
    Path("messages").write_bytes(audited.listed)
    return [
        *("collection", "canaries.json", "--task", "task.json"),
        *("--result", "result.json", "--messages", "messages"),
    ]


@pytest.mark.slow
def test_an_honest_epoch_is_code_0_and_counted_once(
    audit: Audit, audited: Audited, who: Parties
) -> None:
    command = files_of(audited, who)

    command += ["--batch", str(audited.batch), "--evidence", "evidence.json"]
    said = audit(*command)

    assert said.code == 0, said.err
    assert "0 of 210 messages are out of order" in " ".join(said.out.split())
    assert "Verdict: 1 epoch audited: the e-value is" in said.out
    kept = Evidence.from_json(Path("evidence.json").read_bytes())
    assert [one.epoch for one in kept.epochs] == [1]
    assert kept.task == who.task.fingerprint
    again = audit(*command)
    assert (again.code, again.out) == (2, "")
    assert "Expected every epoch once" in again.err
    assert Evidence.from_json(Path("evidence.json").read_bytes()) == kept


@pytest.mark.slow
def test_a_broken_promise_is_code_1(
    audit: Audit, dropped: Audited, who: Parties
) -> None:
    command = [*files_of(dropped, who), "--evidence", "evidence.json"]

    shown, document = audit(*command), audit(*command[:-2], "--json")

    assert shown.code == document.code == 1
    assert "1 are missing with a receipt" in " ".join(shown.out.split())
    assert "a promise is broken" in shown.out
    found = json.loads(document.out)
    assert found["crossed_in"] == 1
    assert found == Evidence.from_json(Path("evidence.json").read_bytes()).to_dict()


def test_evidence_about_another_task_is_kept_as_it_is(
    audit: Audit, audited: Audited, who: Parties
) -> None:
    command = files_of(audited, who)
    other = Evidence("00" * 32).to_json()
    Path("evidence.json").write_text(other)

    said = audit(*command, "--evidence", "evidence.json")

    assert (said.code, said.out) == (2, "")
    assert "After keys were replaced, begin another file." in said.err
    assert Path("evidence.json").read_text() == other


def test_evidence_of_this_epoch_is_refused_before_anything_is_recomputed(
    audit: Audit, audited: Audited, who: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recompute(*_: object) -> NoReturn:
        pytest.fail("The certificate was recomputed first.")

    monkeypatch.setattr(epoch_audit, "problems_in", recompute)
    command = files_of(audited, who)
    untested = (AuditFinding.not_tested(each, sentence="None.") for each in EpochTest)
    found = EpochFindings(1, tuple(untested))
    Path("evidence.json").write_text(
        Evidence(who.task.fingerprint, epochs=(found,)).to_json()
    )

    again = audit(*command, "--evidence", "evidence.json")
    nowhere = audit(*command, "--evidence", "missing/evidence.json")

    assert (again.code, nowhere.code) == (2, 2)
    assert "Expected every epoch once, oldest first, got 1 after 1." in again.err
    assert "missing: No such file or directory" in nowhere.err


def test_without_receipts_nothing_is_tested(
    audit: Audit, audited: Audited, who: Parties
) -> None:
    command = files_of(audited, who)
    Path("canaries.json.receipts").unlink()

    said = audit(*command)

    assert (said.code, said.out) == (2, "")
    assert "no canary of this record was taken in" in said.err


@pytest.mark.slow
def test_an_earlier_record_is_nothing_without_receipts_of_its_own_epoch(
    audit: Audit, audited: Audited, who: Parties, tmp_path: Path
) -> None:
    later = collect_second(tmp_path, who)
    command = [*files_of(later, who), "--earlier", "before.json"]
    # An epoch that was edited makes every canary of this one look replayed.
    Path("before.json").write_text(replace(later.record, epoch=1).to_json())

    without = audit(*command)
    Path("before.json.receipts").write_bytes(b"".join(later.receipts))
    edited = audit(*command)
    Path("before.json").write_text(audited.record.to_json())
    Path("before.json.receipts").write_bytes(b"".join(audited.receipts))
    honest = audit(*command)

    assert (without.code, edited.code, honest.code) == (2, 2, 0), honest.err
    assert "before.json: Expected receipts: no canary" in without.err
    assert "before.json: Expected receipts of epoch 1." in edited.err
    assert "0 messages are of canaries of earlier" in " ".join(honest.out.split())


def collect_second(folder: Path, who: Parties) -> Audited:
    """Epoch 2, of an analyst who published the one before."""
    collect(folder, who)
    return collect(folder, who, epoch=2)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C stops commands: a process that a shell put into the background ignores it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def ready(monkeypatch: pytest.MonkeyPatch) -> tuple[Shuffler, list[str]]:
    """A shuffler behind every client, and a command that sends canaries to it."""
    made = shuffling_parties("frequency")
    shuffler = Shuffler(made)
    said = ("12 canaries show something.",)
    monkeypatch.setattr(audit_canaries, "_power", lambda _task, _count: said)
    client, transport = httpx.AsyncClient, httpx.MockTransport(shuffler)

    def through(**options: Any) -> httpx.AsyncClient:
        return client(**{**options, "transport": transport})

    monkeypatch.setattr(httpx, "AsyncClient", through)
    Path("task.json").write_bytes(made.task.to_json())
    invitations = [
        Invitation(made.task.digest, 1, token, bytes(32))
        for token in made.enroller.tokens(COUNT)
    ]
    lines = "".join(f"{each.to_text()}\n" for each in invitations)
    Path("tokens.txt").write_text(lines)
    return shuffler, [
        *("canaries", "--task", "task.json", "--tokens", "tokens.txt"),
        *("--shuffler", "https://shuffler.example", "--record", "canaries.json"),
    ]


def test_the_record_is_written_before_anything_is_sent(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffler, command = ready(monkeypatch)
    there: list[bool] = []
    take = shuffler.check.valid

    def valid(token: bytes) -> bool:
        there.append(Path("canaries.json").exists())
        return take(token)

    monkeypatch.setattr(shuffler, "check", type("Check", (), {"valid": valid}))

    said = audit(*command)

    assert said.code == 0, said.err
    assert there == [True] * COUNT
    assert "12 of 12 canaries were taken in" in said.out
    for name in ("canaries.json", "canaries.json.receipts"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    record = Canaries.from_json(Path("canaries.json").read_bytes())
    lines = Path("canaries.json.receipts").read_bytes().splitlines()
    assert len(with_receipts(record, lines, shuffler.task)) == COUNT
    # What they could see was said first.
    assert said.out.index("12 canaries show something") < said.out.index("taken")


def test_a_record_is_never_replaced(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffler, command = ready(monkeypatch)
    Path("canaries.json").write_text("mine")

    said = audit(*command)

    assert said.code == 2
    assert "Expected no file canaries.json yet" in said.err
    assert not shuffler.uploads
    assert Path("canaries.json").read_text() == "mine"
    assert not Path("canaries.json.receipts").exists()


def test_what_was_taken_in_before_a_failure_is_said(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffler, command = ready(monkeypatch)
    refusal = Refusal(Reason.NOT_OPEN, "Expected a step that takes reports.")
    taken = Receipt.signed

    def signed(receipt: Receipt, key: bytes) -> bytes:
        if len(shuffler.uploads) == 6:
            raise refusal
        return taken(receipt, key)

    monkeypatch.setattr(Receipt, "signed", signed)

    said = audit(*command)

    assert (said.code, "were taken in." in said.out) == (2, False)
    assert "takes reports. Before, 5 of 12 canaries were taken in" in said.err
    record = Canaries.from_json(Path("canaries.json").read_bytes())
    lines = Path("canaries.json.receipts").read_bytes().splitlines()
    assert len(with_receipts(record, lines, shuffler.task)) == 5


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("before", [0, 5])
def test_what_was_sent_before_it_was_stopped_is_said_and_can_be_audited(
    before: int, audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffler, command = ready(monkeypatch)
    taken = Receipt.signed

    def signed(receipt: Receipt, key: bytes) -> bytes:
        if len(shuffler.uploads) == before + 1:
            signal.raise_signal(signal.SIGINT)
        return taken(receipt, key)

    monkeypatch.setattr(Receipt, "signed", signed)

    said = audit(*command)

    assert (said.code, "were taken in." in said.out) == (130, False)
    record = Canaries.from_json(Path("canaries.json").read_bytes())
    lines = Path("canaries.json.receipts").read_bytes().splitlines()
    # The one that was on its way may have come back yet.
    assert before <= len(lines) <= before + 1 < len(record) == COUNT
    if lines:
        assert f"stopped. Before, {len(lines)} of 12 canaries were taken" in said.err
        assert "in canaries.json, receipts are in canaries.json.receipts." in said.err
        assert len(with_receipts(record, lines, shuffler.task)) == len(lines)
    else:
        assert "nothing can be tested with canaries.json" in said.err


@pytest.mark.usefixtures("interruptible")
def test_stopped_before_anything_was_sent_is_said(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, command = ready(monkeypatch)

    async def stop(*_arguments: object, **_more: object) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60.0)

    monkeypatch.setattr(canary_uploads, "open_step", stop)

    said = audit(*command)

    assert said.code == 130
    assert said.err.endswith("shuffledp: stopped. Nothing was sent.\n")
    assert not list(Path().glob("canaries.json*"))


def test_what_can_be_seen_is_said_without_tokens(audit: Audit) -> None:
    task = shuffling_parties("frequency").task
    Path("task.json").write_bytes(task.to_json())
    one = Invitation(task.digest, 1, bytes(32), bytes(32))
    Path("tokens.txt").write_text(one.to_text())

    few = audit("canaries", "--task", "task.json", "--count", "3")

    assert few.code == 0, few.err
    assert "So few canaries cannot see a budget above the promise" in few.out
    for arguments in ((), ("--record", "new.json"), ("--tokens", "tokens.txt")):
        said = audit("canaries", "--task", "task.json", *arguments)
        assert said.code == 2
        assert "Expected --" in said.err
