"""Rebuilds several protocols, which were certified together, from their records."""

from typing import Any

from shuffledp.accounting.joint.protocol_composition import (
    MAX_PARTS,
    NAME,
    ProtocolComposition,
)
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, parameters_of
from shuffledp.statistics.statistic_catalog import protocol_of


class CompositionReader:
    """Reader of the records of compositions, which hold those of their parts."""

    @staticmethod
    def from_record(record: dict[str, Any]) -> ProtocolComposition:
        """Returns the protocol with this identity's record.

        Raises:
            InvalidInputError: If it does not list protocols.
            DataError: If one of them is none that this library can build.
        """
        parts = parameters_of(record, "parts")["parts"]
        if not isinstance(parts, list) or len(parts) > MAX_PARTS:
            raise InvalidInputError(
                f"Expected a list of at most {MAX_PARTS:,} protocols as parts."
            )
        identities = [Identity.from_record(part) for part in parts]
        if any(identity.record["statistic"] == NAME for identity in identities):
            raise InvalidInputError("Expected no composition as a part of another.")
        return ProtocolComposition([protocol_of(each) for each in identities])


PROTOCOL = CompositionReader
