"""Finds the certificates in a record, and refuses a record that can be read two ways.

A record is a certificate, with exactly a certificate's keys, or one of the files that this
library writes around a certificate, with exactly the keys of that file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import FORMAT, Guarantee
from shuffledp.errors import DataError

WHOLE = "all of it"

_PROMISE = frozenset({"note", "certificate", "local"})
PUBLISHED_RESULT = frozenset(
    {"task", "digest", "epoch", "batch", "people", "spent", "enrolment", "spoiled"}
    | {"chosen", "tally", "certificate", "signature"}
    | {"statistic", "mode", "protocol_digest", "estimate", "assumptions"}
)
# The keys of every record that holds certificates, at the keys of `_CERTIFICATE_PATHS`.
_HOLDERS = (
    frozenset({"certificate"}),
    _PROMISE,
    _PROMISE | {"settings", "accuracy", "after_one_round", "stated"},
    PUBLISHED_RESULT,
)
_CERTIFICATE_PATHS = (("certificate",), ("after_one_round", "certificate"))
# Keys by which a reader takes a record for a certificate, or for one of its levels.
_MARKS = frozenset(
    {"certified", "people_digest", "hides_among"}
    | {"epsilon_central", "epsilon_central_lower"}
    | {"delta_central", "delta_central_lower"}
)


def certificates_in(record: object) -> dict[str, Guarantee]:
    """Returns every certificate of a record by its path, the main one first.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> record = sdp.account(sdp.Frequency(5), people, delta=1e-6).to_dict()
    >>> list(certificates_in(record)), list(certificates_in({"certificate": record}))
    (['all of it'], ['certificate'])

    Args:
        record: A certificate, or a record that this library writes around one, as plain
            values.

    Raises:
        DataError: If it is neither, or holds a certificate at any other path.
    """
    if isinstance(record, Mapping) and "guarantee" in record:
        raise DataError(
            "Expected a certificate, got a report with one in it, at `guarantee`: the "
            "report's folder has the certificate alone, too, as certificate.json."
        )
    if not isinstance(record, Mapping) or "certificate" not in record:
        return {WHOLE: read_certificate(record)}
    if frozenset(record) not in _HOLDERS:
        raise DataError(
            "Expected a certificate, or a file that holds one and was written by this "
            "version: this one has a certificate beside keys that do not belong to it."
        )
    certificates: dict[str, Guarantee] = {}
    outside = dict(record)
    for path in _CERTIFICATE_PATHS:
        holder = outside
        for key in path[:-1]:
            inner = holder.get(key)
            if inner is None:
                break
            if not isinstance(inner, Mapping) or frozenset(inner) != _PROMISE:
                raise DataError(f"Expected {key} as a note, a certificate and a rest.")
            # A copy, out of which the certificate can be taken.
            holder[key] = dict(inner)
            holder = holder[key]
        else:
            part = holder.pop(path[-1], None)
            if part is not None or not certificates:
                certificates[".".join(path)] = read_certificate(part)
    # A reader of the file takes such a record for certified: each is verified, or the
    # whole file is refused.
    if any(_is_like_a_certificate(inner) for inner in _mappings(outside)):
        raise DataError(
            "Expected certificates only where this version writes them: this file states "
            "certified numbers elsewhere, too."
        )
    return certificates


def _is_like_a_certificate(record: Mapping[Any, Any]) -> bool:
    return record.get("format") == FORMAT or not _MARKS.isdisjoint(record)


def _mappings(record: Mapping[Any, Any]) -> Iterator[Mapping[Any, Any]]:
    """Yields a record and all records in it."""
    # No recursion: a deeply nested record would exceed its limit.
    stack: list[Any] = [record]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            yield value
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(value)
