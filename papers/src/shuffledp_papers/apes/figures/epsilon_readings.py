"""APES (Liu et al. 2023), Table 4: possible computations of the printed epsilons.

The paper prints a user's central epsilon in one round, and describes its computation in
part only. The candidates differ in the epsilon of one coordinate, in the composition, and
in the delta of the composition.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp_papers.apes.amplification import ApesClosed, ApesNumerical, echoes
from shuffledp_papers.apes.printed import (
    COMPOSED_BY_S_APES,
    COORDINATES,
    DISTRIBUTIONS,
    EXCHANGED,
    PEOPLE,
    USER_EPSILONS,
)
from shuffledp_papers.apes.tables_program import (
    DELTA_SHUFFLE,
    DELTA_USER,
    Clones,
    program_epsilon,
    table_slack,
)
from shuffledp_papers.apes.user_level import composed_epsilon
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Comparison, Effort
from shuffledp_papers.figures.table import Cell, Table

FRAMEWORKS = {"apes": "APES", "s-apes": "S-APES", "unis": "UniS"}
# The program rounds the two counts up a little, and budgets are drawn.
WITHIN = 0.02

Coordinate = Callable[[Setting, str], float]
Composition = Callable[[float, int, float], float]


@dataclass(frozen=True)
class Candidate:
    """A possible computation of a user's epsilon.

    Attributes:
        name: In the table.
        coordinate: Computes the epsilon of one coordinate at delta_s = 1e-8.
        composed: Composes an epsilon, given the number of coordinates and largest budget.
    """

    name: str
    coordinate: Coordinate
    composed: Composition


def exact(setting: Setting, framework: str) -> float:
    """Returns epsilon of the two counts, evaluated exactly."""
    clones = ApesNumerical("uniform" if framework == "unis" else "personal")
    return clones.epsilon(setting, DELTA_SHUFFLE)


def by_program(setting: Setting, framework: str) -> float:
    """Returns epsilon of the two counts on the program's coarse grid."""
    largest = setting.largest_budget
    # UniS, eq. (2): each of the others is a clone with probability e^-eps.
    total = (setting.num_users - 1) * math.exp(-largest)
    if framework != "unis":
        probabilities, counts = echoes(setting)
        total = float(probabilities @ counts)
    clones = Clones(setting.num_users, total, largest, normal=framework != "unis")
    return program_epsilon(clones, delta=DELTA_SHUFFLE)


def _own(setting: Setting, framework: str) -> float:
    # UniS has no average over budgets that the target user's own could replace.
    if framework == "unis":
        return exact(setting, framework)
    return ApesNumerical(as_printed=False).epsilon(setting, DELTA_SHUFFLE)


def _closed(setting: Setting, framework: str) -> float:
    # Theorem 4 has delta = tanh(e / 2) delta_s.
    if framework == "unis":
        largest = Population.from_counts({setting.largest_budget: setting.num_users})
        setting = Setting(largest, setting.mechanism)
    scale = math.tanh(setting.largest_budget / 2.0)
    return ApesClosed().epsilon(setting, scale * DELTA_SHUFFLE)


def _rest(epsilon: float, times: int, budget: float) -> float:
    # delta' is the remainder of delta after the coordinates.
    return composed_epsilon(epsilon, times=times, slack=table_slack(times, budget))


def _least(epsilon: float, times: int, budget: float) -> float:
    del budget
    return composed_epsilon(epsilon, times=times, slack=DELTA_SHUFFLE)


def _all(epsilon: float, times: int, budget: float) -> float:
    # Proposition 1 as printed, with ln(1 / delta).
    del budget
    return composed_epsilon(epsilon, times=times, slack=DELTA_USER)


def _optimal(epsilon: float, times: int, budget: float) -> float:
    # Kairouz, Oh, Viswanath (2015), Theorem 3.4, last of three terms.
    spread = math.sqrt(2.0 * times * -math.log(table_slack(times, budget)))
    return times * epsilon * math.tanh(epsilon / 2.0) + epsilon * spread


def _added(epsilon: float, times: int, budget: float) -> float:
    del budget
    return times * epsilon


CANDIDATES = (
    Candidate("program, delta' the rest", by_program, _rest),
    Candidate("exact counts, delta' the rest", exact, _rest),
    Candidate("exact counts, delta' 1e-8", exact, _least),
    Candidate("program, delta' 3.6e-5 (Prop. 1 as printed)", by_program, _all),
    Candidate("p_i1 in place of the mean, delta' the rest", _own, _rest),
    Candidate("Theorem 4 in closed form, delta' the rest", _closed, _rest),
    Candidate("program, Kairouz-Oh-Viswanath", by_program, _optimal),
    Candidate("program, epsilons added up", by_program, _added),
)
# Left out of the figure: 7 to 13 times the printed epsilons.
_FAR = ("Theorem 4 in closed form, delta' the rest", "program, epsilons added up")


def run(effort: Effort) -> ComputedFigure:
    """Returns the candidates' and the printed epsilons, for six distributions."""
    rng = np.random.default_rng(effort.seed)
    settings = [
        Setting(
            Population.from_budgets(draw_budgets(f"apes/{name}", PEOPLE, rng=rng)),
            ClipLaplace(),
        )
        for name in DISTRIBUTIONS
    ]
    epsilons_of: dict[tuple[str, str], list[float]] = {}
    for candidate in effort.each(CANDIDATES):
        for framework in FRAMEWORKS:
            # Proposition 1 composes 2 b coordinates for S-APES.
            times = COMPOSED_BY_S_APES if framework == "s-apes" else COORDINATES
            epsilons_of[candidate.name, framework] = [
                candidate.composed(
                    candidate.coordinate(each, framework), times, each.largest_budget
                )
                for each in settings
            ]
    comparisons = _comparisons(epsilons_of)
    # Budgets up to 0.5: the first three distributions.
    constant_slack = epsilons_of["exact counts, delta' 1e-8", "apes"][:3]
    averaged = epsilons_of["exact counts, delta' the rest", "apes"]
    own = np.divide(
        epsilons_of["p_i1 in place of the mean, delta' the rest", "apes"], averaged
    )
    return ComputedFigure(
        setting={
            "people": PEOPLE,
            "coordinates": COORDINATES,
            "delta_s": DELTA_SHUFFLE,
            "delta": DELTA_USER,
        },
        table=Table.from_records(_rows(epsilons_of)),
        values={
            "agreeing": sum(each.agrees for each in comparisons),
            "compared": len(comparisons),
            "least": min(constant_slack),
            "most": max(constant_slack),
            "least_gain": min(own) - 1,
            "most_gain": max(own) - 1,
        },
        panels=_panels(epsilons_of),
        comparisons=comparisons,
    )


def _comparisons(
    epsilons_of: dict[tuple[str, str], list[float]],
) -> tuple[Comparison, ...]:
    """Returns the printed epsilons beside those of the first candidate."""
    way = CANDIDATES[0].name
    compared = []
    for framework, called in FRAMEWORKS.items():
        for name, printed, computed in zip(
            DISTRIBUTIONS,
            USER_EPSILONS[framework],
            epsilons_of[way, framework],
            strict=True,
        ):
            each = Comparison(
                f"{called}, {name}, {way}", printed, computed, within=WITHIN
            )
            exchanged = (framework, name) == ("unis", "uniform2") and not each.agrees
            compared.append(replace(each, why=EXCHANGED) if exchanged else each)
    return tuple(compared)


def _rows(epsilons_of: dict[tuple[str, str], list[float]]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for framework, name in FRAMEWORKS.items():
        printed = np.array(USER_EPSILONS[framework], dtype=np.float64)
        ways = {"printed": printed.tolist()}
        ways |= {each.name: epsilons_of[each.name, framework] for each in CANDIDATES}
        for way, epsilons in ways.items():
            away = float(np.abs(np.array(epsilons) / printed - 1.0).max())
            rows.append(
                {
                    "framework": name,
                    "way": way,
                    **dict(zip(DISTRIBUTIONS, epsilons, strict=True)),
                    "largest difference": None if way == "printed" else away,
                }
            )
    return rows


def _panels(epsilons_of: dict[tuple[str, str], list[float]]) -> list[Panel]:
    at = tuple(range(1, len(DISTRIBUTIONS) + 1))
    panels = []
    for framework, name in FRAMEWORKS.items():
        # Relative to the printed epsilons: their curve is 1.
        printed = np.array(USER_EPSILONS[framework], dtype=np.float64)
        curves = [Curve("printed", at, [1.0] * len(at))]
        curves += [
            Curve(
                candidate.name,
                at,
                (np.array(epsilons_of[candidate.name, framework]) / printed).tolist(),
            )
            for candidate in CANDIDATES
            if candidate.name not in _FAR
        ]
        panels.append(
            Panel(
                name,
                curves,
                horizontal="column of Table 4",
                vertical="epsilon, printed = 1",
                ticks=DISTRIBUTIONS,
            )
        )
    return panels
