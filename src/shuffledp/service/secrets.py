"""The folder of a task: one public file, and one secret file for each party.

    task.json       everybody
    shuffler.json   the shuffler: signs receipts and batches, issues and checks tokens
    analyst.json    the analyst: opens messages, signs plans and acknowledgements

No party needs another one's file. Secret files can be read by their owner alone.
"""

import json
import logging
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.wire.canonical import from_text, read_object, to_text
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.sealing import Suite, new_private_key, public_key_of
from shuffledp.service.wire.signing import new_signing_key, verify_key_of
from shuffledp.service.wire.task import KEY_SIZE, Task

TASK_FILE = "task.json"
SHUFFLER_FILE = "shuffler.json"
ANALYST_FILE = "analyst.json"

_log = logging.getLogger("shuffledp.service")


@dataclass(frozen=True)
class _Secrets:
    """Keys, never shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    def save(self, path: Path) -> None:
        """Writes a file that its owner alone can read.

        Raises:
            DataError: If there is one already: keys are never overwritten.
        """
        text = {
            field.name: to_text(getattr(self, field.name)) for field in fields(self)
        }
        write_new(path, json.dumps(text, indent=2) + "\n", mode=0o600)

    @classmethod
    def _load(cls, path: Path, sizes: dict[str, int]) -> Self:
        content = read_file(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            _log.warning("Others can read %s: chmod 600 it, or draw new keys.", path)
        try:
            value = read_object(content, "secret keys")
            return cls(
                **{
                    name: from_text(value.get(name), size, name)
                    for name, size in sizes.items()
                }
            )
        except Refusal as error:
            raise DataError(f"Expected secret keys in {path}: {error}") from None


@dataclass(frozen=True, repr=False)
class ShufflerSecrets(_Secrets):
    """What the shuffler alone knows, 32 bytes each.

    Attributes:
        signing_key: Signs receipts and batches.
        token_key: Makes and checks tokens.
        operator_key: Allows to close a step and to begin an epoch.
    """

    signing_key: bytes
    token_key: bytes
    operator_key: bytes

    @classmethod
    def new(cls) -> Self:
        """Draws all keys from the operating system."""
        return cls(new_signing_key(), os.urandom(KEY_SIZE), os.urandom(KEY_SIZE))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that `save` wrote.

        Raises:
            DataError: If it is missing or damaged.
        """
        return cls._load(path, {field.name: KEY_SIZE for field in fields(cls)})


@dataclass(frozen=True, repr=False)
class AnalystSecrets(_Secrets):
    """What the analyst alone knows.

    Attributes:
        private_key: Opens messages, of the suite's size.
        signing_key: Signs plans and acknowledgements, 32 bytes.
    """

    private_key: bytes
    signing_key: bytes

    @classmethod
    def new(cls, suite: Suite) -> Self:
        """Draws all keys from the operating system."""
        return cls(new_private_key(suite), new_signing_key())

    @classmethod
    def load(cls, path: Path, suite: Suite) -> Self:
        """Reads a file that `save` wrote.

        Raises:
            DataError: If it is missing or damaged.
        """
        return cls._load(
            path, {"private_key": suite.private_size, "signing_key": KEY_SIZE}
        )

    def public_keys(self, suite: Suite) -> tuple[bytes, bytes]:
        """Returns the two keys that the task names."""
        return public_key_of(suite, self.private_key), verify_key_of(self.signing_key)


def load_task(path: Path) -> Task:
    """Reads the public file of a task: itself, or in the task's folder.

    Raises:
        DataError: If it is missing or damaged.
    """
    file = path / TASK_FILE if path.is_dir() else path
    try:
        return Task.from_json(read_file(file))
    except (Refusal, InvalidInputError) as error:
        raise DataError(f"Expected a task in {file}: {error}") from error


def read_file(path: Path) -> bytes:
    """Reads a whole file.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"Could not read {path}: {error.strerror}.") from error


def write_new(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Writes a new file at once, or not at all.

    Raises:
        DataError: If it exists, or cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError:
        raise DataError(f"Expected no file {path} yet: it is kept as it is.") from None
    except OSError as error:
        raise DataError(f"Could not write {path}: {error.strerror}.") from error
