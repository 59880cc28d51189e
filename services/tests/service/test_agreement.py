"""Three parties who draw their own keys: none can do another one's work."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from service_parties import LEVELS, NOTICE, question
from whole_batches import read_whole, write_whole

from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp_services.operator.task_setup import create_task
from shuffledp_services.operator.task_signatures import (
    draw_keys,
    load_agreed,
    load_public_part,
    roles_in,
    sign,
    signature_file,
    unsigned,
)
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    ENROLLER_FILE,
    SHUFFLER_FILE,
    TASK_FILE,
    AnalystSecrets,
    EnrollerSecrets,
    ShufflerSecrets,
)
from shuffledp_services.wire.canonical import read_object, sha256
from shuffledp_services.wire.command import Action, Command
from shuffledp_services.wire.parties import Role, public_part, read_public_part
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import read_roster, write_roster
from shuffledp_services.wire.sealing import Opener, Sealer, Suite
from shuffledp_services.wire.signed_plan import Acknowledgement
from shuffledp_services.wire.signing import new_signing_key
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.tokens import draw_tokens

FILES = {
    Role.ANALYST: ANALYST_FILE,
    Role.SHUFFLER: SHUFFLER_FILE,
    Role.ENROLLER: ENROLLER_FILE,
}


def create(folder: Path, shuffler: Path, enroller: Path) -> Task:
    return create_task(
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
        shuffler_key=load_public_part(shuffler, Role.SHUFFLER),
        enroller_key=load_public_part(enroller, Role.ENROLLER),
    )


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[Role, Path]:
    """Three machines, between which public files alone have been sent."""
    root = tmp_path_factory.mktemp("machines")
    own = {role: root / role.value for role in Role}
    public = {role: draw_keys(own[role], role, Suite.X25519)[1] for role in Role}
    create(own[Role.ANALYST], public[Role.SHUFFLER], public[Role.ENROLLER])
    for role in (Role.SHUFFLER, Role.ENROLLER):
        shutil.copy(own[Role.ANALYST] / TASK_FILE, own[role])
        sign(own[role], role)
    for role in Role:
        for other in set(Role) - {role}:
            shutil.copy(own[role] / signature_file(role), own[other])
    return own


@pytest.fixture(scope="module")
def task(machines: dict[Role, Path]) -> Task:
    return load_agreed(machines[Role.ANALYST])


def keys_on(folder: Path, roles: tuple[Role, ...]) -> list[bytes]:
    """Every secret that these parties have, whatever it is meant for."""
    kinds: dict[Role, Callable[[Path], Any]] = {
        Role.ANALYST: AnalystSecrets.load,
        Role.SHUFFLER: ShufflerSecrets.load,
        Role.ENROLLER: EnrollerSecrets.load,
    }
    found = []
    for role in roles:
        secrets = kinds[role](folder.parent / role.value / FILES[role])
        found += [secrets.signing_key]
        if isinstance(secrets, AnalystSecrets):
            found.append(secrets.private_key)
    return found


# What each party alone can do: tries every key at hand, and says whether one of them did.
def makes_tokens(task: Task, key: bytes) -> bool:
    token = draw_tokens(1)
    read_roster(write_roster(task, 1, token, key), task)
    return True


def closes_a_step(task: Task, key: bytes) -> bool:
    command = Command(Action.CLOSE, 1, "answer", bytes(16)).signed(task, key)
    Command.read(command, task)
    return True


def confirms_a_report(task: Task, key: bytes) -> bool:
    receipt = json.loads(Receipt(task.digest, 1, 0, bytes(32), 1, ()).signed(key))
    Receipt.read(receipt, task.shuffler_signing_key)
    return True


def hands_over_a_batch(task: Task, key: bytes, enrolled: bytes) -> bool:
    step, enrolment = Step(task, 1), read_roster(enrolled, task).enrolment
    messages = [bytes(step.sealed_size)]
    batch = write_whole(
        step, bytes(16), (1, 0, 0), messages, key, enrolment=enrolment, after=0
    )
    read_whole(batch, task)
    return True


def signs_for_a_batch(task: Task, key: bytes) -> bool:
    said = Acknowledgement(task.digest, bytes(16)).signed(key)
    Acknowledgement.read(said, task, 1)
    return True


def opens_a_message(task: Task, key: bytes) -> bool:
    info = Step(task, 1).info()
    (sealed,) = Sealer(task.suite, task.analyst_key, info).seal([b"a message"])
    return Opener(task.suite, key, info).open(sealed) is not None


def tried(what: Callable[..., bool], task: Task, keys: list[bytes], *more: Any) -> bool:
    def once(key: bytes) -> bool:
        try:
            return what(task, key, *more)
        except Refusal as refusal:
            if refusal.reason is not Reason.SIGNATURE_FORGED:
                raise
            return False

    return any(once(key) for key in keys)


@pytest.mark.parametrize(
    "together",
    [*((role,) for role in Role), *combinations(Role, 2)],
    ids=lambda roles: " and ".join(roles),
)
def test_whoever_works_together_does_no_other_party_s_work(
    together: tuple[Role, ...], machines: dict[Role, Path], task: Task
) -> None:
    keys = keys_on(machines[Role.ANALYST], together)
    enrolling = keys_on(machines[Role.ANALYST], (Role.ENROLLER,))[0]
    enrolled = write_roster(task, 1, draw_tokens(300), enrolling)

    done = {
        "makes tokens": tried(makes_tokens, task, keys),
        "closes a step": tried(closes_a_step, task, keys),
        "confirms a report": tried(confirms_a_report, task, keys),
        "hands over a batch": tried(hands_over_a_batch, task, keys, enrolled),
        "signs for a batch": tried(signs_for_a_batch, task, keys),
        "opens a message": tried(opens_a_message, task, keys),
    }

    assert done == {
        "makes tokens": Role.ENROLLER in together,
        "closes a step": Role.SHUFFLER in together,
        "confirms a report": Role.SHUFFLER in together,
        "hands over a batch": Role.SHUFFLER in together,
        "signs for a batch": Role.ANALYST in together,
        "opens a message": Role.ANALYST in together,
    }


def test_no_file_holds_two_parties_secrets_and_no_public_one_any(
    machines: dict[Role, Path],
) -> None:
    secrets = {
        role: [
            text
            for name, text in read_object(
                (machines[role] / FILES[role]).read_bytes(), "keys"
            ).items()
            if name.endswith("key")
        ]
        for role in Role
    }

    for role, folder in machines.items():
        assert roles_in(folder) == [role]
        for path in folder.iterdir():
            content = path.read_text()
            held = {r for r in Role if any(text in content for text in secrets[r])}
            assert held == ({role} if path.name == FILES[role] else set())


def test_the_digest_is_that_of_the_file_at_everybody_s(
    machines: dict[Role, Path], task: Task
) -> None:
    digests = {
        sha256((folder / TASK_FILE).read_bytes()).hex() for folder in machines.values()
    }

    assert digests == {task.fingerprint}


@pytest.fixture
def copy(machines: dict[Role, Path], tmp_path: Path) -> Path:
    """The shuffler's machine, to be changed."""
    return Path(shutil.copytree(machines[Role.SHUFFLER], tmp_path / "copy"))


@pytest.mark.parametrize("role", Role)
def test_a_task_runs_once_all_have_signed_it(copy: Path, role: Role) -> None:
    (copy / signature_file(role)).unlink()

    with pytest.raises(DataError, match=signature_file(role)):
        load_agreed(copy)


@pytest.mark.parametrize("role", Role)
def test_a_signature_is_one_party_s_under_one_task(
    copy: Path, task: Task, role: Role
) -> None:
    path = copy / signature_file(role)
    signed = json.loads(path.read_text())
    other = next(r for r in Role if r is not role)
    foreign = json.loads((copy / signature_file(other)).read_text())
    forged = [
        foreign,
        {**foreign, "role": role.value},
        {**signed, "task": "0" * 64},
        {**signed, "signature": foreign["signature"]},
        {**signed, "more": 1},
        {},
    ]

    for value in forged:
        path.write_text(json.dumps(value))
        with pytest.raises(DataError, match=signature_file(role)):
            unsigned(copy, task)


def test_a_task_that_changed_after_it_was_signed_does_not_run(
    copy: Path, task: Task
) -> None:
    (copy / TASK_FILE).write_bytes(replace(task, absent=0).to_json())

    with pytest.raises(DataError, match="signature"):
        load_agreed(copy)


def test_nobody_signs_a_task_that_names_other_keys(copy: Path, task: Task) -> None:
    (copy / signature_file(Role.SHUFFLER)).unlink()
    (copy / SHUFFLER_FILE).unlink()
    ShufflerSecrets.new().save(copy / SHUFFLER_FILE)

    with pytest.raises(InvalidInputError, match="shuffler's key"):
        sign(copy, Role.SHUFFLER)
    assert unsigned(copy, task) == [Role.SHUFFLER]


def test_a_public_part_proves_its_key_and_says_whose_it_is(tmp_path: Path) -> None:
    key = new_signing_key()
    part = public_part(Role.SHUFFLER, key)
    others = public_part(Role.ENROLLER, key)
    stolen = {**part, "signing_key": others["signing_key"][::-1]}
    wrong = [others, stolen, {**part, "more": 1}, {**others, "role": "shuffler"}, {}]

    assert len(read_public_part(part, Role.SHUFFLER)[0]) == 32
    for value in wrong:
        path = tmp_path / "part.json"
        path.write_text(json.dumps(value))
        with pytest.raises(DataError, match="public part"):
            load_public_part(path, Role.SHUFFLER)


def test_keys_are_drawn_once(machines: dict[Role, Path]) -> None:
    for role, folder in machines.items():
        before = {path: path.read_bytes() for path in folder.iterdir()}

        with pytest.raises(DataError, match="kept as it is"):
            draw_keys(folder, role, Suite.X25519)

        assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_one_key_for_two_parties_is_no_task(tmp_path: Path) -> None:
    draw_keys(tmp_path, Role.ANALYST, Suite.X25519)
    key, shuffler, enroller = new_signing_key(), tmp_path / "s", tmp_path / "e"
    shuffler.write_text(json.dumps(public_part(Role.SHUFFLER, key)))
    enroller.write_text(json.dumps(public_part(Role.ENROLLER, key)))

    with pytest.raises(ShuffledpError, match="every key"):
        create(tmp_path, shuffler, enroller)
    assert not (tmp_path / TASK_FILE).exists()
