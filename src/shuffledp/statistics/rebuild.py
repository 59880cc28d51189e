"""The protocol that a record describes: what ran, made again from what it is."""

from importlib import import_module
from typing import Any, Protocol

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.identity import Identity

# Where the protocol of each statistic is: a class with `from_record`.
_PROTOCOLS = {
    "frequency": ("statistics.frequency.protocol", "Frequency"),
    "items": ("statistics.items.protocol", "Items"),
    "mean": ("statistics.mean.protocol", "Mean"),
    "message": ("statistics.single_message", "SingleMessage"),
    "strings": ("statistics.strings.protocol", "Strings"),
    "sum": ("statistics.sum.protocol", "BinarySum"),
    "training": ("federated.round_protocol", "TrainingRound"),
}


class _Rebuildable(Protocol):
    def from_record(self, record: dict[str, Any]) -> Certifiable:
        """Returns the protocol with this record."""


def protocol_of(identity: Identity) -> Certifiable:
    """Returns the protocol with this identity.

    >>> import shuffledp as sdp
    >>> protocol_of(sdp.Frequency(9).identity).num_categories
    9

    Raises:
        DataError: If it is none that this library can build: a custom randomizer is known
            to its author alone.
    """
    record = identity.record
    name = record["statistic"]
    if name not in _PROTOCOLS:
        raise DataError(f"Expected one of {', '.join(_PROTOCOLS)}, got {name!r}.")
    module, kind = _PROTOCOLS[name]
    known: _Rebuildable = getattr(import_module(f"shuffledp.{module}"), kind)
    try:
        protocol = known.from_record(record)
    except (InvalidInputError, TypeError, KeyError) as error:
        raise DataError(
            f"Expected a protocol that this library can build, got {identity}: pass the "
            f"protocol itself. ({error})"
        ) from error
    if protocol.identity != identity:
        raise DataError(f"Expected a complete protocol; got {identity}.")
    return protocol
