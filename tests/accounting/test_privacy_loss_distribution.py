"""Exported privacy losses are pessimistic, complete, and nearly as good as our own."""

import math
import sys
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError, MissingExtraError, UnknownLevelError

PEOPLE = sdp.Population.from_counts({1.0: 500, 2.0: 500})
COUNTS = sdp.Counts(
    (sdp.CountGroup(3, 1, sdp.PoissonNoise(80.0)),), (1.0, 2.0), (0.5, 1.0), 1000
)
PROTOCOLS: list[Any] = [
    sdp.Frequency(5),
    sdp.Laplace(0, 1),
    sdp.UnaryEncoding(4),
    [sdp.Frequency(5), sdp.Frequency(3)],
    COUNTS,
]
needs_dp_accounting = pytest.mark.usefixtures("dp_accounting")


@pytest.fixture
def dp_accounting() -> None:
    pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution",
        reason="Needs the extra dp-accounting.",
    )


@pytest.mark.slow
@needs_dp_accounting
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rounds", [1, 7])
def test_lies_between_the_attack_and_just_above_the_certificate(
    protocol: Any, rounds: int
) -> None:
    level = sdp.account(protocol, PEOPLE, delta=1e-6, rounds=rounds, levels=[1.0])

    pld = sdp.to_pld(protocol, PEOPLE, 1.0, delta=1e-6)
    epsilon = pld.self_compose(rounds).get_epsilon_for_delta(1e-6)

    (entry,) = level.levels
    assert entry.epsilon_central_lower <= epsilon
    # Chords between nodes and steps of the grid, here and there.
    assert epsilon <= 1.01 * entry.epsilon_central


@pytest.mark.slow
@needs_dp_accounting
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_is_a_distribution_whose_inverse_ratios_have_a_mean_of_at_most_1(
    protocol: Any,
) -> None:
    pmf = sdp.to_pld(protocol, PEOPLE, 2.0)._pmf_remove

    losses = 1e-4 * (pmf._lower_loss + np.arange(pmf.size))
    assert pmf._pessimistic_estimate
    assert np.all(pmf._probs >= 0.0)
    assert math.fsum([*pmf._probs, pmf._infinity_mass, -1.0]) == pytest.approx(
        0.0, abs=1e-15
    )
    assert math.fsum(pmf._probs * np.exp(-losses)) <= 1.0 + 1e-15


@pytest.mark.slow
@needs_dp_accounting
def test_composes_with_noise_of_a_curator() -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    noise = pld.from_gaussian_mechanism(20.0)

    both = sdp.to_pld(sdp.Frequency(5), PEOPLE, 2.0).compose(noise)

    alone = [
        each.get_epsilon_for_delta(1e-6)
        for each in (noise, sdp.to_pld(sdp.Frequency(5), PEOPLE, 2.0))
    ]
    assert max(alone) < both.get_epsilon_for_delta(1e-6) < sum(alone)


@needs_dp_accounting
def test_the_losses_of_a_device_alone_end_at_its_budget() -> None:
    people = sdp.Population.from_counts({2.0: 2})
    stratified = sdp.SingleMessage(sdp.OneBit(0, 1), "stratified")

    pld = sdp.to_pld(
        [stratified, sdp.OneBit(0, 1)], people, 2.0, value_discretization_interval=0.01
    )

    # Nothing is lost or gained at the budgets of both devices, which grid points hold.
    assert pld.get_delta_for_epsilon(4.0) <= 1e-12
    assert pld.get_delta_for_epsilon(0.0) >= math.tanh(0.5)


@needs_dp_accounting
def test_noise_only_loses_nothing() -> None:
    people = sdp.Population.from_counts({0.0: 5, 1.0: 5})

    pld = sdp.to_pld(sdp.Frequency(4), people, 0.0)

    assert pld.get_delta_for_epsilon(0.0) <= 1e-15


@pytest.mark.slow
@needs_dp_accounting
def test_bad_numbers_are_refused() -> None:
    frequency = sdp.Frequency(5)

    with pytest.raises(InvalidInputError, match="interval of losses"):
        sdp.to_pld(frequency, PEOPLE, 1.0, value_discretization_interval=0.0)
    with pytest.raises(InvalidInputError, match="larger interval"):
        sdp.to_pld(frequency, PEOPLE, 1.0, value_discretization_interval=1e-9)
    with pytest.raises(InvalidInputError, match="delta"):
        sdp.to_pld(frequency, PEOPLE, 1.0, delta=0.0)
    with pytest.raises(UnknownLevelError):
        sdp.to_pld(frequency, PEOPLE, 3.0)


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.pld_pmf", None)

    with pytest.raises(MissingExtraError, match=r"shuffledp\[dp-accounting\]"):
        sdp.to_pld(sdp.Frequency(5), PEOPLE, 1.0)
