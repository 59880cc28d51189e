"""Plans below a certified noise table keep every target, whatever else they are."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from shuffledp.accounting.account import account
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.accounting.items.noise_table import NoiseTable, make_noise_table
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population

TARGETS = (0.5, 1.0, 2.0)


@cache
def table(set_size: int = 1, delta: float = 1e-6) -> NoiseTable:
    return make_noise_table(TARGETS, delta, num_items=8, set_size=set_size)


def random_plan(
    of: NoiseTable, honest: int, rng: np.random.Generator
) -> ItemsParameters:
    """A plan at the table's edge, or below it, with the smallest report that fits."""
    row = int(rng.integers(len(of.noise)))
    noise = of.noise[row] * (1.0 if rng.random() < 0.5 else rng.uniform(1.0, 3.0))
    at = of.row_below(noise)
    assert at is not None
    lower = np.where(rng.random(3) < 0.5, 1.0, rng.random(3))
    rates = tuple((np.array(of.rates[at]) * lower).tolist())
    blanket, cap = noise / honest * (1.0 + 4e-16), 1
    while not of.fits(blanket, cap, honest):
        cap += 1
    size = cap + of.set_size
    return ItemsParameters(of.num_items, of.set_size, of.targets, rates, blanket, size)


def test_rows_between_two_targets_grow_by_one_factor() -> None:
    of = make_noise_table((0.5, 2.0), 1e-6, num_items=8, set_size=1)

    # A plan takes the row below its noise, and loses at most about that factor.
    factors = np.array(of.noise[1:]) / np.array(of.noise[:-1])
    assert len(factors) > 2
    # Noise has six digits.
    np.testing.assert_allclose(factors, factors[0], rtol=1e-4)
    assert factors[0] < 2.0
    # Devices prove every row: there are no more of them than that takes.
    assert factors[0] > 1.4


@pytest.mark.parametrize(
    ("set_size", "plans"), [(1, 30), pytest.param(3, 4, marks=pytest.mark.slow)]
)
def test_every_plan_below_the_table_is_certified_at_its_targets(
    set_size: int, plans: int
) -> None:
    of, rng = table(set_size), np.random.default_rng(1)

    for _ in range(plans):
        minimum = int(rng.integers(50, 5_000))
        plan = random_plan(of, minimum, rng)
        of.check(plan, minimum)
        more = minimum + int(rng.integers(minimum))
        people = Population.from_counts(
            dict(zip(TARGETS, (1, 1, more - 2), strict=True))
        )
        certified = account(plan, people, delta=of.delta, quantiles=False)
        found = [level.epsilon_central for level in certified.levels]
        # Certified numbers have six digits, rounded up.
        assert all(e <= t * (1 + 1e-5) for e, t in zip(found, TARGETS, strict=True))


def test_exact_sums_of_one_replaced_item_stay_below_delta() -> None:
    of = table()

    for noise, rates in zip(of.noise, of.rates, strict=True):
        mean = noise / of.num_items
        counts = np.arange(int(mean + 12.0 * math.sqrt(mean) + 40.0))
        mass = stats.poisson.pmf(counts, mean)
        joint = mass[:, None] * mass[None, :]
        for target, rate in zip(TARGETS, rates, strict=True):
            ratio = 1.0 - rate + rate * counts / mean
            excess = ratio[:, None] - math.exp(target) * ratio[None, :]
            delta = float((joint * np.maximum(excess, 0.0)).sum())
            assert delta <= of.delta


def test_a_table_is_proven_and_one_that_allows_more_is_not() -> None:
    of = table()
    more = tuple(tuple(min(1.02 * r, 1.0) for r in row) for row in of.rates)

    of.prove()
    with pytest.raises(CertificationError, match="keep target"):
        NoiseTable(
            of.num_items,
            of.set_size,
            of.targets,
            of.delta,
            of.cut,
            of.coin_error,
            of.noise,
            more,
        ).prove()


def test_plans_above_the_table_are_refused() -> None:
    of, honest = table(), 1_000
    row = 1
    blanket = of.noise[row] / honest * (1.0 + 4e-16)
    rates, size = of.rates[row], 40

    def plan(**changes: object) -> ItemsParameters:
        stated = {"rates": rates, "blanket": blanket, "report_size": size} | changes
        return ItemsParameters(8, 1, of.targets, **stated)  # type: ignore[arg-type]

    of.check(plan(), honest)
    hostile = [
        (plan(rates=(1.0, 1.0, 1.0), blanket=0.0), honest),
        (plan(rates=(rates[0] * (1 + 1e-6), *rates[1:])), honest),
        (plan(blanket=blanket * (1 - 1e-6)), honest),
        (plan(report_size=2), honest),
        (plan(), honest - 1),
        (plan(), 0),
        (ItemsParameters(8, 2, of.targets, rates, blanket, size), honest),
    ]
    for wrong, people in hostile:
        with pytest.raises(InvalidInputError):
            of.check(wrong, people)
