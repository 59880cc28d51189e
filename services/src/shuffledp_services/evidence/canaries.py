"""Auditor's record of canaries: their values, levels, uploads and messages.

A canary is a participant of the auditor's. It holds one of two values, chosen by a fair
secret bit; its device is the ordinary one. The record is written before anything is sent: a
record that could change afterwards would be no evidence.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import float_array, int_array
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.strict_json import read_json
from shuffledp.types import Floats, Ints
from shuffledp_services.evidence.message_hashes import (
    KIND,
    Hashes,
    checked_hashes,
    hash_from_hex,
    hashes_from_hex,
    hashes_to_hex,
)

FORMAT = "shuffledp-canaries-1"

MAX_CANARIES = 10_000
# The attribute of each member of a record; "places" is the name in format 1.
_ATTRIBUTES = {
    "levels": "levels",
    "pairs": "pairs",
    "bits": "bits",
    "places": "send_positions",
    "uploads": "uploads",
    "hashes": "hashes",
    "receipts": "receipts",
}
_NAMES = frozenset({"format", "task", "epoch", *_ATTRIBUTES})


@dataclass(frozen=True, eq=False)
class Canaries:
    """Canaries of one epoch, in any order.

    Attributes:
        task: SHA-256 of the task, 64 hexadecimal digits.
        epoch: From 1.
        levels: The privacy level or target of each, > 0, shape (m,).
        pairs: The two different values of each, categories or numbers, shape (m, 2).
        bits: Fair secret bits, 0 or 1: the index of the value held, shape (m,).
        send_positions: Positions in the order of sending, distinct, shape (m,).
        uploads: The upload of each, from 0, shape (m,).
        hashes: SHA-256 of each of its sealed messages, shape (m, messages).
        receipts: Whether the shuffler signed that it keeps this report, shape (m,); none
            before anything is sent.
    """

    task: str
    epoch: int
    levels: Floats
    pairs: Floats
    bits: Ints
    send_positions: Ints
    uploads: Ints
    hashes: Hashes
    receipts: NDArray[np.bool_]

    def __post_init__(self) -> None:
        checked_digest(self.task)
        if type(self.epoch) is not int or self.epoch < 1:
            raise InvalidInputError(f"Expected an epoch from 1, got {self.epoch!r}.")
        levels = float_array(self.levels, "levels of canaries")
        count = levels.size
        if not 1 <= count <= MAX_CANARIES or not (
            np.isfinite(levels).all() and (levels > 0.0).all()
        ):
            raise InvalidInputError(
                f"Expected 1 to {MAX_CANARIES:,} canaries, at levels above 0."
            )
        pairs = np.asarray(self.pairs)
        if pairs.shape != (count, 2) or pairs.dtype != np.float64:
            raise InvalidInputError("Expected two values, as floats, for each canary.")
        if not np.isfinite(pairs).all() or (pairs[:, 0] == pairs[:, 1]).any():
            raise InvalidInputError("Expected two different finite values per canary.")
        for name in ("bits", "send_positions", "uploads"):
            if int_array(getattr(self, name), name).size != count:
                raise InvalidInputError(f"Expected one of {name} for each canary.")
        if not np.isin(self.bits, (0, 1)).all():
            raise InvalidInputError("Expected bits of canaries to be 0 or 1.")
        if (
            np.unique(self.send_positions).size != count
            or (self.send_positions < 0).any()
        ):
            raise InvalidInputError("Expected every canary at a different position.")
        if (self.uploads < 0).any():
            raise InvalidInputError("Expected uploads from 0.")
        hashes = checked_hashes(self.hashes, "messages of canaries", dimensions=2)
        if hashes.shape[0] != count or not hashes.shape[1]:
            raise InvalidInputError("Expected a hash at least of each canary.")
        if np.unique(hashes).size != hashes.size:
            raise InvalidInputError("Expected every message of canaries to be another.")
        receipts = np.asarray(self.receipts)
        if receipts.dtype != np.bool_ or receipts.shape != (count,):
            raise InvalidInputError("Expected true or false for each canary's receipt.")

    def __len__(self) -> int:
        """Returns the number of canaries, m."""
        return int(self.levels.size)

    @property
    def values(self) -> Floats:
        """The value of each, shape (m,)."""
        values: Floats = self.pairs[np.arange(len(self)), self.bits]
        return values

    def to_json(self) -> str:
        """Returns the record as JSON, which contains the secret bits."""
        value = {
            "format": FORMAT,
            "task": self.task,
            "epoch": self.epoch,
            "hashes": hashes_to_hex(self.hashes),
        }
        value |= {
            member: getattr(self, attribute).tolist()
            for member, attribute in _ATTRIBUTES.items()
            if member != "hashes"
        }
        return json.dumps(value)

    @classmethod
    def from_json(cls, content: bytes | str) -> "Canaries":
        """Parses the output of `to_json`.

        Raises:
            DataError: If it is anything else.
        """
        value = read_json(content, "a record of canaries")
        if value.get("format") != FORMAT or set(value) != _NAMES:
            raise DataError(f"Expected a record of canaries, {FORMAT}.")
        rows = {name: value[name] for name in _ATTRIBUTES}
        if not all(isinstance(row, list) for row in rows.values()):
            raise DataError("Expected lists about canaries.")
        if not all(type(receipt) is bool for receipt in rows["receipts"]):
            raise DataError("Expected true or false for each canary's receipt.")
        hashes = [
            hashes_from_hex(row, "messages of canaries") for row in rows["hashes"]
        ]
        if len({len(row) for row in hashes}) > 1:
            raise DataError("Expected as many messages of each canary.")
        try:
            return cls(
                task=value["task"],
                epoch=value["epoch"],
                levels=_numbers(rows["levels"], 1),
                pairs=_numbers(rows["pairs"], 2),
                **{
                    _ATTRIBUTES[member]: _integers(rows[member], member)
                    for member in ("bits", "places", "uploads")
                },
                hashes=np.array(hashes, KIND),
                receipts=np.array(rows["receipts"], np.bool_),
            )
        except InvalidInputError as error:
            raise DataError(str(error)) from error


def checked_digest(task: object) -> str:
    """Validates and returns the digest of a task.

    Raises:
        InvalidInputError: Unless it is 64 hexadecimal digits.
    """
    try:
        hash_from_hex(task, "the sha256 of a task")
    except ShuffledpError as error:
        raise InvalidInputError(str(error)) from error
    return str(task)


def _numbers(rows: list[Any], dimensions: int) -> Floats:
    flat = rows
    if dimensions == 2:
        if not all(isinstance(row, list) and len(row) == 2 for row in rows):
            raise DataError("Expected two values for each canary.")
        flat = [number for row in rows for number in row]
    # Not isinstance, for which True is a number.
    if not all(type(number) in (int, float) for number in flat):
        raise DataError("Expected numbers about canaries.")
    try:
        # Python's integers may exceed the range of doubles.
        return np.array(rows, np.float64)
    except OverflowError as error:
        raise DataError("Expected finite numbers about canaries.") from error


def _integers(rows: list[Any], name: str) -> Ints:
    if not all(type(number) is int and 0 <= number < 2**62 for number in rows):
        raise DataError(f"Expected {name} as whole numbers from 0.")
    return np.array(rows, np.int64)
