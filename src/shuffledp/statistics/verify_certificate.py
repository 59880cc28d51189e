"""Verifies certificates of any statistic from the certificate alone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.verification import Verification, population_of, recompute
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.certificate_parts import WHOLE, certificates_in
from shuffledp.statistics.statistic_catalog import protocol_of
from shuffledp.strict_json import read_json_file


def verify(
    certificate: Guarantee | Mapping[str, Any] | str | Path,
    *,
    people: Population | None = None,
    protocol: Any = None,
    mechanism: Any = None,
) -> Verification:
    """Recomputes a certificate of any statistic from its inputs, and compares.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> guarantee = sdp.account(sdp.Frequency(5), people, delta=1e-6)
    >>> verification = sdp.verify(guarantee)
    >>> verification.holds, verification.parts
    (True, ('all of it',))

    Args:
        certificate: A guarantee, its plain values, or a file of them; or the record of a
            training or a published result. Of such a record the certificates alone are
            verified, and `parts` of the answer names them: neither an estimate nor a
            signature (`shuffledp verify --task` does).
        people: The population it was computed for; by default the one that it lists.
        protocol: The protocol that ran; by default it is built from the certificate, which
            is possible for every protocol of this library.
        mechanism: The mechanism of the devices, if it is not this library's: its class,
            which is called with the parameters of the certificate, or an object.

    Raises:
        InvalidInputError: If both a protocol and a mechanism are given.
        DataError: If it is not a certificate, states certified numbers that are not part of
            one, or is not of these people, this protocol or this mechanism.
        UnknownLevelError: If it states a level without users.
    """
    if protocol is not None and mechanism is not None:
        raise InvalidInputError("Expected either protocol or mechanism, and not both.")
    certificates = read(certificate)
    verifications = {
        part: _verify_one(guarantee, people, protocol, mechanism)
        for part, guarantee in certificates.items()
    }
    # The main certificate comes first: problems of others are marked with their path.
    first = next(iter(verifications))

    def all_of(field: str) -> tuple[str, ...]:
        return tuple(
            line if part == first else f"{part}: {line}"
            for part, verification in verifications.items()
            for line in getattr(verification, field)
        )

    return replace(
        # `recomputed` and the levels of the answer are those of the main certificate.
        verifications[first],
        problems=all_of("problems"),
        weaker=all_of("weaker"),
        file=str(certificate) if isinstance(certificate, str | Path) else None,
        parts=tuple(verifications),
    )


def read(
    certificate: Guarantee | Mapping[str, Any] | str | Path,
) -> dict[str, Guarantee]:
    """Returns every certificate of a source by its path in it, the main one first.

    Raises:
        DataError: If it holds none, or can be read two ways.
    """
    if isinstance(certificate, Guarantee):
        return {WHOLE: certificate}
    if isinstance(certificate, str | Path):
        return certificates_in(read_json_file(Path(certificate)))
    return certificates_in(certificate)


def _verify_one(
    guarantee: Guarantee, people: Population | None, protocol: Any, mechanism: Any
) -> Verification:
    """Recomputes one certificate, of these people and this protocol or of its own."""
    if people is None:
        people = population_of(guarantee)
    if protocol is None:
        # Raises unless all parameters in the record are those of the protocol built.
        protocol = protocol_of(guarantee.protocol, mechanism)
    return recompute(guarantee, protocol, people)
