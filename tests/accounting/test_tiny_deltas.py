"""Composed deltas so small that no attack shows any are bounded with all that matters."""

import pytest

import shuffledp as sdp
from shuffledp.accounting.certified_delta import _DeltaSearch
from shuffledp.accounting.upper_profile import UpperProfile


@pytest.mark.parametrize(
    ("epsilon", "rounds", "expected"),
    [
        # Far below: the smallest delta alone.
        (1.0, 2, [1e-290]),
        # Not so far: a usual delta first, of which too much is dropped.
        (0.2, 2, [1e-12, 1e-290]),
        # One shuffle, whose bounds are quick.
        (1.0, 1, [1e-12, 1e-290]),
    ],
)
def test_deltas_are_assumed_in_the_order_in_which_they_are_likely(
    epsilon: float, rounds: int, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assumed, bound = list[float](), _DeltaSearch.near

    def recorded(search: _DeltaSearch, about: float) -> tuple[float, UpperProfile]:
        assumed.append(about)
        return bound(search, about)

    monkeypatch.setattr(_DeltaSearch, "near", recorded)
    monkeypatch.setattr(
        "shuffledp.accounting.bounds_at.lower_profiles",
        lambda *_, **__: [lambda _: 0.0],
    )
    people = sdp.Population.from_counts({2.0: 20_000})
    (level,) = sdp.account(
        sdp.Frequency(4), people, epsilon=epsilon, rounds=rounds
    ).levels

    assert assumed == expected
    assert level.delta_central < 1e-12


@pytest.mark.parametrize("rounds", [1, 3])
def test_an_epsilon_whose_square_is_beyond_numbers_has_a_delta(rounds: int) -> None:
    people = sdp.Population.from_counts({0.5: 3_000, 1.0: 3_000})

    levels = sdp.account(sdp.Gaussian(), people, epsilon=1e300, rounds=rounds).levels

    assert all(level.delta_central < 1e-200 for level in levels)
