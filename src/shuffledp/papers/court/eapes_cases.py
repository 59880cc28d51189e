"""E-APES, Chen, Cao, Ge (2023): Gaussian privacy without its error term.

Fails wherever the victim's noise differs from the others', for large budgets in small
crowds, and for every mechanism that reveals a value with probability delta_i. Holds at the
paper's own populations.
"""

import numpy as np

from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.court.case import (
    Case,
    CourtVerdict,
    Printed,
    at_delta,
    at_epsilon,
    uniform_quantiles,
)
from shuffledp.papers.court.counting import count_divergence
from shuffledp.papers.court.noise_cases import Trial, trial_of
from shuffledp.papers.eapes.theorem import EapesCorollary, EapesTheorem
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace

_THEOREM, _COROLLARY = EapesTheorem(), EapesCorollary()
_PAPER = "Chen, Cao, Ge (2023)"
_MARKED = "messages that are sometimes marked true are no mechanism of this library"
_BROKEN, _KEPT = CourtVerdict.VIOLATED, CourtVerdict.CONSISTENT


def eapes_cases() -> list[Case]:
    """Returns the cases of Chen, Cao, Ge (2023), E-APES."""
    return [*_marked(), *_response(), *_noise(), *_kept()]


def _marked() -> list[Case]:
    budgets = uniform_quantiles(0.05, 1.0, 10_000)
    many = Population.from_budgets(budgets)
    million = Population.from_counts({1.0: 10**6})
    return [
        marked_case("V1", many, 1e-5, 0.2, Printed(".2", "7.6e-21", "1e-5")),
        marked_case("V1-2", million, 0.5, 0.0, Printed(exact=".5")),
    ]


def marked_case(
    name: str,
    people: Population,
    chance: float,
    epsilon: float,
    printed: Printed | None = None,
) -> Case:
    """Returns the case of messages that are true with some chance, and say so."""
    # All others hold x': none of their messages is marked as a true x.
    never = np.zeros(1), np.array([people.num_users - 1])

    def attack(epsilon: float) -> float:
        return count_divergence(chance, 0.0, *never, epsilon=epsilon)

    levels = people.epsilons
    return Case(
        name=name,
        bound=_THEOREM.name,
        source=f"{_PAPER}, Theorem 3",
        setting=(
            f"{people.num_users} people, budgets from {levels[0]:.2g}; "
            f"with chance {chance:g} a message is the value itself, and says so"
        ),
        claim=at_epsilon(_THEOREM, Setting(people, delta_local=chance), epsilon),
        attack=attack,
        certificate=_MARKED,
        expected=_BROKEN,
        printed=printed or Printed(),
    )


def _response() -> list[Case]:
    bit = KRandomizedResponse(2)
    one = trial_of(bit, Population.from_counts({5.0: 2000}), 5.0)
    two = trial_of(bit, Population.from_counts({4.0: 500}), 4.0)
    words = "randomized response of a bit, {} people at {:g}"
    large, small = words.format(2000, 5), words.format(500, 4)
    return [
        _case(
            "V2", one, large, delta=1e-7, printed=Printed("1.8857", "1e-7", "1.06e-5")
        ),
        _case(
            "V2-2",
            one,
            large,
            epsilon=2.5,
            printed=Printed("2.5", "9.9e-12", "1.62e-6"),
        ),
        _case("V2-3", two, small, delta=1e-5, printed=Printed("1.869", "1e-5")),
        _case(
            "V2-4",
            two,
            small,
            epsilon=3.909,
            printed=Printed("3.909", exact="1e-5"),
        ),
    ]


def _noise() -> list[Case]:
    people = Population.from_counts({0.5: 1, 2.0: 9999})
    trial = trial_of(Laplace(), people, 0.5)
    words = "Laplace noise, a victim at 0.5 among 9999 at 2"
    few_liberal = Population.from_counts({1.0: 9900, 8.0: 100})
    many = Population.from_counts({0.5: 1, 2.0: 59_999})
    noise = Gaussian(delta_local=1e-5, calibration="classical")
    gaussian = trial_of(noise, many, 0.5)
    return [
        _case(
            "V3", trial, words, epsilon=0.3, printed=Printed(".30", "7.6e-16", "3.1e-3")
        ),
        _case(
            "V3-2",
            trial,
            words,
            epsilon=0.45,
            printed=Printed(".45", "1.0e-30", "4.6e-4"),
        ),
        _case(
            "V3c",
            trial_of(ClipLaplace(), few_liberal, 8.0),
            "Clip-Laplace noise, 100 people at 8 among 9900 at 1; one of the 100",
            delta=1e-4,
        ),
        Case(
            name="V3b",
            bound=_THEOREM.name,
            source=f"{_PAPER}, Theorem 3",
            setting=(
                "Gaussian noise, textbook calibration, delta_i = 1e-5, a victim at 0.5 "
                "among 59999 at 2"
            ),
            claim=at_delta(_THEOREM, gaussian.setting, 1e-8),
            attack=gaussian.attack,
            certificate=gaussian.certificate,
            expected=_BROKEN,
            printed=Printed(".0759", "1e-8", "1.06e-2"),
        ),
    ]


def _kept() -> list[Case]:
    groups = Population.from_counts({0.1: 5400, 0.5: 3700, 1.0: 900})
    spread = [
        Population.from_counts(dict.fromkeys(uniform_quantiles(low, high, 100), 100))
        for low, high in ((0.05, 1.0), (0.01, 2.0))
    ]
    laplace = [
        ("C1", groups, "budgets 0.1, 0.5 and 1 of the paper's section 4.2"),
        ("C2", spread[0], "100 budgets from 0.05 to 1"),
        ("C3", spread[1], "100 budgets from 0.01 to 2"),
    ]
    found = [
        _case(
            name,
            trial_of(Laplace(), people, float(people.epsilons[-1])),
            f"Laplace noise, 10000 people, {words}; the most liberal one",
            delta=1e-6,
            expected=_KEPT,
        )
        for name, people, words in laplace
    ]
    bit = trial_of(KRandomizedResponse(2), Population.from_counts({2.0: 2000}), 2.0)
    words = "randomized response of a bit, 2000 people at 2"
    return [*found, _case("C4", bit, words, delta=1e-5, expected=_KEPT)]


def _case(
    name: str,
    trial: Trial,
    setting: str,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    expected: CourtVerdict = _BROKEN,
    printed: Printed | None = None,
) -> Case:
    claim = (
        at_delta(_COROLLARY, trial.setting, delta)
        if epsilon is None
        else at_epsilon(_COROLLARY, trial.setting, epsilon)
    )
    return Case(
        name=name,
        bound=_COROLLARY.name,
        source=f"{_PAPER}, Corollaries 1 and 2",
        setting=setting,
        claim=claim,
        attack=trial.attack,
        certificate=trial.certificate,
        expected=expected,
        printed=printed or Printed(),
    )
