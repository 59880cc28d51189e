"""Classical noise runs, is attacked and is certified as what it is; exact noise stays."""

from dataclasses import replace
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import exact_normal_profile, normal_chances
from oracles.shuffled import divergence, shuffled, with_victim

import shuffledp as sdp
from shuffledp.randomizers.catalog import build
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.testing import check_randomizer
from shuffledp.types import Floats

OUTER = np.concatenate([[-np.inf], all_edges(4096), [np.inf]])


def classical(delta_local: float = 1e-6, **more: Any) -> Gaussian:
    return Gaussian(delta_local=delta_local, calibration="classical", **more)


def exact_mu(level: float, delta_local: float) -> Any:
    with mp.workdps(50):
        return mp.mpf(level) / mp.sqrt(2 * mp.log(mp.mpf(1.25) / mp.mpf(delta_local)))


@pytest.mark.parametrize("delta_local", [1e-100, 1e-10, 1e-5, 0.3])
@pytest.mark.parametrize("level", [1e-3, 0.5, 1.0, 4.0])
def test_noise_and_local_delta_are_those_of_the_formula(
    level: float, delta_local: float
) -> None:
    device, mu = classical(delta_local), exact_mu(level, delta_local)

    # On the scale of values that are 2 apart; rounding of four operations.
    assert device.deviations(np.array([level]))[0] == pytest.approx(
        float(2 / mu), rel=1e-14
    )
    for epsilon in (0.5 * level, level, 2.0 * level):
        with mp.workdps(50):
            exact = exact_normal_profile(mu, epsilon)
            # Logarithms of tails have some twelve digits where little is left.
            found = device.local_delta(level, epsilon)
            # It is never 0, however small.
            assert exact <= found <= max(exact * (1 + 1e-6), 1e-306)
    assert device.local_delta(level, level) <= device.delta_local


@given(level=st.floats(1e-6, 1.0), power=st.floats(-100.0, -0.01))
@settings(max_examples=60, deadline=None)
def test_every_level_up_to_one_is_kept_by_more_noise_than_needed(
    level: float, power: float
) -> None:
    delta_local, levels = 10.0**power, np.array([level])

    noise = classical(delta_local).deviations(levels)

    assert noise >= Gaussian(delta_local=delta_local).deviations(levels)


@pytest.mark.parametrize(
    ("level", "delta_local"), [(0.0, 1e-6), (9.0, 1e-5), (3.9, 0.9), (600.0, 1e-9)]
)
def test_levels_that_the_formula_does_not_keep_are_refused_everywhere(
    level: float, delta_local: float
) -> None:
    device, levels = classical(delta_local), np.array([level])
    crowd = sdp.Population.from_counts({level: 5, 0.5: 5})

    refused: tuple[Any, ...] = (
        lambda: device.deviations(levels),
        lambda: device.local_delta(level, 1.0),
        lambda: device.randomize([0.5], levels, rng=np.random.default_rng(1)),
        lambda: device.moments(levels, np.array([0.5])),
        lambda: device.covers([0.5], crowd, delta=1e-6),
        lambda: device.attacks([0.5], crowd),
        lambda: sdp.account(sdp.SingleMessage(device), crowd, delta=1e-6),
    )
    for ask in refused:
        with pytest.raises(sdp.InvalidInputError, match="Expected levels"):
            ask()
    if level > 1.0:
        with mp.workdps(50):
            assert exact_normal_profile(exact_mu(level, delta_local), level) > mp.mpf(
                delta_local
            )


@pytest.mark.slow
def test_what_runs_is_what_is_stated() -> None:
    found = check_randomizer(
        classical(1e-5, low=-1.0, high=1.0),
        levels=(1.5,),
        rng=np.random.default_rng(19),
    )

    assert found.failed == ()


@pytest.mark.parametrize("crowd", [{2.0: 2}, {0.5: 1, 3.0: 1}])
def test_exact_divergence_is_between_attack_and_certificate(
    crowd: dict[float, int],
) -> None:
    device, people = classical(1e-3), sdp.Population.from_counts(crowd)

    def sends(level: float, value: float) -> Floats:
        return normal_chances(float(2 / exact_mu(level, 1e-3)), value, OUTER)

    for victim in crowd:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon, best = 0.2 * victim, 0.0
        (answer,) = sdp.account(
            sdp.SingleMessage(device), people, epsilon=epsilon, levels=[victim]
        ).levels
        for value in (-1.0, 0.0, 1.0):
            others = shuffled([sends(level, value) for level in levels])
            worlds = [with_victim(others, sends(victim, v)) for v in (-1.0, 1.0)]
            best = max(best, divergence(worlds[0], worlds[1], epsilon))
        # Sums of up to 10^6 doubles. Bins hide something, yet not from the attack.
        assert best <= answer.delta_central * (1.0 + 1e-9)
        assert answer.delta_central_lower <= best * (1.0 + 1e-9)


def test_equal_noise_is_worth_the_same_whatever_it_was_calibrated_to() -> None:
    device = classical(1e-10)
    (deviation,) = device.deviations(np.array([1.0])).tolist()
    low, high = 0.1, 1.0
    for _ in range(80):
        middle = (low + high) / 2.0
        wide = Gaussian(delta_local=1e-10).deviations(np.array([middle]))[0]
        low, high = (middle, high) if wide > deviation else (low, middle)

    one, other = (
        sdp.account(
            sdp.SingleMessage(mechanism),
            sdp.Population.from_counts({level: 1000}),
            epsilon=0.01,
        ).worst
        for mechanism, level in ((device, 1.0), (Gaussian(delta_local=1e-10), low))
    )

    # 60 halvings of the exact calibration leave fifteen digits.
    assert one.delta_central == pytest.approx(other.delta_central, rel=1e-5)
    assert one.delta_central_lower == pytest.approx(other.delta_central_lower, rel=1e-5)


def test_certificates_from_before_keep_their_digest() -> None:
    exact, other = (
        sdp.Mean(0, 16, randomizer=device)
        for device in (Gaussian(0, 16), Gaussian(0, 16, calibration="classical"))
    )

    assert "calibration" not in exact.identity.text
    assert '"calibration":"classical"' in other.identity.text
    assert exact.identity.digest != other.identity.digest


def test_parameters_build_it_again_and_its_unit_keeps_its_calibration() -> None:
    device = classical(1e-8, low=2.0, high=5.0, cells=64)

    assert build("gaussian", device.parameters) == device
    assert build("gaussian", Gaussian().parameters) == Gaussian()
    assert device.unit == replace(device, low=-1.0, high=1.0)


@pytest.mark.parametrize("calibration", ["loose", "", None, 1])
def test_other_calibrations_are_refused(calibration: Any) -> None:
    with pytest.raises(sdp.InvalidInputError, match="exact or classical"):
        Gaussian(calibration=calibration)
