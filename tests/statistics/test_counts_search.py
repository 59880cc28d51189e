"""Searches for noise find the best size in few evaluations of a certified bound."""

import pytest

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.noise_families import NoiseFamily


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, float]]:
    """Variance, rate and target of each delta that a search evaluates, from now on."""
    found: list[tuple[float, float, float]] = []
    evaluate = CountsSearch._delta_of

    def counted(self: CountsSearch, noise: Noise, rate: float, target: float) -> float:
        found.append((noise.variance, rate, target))
        return evaluate(self, noise, rate, target)

    monkeypatch.setattr(CountsSearch, "_delta_of", counted)
    return found


def mixed(targets: dict[float, int]) -> CountsSearch:
    people = Population.from_counts(targets)
    return CountsSearch(people, 128, 1, 1 / 128, 1e-6, people.num_users)


def test_no_size_is_evaluated_twice(
    evaluated: list[tuple[float, float, float]],
) -> None:
    # Six digits of this size are fewer than its delta would need.
    family = NoiseFamily("geometric", "geometric", pairs=4_000.0)

    size = mixed({2.0: 100_000})._smallest(family, 2.0)

    assert len(evaluated) == len(set(evaluated)) <= 15
    assert family.noise(size).variance in {variance for variance, _, _ in evaluated}


@pytest.mark.parametrize("less", [0.99, 0.8, 0.3])
def test_probabilities_to_send_are_the_largest(
    less: float, evaluated: list[tuple[float, float, float]]
) -> None:
    search = mixed({0.5: 25_000, 1.0: 50_000, 2.0: 25_000})
    enough = search._smallest(NoiseFamily("Poisson", "poisson"), 0.5)
    noise = PoissonNoise((less * enough) ** 2)
    evaluated.clear()

    rates = search._rates(noise)

    # A bisection takes 14 of each that is below 1.
    assert len(evaluated) <= 3 + 11 * sum(rate < 1.0 for rate in rates)
    for rate, target in zip(rates, (0.5, 1.0, 2.0), strict=True):
        assert search._delta_of(noise, rate, target) <= search.delta
        if rate < 1.0:
            assert search._delta_of(noise, rate + 2e-4, target) > search.delta


def test_mixed_targets_take_few_evaluations(
    evaluated: list[tuple[float, float, float]],
) -> None:
    search = mixed({0.5: 25_000, 1.0: 50_000, 2.0: 25_000})

    design = search.design(NoiseFamily("geometric", "geometric", pairs=4_000.0), 0)

    # Bisections of every probability took 64 of them.
    assert len(evaluated) <= 25
    assert design.protocol.rates == (1.0, 1.0, 1.0)
    assert keeps_targets(design.guarantee)
