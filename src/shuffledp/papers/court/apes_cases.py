"""APES and S-APES, Liu, Zhao, Xiong, Liu, Chen (2023): echoes averaged over the victim.

Her budget is the same in both worlds, so that a very liberal victim among conservative
people is less hidden than the average says. The formula of the appendix fails for
everybody; the local claims for several coordinates fail before any shuffle.
"""

import math

from shuffledp.papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp.papers.apes.local import (
    clip_laplace_budget,
    report_budget,
    selection_loss,
)
from shuffledp.papers.bounds.bound import PublishedBound
from shuffledp.papers.court.case import (
    Case,
    Claim,
    CourtVerdict,
    Printed,
    at_delta,
    uniform_quantiles,
)
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace

_PAPER = "Liu, Zhao, Xiong, Liu, Chen (2023)"
_LOCAL = "a claim of local privacy: nothing is shuffled"


def apes_cases() -> list[Case]:
    """Returns the cases of Liu et al. (2023), APES."""
    closed, numerical, appendix = (
        ApesClosed(),
        ApesNumerical(),
        ApesClosed(appendix=True),
    )
    shuffled = [
        _case(
            "V4",
            closed,
            {0.05: 9999, 200.0: 1},
            1e-5,
            Printed(".2589", "1e-5", "1.44e-4"),
        ),
        _case(
            "V4-2",
            closed,
            {0.05: 9999, 100.0: 1},
            1e-8,
            Printed(".3118", "1e-8", "8.0e-8"),
        ),
        _case(
            "V4-3",
            closed,
            {0.05: 1999, 60.0: 1},
            1e-8,
            Printed(".5993", "1e-8", "8.6e-8"),
        ),
        _case(
            "V4b",
            numerical,
            {0.05: 9999, 5.0: 1},
            1e-5,
            Printed(".0594", "1e-5", "2.2e-5"),
        ),
        _case(
            "V4b-2",
            numerical,
            {0.05: 9999, 8.0: 1},
            1e-8,
            Printed(".0940", "1e-8", "3.6e-6"),
        ),
        _case(
            "V4b-3",
            numerical,
            {0.05: 9999, 20.0: 1},
            1e-8,
            Printed(".0940", "1e-8", "3.1e-4"),
        ),
        _case(
            "V4b-4",
            numerical,
            {0.05: 9000, 8.0: 1000},
            1e-8,
            Printed(".1049", "1e-8", "1.6e-6"),
        ),
        _case(
            "V4b-5",
            numerical,
            {0.05: 5000, 20.0: 5000},
            1e-8,
            Printed(claimed="1e-8", exact="2.1e-5"),
        ),
        _case(
            "V5",
            appendix,
            {1.0: 10_000},
            4.6e-9,
            Printed(".00546", "4.6e-9", "4.0e-4"),
        ),
    ]
    return [*shuffled, *_local(), *_kept()]


def _local() -> list[Case]:
    one, two = "Clip-Laplace noise for sensitivity 2 in {} coordinates", "Theorem 1"
    return [
        local_case(
            "V6",
            two,
            one.format(2),
            clip_laplace_budget(1.0),
            # Both coordinates move from the corner to the middle.
            coordinates_loss(1.0, coordinates=2, message=1.0, here=1.0, there=0.0),
            Printed(claimed="1.000", exact="1.438"),
        ),
        local_case(
            "V6-2",
            two,
            one.format(100),
            clip_laplace_budget(1.0),
            coordinates_loss(1.0, coordinates=100, message=1.0, here=1.0, there=0.98),
            Printed(claimed="1.000", exact="1.984"),
        ),
        local_case(
            "V6b",
            "section 3.3",
            "S-APES, 1570 of 7850 coordinates are selected, each at 1",
            report_budget(1.0, coordinates=1570),
            selection_loss(1.0, coordinates=7850),
            Printed(claimed="1570", exact="2205"),
        ),
    ]


def _kept() -> list[Case]:
    uniform = dict.fromkeys(uniform_quantiles(0.05, 1.0, 100), 100)
    liberal = {0.05: 9999, 20.0: 1}
    return [
        _case("C5", ApesClosed(), liberal, 1e-8, expected=CourtVerdict.CONSISTENT),
        _case(
            "C6",
            ApesNumerical(),
            uniform,
            4.62e-9,
            expected=CourtVerdict.CONSISTENT,
        ),
    ]


def coordinates_loss(
    epsilon: float, *, coordinates: int, message: float, here: float, there: float
) -> float:
    """Returns how much one output tells: the log ratio of its densities.

    Every coordinate of value and message is the same number in [-1, 1]; noise has scale
    2 / epsilon, given that the message is in [-1, 1].
    """
    rate = epsilon / 2.0

    def log_density(value: float) -> float:
        outside = math.exp(-rate * (1.0 + value)) + math.exp(-rate * (1.0 - value))
        return -rate * abs(message - value) - math.log((2.0 - outside) / rate)

    return coordinates * (log_density(here) - log_density(there))


def local_case(
    name: str,
    theorem: str,
    setting: str,
    budget: float,
    loss: float,
    printed: Printed | None = None,
) -> Case:
    """Returns the case of a local budget that one output exceeds."""
    return Case(
        name=name,
        bound="apes-local",
        source=f"{_PAPER}, {theorem}",
        setting=setting,
        claim=lambda: Claim(None, budget),
        attack=lambda _epsilon: loss,
        certificate=_LOCAL,
        expected=CourtVerdict.VIOLATED,
        printed=printed or Printed(),
    )


def _case(
    name: str,
    bound: PublishedBound,
    people: dict[float, int],
    delta: float,
    printed: Printed | None = None,
    *,
    expected: CourtVerdict = CourtVerdict.VIOLATED,
) -> Case:
    crowd = Population.from_counts(people)
    victim = float(crowd.epsilons[-1])
    trial = trial_of(ClipLaplace(), crowd, victim)
    words = ", ".join(f"{count} at {level:g}" for level, count in people.items())
    if len(people) > 2:
        words = f"100 at each of {len(people)} budgets from 0.05 to 1"
    return Case(
        name=name,
        bound=bound.name,
        source=f"{_PAPER}, {bound.source.split('), ')[-1]}",
        setting=f"Clip-Laplace noise, {words}; the most liberal one",
        claim=at_delta(bound, trial.setting, delta),
        attack=trial.attack,
        certificate=trial.certificate,
        expected=expected,
        printed=printed or Printed(),
    )
