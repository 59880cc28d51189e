"""Bounds that contradict each other, and attacks without certified numbers."""

import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.exposure import single_messages
from shuffledp.accounting.profile_bounds import ProfileBounds
from shuffledp.errors import CertificationError

PEOPLE = sdp.Population.from_counts({0.5: 300, 2.0: 200})


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ((2.0, 1e-6), (1.0, 1e-6)),
        ((1.0, 2e-6), (1.0, 1e-6)),
        ((math.nan, 1e-6), (1.0, 1e-6)),
        ((1.0, 1e-6), (math.nan, 1e-6)),
    ],
)
def test_bounds_that_contradict_each_other_are_refused(
    lower: tuple[float, float], upper: tuple[float, float]
) -> None:
    with pytest.raises(CertificationError, match="contradict each other"):
        ProfileBounds(lower, upper)


@pytest.mark.parametrize("protocol", [sdp.Frequency(5), sdp.BinarySum()])
@pytest.mark.parametrize("rounds", [1, 7])
@pytest.mark.parametrize("asked", [{"delta": 1e-6}, {"epsilon": 0.3}])
def test_attacks_alone_are_those_beside_certified_numbers(
    protocol: sdp.Frequency, rounds: int, asked: dict[str, float]
) -> None:
    exposure = single_messages(protocol, PEOPLE)
    query = AccountingQuery(
        {0: 0, 1: 1},
        np.array(PEOPLE.counts),
        asked.get("delta"),
        asked.get("epsilon"),
        rounds=rounds,
    )

    pairs = zip(
        exposure.attacked(query).levels, exposure.certify(query).levels, strict=True
    )

    for attacked, certified in pairs:
        assert attacked.epsilon_central_lower == certified.epsilon_central_lower
        assert attacked.delta_central_lower == certified.delta_central_lower
        # Those of local budgets, which hold, and are no better.
        assert attacked.epsilon_central >= certified.epsilon_central
        assert attacked.delta_central >= certified.delta_central
        assert attacked.rests_on == "device"
