"""Table 2 and the figures of Liu et al. (2024), claims and attacks at equal noise."""

import math
from functools import partial

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.equal_noise import band, is_refuted, stated
from shuffledp_papers.bounds.feldman2023 import Feldman2023Numerical
from shuffledp_papers.bounds.feldman_approximate import FeldmanApproximate
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.bounds.two_counts import clone_count
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.hypothesis_testing.figures import (
    bounds_by_population,
    confounding_effect,
    table_2,
    theorem_1,
)
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
    _Tests,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    gaussian_clone_probabilities,
    gaussian_target_error,
)

EFFORT = Effort(1, 1, False, lambda _share: None)
QUANTILES = 0.5 + 1.5 * (np.arange(10_000) + 0.5) / 10_000
NOISE = sdp.Gaussian(delta_local=1e-10, calibration="classical")
SETTING = Setting(sdp.Population.from_budgets(QUANTILES), NOISE)


@pytest.mark.slow
def test_no_attack_refutes_a_number_of_table_2() -> None:
    table = table_2.run(EFFORT).table

    flags = [name for name in table.columns if name.endswith(": exceeded")]
    assert len(flags) == 6
    for name in flags:
        assert table.column(name) == [False] * len(table_2.EPSILONS)
    attack, certified = table.numbers("attack"), table.numbers("certified")
    printed = table.numbers("Liu et al. 2024, printed")
    assert all(a < c for a, c in zip(attack, certified, strict=True))
    # True where it is above what is certified, though not by its theorem.
    above = [p > c for p, c in zip(printed, certified, strict=True)]
    assert above == [True, True, True, True, False]


def test_rows_of_earlier_bounds_are_found_again_with_what_was_changed() -> None:
    for place, epsilon in enumerate(table_2.EPSILONS):
        narrower = table_2.narrower(SETTING, epsilon)
        in_steps = table_2.in_steps(SETTING, epsilon)

        # One digit is printed of most.
        printed = {name: float(row[place]) for name, row in table_2.PRINTED.items()}
        assert narrower == pytest.approx(printed[table_2.EAPES], rel=0.16)
        assert in_steps == pytest.approx(printed[table_2.FELDMAN], rel=0.1)


def test_what_is_too_small_for_the_picture_is_named_in_a_note() -> None:
    names = [each for name in table_2.BOUNDS for each in (name, table_2._printed(name))]
    cells: dict[str, Cell] = {"certified": 0.1, **dict.fromkeys(names, 0.5)}
    rows = [
        {"epsilon": 0.01, "attack": 1e-3, **cells},
        {"epsilon": 0.03, "attack": 1e-50, **cells},
        {"epsilon": 0.05, "attack": 1e-90, **cells, table_2.OWN: 1e-41},
    ]

    (note,) = table_2.outside_notes(Table.from_records(rows))

    assert note == (
        "Below 1e-40, and so not in the picture: attack at epsilon 0.03, 0.05; "
        "Liu et al. 2024, formula at epsilon 0.05."
    )
    assert table_2.outside_notes(Table.from_records(rows[:1])) == ()


def test_counts_in_steps_are_below_counts_and_claim_more() -> None:
    for epsilon in table_2.EPSILONS:
        exact = FeldmanApproximate().delta(SETTING, epsilon)

        assert exact < table_2.in_steps(SETTING, epsilon) < 1.2 * exact


def test_failures_are_added_to_the_pure_reduction() -> None:
    pure = Feldman2023Numerical().delta(Setting(SETTING.people), 0.1)

    found = FeldmanApproximate().delta(SETTING, 0.1)

    largest = float(SETTING.people.epsilons[-1])
    added = (math.exp(0.1) + 1) * (1 + math.exp(-largest) / 2) * 10_000 * 1e-10
    assert found == pytest.approx(pure + added, rel=1e-12)
    assert FeldmanApproximate().delta(
        SETTING, FeldmanApproximate().epsilon(SETTING, 1e-5)
    ) == pytest.approx(1e-5, rel=1e-9)


def test_the_printed_row_is_that_of_a_variance_taken_for_a_deviation() -> None:
    levels = SETTING.people.epsilons
    # 2 ln(1.25 / delta) 0.1^2 / eps^2, for values 0.1 apart, on the scale of [0, 1].
    deviations = 2.0 * math.log(1.25e10) * 0.1**2 / levels**2 / 0.1
    tail, own = 5e-11, 2.0 * math.log(1.25e10) * 0.1 / 4.0
    clone_probabilities = gaussian_clone_probabilities(deviations, own, tail=tail)
    clones = clone_count(
        np.minimum(2.0 * clone_probabilities, 1.0), SETTING.people.counts
    )
    tests = _Tests(clones, gaussian_target_error(own, tail=tail), 1e-10, True)

    for epsilon, printed in zip(
        table_2.EPSILONS, table_2.PRINTED[table_2.OWN], strict=True
    ):
        # A digit is printed, of numbers over 22 orders of magnitude.
        found = table_2.at_the_programs_noise(SETTING, epsilon)
        assert found == pytest.approx(float(printed), rel=0.25)
        # Quantiles up to 1.99993 in place of 2.
        assert tests.delta(epsilon) == pytest.approx(found, rel=0.05)
        stated_noise = HypothesisTesting().delta(SETTING, epsilon)
        assert stated_noise < 1e-3 * float(printed)


@pytest.mark.parametrize(("low", "high", "times"), [(0.05, 1.0, 6.2), (0.5, 2.0, 2.2)])
def test_the_printed_factor_is_near_at_the_noise_of_the_program(
    low: float, high: float, times: float
) -> None:
    budgets = low + (high - low) * (np.arange(1_000) + 0.5) / 1_000
    setting = Setting(sdp.Population.from_budgets(budgets), NOISE, None, 1e-10)

    own, other = (
        epsilon_at(partial(variant, setting), 1e-5)
        for variant in (table_2.at_the_programs_noise, table_2.narrower)
    )

    assert other / own == pytest.approx(times, rel=0.05)


# The attack and the claim of Theorem 2, at classical noise.
FIGURE_4 = {1_000: (0.01101, 0.01256), 3_000: (0.00587, 0.00637)}


@pytest.mark.slow
@pytest.mark.parametrize("size", [1_000, pytest.param(3_000, marks=pytest.mark.slow)])
def test_no_claim_of_figure_4_is_refuted_at_its_own_noise(size: int) -> None:
    rng = np.random.default_rng(1)
    people = sdp.Population.from_budgets(
        sdp.budget_distributions.draw_budgets("f-dp/gauss1", 10_000, rng=rng)[:size]
    )
    setting = Setting(people, NOISE, None, 1e-10)
    attack, claim = FIGURE_4[size]

    found = stated(HypothesisTesting(), setting, delta=1e-5)
    interval = band(NOISE, people, delta=1e-5)

    assert is_refuted(found, interval) is False
    # Budgets are drawn.
    assert found.number == pytest.approx(claim, rel=0.05)
    assert interval.attack == pytest.approx(attack, rel=0.05)


def test_figure_4_has_the_baselines_of_the_paper() -> None:
    for figure, names in (
        (bounds_by_population.PURE, ["BBGN", "FV", "CCC", "LZX"]),
        (bounds_by_population.APPROXIMATE, ["FV", "CCC"]),
    ):
        labels = [*figure.bounds, *figure.elsewhere]
        own, *rest = labels

        assert own.startswith("Liu et al. 2024")
        assert [label.split(":")[0] for label in rest if "ours" not in label] == names


@pytest.mark.parametrize(("level", "victim"), [(0.3, 3.0), (1.0, 3.0), (3.0, 3.0)])
def test_the_largest_weight_is_one_and_no_larger_one_is(
    level: float, victim: float
) -> None:
    z = np.append(np.linspace(-12.0, 13.0, 250_001), [0.0, 1.0])
    mine = 0.5 * level * np.exp(-level * np.abs(z))
    hers = (
        0.5 * victim * (np.exp(-victim * np.abs(z)) + np.exp(-victim * np.abs(z - 1)))
    )

    weight = confounding_effect.true_weight(level, victim)

    # 250,000 messages, and 2,000 between the ends.
    assert np.all(mine >= weight * hers * (1.0 - 1e-6))
    assert np.any(mine < 1.001 * weight * hers)
    assert confounding_effect.true_weight(3.1, victim) == 0.0


@pytest.mark.slow
def test_figure_3_jumps_only_where_budgets_are_equal() -> None:
    result = EXPERIMENTS["testing-fig3"].run(EFFORT)

    panel = result.table.where("panel", "b")
    levels = np.array(panel.numbers("eps_i"))
    laplace, gaussian = "p_i^0 (a); p_i, Laplace (b)", "p_i^1 (a); p_i, Gaussian (b)"
    for name in (laplace, gaussian):
        values = np.array(panel.numbers(name))
        slopes = np.abs(np.diff(values)) / np.diff(np.log(levels))
        steep = levels[1:][slopes > 1.0]
        # Gaussian noise alone, right after 3.
        assert steep == pytest.approx([] if name == laplace else [3.0], rel=1e-6)
    assert all(c.agrees for c in result.comparisons)
    weights = panel.numbers("largest weight, Laplace")
    assert np.all(np.less_equal(weights, panel.numbers(laplace)))


def test_curves_of_figure_3_start_and_end_at_the_ends_of_the_range() -> None:
    (first, second), (other, last) = (
        confounding_effect._errors((1.0, 1.0), value) for value in (0.0, 1.0)
    )

    # Equal budgets: w on one side, 1 - w on the other.
    w = math.exp(-0.5) / 2
    assert (first, second) == pytest.approx((1.0 - w, w), abs=1e-9)
    assert (other, last) == pytest.approx((w, 1.0 - w), abs=1e-9)


@pytest.mark.slow
def test_theorem_1_is_a_trade_off_function_only_when_mended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(theorem_1, "_EPSILONS", (0.1,))

    table = theorem_1.run(EFFORT).table

    alpha, mended = table.numbers("alpha"), table.numbers("mended")
    # From (0, 1) to (1, 0), convex, never above the line of no information.
    assert (alpha[0], mended[0]) == pytest.approx((0.0, 1.0), abs=1e-5)
    assert (alpha[-1], mended[-1]) == pytest.approx((1.0, 0.0), abs=1e-5)
    assert np.all(np.array(mended) <= 1.0 - np.array(alpha) + 1e-12)
    apart = np.diff(alpha) > 1e-9
    slopes = np.diff(mended)[apart] / np.diff(alpha)[apart]
    assert np.all(np.diff(slopes) >= -1e-9)
    printed = table.numbers("printed")
    assert printed[-1] == pytest.approx(1.0 - math.exp(-0.5), abs=1e-4)
    certified = np.array(table.numbers("certified"))
    assert np.all(certified <= 1.0 - np.array(alpha) + 1e-12)


def test_gains_are_ratios_to_the_best_baseline() -> None:
    table = Table(
        ("people", "own", "one", "other"), ((1, 2.0, 6.0, None), (2, 1.0, 4.0, 3.5))
    )

    assert bounds_by_population.best_gain(table, ("own", "one", "other")) == 3.5
