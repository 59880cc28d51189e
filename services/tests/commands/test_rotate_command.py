"""`shuffledp task rotate`, and the commands that sign and run a task with new keys."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Command
from full_disk import fail_at
from service_parties import LEVELS, NOTICE, question

from shuffledp.errors import DataError
from shuffledp_services.operator.task_setup import create_task
from shuffledp_services.operator.task_signatures import (
    draw_keys,
    load_public_part,
    sign,
)
from shuffledp_services.storage.key_files import load_task
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.task import Task

ROTATE = ("task", "rotate", "old", "new")
# What a party that keeps its keys copies.
SECRETS = ("shuffler.json", "enroller.json")


def some_task(folder: Path, public: dict[Role, Path]) -> None:
    """A task of the analyst in a folder, of these public parts."""
    create_task(
        folder,
        name="A test",
        notice=NOTICE,
        question=question("frequency"),
        choices=LEVELS,
        minimum=(100, 100, 100),
        promise=LEVELS,
        delta=1e-3,
        absent=2,
        epochs=5,
        shuffler_key=load_public_part(public[Role.SHUFFLER], Role.SHUFFLER),
        enroller_key=load_public_part(public[Role.ENROLLER], Role.ENROLLER),
    )


@pytest.fixture(scope="module")
def agreed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task that three parties in one folder have signed."""
    folder = tmp_path_factory.mktemp("agreed")
    public = {role: draw_keys(folder, role, Suite.X25519)[1] for role in Role}
    some_task(folder, public)
    for role in (Role.SHUFFLER, Role.ENROLLER):
        sign(folder, role)
    return folder


@pytest.fixture
def old(agreed: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return shutil.copytree(agreed, tmp_path / "old")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    folder = tmp_path / "new"
    folder.mkdir()
    return folder


def rotate(command: Command, old: Path, new: Path, *roles: str) -> Task:
    """All that three parties do."""
    for role in roles:
        assert command("task", "init", role, str(new)).code == 0
    assert command(*ROTATE).code == 0
    for name in SECRETS:
        if not (new / name).exists():
            shutil.copy(old / name, new)
    assert command("task", "sign", "new").code == 0
    return load_task(new)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(
    "roles",
    [
        ("shuffler",),
        ("analyst",),
        ("analyst", "enroller"),
        tuple(role.value for role in Role),
    ],
    ids=" and ".join,
)
def test_whose_public_part_is_there_gets_new_keys_and_all_others_keep_theirs(
    command: Command, old: Path, new: Path, roles: tuple[str, ...]
) -> None:
    former = load_task(old)

    task = rotate(command, old, new, *roles)
    enrolled = command("enrol", "new", "--count", "300", "--page", "https://a.example")

    for role in Role:
        changed = role.verify_key(task) != role.verify_key(former)
        assert changed == (role.value in roles)
    assert (task.analyst_key != former.analyst_key) == ("analyst" in roles)
    assert task.succeeds == former.digest
    assert load_task(new / "former.task.json") == former
    assert enrolled.code == 0
    link = Path("tokens.txt").read_text().splitlines()[0]
    assert link.endswith(f"&task={task.fingerprint}")


def test_what_cannot_be_rotated_writes_nothing(
    command: Command, old: Path, new: Path
) -> None:
    def refused() -> str:
        before = {path: path.read_bytes() for path in new.iterdir()}
        outcome = command(*ROTATE)
        assert outcome.is_refusal
        assert before == {path: path.read_bytes() for path in new.iterdir()}
        return outcome.err

    nothing = refused()
    shutil.copy(old / "enroller.public.json", new)
    the_same = refused()
    draw_keys(new, Role.ANALYST, Suite.X_WING)
    another_suite = refused()
    (new / "analyst.json").unlink()
    shutil.copy(old / "shuffler.public.json", new / "enroller.public.json")
    not_theirs = refused()
    (new / "enroller.public.json").unlink()
    (old / "task.enroller.sig").rename(old / "elsewhere")
    draw_keys(new, Role.SHUFFLER, Suite.X25519)
    unsigned = refused()
    (old / "elsewhere").rename(old / "task.enroller.sig")
    assert command(*ROTATE).code == 0
    again = refused()

    assert "at least one party's new keys" in nothing
    assert "at least one party's new keys" in the_same
    assert "nothing else changed" in another_suite
    assert "public part of the enroller" in not_theirs
    assert "task.enroller.sig" in unsigned
    assert "kept as it is" in again


@pytest.mark.parametrize("call", [0, 2, 6])
def test_a_full_disk_leaves_the_new_folder_as_it_was(
    command: Command, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    draw_keys(new, Role.SHUFFLER, Suite.X25519)
    before = {path: path.read_bytes() for path in new.iterdir()}

    # The seventh sync is that of the analyst's signature.
    with monkeypatch.context() as patch:
        fail_at(patch, call)
        outcome = command(*ROTATE)

    assert outcome.is_refusal
    assert "No space left" in outcome.err
    assert before == {path: path.read_bytes() for path in new.iterdir()}
    assert command(*ROTATE).code == 0


def test_a_task_that_cannot_be_signed_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = {role: draw_keys(tmp_path, role, Suite.X25519)[1] for role in Role}
    before = set(tmp_path.iterdir())

    # The third sync is that of the signature.
    with monkeypatch.context() as patch:
        fail_at(patch, 2)
        with pytest.raises(DataError, match=r"analyst\.sig: No space"):
            some_task(tmp_path, public)

    assert set(tmp_path.iterdir()) == before
    some_task(tmp_path, public)


def test_nobody_signs_or_runs_what_differs_in_more_than_keys(
    command: Command, old: Path, new: Path
) -> None:
    task = rotate(command, old, new, "shuffler")
    former = (new / "former.task.json").read_bytes()
    runs = ("enrol", "new", "--count", "300")
    (new / "task.shuffler.sig").unlink()

    def refused() -> list[str]:
        outcomes = [command("task", "sign", "new"), command(*runs)]
        assert all(outcome.is_refusal for outcome in outcomes)
        return [outcome.err for outcome in outcomes]

    cheaper = replace(task, absent=0)
    (new / "task.json").write_bytes(cheaper.to_json())
    other_terms = refused()
    (new / "task.json").write_bytes(task.to_json())
    (new / "former.task.json").unlink()
    missing = refused()
    (new / "former.task.json").write_bytes(cheaper.to_json())
    another = refused()
    (new / "former.task.json").write_bytes(former)
    (new / "task.json").write_bytes(replace(task, succeeds=None).to_json())
    of_no_line = refused()
    (new / "task.json").write_bytes(task.to_json())
    signed = command("task", "sign", "new")

    assert all("nothing else changed" in said for said in other_terms)
    assert all("former.task.json" in said for said in missing)
    assert all("Expected a task that succeeds" in said for said in another)
    assert all("Expected a task that succeeds" in said for said in of_no_line)
    assert signed.code == 0
    assert "keys of the shuffler are new" in signed.out


def test_who_keeps_a_key_is_told_to_copy_it(
    command: Command, old: Path, new: Path, tmp_path: Path
) -> None:
    rotate(command, old, new, "shuffler")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ("task.json", "former.task.json"):
        shutil.copy(new / name, theirs)

    without = command("task", "sign", "theirs")
    shutil.copy(old / "shuffler.json", theirs)
    with_the_old = command("task", "sign", "theirs")

    assert without.is_refusal
    assert "a copy of yours" in without.err
    assert with_the_old.code == 2
    assert "names the shuffler's key" in with_the_old.err


def test_keys_are_replaced_again(
    command: Command, old: Path, new: Path, tmp_path: Path
) -> None:
    second = rotate(command, old, new, "shuffler")
    third = tmp_path / "third"
    assert command("task", "init", "enroller", "third").code == 0

    outcome = command("task", "rotate", "new", "third")

    assert outcome.code == 0
    assert second.fingerprint in outcome.out
    assert json.loads((third / "task.json").read_text())["succeeds"] is not None
    assert load_task(third).succeeds == second.digest
