"""The delta at an epsilon, where no attack says how large it is."""

import pytest

import shuffledp as sdp
from shuffledp.accounting import certified_delta as module
from shuffledp.accounting.certified_delta import certified_delta
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.accounting.upper_profiles import upper_profiles

PEOPLE = sdp.Population.from_counts({0.01: 1_000, 0.02: 1_000})
ROUNDS, EPSILON = 100, 0.006


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The deltas for which a certificate is made, from now on."""
    tried: list[float] = []
    near = module._DeltaSearch.near

    def noted(self: module._DeltaSearch, about: float) -> tuple[float, UpperProfile]:
        tried.append(about)
        return near(self, about)

    monkeypatch.setattr(module._DeltaSearch, "near", noted)
    return tried


def upper_at(delta: float) -> UpperProfile:
    (upper,) = upper_profiles(
        sdp.Laplace(), PEOPLE, [0], delta=delta / ROUNDS, is_composed=True
    )
    return upper


def certified(attacked: float) -> float:
    delta, _ = certified_delta(
        upper_at, EPSILON, attacked, times=ROUNDS, shuffles=ROUNDS
    )
    return delta


def test_an_estimate_tells_the_size_of_delta_where_an_attack_is_weak(
    trials: list[float],
) -> None:
    exact = certified(1e-6)
    trials.clear()

    weak = certified(1e-200)

    # One certificate, and not one for each size in between.
    assert len(trials) == 1
    assert 1e-8 < exact < 1e-4
    assert weak == pytest.approx(exact, rel=0.01)


def test_a_wrong_estimate_is_not_relied_on(
    trials: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = certified(1e-6)

    for wrong in (0.0, 1e-100, 0.5):
        monkeypatch.setattr(
            module._DeltaSearch, "estimated", lambda self, about, wrong=wrong: wrong
        )
        trials.clear()
        assert certified(1e-200) == pytest.approx(exact, rel=0.01)
        assert len(trials) > 1


def test_gaussian_noise_of_many_people_in_rounds_is_certified_at_a_large_budget() -> (
    None
):
    # Of its losses a few are far above all others, and it takes few of their values.
    promise = sdp.Promise(sdp.Gaussian(), 1e-9, rounds=12)
    people = sdp.Population.from_counts({12.9499: 100_000_000})

    assert promise.delta_of(people, 0, 0.24394) < 2e-7
