"""Does a certificate hold? Asked with nothing but the certificate itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.verify import Verification, population_of, recompute
from shuffledp.population import Population
from shuffledp.statistics.catalog import protocol_of
from shuffledp.strict_json import read_json_file


def verify(
    certificate: Guarantee | Mapping[str, Any] | str | Path,
    *,
    people: Population | None = None,
    protocol: Any = None,
) -> Verification:
    """Recomputes a certificate of any statistic from its inputs, and compares.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> guarantee = sdp.account(sdp.Frequency(5), people, delta=1e-6)
    >>> sdp.verify(guarantee).holds
    True

    Args:
        certificate: A guarantee, its plain values, or a file of them. Of a result that
            holds a certificate, this certificate alone is looked at: neither an estimate
            nor a signature (`shuffledp verify --task` does).
        people: Who it was computed for; by default those that it lists.
        protocol: What ran; by default it is built from the certificate, which is possible
            for everything that comes with this library.

    Raises:
        DataError: If it is no certificate, or not of these people or this protocol.
        UnknownLevelError: If it speaks of levels that nobody has.
    """
    guarantee = read(certificate)
    if people is None:
        people = population_of(guarantee)
    if protocol is None:
        protocol = protocol_of(guarantee.protocol)
    return recompute(guarantee, protocol, people)


def read(certificate: Guarantee | Mapping[str, Any] | str | Path) -> Guarantee:
    """Returns a certificate, from wherever it is.

    Raises:
        DataError: If it is none.
    """
    if isinstance(certificate, Guarantee):
        return certificate
    record: Any = certificate
    if isinstance(certificate, str | Path):
        record = read_json_file(Path(certificate))
    if isinstance(record, Mapping):
        record = record.get("certificate", record)
    return read_certificate(record)
