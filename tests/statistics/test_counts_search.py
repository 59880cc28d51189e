"""Searches for noise find the best size in few evaluations of a certified bound."""

import pytest

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.bucket_pair import BucketPair
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.accounting.counts.counts_parameters import CountsParameters, Noise
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.noise_families import NoiseFamily


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, float]]:
    """Variance, rate and target of each delta that a search evaluates, from now on."""
    found: list[tuple[float, float, float]] = []
    evaluate = CountsSearch._delta_of

    def counted(
        self: CountsSearch,
        noise: Noise,
        rate: float,
        target: float,
        *,
        in_few_atoms: bool = False,
    ) -> float:
        found.append((noise.variance, rate, target))
        return evaluate(self, noise, rate, target, in_few_atoms=in_few_atoms)

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


def test_tiny_target_takes_few_sizes(
    evaluated: list[tuple[float, float, float]],
) -> None:
    size = mixed({0.005: 1_000_000})._smallest(NoiseFamily("Poisson", "poisson"), 0.005)

    assert len(evaluated) <= 9
    assert mixed({0.005: 1_000_000})._delta_of(PoissonNoise(size**2), 1.0, 0.005) <= (
        1e-6
    )


def test_hopeless_target_is_given_up_soon(
    evaluated: list[tuple[float, float, float]],
) -> None:
    # So much noise that what devices round tells more than the target.
    search = mixed({1.7e-4: 100_000_000})

    with pytest.raises(CertificationError, match="No noise"):
        search._smallest(NoiseFamily("Poisson", "poisson"), 1.7e-4)

    assert len(evaluated) <= 6


@pytest.mark.parametrize("rate", [0.1, 0.9])
def test_fewer_atoms_bound_a_little_more(rate: float) -> None:
    search = mixed({0.1: 10_000})
    noise = NoiseFamily("geometric", "geometric", pairs=2_000.0).noise(20.0)
    exposed = CountsParameters((search._group(noise),), (0.1,), (rate,), search.honest)
    (exposure,) = exposed.exposures(search.people)
    assert isinstance(exposure, CountsExposure)
    query = AccountingQuery({}, search.people.counts, search.delta, None)

    exact = exposure.bounds(rate, query).upper(0.1)

    # Fewer atoms also have smaller errors, by a few parts in a billion.
    assert exact * (1.0 - 1e-7) <= search._delta_of(noise, rate, 0.1) <= exact * 1.001


def test_few_atoms_take_the_place_of_many_and_never_say_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = mixed({0.05: 50_000, 1.0: 50_000})
    noise = NoiseFamily("geometric", "geometric", pairs=4_000.0).noise(4_000.0)
    exact = search._delta_of(noise, 1.0, 0.005)
    assert exact > 0.0

    sizes: list[int] = []
    delta = BucketPair.delta

    def noted(self: BucketPair, epsilon: float, *, moved: bool) -> tuple[float, float]:
        sizes.append(self.without.size)
        return delta(self, epsilon, moved=moved)

    monkeypatch.setattr(BucketPair, "delta", noted)
    search._delta_of(noise, 1.0, 0.005)
    in_few = search._delta_of(noise, 1.0, 0.005, in_few_atoms=True)

    assert sizes[-1] < sizes[0]
    assert exact <= in_few <= 1.05 * exact
