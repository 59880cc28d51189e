"""One key by which a reader takes a record for a certificate is enough to refuse it."""

from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.accounting.guarantee import FORMAT
from shuffledp.errors import DataError
from shuffledp.statistics.certificate_parts import certificates_in

MARKS = {
    "format": FORMAT,
    "certified": True,
    "people_digest": "",
    "hides_among": 1,
    "epsilon_central": 1.0,
    "epsilon_central_lower": 1.0,
    "delta_central": 0.1,
    "delta_central_lower": 0.1,
}


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    people = sdp.Population.from_counts({1.0: 200})
    return sdp.account(sdp.Frequency(3), people, delta=1e-3).to_dict()


@pytest.mark.parametrize("key", MARKS)
@pytest.mark.parametrize("deep", [False, True])
def test_one_mark_elsewhere_is_refused(
    certificate: dict[str, Any], key: str, deep: bool
) -> None:
    marked: Any = {key: MARKS[key]}
    note = [{"more": [marked]}] if deep else marked
    record = {"note": note, "certificate": certificate, "local": None}

    with pytest.raises(DataError, match="only where this version writes them"):
        certificates_in(record)


def test_other_words_are_not_refused(certificate: dict[str, Any]) -> None:
    note = [{"format": "another", "certificates": 1, "epsilon": 1.0}]
    record = {"note": note, "certificate": certificate, "local": None}

    assert list(certificates_in(record)) == ["certificate"]
