import math

import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.invert import delta_at, epsilon_at
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@pytest.mark.parametrize("delta", [0.5, 1e-6, 1e-250])
def test_epsilon_is_just_above_the_root(delta: float) -> None:
    epsilon = epsilon_at(lambda e: math.exp(-(e**2)), delta)

    assert epsilon == pytest.approx(math.sqrt(-math.log(delta)), rel=1e-12)
    assert math.exp(-(epsilon**2)) <= delta


def test_jumps_are_met_from_the_safe_side() -> None:
    epsilon = epsilon_at(lambda e: 1.0 if e < 0.7 else 0.0, 1e-6)

    assert epsilon == pytest.approx(0.7, rel=1e-9)
    assert epsilon >= 0.7


def test_what_is_never_reached_is_refused() -> None:
    with pytest.raises(OutsidePreconditions, match="up to epsilon = 2,"):
        epsilon_at(lambda e: 0.2, 0.1, ceiling=2.0)
    with pytest.raises(OutsidePreconditions, match="for some delta"):
        delta_at(lambda d: 0.2, 0.1)
    with pytest.raises(sdp.CertificationError):
        epsilon_at(lambda e: math.nan, 0.1)


def test_zero_is_enough_where_it_is() -> None:
    assert epsilon_at(lambda e: 0.05, 0.1) == 0.0


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 3.0])
def test_delta_is_the_inverse(epsilon: float) -> None:
    delta = delta_at(lambda d: math.sqrt(-math.log(d) / 100.0), epsilon)

    assert delta == pytest.approx(math.exp(-100.0 * epsilon**2), rel=1e-9) or (
        delta == pytest.approx(1e-307)
    )


def test_the_smallest_delta_is_a_number() -> None:
    assert delta_at(lambda d: 0.1, 0.2) == pytest.approx(1e-307)
