from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import laplace, norm

import shuffledp as sdp
from shuffledp.accounting import upper_profiles
from shuffledp.accounting.upper import noise_blanket as noise_blanket_module
from shuffledp.accounting.upper.blanket_population import BlanketPopulation
from shuffledp.accounting.upper.falling_blanket import falling_blanket
from shuffledp.accounting.upper.noise_blanket import NoiseBlanketBound, noise_blanket
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

DELTA = 1e-6
Noise = sdp.Gaussian | sdp.Laplace


class Step:
    """A bound that is 0 from a stated epsilon on."""

    def __init__(self, at: float) -> None:
        self.at = at

    def delta(self, epsilon: float) -> float:
        return float(epsilon < self.at)

    def estimate(self, epsilon: float) -> float:
        return self.delta(epsilon)

    def slack(self, epsilon: float) -> float:
        return 0.0


def bound_for(
    mechanism: Noise,
    people: Population,
    target: int,
    *,
    absent: int = 0,
    delta: float = DELTA,
) -> NoiseBlanketBound:
    level = float(people.epsilons[target])
    noise = mechanism.noise_densities(level, delta=delta)
    assert noise is not None
    found = noise_blanket(
        noise,
        people,
        target,
        Step(0.02),
        delta=delta,
        absent=absent,
        tail=1e-18,
        is_composed=False,
    )
    assert found is not None
    return found


def least_ratio(mechanism: Noise, level: float, bound: NoiseBlanketBound) -> float:
    """The least density of any value's messages over omega, at many points of each cell."""
    edges = bound.noise.edges
    inside = np.linspace(0.0, 1.0, 9) * (1.0 - 1e-12)
    sizes = (edges[:-1, np.newaxis] + np.diff(edges)[:, np.newaxis] * inside).ravel()
    omega = np.repeat(bound.density, inside.size)
    values = np.linspace(-1.0, 1.0, 11)[:, np.newaxis]
    if isinstance(mechanism, sdp.Gaussian):
        deviation = float(mechanism.deviations(np.array([level]))[0])
        densities = norm.pdf(sizes - values, scale=deviation)
    else:
        densities = laplace.pdf(sizes - values, scale=2.0 / level)
    return float((densities / omega).min())


@pytest.mark.parametrize("mechanism", [sdp.Gaussian(), sdp.Laplace()])
@pytest.mark.parametrize("target", [0, 2, 4])
def test_everybody_sends_the_blanket_at_least_as_often_as_is_counted(
    mechanism: Noise, target: int
) -> None:
    people = Population.from_counts({0.1: 900, 0.2: 800, 0.4: 700, 0.9: 600, 2.0: 500})

    bound = bound_for(mechanism, people, target)

    ratios = [
        least_ratio(mechanism, level, bound) for level in people.epsilons.tolist()
    ]
    others = people.counts.copy()
    others[target] -= 1
    assert 2.0 * bound.density @ np.diff(bound.noise.edges) == pytest.approx(1.0)
    # People who send nothing where omega ends do not count.
    assert bound.counts.sum() <= others.sum()
    # Nobody counts for more than the best of all.
    assert bound.probabilities.max() <= max(ratios)
    most = float(np.array(ratios) @ others)
    counted = float(bound.probabilities @ bound.counts)
    assert 0.9 * most <= counted <= most


@pytest.mark.parametrize("mechanism", [sdp.Gaussian(), sdp.Laplace()])
def test_levels_in_groups_count_no_more_than_each_by_itself(mechanism: Noise) -> None:
    levels = np.linspace(0.1, 1.0, 9_001)
    people = Population(levels, np.ones(levels.size, dtype=np.int64))

    bound = bound_for(mechanism, people, 4_000)

    assert bound.counts.sum() <= 9_000.0
    each = (bound.noise.least(levels) / bound.density).min(axis=1)
    most = float(np.delete(each, 4_000).sum())
    assert 0.99 * most <= float(bound.probabilities @ bound.counts) <= most


@pytest.mark.parametrize("mechanism", [sdp.Gaussian(), sdp.Laplace()])
def test_no_group_of_levels_counts_for_more_than_any_of_its_people(
    mechanism: Noise,
) -> None:
    # The smallest gammas are at either end of the levels.
    levels = np.linspace(0.1, 3.0, 9_001)
    people = Population(levels, np.ones(levels.size, dtype=np.int64))
    seen = []

    def gammas_seen(gammas: Floats, counts: Ints, *rest: Any, **named: Any) -> Any:
        seen.append((gammas, counts))
        return BlanketPopulation(gammas, counts, *rest, **named)

    with patch.object(noise_blanket_module, "BlanketPopulation", gammas_seen):
        bound = bound_for(mechanism, people, 4_000)

    each = (bound.noise.least(levels) / bound.density).min(axis=1)
    assert all(gammas.size < 5_000 for gammas, _ in seen)
    # The better blanket of two searches is taken, whichever it is.
    assert any(np.all(np.repeat(gammas, counts) <= each) for gammas, counts in seen)


def test_messages_beyond_the_blanket_are_charged_to_the_target() -> None:
    people = Population.from_counts({0.07: 500, 2.7: 3, 6.6: 1_116})
    bound = bound_for(sdp.Laplace(), people, 0, delta=0.05)
    beyond = float(bound.noise.edges[-1])
    scale = 2.0 / 0.07

    # One message is beyond, on the side of the target's value.
    near, far = (laplace.sf(beyond - value, scale=scale) for value in (1.0, -1.0))
    assert near - far > 0.0
    assert bound.delta(0.0) >= near - far


def test_absent_people_are_those_who_cover_most() -> None:
    people = Population.from_counts({0.1: 900, 0.4: 700, 2.0: 500})

    all_present, some_absent = (
        bound_for(sdp.Laplace(), people, 1, absent=absent) for absent in (0, 100)
    )
    assert all_present.counts.sum() == 2_099
    assert some_absent.counts.sum() == 1_999

    assert (
        some_absent.probabilities @ some_absent.counts
        < all_present.probabilities @ all_present.counts
    )
    assert some_absent.delta(0.02) > all_present.delta(0.02)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mechanism", [sdp.Gaussian(), sdp.Laplace()])
def test_numbers_of_several_levels_fall(mechanism: Noise) -> None:
    people = Population.from_counts({0.1 * step: 1_000 for step in range(1, 9)})
    with patch.object(type(mechanism), "noise_densities", return_value=None):
        usual = sdp.account(mechanism, people, delta=DELTA)

    guarantee = sdp.account(mechanism, people, delta=DELTA)

    for before, after in zip(usual.levels, guarantee.levels, strict=True):
        assert after.epsilon_central <= 1.001 * before.epsilon_central
        assert after.epsilon_central >= before.epsilon_central_lower
    falls = [
        after.epsilon_central < 0.97 * before.epsilon_central
        for before, after in zip(usual.levels, guarantee.levels, strict=True)
    ]
    assert any(falls)


def test_a_blanket_that_proves_little_is_not_improved_where_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_for = []
    search = falling_blanket

    def recorded(*args: Any, epsilon: float, **others: Any) -> Floats | None:
        made_for.append(epsilon)
        return search(*args, epsilon=epsilon, **others)

    monkeypatch.setattr(noise_blanket_module, "falling_blanket", recorded)
    people = Population.from_counts(dict.fromkeys((0.029, 0.163, 2.341, 2.533), 1_250))

    found = bound_for(sdp.Gaussian(), people, 2, delta=1e-12)

    # The second was made for an epsilon of 2.341, where the target's message alone shows
    # as little, and replaced the first.
    assert found is not None
    assert max(made_for) <= 0.04


def test_equal_people_have_one_blanket() -> None:
    people = Population.from_counts({1.0: 5_000})

    with patch.object(upper_profiles, "noise_blanket") as search:
        sdp.account(sdp.Laplace(), people, delta=DELTA)

    search.assert_not_called()


def test_a_bound_and_what_it_is_estimated_to_be_are_near_each_other() -> None:
    people = Population.from_counts({0.2: 2_000, 0.5: 2_000, 1.0: 2_000})
    bound = bound_for(sdp.Gaussian(), people, 1)

    for epsilon in (0.004, 0.007):
        assert bound.estimate(epsilon) == pytest.approx(bound.delta(epsilon), rel=0.1)
        assert 0.0 <= bound.slack(epsilon) < 0.1
    # Far beyond what exponentials can tell.
    assert np.isnan(bound.estimate(60.0))
    with pytest.raises(CertificationError):
        bound.delta(60.0)


def test_a_second_search_that_ends_at_a_worse_blanket_is_dropped() -> None:
    def epsilon(budget: float) -> float:
        budgets = [0.00046, 0.00138, 0.01092, 0.01796, budget, 0.07277, 0.19581, 0.31]
        people = Population(np.array(budgets), np.full(8, 125))
        guarantee = sdp.account(
            sdp.Gaussian(), people, delta=8.3e-14, levels=[budget], quantiles=False
        )
        return float(guarantee.levels[0].epsilon_central)

    # A budget larger by 0.4%: its number was larger by 3.3%.
    assert epsilon(0.0527) < epsilon(0.0529) < 1.01 * epsilon(0.0527)
