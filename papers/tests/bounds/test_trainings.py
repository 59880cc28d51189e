"""What papers state for trainings: their printed tables, and their formulas by hand."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.apes.stated_training import PublishedEpsilons, stated_by_apes
from shuffledp_papers.bounds.bound import Status
from shuffledp_papers.eapes.stated_descent import stated_by_eapes

FEW = Population.from_counts({0.1: 300, 1.0: 700})


def uniform2() -> Population:
    budgets = 0.05 + 0.95 * (np.arange(10_000) + 0.5) / 10_000
    budgets[-1] = 1.0
    return Population.from_budgets(budgets)


@pytest.mark.parametrize(
    ("framework", "coordinate", "user"),
    [
        ("apes", 0.057, 57.6),
        ("s-apes", 0.057, 25.6),
        ("unis", 0.069, 76.9),
        ("ldp-min", 0.05, 40.1),
        ("pldp", 1.0, 7850.0),
    ],
)
def test_figures_are_those_of_table_3(
    framework: str, coordinate: float, user: float
) -> None:
    stated = stated_by_apes(
        framework, uniform2(), coordinates=7850, rounds=1, delta=3.6e-5, share=0.2
    )

    epsilon, whole = stated(0.05 if framework == "ldp-min" else 1.0)

    # Printed with two or three digits, for a draw of budgets; a whole update amplifies
    # what was rounded away per coordinate.
    assert epsilon == pytest.approx(coordinate, abs=5e-4)
    assert whole == pytest.approx(user, rel=0.02)


@pytest.mark.parametrize(
    ("framework", "user"),
    [("apes", 15.5), ("s-apes", 8.5), ("unis", 17.4), ("pldp", 3925.0)],
)
def test_figures_are_those_of_table_4_for_budgets_up_to_a_half(
    framework: str, user: float
) -> None:
    people = Population.from_budgets(0.05 + 0.45 * (np.arange(10_000) + 0.5) / 10_000)

    stated = stated_by_apes(
        framework, people, coordinates=7850, rounds=1, delta=3.6e-5, share=0.2
    )

    if framework == "pldp":
        assert stated(0.5).user == user
        return
    # The paper rounds the two counts up by about 1 percent.
    assert 0.98 * user <= (stated(0.5).user or 0.0) <= user


def test_more_rounds_cost_more() -> None:
    one, three = (
        stated_by_apes("apes", FEW, coordinates=40, rounds=T, delta=1e-5, share=0.2)
        for T in (1, 3)
    )

    assert 0.0 < (one(1.0).user or 0.0) < (three(1.0).user or 0.0)


@pytest.mark.parametrize("framework", ["s-apes-threshold", "one-bit-apes"])
def test_nothing_is_stated_about_our_own(framework: str) -> None:
    stated = stated_by_apes(
        framework, FEW, coordinates=10, rounds=1, delta=1e-5, share=0.2
    )

    assert stated(1.0) == PublishedEpsilons(None, None)


@pytest.mark.parametrize("counts", [{0.0: 50, 1.0: 50}, {1.0: 30}], ids=str)
def test_theorems_that_do_not_apply_state_nothing(counts: dict[float, int]) -> None:
    people = Population.from_counts(counts)

    stated = stated_by_apes(
        "apes", people, coordinates=10, rounds=1, delta=1e-5, share=0.2
    )

    assert (stated(1.0) == PublishedEpsilons(None, None)) == (0.0 in counts)


def test_descent_is_the_formula_by_hand() -> None:
    clients = Population.from_counts({0.5: 50, 1.0: 50})

    stated = stated_by_eapes(clients, epochs=50, delta=1e-5)

    # The victim leaves one person less at 1, the larger budget, or at the other.
    hidden = [1 / (1 + math.exp(level)) for level in (0.5, 1.0)]
    by_hand = [
        math.sqrt(2 / ((1 - 1e-5) * (50 * sum(hidden) - left))) for left in hidden
    ]
    assert min(abs(stated.mu / mu - 1) for mu in by_hand) < 1e-12
    with mp.workdps(50):
        total = mp.sqrt(50) * mp.mpf(stated.mu)
        middle, half = stated.epsilon / total, total / 2
        delta = mp.ncdf(half - middle) - mp.exp(stated.epsilon) * mp.ncdf(
            -half - middle
        )
    assert float(delta) == pytest.approx(1e-5, rel=1e-6)
    assert stated.status == Status.ASYMPTOTIC


@pytest.mark.parametrize(("counts", "epochs"), [({1.0: 1}, 1), ({8.0: 2}, 10**6)])
def test_what_hides_nobody_is_stated_as_infinite(
    counts: dict[float, int], epochs: int
) -> None:
    people = Population.from_counts(counts)

    assert stated_by_eapes(people, epochs=epochs, delta=1e-5).epsilon == math.inf


def test_no_epochs_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="epoch"):
        stated_by_eapes(FEW, epochs=0, delta=1e-5)
