"""Files by which three parties who draw their own keys come to one task.

    shuffler.public.json, enroller.public.json    to the analyst, who makes the task
    task.json, task.analyst.sig                   back to both, who read and sign it
    task.shuffler.sig, task.enroller.sig          to the others
    former.task.json                              with a task whose keys were replaced

A service runs a task only once all three have signed it.
"""

import json
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.storage.key_files import (
    ANALYST_FILE,
    ENROLLER_FILE,
    SHUFFLER_FILE,
    TASK_FILE,
    AnalystSecrets,
    EnrollerSecrets,
    ShufflerSecrets,
    load_task,
    make_folder,
    read_file,
    write_new,
)
from shuffledp.service.wire.canonical import read_object
from shuffledp.service.wire.parties import (
    Role,
    agreement,
    check_agreement,
    public_part,
    read_public_part,
)
from shuffledp.service.wire.plan import prove_plan_rule
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.signing import verify_key_of
from shuffledp.service.wire.succession import check_succession
from shuffledp.service.wire.task import Task

FORMER_FILE = "former.task.json"

_FILES = {
    Role.ANALYST: ANALYST_FILE,
    Role.SHUFFLER: SHUFFLER_FILE,
    Role.ENROLLER: ENROLLER_FILE,
}


def signature_file(role: Role) -> str:
    """Returns the name of the file with a party's signature under a task."""
    return f"task.{role.value}.sig"


def public_part_file(role: Role) -> str:
    """Returns the name of the file with a party's public part."""
    return f"{role.value}.public.json"


def draw_keys(folder: Path, role: Role, suite: Suite) -> tuple[Path, Path]:
    """Draws a party's keys, on its own machine.

    Args:
        folder: Made if it is missing.
        role: Whose.
        suite: How messages are sealed; the analyst's alone.

    Returns:
        The secret file, and the public part for the analyst.

    Raises:
        DataError: If there are keys already, or nothing can be written.
    """
    make_folder(folder)
    secret, public = folder / _FILES[role], folder / public_part_file(role)
    if public.exists():
        raise DataError(f"Expected no file {public} yet: it is kept as it is.")
    drawn: AnalystSecrets | ShufflerSecrets | EnrollerSecrets
    if role is Role.ANALYST:
        drawn = AnalystSecrets.new(suite)
    elif role is Role.SHUFFLER:
        drawn = ShufflerSecrets.new()
    else:
        drawn = EnrollerSecrets.new()
    drawn.save(secret)
    part = public_part(role, drawn.signing_key)
    write_new(public, json.dumps(part, indent=2) + "\n")
    return secret, public


def load_public_part(path: Path, role: Role) -> bytes:
    """Returns the public key in a file that `draw_keys` wrote, 32 bytes.

    Raises:
        DataError: If it is missing, damaged, or another party's.
    """
    try:
        return read_public_part(read_object(read_file(path), "a public part"), role)
    except Refusal as error:
        raise DataError(f"Expected a public part in {path}: {error}") from None


def check_alone(folder: Path, role: Role) -> None:
    """Checks that a service's folder has no secrets of the other service.

    Whoever has both opens messages and knows who sent them. An enroller's may be there:
    either of the two may be the enroller.

    Args:
        folder: Of a task.
        role: Whose service it is: the analyst or the shuffler.

    Raises:
        DataError: If it has.
    """
    other = Role.SHUFFLER if role is Role.ANALYST else Role.ANALYST
    if (folder / _FILES[other]).exists():
        raise DataError(
            f"Expected no {folder / _FILES[other]} beside {_FILES[role]}: who has both "
            "sees who sent what. Its place is on another machine, of another organization."
        )


def sign(folder: Path, role: Role) -> Path:
    """Writes a party's signature under the task in a folder.

    Raises:
        DataError: If a file is missing or damaged, it is signed already, or it succeeds
            another task and differs from it in more than keys.
        InvalidInputError: If the task names other keys.
        Refusal: If its rule for plans cannot be proven.
    """
    task, key = load_task(folder), _signing_key(folder, role)
    load_former(folder, task)
    prove_plan_rule(task)
    if verify_key_of(key) != role.verify_key(task):
        raise InvalidInputError(
            f"Expected a task that names the {role}'s key of this folder."
        )
    path = folder / signature_file(role)
    write_new(path, json.dumps(agreement(role, task, key), indent=2) + "\n")
    return path


def roles_in(folder: Path) -> list[Role]:
    """Returns the parties whose secret keys are in a folder."""
    return [role for role in Role if (folder / _FILES[role]).is_file()]


def unsigned(folder: Path, task: Task) -> list[Role]:
    """Returns the parties whose signature is missing.

    Raises:
        DataError: If there is one that is not theirs.
    """
    missing = []
    for role in Role:
        path = folder / signature_file(role)
        if not path.is_file():
            missing.append(role)
            continue
        try:
            check_agreement(read_object(read_file(path), "a signature"), role, task)
        except Refusal as error:
            raise DataError(f"Expected a signature in {path}: {error}") from None
    return missing


def load_former(folder: Path, task: Task) -> Task | None:
    """Reads the task whose place the one in a folder takes; None if it takes none.

    Raises:
        DataError: If its file is missing, damaged or another one's, or the two differ in
            more than keys.
    """
    path = folder / FORMER_FILE
    if task.succeeds is None:
        if path.exists():
            raise DataError(f"Expected a task that succeeds the one in {path}.")
        return None
    former = load_task(path)
    try:
        check_succession(task, former)
    except Refusal as error:
        raise DataError(f"{folder / TASK_FILE} and {path}: {error}") from None
    return former


def load_agreed(folder: Path) -> Task:
    """Reads the task in a folder, which all three parties have signed.

    Raises:
        DataError: If a file is missing or damaged, somebody has not signed, or it
            succeeds another task and differs from it in more than keys.
    """
    task = load_task(folder)
    load_former(folder, task)
    if missing := unsigned(folder, task):
        files = ", ".join(signature_file(role) for role in missing)
        raise DataError(
            f"Expected {files} in {folder}: a task runs once analyst, shuffler and "
            "enroller have signed it (shuffledp task sign)."
        )
    return task


def _signing_key(folder: Path, role: Role) -> bytes:
    path = folder / _FILES[role]
    if role is Role.ANALYST:
        return AnalystSecrets.load(path).signing_key
    kind = ShufflerSecrets if role is Role.SHUFFLER else EnrollerSecrets
    return kind.load(path).signing_key
