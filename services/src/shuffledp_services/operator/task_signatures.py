"""Signatures of a task: files by which three parties with own keys agree on it.

    shuffler.public.json, enroller.public.json    to the analyst, who makes the task
    task.json, task.analyst.sig                   back to both, who read and sign it
    task.shuffler.sig, task.enroller.sig          to the others
    former.task.json                              with a task whose keys were replaced

A service runs a task only once all three have signed it.
"""

import json
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    DUMMIES_FILE,
    ENROLLER_FILE,
    SHUFFLER_FILE,
    TASK_FILE,
    AnalystSecrets,
    DummySecrets,
    EnrollerSecrets,
    ShufflerSecrets,
    load_task,
    read_file,
)
from shuffledp_services.storage.new_files import (
    NewFile,
    new_folder,
    write_all_new,
    write_new,
)
from shuffledp_services.wire.canonical import read_object
from shuffledp_services.wire.parties import (
    Role,
    agreement,
    check_agreement,
    public_part,
    read_public_part,
)
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signed_plan import prove_plan_rule
from shuffledp_services.wire.signing import verify_key_of
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task

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


def draw_keys(
    folder: Path, role: Role, suite: Suite, *, dummies: bool = False
) -> tuple[Path, Path]:
    """Draws a party's keys on its own machine.

    Args:
        folder: Folder of the files; created if it is missing.
        role: Party that draws its keys.
        suite: Suite that seals messages; used by the analyst only.
        dummies: Whether a shuffler also draws the secret of the noise that it will add.

    Returns:
        The secret file, and the public part for the analyst.

    Raises:
        DataError: If the folder has keys already, or cannot be written.
    """
    secret, public = folder / _FILES[role], folder / public_part_file(role)
    secrets: AnalystSecrets | ShufflerSecrets | EnrollerSecrets
    if role is Role.ANALYST:
        secrets = AnalystSecrets.new(suite)
    elif role is Role.SHUFFLER:
        secrets = ShufflerSecrets.new()
    else:
        secrets = EnrollerSecrets.new()
    files, commitment = [secrets.new_file(secret)], None
    if dummies:
        drawn = DummySecrets.new()
        files.append(drawn.new_file(folder / DUMMIES_FILE))
        commitment = drawn.commitment
    content = public_part(role, secrets.signing_key, commitment)
    files.append(NewFile(public, json.dumps(content, indent=2) + "\n"))
    # All or none: without their public part, secret keys would be of no use, and yet
    # stand in the way of others. Fails if there are keys already.
    with new_folder(folder):
        write_all_new(files)
    return secret, public


def load_public_part(path: Path, role: Role) -> bytes:
    """Returns the public key in a file that `draw_keys` wrote, 32 bytes.

    Raises:
        DataError: If the file is missing or damaged, or belongs to another party.
    """
    return _read_part(path, role)[0]


def load_dummy_commitment(path: Path) -> bytes | None:
    """Returns the commitment to dummies in a shuffler's public part; None without one.

    Raises:
        DataError: If the file is missing or damaged, or belongs to another party.
    """
    return _read_part(path, Role.SHUFFLER)[1]


def load_dummies(folder: Path, task: Task) -> DummySecrets | None:
    """Reads the secret of a shuffler's dummies; returns None where it adds no noise.

    Raises:
        DataError: If it is missing, damaged, or not the one that the task commits to.
    """
    if task.dummy_commitment is None:
        return None
    path = folder / DUMMIES_FILE
    if not path.is_file():
        raise DataError(
            f"Expected {path}: the shuffler adds the noise of this task, from the secret "
            "that shuffledp task init shuffler --dummies wrote there. Copy the file from "
            "the folder in which the shuffler's keys were drawn (chmod 600). If it is "
            "lost, no batch can be made: agree on a new task."
        )
    dummies = DummySecrets.load(path)
    if dummies.commitment != task.dummy_commitment:
        raise DataError(
            f"Expected in {path} the secret to which the task commits, got another one: "
            "copy the file that was drawn with the public part of this task."
        )
    return dummies


def _read_part(path: Path, role: Role) -> tuple[bytes, bytes | None]:
    try:
        return read_public_part(read_object(read_file(path), "a public part"), role)
    except Refusal as error:
        raise DataError(f"Expected a public part in {path}: {error}") from None


def check_alone(folder: Path, role: Role) -> None:
    """Checks that a service's folder has no secrets of the other service.

    Args:
        folder: Folder of a task.
        role: Party of the service: the analyst or the shuffler.

    Raises:
        DataError: If the folder has the other service's secrets.
    """
    # Opened seeds, too: see `audit.dummy_audit`.
    secret = next(folder.glob("dummies*.json"), None)
    if role is Role.ANALYST and secret is not None:
        raise DataError(
            f"Expected no {secret} at the analyst: who has it can subtract the noise, and "
            "nothing is left of the guarantee."
        )
    # A party with both could open messages and link them to their senders. The
    # enroller's secrets may be there: either of the two may be the enroller.
    other = Role.SHUFFLER if role is Role.ANALYST else Role.ANALYST
    if (folder / _FILES[other]).exists():
        raise DataError(
            f"Expected no {folder / _FILES[other]} beside {_FILES[role]}: who has both "
            "sees who sent what. Its place is on another machine, of another organization."
        )


def sign(folder: Path, role: Role) -> Path:
    """Writes a party's signature under the task in a folder.

    Raises:
        DataError: If a file is missing or damaged, the task is signed already, or it
            succeeds another task and differs from it in more than keys.
        InvalidInputError: If the task names other keys.
        Refusal: If the task's rule for plans cannot be proven.
    """
    task, key = load_task(folder), _signing_key(folder, role)
    load_former(folder, task)
    # Every party proves the rule itself before its signature vouches for it.
    prove_plan_rule(task)
    # A signature by another key would be refused only later, by the other parties.
    if verify_key_of(key) != role.verify_key(task):
        raise InvalidInputError(
            f"Expected a task that names the {role}'s key of this folder."
        )
    if role is Role.SHUFFLER:
        # Without its secret, the shuffler could not keep what it signs.
        load_dummies(folder, task)
    path = folder / signature_file(role)
    write_new(path, json.dumps(agreement(role, task, key), indent=2) + "\n")
    return path


def roles_in(folder: Path) -> list[Role]:
    """Returns the parties whose secret keys are in a folder."""
    return [role for role in Role if (folder / _FILES[role]).is_file()]


def unsigned(folder: Path, task: Task) -> list[Role]:
    """Returns the parties whose signature is missing.

    Raises:
        DataError: If a signature is invalid.
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
    """Reads the predecessor of a folder's task; returns None if it has none.

    Raises:
        DataError: If its file is missing, damaged or unexpected, or the two tasks differ in
            more than keys.
    """
    path = folder / FORMER_FILE
    if task.succeeds is None:
        # A leftover file would suggest a succession that the task does not name.
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
    """Reads the task in a folder, and checks that all three parties have signed it.

    Raises:
        DataError: If a file is missing or damaged, a signature is missing, or the task
            succeeds another one and differs from it in more than keys.
    """
    task = load_task(folder)
    load_former(folder, task)
    # Services call this at their start, and so never run a task that a party rejects.
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
