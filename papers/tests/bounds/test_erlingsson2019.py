import math

import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.erlingsson2019 import Erlingsson2019
from shuffledp_papers.outside_preconditions import OutsidePreconditions

BOUND = Erlingsson2019()


def setting(budget: float, num_users: int) -> Setting:
    return Setting(sdp.Population.from_counts({budget: num_users}))


def test_the_formula_as_printed() -> None:
    # 12 * 0.4 * sqrt(ln(10^8) / 10^4), by hand.
    epsilon = BOUND.epsilon(setting(0.4, 10**4), 1e-8)

    assert epsilon == pytest.approx(0.206012, rel=1e-5)


@pytest.mark.parametrize("delta", [0.005, 1e-6, 1e-200])
def test_delta_is_the_inverse_of_epsilon(delta: float) -> None:
    people = setting(0.3, 5000)

    assert BOUND.delta(people, BOUND.epsilon(people, delta)) == pytest.approx(
        delta, rel=1e-9
    )


def test_people_count_as_if_they_had_the_largest_budget() -> None:
    mixed = Setting(sdp.Population.from_counts({0.1: 900, 0.4: 100}))

    assert BOUND.epsilon(mixed, 1e-6) == BOUND.epsilon(setting(0.4, 1000), 1e-6)


@pytest.mark.parametrize(
    ("people", "delta", "message"),
    [
        (setting(0.5, 1000), 1e-6, "below 1/2, got 0.5"),
        (setting(0.4, 999), 1e-6, "1000 people, got 999"),
        (setting(0.4, 1000), 0.01, "below 1/100, got 0.01"),
        (
            Setting(sdp.Population.from_counts({0.4: 1000}), delta_local=1e-6),
            1e-6,
            "delta_local = 0, got 1e-06",
        ),
    ],
)
def test_outside_its_preconditions_it_says_nothing(
    people: Setting, delta: float, message: str
) -> None:
    with pytest.raises(OutsidePreconditions, match=message):
        BOUND.epsilon(people, delta)


def test_an_epsilon_with_a_large_delta_is_refused() -> None:
    with pytest.raises(OutsidePreconditions, match="below 1/100"):
        BOUND.delta(setting(0.4, 1000), 1e-3)


def test_it_is_above_what_the_certificate_says() -> None:
    people = sdp.Population.from_counts({0.4: 2000})

    certified = sdp.account(sdp.SingleMessage(sdp.OneBit()), people, delta=1e-6)

    assert certified.levels[0].epsilon_central <= BOUND.epsilon(Setting(people), 1e-6)
    assert math.isfinite(BOUND.epsilon(Setting(people), 1e-6))
