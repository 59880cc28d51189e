"""Liu, Liu, Xiong, Gu, Chen (2024): type-I errors taken for weights of a mixture.

Fails for one conservative person among liberal ones, whom the paper does not take for the
worst case; for a liberal one among conservative people; and where budgets are equal, with
Gaussian noise always and with Laplace noise from 2.5 on.
"""

from shuffledp.cover import LocalRandomizer
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.court.case import (
    Case,
    CourtVerdict,
    Printed,
    at_delta,
    at_epsilon,
    uniform_quantiles,
)
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace

_BOUND = HypothesisTesting()
# What everybody runs; delta_local is that of the paper's Table 1, the noise the textbook's.
_NOISE: dict[str, LocalRandomizer] = {
    "laplace": Laplace(),
    "gaussian": Gaussian(delta_local=1e-10, calibration="classical"),
}


def hypothesis_testing_cases() -> list[Case]:
    """Returns the cases of Liu et al. (2024), hypothesis testing."""
    return [*_equal(), *_lone(), *_tiny(), *_kept()]


def _equal() -> list[Case]:
    return [
        _case(
            "V7",
            "gaussian",
            {1.0: 1000},
            1.0,
            delta=1e-5,
            printed=Printed(".0100", "1e-5", "2.4e-5"),
        ),
        _case(
            "V7-2",
            "gaussian",
            {4.0: 10_000},
            4.0,
            delta=1e-7,
            printed=Printed(".0206", "1e-7", "1.16e-6"),
        ),
        _case(
            "V7b",
            "laplace",
            {4.0: 10_000},
            4.0,
            delta=1e-5,
            printed=Printed(".1519", "1e-5", "1.56e-4"),
        ),
        _case(
            "V7b-2",
            "laplace",
            {3.0: 1000},
            3.0,
            delta=1e-7,
            printed=Printed(".5143", "1e-7", "1.0e-6"),
        ),
    ]


def _lone() -> list[Case]:
    careful = {0.5: 1, 2.0: 9999}
    # 20 budgets, the largest moved to 1, and one person more careful than all.
    coarse = dict.fromkeys([*uniform_quantiles(0.05, 1.0, 20)[:-1], 1.0], 500)
    coarse[1.0] -= 1
    return [
        _case(
            "V8",
            "laplace",
            careful,
            0.5,
            delta=1e-5,
            printed=Printed(".0626", "1e-5", "1.35e-2"),
        ),
        _case(
            "V8-2",
            "gaussian",
            careful,
            0.5,
            delta=1e-5,
            printed=Printed(".0058", "1e-5", "1.6e-2"),
        ),
        _case(
            "V8b",
            "gaussian",
            {0.05: 1} | coarse,
            0.05,
            delta=1e-7,
            printed=Printed(".0060", "1e-7", "8.7e-6"),
        ),
        _case(
            "V8c",
            "laplace",
            {0.5: 999, 8.0: 1},
            8.0,
            delta=1e-7,
            printed=Printed(".5861", "1e-7", "2.0e-6"),
        ),
    ]


def _tiny() -> list[Case]:
    return [
        _case(
            "V9",
            "laplace",
            {2.0: 1},
            2.0,
            epsilon=1.2,
            printed=Printed("1.2", "0", ".330"),
        ),
        _case(
            "V9-2",
            "laplace",
            {3.0: 2},
            3.0,
            epsilon=0.9,
            printed=Printed(".9", ".0867", ".553"),
        ),
    ]


def _kept() -> list[Case]:
    found: list[Case] = []
    for low, high in ((0.05, 1.0), (0.5, 2.0)):
        people = dict.fromkeys(uniform_quantiles(low, high, 100), 100)
        for noise in ("laplace", "gaussian"):
            for victim in (min(people), max(people)):
                found.append(
                    _case(
                        f"C{len(found) + 7}",
                        noise,
                        people,
                        victim,
                        delta=1e-7,
                        expected=CourtVerdict.CONSISTENT,
                    )
                )
    return found


def _case(
    name: str,
    noise: str,
    people: dict[float, int],
    victim: float,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    expected: CourtVerdict = CourtVerdict.VIOLATED,
    printed: Printed | None = None,
) -> Case:
    crowd = Population.from_counts(people)
    trial = trial_of(_NOISE[noise], crowd, victim)
    # The paper takes the most liberal person for the worst case, whoever the victim is.
    setting = Setting(crowd, _NOISE[noise])
    claim = (
        at_delta(_BOUND, setting, delta)
        if epsilon is None
        else at_epsilon(_BOUND, setting, epsilon)
    )
    return Case(
        name=name,
        bound=_BOUND.name,
        source="Liu, Liu, Xiong, Gu, Chen (2024), Theorem 2",
        setting=f"{noise.capitalize()} noise, {_words(people, victim)}",
        claim=claim,
        attack=trial.attack,
        certificate=trial.certificate,
        expected=expected,
        printed=printed or Printed(),
    )


def _words(people: dict[float, int], victim: float) -> str:
    if len(people) <= 2:
        crowd = ", ".join(f"{count} at {level:g}" for level, count in people.items())
    else:
        ends = f"{min(people):.3g} to {max(people):.3g}"
        crowd = f"{sum(people.values())} people, {len(people)} budgets from {ends}"
    return f"{crowd}; a victim at {victim:.3g}"
