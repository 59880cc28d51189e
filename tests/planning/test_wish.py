"""A wish that nothing can fulfil is refused before any design is looked for."""

import math
from typing import Any

import pytest

import shuffledp as sdp


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"delta": 2.0}, "nothing is promised"),
        ({"delta": 0.0}, "nothing but the local budget"),
        ({"delta": 1.0}, "nothing is promised"),
        ({"delta": -1.0}, "got -1"),
        ({"delta": math.nan}, "got nan"),
        ({"absent": -1}, "absent people"),
    ],
)
def test_impossible_terms_are_refused(terms: dict[str, Any], reason: str) -> None:
    with pytest.raises(sdp.InvalidInputError, match=reason):
        sdp.Wish(targets={1.0: 3}, **terms)


@pytest.mark.parametrize("target", [0.0, 1e-320, 1e-301, 701.0])
def test_targets_that_no_budget_can_keep_are_refused(target: float) -> None:
    with pytest.raises(sdp.InvalidInputError, match=r"targets|budget"):
        sdp.Wish(targets={target: 100, 1.0: 100})
