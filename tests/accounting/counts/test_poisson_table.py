"""Tables of noise for several questions, against profiles that are summed up directly."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import poisson

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup, CountsParameters
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.poisson_table import PoissonTable, make_poisson_table
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.types import Floats

GROUPS = ((3, 1), (2, 1))
TARGETS = (1.0, 2.0)
DELTA = 1e-4


@pytest.fixture(scope="module")
def table() -> PoissonTable:
    return make_poisson_table(GROUPS, TARGETS, DELTA)


def moved_answer(mean: float, rate: float) -> tuple[Floats, Floats]:
    """Masses of the counts of two buckets, with an answer in the first, or the second."""
    counts = np.arange(int(mean + 12.0 * math.sqrt(mean)) + 15)
    without = poisson.pmf(counts, mean)
    shifted = poisson.pmf(counts - 1, mean)
    none = np.outer(without, without)
    first = (1.0 - rate) * none + rate * np.outer(shifted, without)
    second = (1.0 - rate) * none + rate * np.outer(without, shifted)
    return first.ravel(), second.ravel()


def summed_delta(means: tuple[float, float], rate: float, epsilon: float) -> float:
    """The divergence of two moved answers, one in each of two groups, by their sum."""
    total = 0.0
    (first, second), (other, fourth) = (moved_answer(mean, rate) for mean in means)
    # The least likely outcomes only add to a divergence: without them it is smaller.
    likely = second > 1e-11
    for p, q in zip(first[likely], second[likely], strict=True):
        total += float(
            np.maximum(p * other - math.exp(epsilon) * q * fourth, 0.0).sum()
        )
    return total


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("row", [0, -1])
@pytest.mark.parametrize("column", [0, 1])
def test_a_row_keeps_its_targets_by_direct_summation(
    table: PoissonTable, row: int, column: int
) -> None:
    first, second = table.means(table.noise[row])

    exact = summed_delta((first, second), table.rates[row][column], TARGETS[column])

    assert exact <= DELTA
    # Not by far, where noise is the least: rates are nearly the largest.
    assert row != 0 or exact >= 0.9 * DELTA


def test_a_table_is_proven_and_one_that_promises_more_is_not(
    table: PoissonTable,
) -> None:
    table.prove()

    for change in (
        {"noise": tuple(0.95 * noise for noise in table.noise)},
        {"rates": ((1.05 * table.rates[0][0], *table.rates[0][1:]), *table.rates[1:])},
        {"delta": 0.5 * DELTA},
        {"cut": 1e-3},
        {"coin_error": 0.1},
    ):
        with pytest.raises(CertificationError, match="keep target"):
            replace(table, **change).prove()


def plan(table: PoissonTable, row: int = 0, **changes: object) -> CountsParameters:
    terms = {
        "groups": tuple(
            CountGroup(buckets, most, PoissonNoise(mean))
            for (buckets, most), mean in zip(
                GROUPS, table.means(table.noise[row]), strict=True
            )
        ),
        "targets": TARGETS,
        "rates": table.rates[row],
        "honest": 900,
        "size": 20,
    }
    return CountsParameters(**{**terms, **changes})  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_passes_is_certified_for_any_people_that_it_allows(
    table: PoissonTable,
) -> None:
    for row in range(len(table.noise)):
        given = plan(table, row)
        table.check(given, 900)
        for people, absent in (((1, 899), 0), ((450, 450), 0), ((3000, 3000), 5100)):
            population = Population.from_counts(dict(zip(TARGETS, people, strict=True)))
            guarantee = account(given, population, delta=DELTA, absent=absent)
            for level in guarantee.levels:
                assert level.target is not None
                assert level.epsilon_central <= level.target


def test_a_plan_that_breaks_the_table_is_refused(table: PoissonTable) -> None:
    groups, rates = plan(table).groups, table.rates[0]
    little = CountGroup(2, 1, PoissonNoise(table.noise[0] * (1.0 - 1e-9)))
    geometric = CountGroup(2, 1, GeometricNoise(0.6, 800.0))

    for changes, why in (
        ({"groups": (groups[0], little)}, "at least"),
        ({"groups": (groups[0], geometric), "size": 3000}, "Poisson noise"),
        ({"groups": groups[:1]}, "questions"),
        ({"groups": groups[::-1]}, "questions"),
        ({"rates": (rates[0] * (1.0 + 1e-9), rates[1])}, "rate"),
        ({"targets": (1.0, 3.0)}, "targets"),
        ({"honest": 901}, "at most 900"),
        ({"size": 5}, "larger reports"),
        ({"size": None}, "one size"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            table.check(plan(table, **changes), 900)
    table.check(plan(table), 900)
    table.check(plan(table), 5_000)


@pytest.mark.slow
def test_mixed_questions_have_noise_of_their_own() -> None:
    table = make_poisson_table(((8, 4), (5, 1)), (1.0,), DELTA)

    table.prove()

    first, second = table.means(table.noise[0])
    assert first == 2.0 * second


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": ()},
        {"groups": ((1, 1),)},
        {"groups": ((3, 4),)},
        {"groups": ((3, 0),)},
        {"targets": (2.0, 1.0)},
        {"delta": 1.0},
        {"cut": 0.0},
        {"coin_error": float("nan")},
        {"noise": (2.0, 1.0)},
        {"rates": ((0.5, 1.5),)},
    ],
    ids=str,
)
def test_tables_of_another_form_are_refused(
    table: PoissonTable, changes: dict[str, object]
) -> None:
    with pytest.raises(InvalidInputError):
        replace(table, **changes)  # type: ignore[arg-type]
