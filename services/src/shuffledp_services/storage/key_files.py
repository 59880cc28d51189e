"""Files of a party's folder: the public task, and the party's own secret keys.

    task.json       public: the agreed task
    analyst.json    the analyst's: opens messages, signs plans, acknowledgements, results
    shuffler.json   the shuffler's: signs receipts, batches and its operator's commands
    enroller.json   the enroller's: signs how many tokens there are, and which
    dummies.json    the shuffler's, where it adds the noise: what its dummies are drawn from

Every party draws its keys on its own machine, and none of these secret files ever leaves
it. Only their owner can read them. dummies.json tells the noise to any reader.
"""

import codecs
import hashlib
import json
import logging
import os
import secrets
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.file_reading import require_file
from shuffledp.shuffler.dummy_seed import DummySeed
from shuffledp_services.storage.new_files import NewFile, write_all_new
from shuffledp_services.wire.canonical import from_text, read_object, to_text
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.sealing import Suite, new_private_key, public_key_of
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.task import KEY_SIZE, MAX_DUMMY_EPOCHS, Task
from shuffledp_services.wire.task_reading import read_task

TASK_FILE = "task.json"
SHUFFLER_FILE = "shuffler.json"
ANALYST_FILE = "analyst.json"
ENROLLER_FILE = "enroller.json"
DUMMIES_FILE = "dummies.json"

_log = logging.getLogger("shuffledp_services")


@dataclass(frozen=True)
class _Secrets:
    """Secret keys of a party; `repr` hides them."""

    def __repr__(self) -> str:
        # A representation ends up in logs and tracebacks.
        return f"{type(self).__name__}(...)"

    def save(self, path: Path) -> None:
        """Writes a file that only its owner can read.

        Raises:
            DataError: If the file exists: keys are never overwritten.
        """
        write_all_new([self.new_file(path)])

    def new_file(self, path: Path) -> NewFile:
        """Returns the file that `save` writes, to be written with others."""
        text = {
            field.name: to_text(getattr(self, field.name)) for field in fields(self)
        }
        return NewFile(path, json.dumps(text, indent=2) + "\n", mode=0o600)

    @classmethod
    def _load(cls, path: Path, sizes: dict[str, tuple[int, ...]]) -> Self:
        content = read_file(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            _log.warning("Others can read %s: chmod 600 it, or draw new keys.", path)
        try:
            value = read_object(content, "secret keys")
            return cls(**{name: _key(value, name, sizes[name]) for name in sizes})
        except Refusal as error:
            raise DataError(f"Expected secret keys in {path}: {error}") from None


@dataclass(frozen=True, repr=False)
class SigningSecrets(_Secrets):
    """Secret key of a party that only signs.

    Attributes:
        signing_key: 32 bytes.
    """

    signing_key: bytes

    @classmethod
    def new(cls) -> Self:
        """Draws the key from the operating system."""
        return cls(new_signing_key())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that `save` wrote.

        Raises:
            DataError: If it is missing or damaged.
        """
        return cls._load(path, {"signing_key": (KEY_SIZE,)})

    @property
    def verify_key(self) -> bytes:
        """The public key, 32 bytes."""
        return verify_key_of(self.signing_key)


@dataclass(frozen=True, repr=False)
class ShufflerSecrets(SigningSecrets):
    """Secret key of the shuffler: signs receipts, batches and its operator's commands."""


@dataclass(frozen=True, repr=False)
class EnrollerSecrets(SigningSecrets):
    """Secret key of the enroller: signs rosters."""


@dataclass(frozen=True, repr=False)
class DummySecrets(_Secrets):
    """Secret of a shuffler that adds the noise: seeds of all epochs, and a commitment.

    Seeds form a chain of hashes, s(e - 1) = SHA-256(s(e)), from the secret, s(2^16), down
    to the commitment, s(0): a seed tells those of earlier epochs, and none of later ones.

    Attributes:
        secret: 32 bytes.
    """

    secret: bytes

    @classmethod
    def new(cls) -> Self:
        """Draws the secret from the operating system."""
        return cls(secrets.token_bytes(KEY_SIZE))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that `save` wrote.

        Raises:
            DataError: If it is missing or damaged.
        """
        return cls._load(path, {"secret": (KEY_SIZE,)})

    @property
    def commitment(self) -> bytes:
        """The commitment that a task names, 32 bytes."""
        return self._link(0)

    def seed(self, epoch: int) -> DummySeed:
        """Returns the seed of an epoch's dummies.

        Args:
            epoch: From 1 to `MAX_DUMMY_EPOCHS`.
        """
        if not 1 <= epoch <= MAX_DUMMY_EPOCHS:
            raise InvalidInputError(
                f"Expected an epoch from 1 to {MAX_DUMMY_EPOCHS:,}, got {epoch:,}."
            )
        return DummySeed(self._link(epoch))

    def _link(self, index: int) -> bytes:
        link = self.secret
        for _ in range(MAX_DUMMY_EPOCHS - index):
            link = hashlib.sha256(link).digest()
        return link


@dataclass(frozen=True, repr=False)
class AnalystSecrets(_Secrets):
    """Secret keys of the analyst.

    Attributes:
        private_key: Opens messages, of its suite's size.
        signing_key: Signs plans, acknowledgements and results, 32 bytes.
    """

    private_key: bytes
    signing_key: bytes

    @classmethod
    def new(cls, suite: Suite) -> Self:
        """Draws all keys from the operating system."""
        return cls(new_private_key(suite), new_signing_key())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that `save` wrote.

        Raises:
            DataError: If it is missing or damaged.
        """
        sizes = tuple(suite.private_size for suite in Suite)
        return cls._load(path, {"private_key": sizes, "signing_key": (KEY_SIZE,)})

    @property
    def suite(self) -> Suite:
        """Suite with which messages are sealed for the private key."""
        # The suites differ in the sizes of their private keys.
        (suite,) = [s for s in Suite if s.private_size == len(self.private_key)]
        return suite

    def public_keys(self) -> tuple[bytes, bytes]:
        """Returns the two keys that the task names."""
        return (
            public_key_of(self.suite, self.private_key),
            verify_key_of(self.signing_key),
        )


def load_task(path: Path) -> Task:
    """Reads the public file of a task, given its path or its folder.

    Raises:
        DataError: If it is missing or damaged, has other bytes than those of its digest,
            or contains texts with unprintable characters.
    """
    file = path / TASK_FILE if path.is_dir() else path
    content = read_file(file)
    # A byte order mark is removed before parsing, so that the check below reports it.
    content_without_bom = content.removeprefix(codecs.BOM_UTF8)
    try:
        task = read_task(content_without_bom)
        task.check_shown()
    except (Refusal, InvalidInputError) as error:
        raise DataError(f"Expected a task in {file}: {error}") from error
    # Other bytes of the same values would have another sha256sum than the task's digest.
    if task.to_json() != content:
        raise DataError(
            f"Expected {file} byte by byte as it was made, without so much as a line end "
            "or a byte order mark added: sha256sum of this file is not the digest of the "
            "task."
        )
    return task


def read_file(path: Path) -> bytes:
    """Reads a whole file.

    Raises:
        DataError: If it is no ordinary file, or cannot be read.
    """
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"Could not read {path}: {error.strerror}.") from error


def _key(value: dict[str, Any], name: str, sizes: tuple[int, ...]) -> bytes:
    text = value.get(name)
    # An invalid key is reported with the first of the allowed sizes.
    fits = [n for n in sizes if isinstance(text, str) and len(text) == -(-4 * n // 3)]
    return from_text(text, (fits or list(sizes))[0], name)
