"""Key rotation: a successor of a task with other keys, for all parties to sign."""

from dataclasses import replace
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.operator.task_signatures import (
    FORMER_FILE,
    load_agreed,
    load_public_part,
    public_part_file,
    sign,
)
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    TASK_FILE,
    AnalystSecrets,
)
from shuffledp_services.storage.new_files import (
    NewFile,
    removed_on_error,
    write_all_new,
)
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task


def rotate_task(former_folder: Path, folder: Path) -> tuple[Task, tuple[Role, ...]]:
    """Writes a task with other keys, its predecessor, and the analyst's signature.

    Args:
        former_folder: The analyst's folder of the task that all parties have signed.
        folder: New folder with the public parts of parties with new keys, and the
            analyst's secret keys if these are new; otherwise the former ones are copied.

    Returns:
        The task, and the parties whose keys are new in it.

    Raises:
        InvalidInputError: If no key is new, or a key belonged to any party before.
        DataError: If a file is missing or damaged, the folder has a task already, or
            cannot be written.
    """
    for name in (TASK_FILE, FORMER_FILE):
        if (folder / name).exists():
            raise DataError(f"Expected no {folder / name} yet: it is kept as it is.")
    former = load_agreed(former_folder)
    keeps = not (folder / ANALYST_FILE).exists()
    analyst = AnalystSecrets.load((former_folder if keeps else folder) / ANALYST_FILE)
    analyst_key, analyst_signing_key = analyst.public_keys()
    task = replace(
        former,
        suite=analyst.suite,
        analyst_key=analyst_key,
        analyst_signing_key=analyst_signing_key,
        shuffler_signing_key=_key(folder, Role.SHUFFLER, former),
        enroller_signing_key=_key(folder, Role.ENROLLER, former),
        succeeds=former.digest,
    )
    try:
        roles = check_succession(task, former)
    except Refusal as error:
        raise InvalidInputError(f"Expected new keys in {folder}: {error}") from error
    # Written only now: a refused rotation leaves the folder as it was.
    files = [analyst.new_file(folder / ANALYST_FILE)] if keeps else []
    files.append(NewFile(folder / FORMER_FILE, former.to_json()))
    files.append(NewFile(folder / TASK_FILE, task.to_json()))
    write_all_new(files)
    # Last, because it reads both files.
    with removed_on_error([file.path for file in files]):
        sign(folder, Role.ANALYST)
    return task, roles


def _key(folder: Path, role: Role, former: Task) -> bytes:
    path = folder / public_part_file(role)
    # A party without a new public part keeps its key.
    return load_public_part(path, role) if path.exists() else role.verify_key(former)
