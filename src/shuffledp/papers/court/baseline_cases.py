"""Bounds for people of one budget, by their own papers: one falls, the others stand.

They are tried where the exact law is at hand: a bit, and ten categories in small crowds.
"""

from shuffledp.papers.bounds.balle2019 import (
    Balle2019Bennett,
    Balle2019Blanket,
    Balle2019Hoeffding,
)
from shuffledp.papers.bounds.bound import PublishedBound
from shuffledp.papers.bounds.erlingsson2019 import Erlingsson2019
from shuffledp.papers.bounds.feldman2021 import Feldman2021Closed, Feldman2021Numerical
from shuffledp.papers.bounds.feldman2023 import (
    Feldman2023Closed,
    Feldman2023Kary,
    Feldman2023Numerical,
)
from shuffledp.papers.bounds.girgis2021 import Girgis2021Closed, Girgis2021Sum
from shuffledp.papers.court.case import Case, CourtVerdict, at_delta, at_epsilon
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse

_DELTA = 1e-6


def baseline_cases() -> list[Case]:
    """Returns the cases of bounds for equal budgets."""
    many: list[tuple[PublishedBound, float]] = [
        (Erlingsson2019(), 0.4),
        (Balle2019Hoeffding(), 1.0),
        (Balle2019Bennett(), 1.0),
        (Balle2019Blanket(), 1.0),
        (Feldman2021Closed(), 1.0),
        (Feldman2021Numerical(), 1.0),
        (Girgis2021Sum(), 1.0),
        (Girgis2021Closed(), 1.0),
        (Feldman2023Closed(), 1.0),
        (Feldman2023Numerical(), 1.0),
    ]
    few: list[PublishedBound] = [
        Balle2019Blanket(),
        Feldman2021Numerical(),
        Feldman2023Numerical(),
    ]
    kept = [_bit(f"C{number}", *each) for number, each in enumerate(many, start=19)]
    kept += [
        _categories(f"C{number}", bound, CourtVerdict.CONSISTENT)
        for number, bound in enumerate(few, start=19 + len(many))
    ]
    return [_categories("V13", Feldman2023Kary(), CourtVerdict.VIOLATED), *kept]


def _bit(name: str, bound: PublishedBound, budget: float) -> Case:
    people = Population.from_counts({budget: 2000})
    trial = trial_of(KRandomizedResponse(2), people, budget, exactly=True)
    return Case(
        name=name,
        bound=bound.name,
        source=bound.source,
        setting=f"randomized response of a bit, 2000 people at {budget:g}",
        claim=at_delta(bound, trial.setting, _DELTA),
        attack=trial.attack,
        certificate=trial.certificate,
        expected=CourtVerdict.CONSISTENT,
    )


def _categories(name: str, bound: PublishedBound, expected: CourtVerdict) -> Case:
    people = Population.from_counts({4.0: 60})
    trial = trial_of(KRandomizedResponse(10), people, 4.0, exactly=True)
    return Case(
        name=name,
        bound=bound.name,
        source=bound.source,
        setting="10-ary response, 60 people at 4",
        claim=at_epsilon(bound, trial.setting, 3.6),
        attack=trial.attack,
        certificate=trial.certificate,
        expected=expected,
    )
