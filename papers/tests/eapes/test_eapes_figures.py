"""Figures of E-APES: complete, with notes that follow from their numbers."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from shuffledp.datasets.mnist import LabeledImages
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp_papers.eapes.figures import (
    figure_4,
    lemma_3,
    robustness,
    theorem_3,
    training_readings,
)
from shuffledp_papers.eapes.figures.group_privacy import group_distributions
from shuffledp_papers.eapes.figures.three_groups import NUM_USERS, ThreeGroups
from shuffledp_papers.eapes.figures.two_panels import root_mean_square
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort, Result
from shuffledp_papers.figures.table import number

QUICK = (
    "eapes-fig2",
    "eapes-fig3",
    "eapes-theorem3",
    "eapes-lemma3",
    "eapes-groups",
    pytest.param("eapes-fig4", marks=pytest.mark.slow),
    pytest.param("eapes-robustness", marks=pytest.mark.slow),
    "eapes-candidates",
)
# Results, and the shares of work that were reported meanwhile.
RESULTS: dict[str, tuple[Result, list[float]]] = {}


def some_images() -> LabeledImages:
    """Ten classes, each with a random pattern and some noise."""
    rng = np.random.default_rng(7)
    patterns = rng.random((10, 8))
    labels = rng.integers(10, size=1200)
    noisy = (0.8 * patterns[labels] + 0.2 * rng.random((1200, 8))).astype(np.float32)
    return LabeledImages(noisy[:600], labels[:600], noisy[600:], labels[600:], "few")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_4, "SIZES", (1_000, 10_000))
    monkeypatch.setattr(figure_4, "DRAWN", 4)
    monkeypatch.setattr(figure_4, "DISTRIBUTIONS", ("uniform1",))
    monkeypatch.setattr(lemma_3, "QUICK", (10, 50, 200))
    monkeypatch.setattr(robustness, "EXTREMES", (0.0, 1e-9, 0.05, 8.0))
    monkeypatch.setattr(robustness, "DIGITS", 1)
    small = {"100 at 1": {1.0: 100}, "one at 6, 99 at 0.1": {0.1: 99, 6.0: 1}}
    monkeypatch.setattr(theorem_3, "PLACES", small)
    monkeypatch.setattr(training_readings, "load_mnist", some_images)


def run(name: str) -> Result:
    """Every experiment is run once, however many tests look at it."""
    if name not in RESULTS:
        done: list[float] = []
        RESULTS[name] = EXPERIMENTS[name].run(Effort(2, 1, True, done.append)), done
    return RESULTS[name][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_results_are_tables_and_pictures(name: str) -> None:
    result = run(name)
    done = RESULTS[name][1]

    assert ElementTree.fromstring(result.svg).tag.endswith("svg")
    assert result.table.rows
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0, rel=1e-12)
    assert all(
        math.isfinite(cell)
        for row in result.table.rows
        for cell in row
        if isinstance(cell, float)
    )


@pytest.mark.slow
def test_printed_numbers_are_found_again() -> None:
    for name in ("eapes-fig3", "eapes-lemma3"):
        (compared,) = run(name).comparisons
        assert compared.agrees


@pytest.mark.slow
def test_flags_of_the_adaptive_process_follow_from_its_numbers() -> None:
    rows = run("eapes-theorem3").table.records()

    for row in rows:
        exact = number(row["exact, three-ary response"])
        assert exact <= number(row["proven, any adaptive process"]) * (1 + 1e-9)
        counts = number(row["stated, Theorem 1: two counts"])
        assert row["Theorem 1: exceeded"] == (exact > counts * (1 + 1e-9) + 1e-13)
    refuted = {row["budgets of places"] for row in rows if row["Theorem 1: exceeded"]}
    assert refuted == {"one at 6, 99 at 0.1"}


@pytest.mark.slow
def test_small_budgets_do_not_loosen_apes_and_large_ones_refute_robustness() -> None:
    nothing, tiny, least, most = run("eapes-robustness").table.records()
    numbers, own = "APES, Theorem 4 as numbers", "E-APES, Theorem 3 with C = 0"

    assert nothing[numbers] is None
    assert number(tiny[numbers]) == pytest.approx(number(least[numbers]), rel=1e-2)
    assert number(nothing["certified"]) < number(nothing[own])
    # A hundred people at 8: what is stated for everybody is false for them.
    assert number(most[own]) < number(most["attack"]) <= number(most["certified"])
    assert most[f"{own}: exceeded"] is True
    assert least[f"{own}: exceeded"] is False


@pytest.mark.slow
def test_the_outperformance_of_figure_4_is_over_the_closed_form() -> None:
    rows = run("eapes-fig4").table.records()
    own = "E-APES, Theorem 3 with C = 0"

    for row in rows:
        attack, certified = number(row["attack"]), number(row["certified"])
        assert attack <= certified < number(row[own])
        assert number(row["attack, bit"]) <= number(row["certified, bit"])
        assert number(row[own]) < number(row["APES, Theorem 4 in closed form"])
        ends = number(row[f"{own}: least"]), number(row[f"{own}: most"])
        assert ends[0] <= number(row[own]) <= ends[1]
        assert number(row["APES, Theorem 4 as numbers"]) < 0.6 * number(row[own])
    # As one over the root of the number of people, but for the change of delta.
    few, many = (number(row[own]) for row in rows)
    assert few == pytest.approx(many * math.sqrt(10.0), rel=0.25)


def test_groups_are_sums_of_coins() -> None:
    setting = ThreeGroups("f_c", 0.54, 0.1)
    people = setting.people
    size = 5

    first, second = group_distributions(setting, size)

    at = np.arange(first.size)
    lies = 1.0 / (1.0 + np.exp(people.epsilons))
    mean = float(people.counts @ lies)
    moved = mean + size * (1.0 - 2.0 * float(lies[-1]))
    assert first.sum() == pytest.approx(1.0, abs=1e-12)
    assert first @ at == pytest.approx(mean, rel=1e-9)
    assert second @ at == pytest.approx(moved, rel=1e-9)
    variance = float(people.counts @ (lies * (1.0 - lies)))
    for law, center in ((first, mean), (second, moved)):
        # The coins of the group are as random in both worlds.
        assert law @ (at - center) ** 2 == pytest.approx(variance, rel=1e-6)
    assert people.num_users == NUM_USERS


def test_noise_of_a_reading_is_the_printed_one() -> None:
    printed, twice = (
        training_readings.levels_of(
            training_readings.TrainingReading("", noise, budget=0.5),
            rng=np.random.default_rng(1),
        )
        for noise in (1.0, 2.0)
    )

    both = (printed, twice)
    deviations = [1.0 / sensitivity_per_deviation(each, 1e-5)[0] for each in both]

    assert deviations[0] == pytest.approx(
        math.sqrt(2 * math.log(1.25e5)) / 0.5, rel=1e-6
    )
    assert deviations[1] == pytest.approx(2.0 * deviations[0], rel=1e-6)
    # The classical formula is more careful than it need be.
    assert printed[0] < 0.5


def test_intervals_hold_the_root_mean_square() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found, low, high = root_mean_square(rng.normal(0.0, 2.0, 200))
        assert low <= found <= high
        held += low <= 2.0 <= high
    # 95% of 400 intervals: 4.4 less or more is one deviation, five are allowed.
    assert abs(held - 380) < 22


def test_a_few_people_hold_the_extreme_budget() -> None:
    people = robustness.people_with(8.0)

    assert people.num_users == robustness.PEOPLE
    assert people.counts[-1] == robustness.FEW
    assert people.epsilons[-1] == 8.0
