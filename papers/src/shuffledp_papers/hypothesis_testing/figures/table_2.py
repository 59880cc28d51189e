"""Liu et al. (2024), Table 2: delta after the shuffle at fixed epsilons.

Classical Gaussian noise, sqrt(2 ln(1.25 / delta)) / epsilon with delta = 1e-10 (the paper
prints no formula of its noise), budgets U(0.5, 2), 10,000 users. The printed rows are
compared with their formulas, and with attack and certificate at the same noise.

The first author's program, github.com/yixuanLL/HPS, shows how the rows come about: the
square of that deviation, for values 0.1 apart, is taken for the deviation; the sum in the
mu of Chen, Cao, Ge is of 2 / (1 + e^eps_i); and counts are rounded down to hundreds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_clones import equal_clones
from shuffledp_papers.bounds.equal_noise import BoundValue, band, stated
from shuffledp_papers.bounds.feldman_approximate import FeldmanApproximate, failures
from shuffledp_papers.bounds.gaussian_profile import gaussian_delta
from shuffledp_papers.bounds.target_user import others
from shuffledp_papers.bounds.two_counts import CloneCount, divergence
from shuffledp_papers.eapes.eapes_theorem import EapesTheorem, gdp_parameter
from shuffledp_papers.figures.bound_figure import claim_cells
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort
from shuffledp_papers.figures.table import Cell, Table, number
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)

NUM_USERS = 10_000
EPSILONS = (0.01, 0.03, 0.05, 0.08, 0.1)
OWN, EAPES, FELDMAN = "Liu et al. 2024", "E-APES 2023", "Feldman et al. 2023"
# Sources of the printed rows: the second is of a later paper than E-APES.
_PRINTED_OF = {OWN: OWN, EAPES: "Chen, Cao, Ge 2024", FELDMAN: FELDMAN}
# As printed, by the epsilons.
PRINTED: Mapping[str, tuple[str, ...]] = {
    OWN: ("0.0007", "2e-6", "3e-10", "1e-18", "1e-25"),
    EAPES: ("0.0042", "0.0007", "5e-5", "3e-7", "3e-9"),
    FELDMAN: ("0.0083", "0.0029", "0.0008", "6e-5", "1e-5"),
}
BOUNDS: Mapping[str, PublishedBound] = {
    OWN: HypothesisTesting(),
    EAPES: EapesTheorem(),
    FELDMAN: FeldmanApproximate(),
}
_NOISE = Gaussian(delta_local=1e-10, calibration="classical")
# The distance of two values in the first author's program.
_DISTANCE = 0.1
# The step to which the program rounds counts down, as that of the authors of [12].
_STEP = 100
# Smaller deltas are in the table, and not in the figure.
_FLOOR = 1e-40
# Bounds with changed formulas.
_CHANGED = {
    f"{EAPES}, mu / sqrt(2)": EAPES,
    f"{FELDMAN}, in steps of {_STEP}": FELDMAN,
    f"{OWN}, at the program's noise": OWN,
}
_WHY = {
    OWN: "the printed row is that of Theorem 2 at deviations of 4.65 / epsilon^2, as in "
    "the first author's program; local budgets are kept at 6.82 / epsilon or, calibrated "
    "exactly, 5.87 / epsilon",
    EAPES: "the printed row is that of Chen, Cao, Ge (2024); E-APES of 2023 has it if mu "
    "is divided by sqrt(2), as in the first author's program",
    FELDMAN: "found again with counts rounded down to multiples of 100, the step in the "
    "first author's program",
}


def run(effort: Effort) -> ComputedFigure:
    """Returns the table; budgets are drawn once."""
    rng = np.random.default_rng(effort.seed)
    people = Population.from_budgets(draw_budgets("f-dp/uniform2", NUM_USERS, rng=rng))
    setting = Setting(people, _NOISE)
    rows: list[dict[str, Cell]] = []
    comparisons: list[Comparison] = []
    for index, epsilon in enumerate(EPSILONS):
        interval = band(_NOISE, people, epsilon=epsilon)
        cells: dict[str, Cell] = {
            "epsilon": epsilon,
            "attack": interval.attack,
            "certified": interval.certified,
        }
        for name, bound in BOUNDS.items():
            claim = stated(bound, setting, epsilon=epsilon)
            printed = PRINTED[name][index]
            at_printed = BoundValue(claim.query, float(printed))
            for label, each in ((name, claim), (_printed(name), at_printed)):
                cells |= claim_cells(label, each, interval)
            if claim.number is not None:
                label = f"{_formula(name)} at epsilon {epsilon:g}"
                compared = Comparison(label, printed, claim.number)
                why = "" if compared.agrees else _WHY[name]
                comparisons.append(Comparison(label, printed, claim.number, why=why))
        variants = (narrower, in_steps, at_the_programs_noise)
        for label, variant in zip(_CHANGED, variants, strict=True):
            cells[label] = variant(setting, epsilon)
        rows.append(cells)
        effort.on_share(len(rows) / len(EPSILONS))
    table = Table.from_records(rows)
    comparisons += _explained(table)
    notes = figure_notes("hypothesis_testing", "testing-table2")
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "local budgets": "U(0.5, 2)",
            "randomizer": "Gaussian, classical calibration",
            "delta_local": _NOISE.delta_local,
        },
        table=table,
        notes=(*notes, *outside_notes(table)),
        panels=[_panel(table)],
        comparisons=tuple(comparisons),
    )


def narrower(setting: Setting, epsilon: float) -> float:
    """Returns the delta of E-APES with a mu smaller by the square root of 2."""
    # With it the row that is printed for the paper of 2024 results.
    mu = gdp_parameter(setting, delta_local=_NOISE.delta_local)
    return gaussian_delta(mu / math.sqrt(2.0), epsilon)


@dataclass(frozen=True, slots=True)
class _ProgramNoise(Gaussian):
    """Noise whose deviation is the square of the classical one, for values 0.1 apart."""

    def deviations(self, epsilons: Floats) -> Floats:
        # On the scale of [-1, 1], which is 2 and not 0.1 wide.
        squared = 2.0 * math.log(1.25 / self.delta_local) * (_DISTANCE / epsilons) ** 2
        deviations: Floats = squared * (2.0 / _DISTANCE)
        return deviations


def at_the_programs_noise(setting: Setting, epsilon: float) -> float:
    """Returns the delta of Theorem 2 at the noise of the first author's program."""
    noise = _ProgramNoise(delta_local=_NOISE.delta_local)
    narrow = Setting(setting.people, noise)
    return HypothesisTesting().stated_delta(narrow, epsilon)


def in_steps(setting: Setting, epsilon: float) -> float:
    """Returns the bound of Feldman et al. with counts rounded down to whole steps."""
    budget = setting.largest_budget
    other = math.exp(-np.logaddexp(0.0, budget))
    _, counts = others(setting)
    exact = equal_clones(int(counts.sum()), 2.0 * other)
    totals = exact.start + np.arange(exact.weights.size)
    rounded = _STEP * (totals // _STEP)
    offsets = rounded - rounded[0]
    weights: Floats = np.bincount(offsets, weights=exact.weights).astype(np.float64)
    clones = CloneCount(int(rounded[0]), weights)
    pure = divergence(clones, same=1.0 - other, other=other, epsilon=epsilon)
    return pure + failures(setting, epsilon)


def outside_notes(table: Table) -> tuple[str, ...]:
    """Returns a note on numbers that are too small for the figure, if any are."""
    columns = {"attack": "attack", "certified": "certified"}
    for name in BOUNDS:
        columns |= {f"{name}, formula": name, _printed(name): _printed(name)}
    left = []
    for name, column in columns.items():
        cells = zip(table.column("epsilon"), table.column(column), strict=True)
        small = [epsilon for epsilon, cell in cells if _is_outside(cell)]
        if small:
            left.append(f"{name} at epsilon {', '.join(map(str, small))}")
    if not left:
        return ()
    return (f"Below {_FLOOR:g}, and so not in the picture: {'; '.join(left)}.",)


def _is_outside(cell: Cell) -> bool:
    return number(cell) < _FLOOR


def _formula(name: str) -> str:
    printed = _PRINTED_OF[name]
    return name if printed == name else f"{printed}, beside {name},"


def _printed(name: str) -> str:
    return f"{_PRINTED_OF[name]}, printed"


def _explained(table: Table) -> list[Comparison]:
    """Returns comparisons of the printed rows with changed formulas."""
    # Most are printed with one digit; 5.75e-5, apparently, as 5e-5.
    return [
        Comparison(
            f"{label.removesuffix(f' of {_STEP}')}, at epsilon {epsilon}",
            printed,
            value,
            within=0.16,
        )
        for label, name in _CHANGED.items()
        for epsilon, printed, value in zip(
            EPSILONS, PRINTED[name], table.numbers(label), strict=True
        )
    ]


def _panel(table: Table) -> Panel:
    def values(name: str) -> list[Cell]:
        # Smaller deltas would compress all other curves.
        return [None if _is_outside(cell) else cell for cell in table.column(name)]

    curves = [
        Curve("certified (shuffledp)", EPSILONS, values("certified"), ours=True),
        Curve("attack (shuffledp)", EPSILONS, values("attack"), ours=True),
    ]
    for name in BOUNDS:
        printed = _printed(name)
        curves.append(Curve(f"{name}, formula", EPSILONS, values(name)))
        curves.append(Curve(printed, EPSILONS, values(printed), joined=False))
    return Panel("", curves, horizontal="central epsilon", vertical="delta", log="y")
