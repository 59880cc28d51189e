"""What devices keep by themselves, against enumeration and simulation."""

import json
import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.federated.baseline_vectors import LaplaceVectors, OneBitVectors
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.local_composition import local_delta_of, local_epsilon_of
from shuffledp.federated.local_guarantee import local_guarantee, local_part
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.sparsified_vectors import TopVectors
from shuffledp.federated.training_guarantee import training_guarantee_of

FEW = sdp.Population.from_counts({0.1: 300, 1.0: 700})
PLDP = TrainingRound(LaplaceVectors(0.1), 40, shuffled=False)


def bits_delta(level: float, times: int, epsilon: float) -> float:
    """The divergence of so many bits, randomized at this level, by enumeration."""
    ups = np.arange(times + 1)
    logs = np.array(
        [
            math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1)
            for k in ups
        ]
    )
    here = logs + level * ups - times * math.log1p(math.exp(level))
    there = here - level * (2 * ups - times)
    return float(np.maximum(np.exp(here) - np.exp(epsilon + there), 0.0).sum())


def bits_epsilon(level: float, times: int, delta: float) -> float:
    """The smallest epsilon of so many bits, by bisection."""
    low, high = 0.0, times * level
    for _ in range(60):
        middle = 0.5 * (low + high)
        shown = bits_delta(level, times, middle)
        low, high = (middle, high) if shown > delta else (low, middle)
    return high


@pytest.mark.parametrize(("level", "times"), [(0.05, 400), (1.0, 50), (3.0, 10)])
def test_bits_compose_as_their_sums_say(level: float, times: int) -> None:
    exact = bits_epsilon(level, times, 1e-6)

    found = local_epsilon_of(sdp.KRandomizedResponse(2), level, times=times, delta=1e-6)

    # Losses are on a lattice, which a little noise smooths.
    assert exact * (1.0 - 1e-9) <= found <= 1.02 * exact


@pytest.mark.parametrize("epsilon", [0.0, 3.0, 8.0])
def test_deltas_of_bits_are_those_of_their_sums(epsilon: float) -> None:
    exact = bits_delta(0.5, 50, epsilon)

    found = local_delta_of(sdp.KRandomizedResponse(2), 0.5, times=50, epsilon=epsilon)

    assert exact * (1.0 - 1e-9) <= found <= 1.1 * exact + 1e-11
    assert local_delta_of(sdp.OneBit(), 0.5, times=50, epsilon=25.1) == 0.0


@pytest.mark.slow
def test_local_composition_of_laplace_noise_exceeds_what_many_draws_show() -> None:
    rng, times, level = np.random.default_rng(3), 200, 0.5
    # Two hundred thousand sums of losses of Laplace noise; 0 against 1, at scale 2.
    noise = rng.laplace(0.0, 1.0 / level, (200_000, times))
    losses = (level * (np.abs(noise - 1.0) - np.abs(noise))).sum(axis=1)

    found = local_epsilon_of(sdp.Laplace(0.0, 1.0), level, times=times, delta=0.01)

    shown = np.maximum(-np.expm1(found - losses), 0.0)
    # Five standard errors: a false alarm has a chance below 1e-6.
    error = 5.0 * float(shown.std()) / math.sqrt(shown.size)
    assert float(shown.mean()) <= 0.01 + error
    # And it is not much more than needed.
    shown = np.maximum(-np.expm1(0.97 * found - losses), 0.0)
    assert float(shown.mean()) > 0.01


def test_noise_that_promises_a_level_with_a_delta_composes_like_one_normal() -> None:
    device, times, delta = sdp.Gaussian(0.0, 1.0, delta_local=1e-6), 30, 1e-5
    (mu,) = sdp_mu(1.0)

    found = local_epsilon_of(device, 1.0, times=times, delta=delta)

    # Steps of mu-GDP compose to sqrt(T) mu.
    exact = normal_epsilon(math.sqrt(times) * mu, delta)
    assert exact * (1.0 - 1e-6) <= found <= 1.02 * exact


def normal_delta(mu: float, epsilon: float) -> float:
    def tail(x: float) -> float:
        return math.erfc(x / math.sqrt(2.0)) / 2.0

    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)


def normal_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 50.0 * mu
    for _ in range(100):
        middle = 0.5 * (low + high)
        fits = normal_delta(mu, middle) <= delta
        low, high = (low, middle) if fits else (middle, high)
    return high


def sdp_mu(level: float) -> list[float]:
    """The distance of two normals that keeps this level at 1e-6, by bisection."""
    low, high = 1e-3, 10.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        fits = normal_delta(middle, level) <= 1e-6
        low, high = (middle, high) if fits else (low, middle)
    return [low]


@pytest.mark.parametrize(("level", "delta"), [(0.0, 1e-6), (1e-12, 1e-6)])
def test_budgets_too_small_to_be_seen_compose_to_nothing(
    level: float, delta: float
) -> None:
    device = sdp.ClipLaplace()

    assert local_epsilon_of(device, level, times=100, delta=delta) == 0.0


def test_every_level_has_its_own_and_more_rounds_cost_more() -> None:
    one, three = (
        local_guarantee(PLDP, FEW, delta=1e-5, rounds=rounds) for rounds in (1, 3)
    )

    assert [(level.epsilon_local, level.count) for level in one.levels] == [
        (0.1, 300),
        (1.0, 700),
    ]
    for first, last in zip(one.levels, three.levels, strict=True):
        assert 0.0 < first.epsilon_all < last.epsilon_all <= last.epsilon_sum
        assert last.epsilon_sum == total_budget(120, last.epsilon_local)
    assert one.worst == one.levels[1]
    assert one.protocol == PLDP.identity


def test_many_levels_are_reported_by_quantiles() -> None:
    people = sdp.Population.from_budgets(np.linspace(0.1, 1.0, 100))

    found = local_guarantee(PLDP, people, delta=1e-5)

    names = [level.quantile for level in found.levels]
    assert names[0] == "minimum"
    assert names[-1] == "maximum"
    assert len(names) == 5
    assert [level.epsilon_all for level in found.levels] == sorted(
        level.epsilon_all for level in found.levels
    )


@pytest.mark.slow
def test_a_certificate_says_the_same_of_devices() -> None:
    shuffled = TrainingRound(OneBitVectors(0.1), 40)

    part = local_part(sdp.account(shuffled, FEW, delta=1e-5, rounds=2), shuffled)

    assert part == local_guarantee(shuffled, FEW, delta=1e-5, rounds=2)


def test_it_is_never_called_central() -> None:
    record = local_guarantee(PLDP, FEW, delta=1e-5).to_dict()

    text = json.dumps(record, allow_nan=False)
    assert "central" not in text
    assert '"shuffled": false' in text


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"rounds": 0}, "rounds"),
        ({"people": [1.0]}, "Population"),
    ],
    ids=str,
)
def test_settings_out_of_range(changes: dict[str, object], match: str) -> None:
    settings: dict[str, object] = {"people": FEW, "delta": 1e-5} | changes

    for promise in (local_guarantee, training_guarantee_of):
        terms = {"rounds": 1} | settings
        with pytest.raises(InvalidInputError, match=match):
            promise(PLDP, terms.pop("people"), **terms)  # type: ignore[arg-type]


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_promises_are_central_where_that_is_proven_and_local_otherwise() -> None:
    shuffled = TrainingRound(OneBitVectors(0.1), 40)
    coupled = TrainingRound(TopVectors(0.1, 0.2), 40)

    proven, why_not_central, none = (
        training_guarantee_of(protocol, FEW, delta=1e-5, rounds=2)
        for protocol in (shuffled, coupled, None)
    )

    assert proven.central == sdp.account(shuffled, FEW, delta=1e-5, rounds=2)
    assert proven.local is not None
    assert why_not_central.central is None
    assert why_not_central.local == local_guarantee(coupled, FEW, delta=1e-5, rounds=2)
    assert "No central guarantee is certified" in why_not_central.note
    assert none.central is None
    assert none.local is None
    assert none.note.startswith("No privacy")
    for promise in (proven, why_not_central, none):
        record = json.loads(json.dumps(promise.to_dict(), allow_nan=False))
        assert set(record) == {"note", "certificate", "local"}
    assert sdp.verify(proven.to_dict()).holds


def test_a_promise_is_not_made_where_numbers_are_too_extreme() -> None:
    protocol = TrainingRound(ClipLaplaceVectors(0.1), 10**9)

    with pytest.raises((CertificationError, InvalidInputError)):
        training_guarantee_of(protocol, FEW, delta=1e-5, rounds=1)
