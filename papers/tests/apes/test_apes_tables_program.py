"""The program behind the tables, against exact counts; and the tables themselves."""

import math
from dataclasses import replace

import pytest

import shuffledp as sdp
from shuffledp_papers.apes.figures import epsilon_readings as candidates
from shuffledp_papers.apes.printed import DISTRIBUTIONS
from shuffledp_papers.apes.tables_program import (
    Clones,
    program_epsilon,
    table_slack,
)
from shuffledp_papers.apes.user_level import composed_epsilon
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import number
from shuffledp_papers.outside_preconditions import OutsidePreconditions

EFFORT = Effort(1, 1, False, lambda _share: None)


def crowd(people: int, budget: float) -> Clones:
    return Clones(people, (people - 1) * math.exp(-budget), budget)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("people", "budget", "delta"),
    [(3_000, 0.1, 1e-6), (4_000, 1.0, 1e-5), (10_000, 1.0, 1e-8)],
)
def test_the_coarse_grid_rounds_up_a_little(
    people: int, budget: float, delta: float
) -> None:
    setting = Setting(sdp.Population.from_counts({budget: people}))
    exact = Feldman2021Numerical().epsilon(setting, delta)

    coarse = program_epsilon(crowd(people, budget), delta=delta)
    fine = program_epsilon(crowd(people, budget), delta=delta, block=4, halvings=30)

    assert exact <= min(coarse, fine)
    # Where it stops, all that is left counts in full: delta at most doubles.
    assert fine <= 1.07 * exact
    # A block of 100 is up to 7 percent of the clones, of which epsilon loses half.
    assert coarse <= 1.10 * exact


def test_a_normal_number_of_clones_is_wider_than_a_binomial_one() -> None:
    # Its variance is S and not S (1 - p); epsilon is that of fewer clones.
    binomial = Clones(10_000, 5_500.0, 1.0)
    normal = replace(binomial, normal=True)

    coarse, wide = (program_epsilon(each, delta=1e-8) for each in (binomial, normal))

    assert wide == pytest.approx(coarse, rel=0.03)
    assert wide != coarse


def test_what_is_left_for_advanced_composition() -> None:
    # tanh(1/4) = 0.2449187, tanh(1/2) = 0.4621172.
    assert table_slack(7850, 0.5) == pytest.approx(3.6e-5 - 1.92261e-5, rel=1e-5)
    assert table_slack(3140, 1.0) == pytest.approx(3.6e-5 - 1.45105e-5, rel=1e-5)
    assert table_slack(7850, 1.0) == 1e-8
    composed = composed_epsilon(0.0575, times=7850, slack=table_slack(7850, 1.0))
    assert composed == pytest.approx(57.6, abs=0.1)


@pytest.mark.parametrize(
    "arguments", [(1, 0.5, 1.0), (10, 9.0, 1.0), (10, 0.0, 1.0), (10, 1.0, 0.0)]
)
def test_crowds_that_cannot_be_are_refused(
    arguments: tuple[int, float, float],
) -> None:
    with pytest.raises(OutsidePreconditions, match="Expected"):
        Clones(*arguments)


def test_a_crowd_too_small_for_the_closed_form_is_refused() -> None:
    with pytest.raises(OutsidePreconditions, match="16 ln"):
        program_epsilon(crowd(300, 1.0), delta=1e-8)


@pytest.mark.slow
def test_one_way_gives_what_table_4_prints_and_the_others_do_not() -> None:
    result = EXPERIMENTS["apes-candidates"].run(EFFORT)

    away = {
        (row["framework"], row["way"]): number(row["largest difference"])
        for row in result.table.records()
    }
    worst = {
        way.name: max(away[name, way.name] for name in ("APES", "UniS"))
        for way in candidates.CANDIDATES
    }
    _, _, *others = worst.values()
    found, exact = (
        max(away[name, way.name] for name in ("APES", "S-APES"))
        for way in candidates.CANDIDATES[:2]
    )
    assert len(result.comparisons) == 3 * len(DISTRIBUTIONS)
    # Printed as 79.6; Table 3 has the 76.9 that is found.
    (other,) = (each for each in result.comparisons if not each.agrees)
    assert (other.what.split(",")[:2], other.printed) == (["UniS", " uniform2"], "79.6")
    assert replace(other, printed="76.9").agrees
    assert other.why
    assert "17 of 18" in result.notes[0]
    assert max(found, exact) < 0.02
    # The first author's program has a normal number of clones.
    assert away["APES", candidates.CANDIDATES[0].name] < 0.004
    assert min(others) > 0.1
