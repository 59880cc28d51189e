"""Liu et al. (2024), Figure 3: the "confounding effect" p of another user's message.

(a) p_i^0 and p_i^1, the probabilities of being mistaken for either value of the target
user, as user i's value goes from one to the other; the paper does not name the budgets.
(b) p_i, the smaller of both at the worst value, against user i's budget, with the target
user's at 3; and the largest p of a mixture, f_i >= p (f_0 + f_1) everywhere.

The caption's "around eps_1 = 1" is eps_i = 1: eps_1 is 3.
"""

import numpy as np

from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.hypothesis_testing.any_density import (
    MessageDensity,
    density_clone_probabilities,
)
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)

TARGET_USER = 3.0
# (user i's budget, the target user's) of panel (a): the same, and personal ones.
PAIRS = ((1.0, 1.0), (1.0, 3.0))
# Budgets in (b) approach the target user's from both sides, as p may jump there.
_BELOW = np.geomspace(0.05, TARGET_USER * (1.0 - 1e-9), 60)
_ABOVE = np.geomspace(TARGET_USER * (1.0 + 1e-9), 8.0, 20)
BUDGETS = np.concatenate([_BELOW, [TARGET_USER], _ABOVE])
_INSIDE = np.linspace(0.0, 1.0, 51)[1:-1]
_NOISE: dict[str, LocalRandomizer] = {
    "Laplace": Laplace(),
    "Gaussian": Gaussian(delta_local=1e-10, calibration="classical"),
}
_FIRST, _SECOND, _WEIGHT = (
    "p_i^0 (a); p_i, Laplace (b)",
    "p_i^1 (a); p_i, Gaussian (b)",
    "largest weight, Laplace",
)


def run(effort: Effort) -> ComputedFigure:
    """Returns both panels; nothing is random."""
    rows: list[tuple[Cell, ...]] = [
        ("a", *pair, value, *_errors(pair, value), None)
        for pair in PAIRS
        for value in _all()
    ]
    effort.on_share(0.8)
    by_budget = {name: _clone_probabilities(name) for name in _NOISE}
    weights = np.array([true_weight(level, TARGET_USER) for level in BUDGETS.tolist()])
    effort.on_share(1.0)
    for index, level in enumerate(BUDGETS.tolist()):
        laplace, gaussian = (float(by_budget[name][index]) for name in _NOISE)
        weight = float(weights[index])
        rows.append(("b", level, TARGET_USER, 0.0, laplace, gaussian, weight))
    peak = float(BUDGETS[np.argmax(by_budget["Laplace"])])
    table = Table(("panel", "eps_i", "eps_1", "x_i", _FIRST, _SECOND, _WEIGHT), rows)
    return ComputedFigure(
        setting={"values": "0 to 1", "delta_local, Gaussian": 1e-10},
        table=table,
        numbers=(peak,),
        panels=[_panel_a(table), _panel_b(table)],
    )


def true_weight(level: float, target_user: float) -> float:
    """Returns the largest p with f_i >= p (f_0 + f_1), for Laplace noise around 0.

    Args:
        level: User i's budget, > 0.
        target_user: The target user's budget, > 0.
    """
    # In the far tails f_i falls faster than f_0 + f_1 then.
    if level > target_user:
        return 0.0
    # Outside [0, 1] f_i falls no faster than f_0 + f_1: the ratio is smallest inside.
    z = np.linspace(0.0, 1.0, 2001)
    own = level * np.exp(-level * z)
    both = target_user * (np.exp(-target_user * z) + np.exp(-target_user * (1.0 - z)))
    return float((own / both).min())


def _all() -> list[float]:
    return [0.0, *_INSIDE.tolist(), 1.0]


def _errors(pair: tuple[float, float], value: float) -> tuple[float, float]:
    user_budget, target_user = pair
    return density_clone_probabilities(
        _laplace(user_budget, value),
        _laplace(target_user, 0.0),
        _laplace(target_user, 1.0),
    )


def _laplace(budget: float, value: float) -> MessageDensity:
    def density(messages: Floats) -> Floats:
        densities: Floats = 0.5 * budget * np.exp(-budget * np.abs(messages - value))
        return densities

    # e^-36 < 1e-15 of the noise is farther than 36 scales away.
    reach = 36.0 / budget
    return MessageDensity(density, value - reach, value + reach, kinks=(value,))


def _clone_probabilities(name: str) -> Floats:
    people = Population.from_budgets(BUDGETS)
    setting = Setting(people, _NOISE[name], TARGET_USER)
    clone_probabilities, _ = HypothesisTesting().clone_probabilities(setting)
    return clone_probabilities[people.level_indices(BUDGETS)]


def _panel_a(table: Table) -> Panel:
    curves = []
    for user_budget, target_user in PAIRS:
        chosen = (
            table.where("panel", "a")
            .where("eps_i", user_budget)
            .where("eps_1", target_user)
        )
        for column, name in ((_FIRST, "p_i^0"), (_SECOND, "p_i^1")):
            at, values = chosen.column("x_i"), chosen.column(column)
            label = f"{name}, eps_i {user_budget:g}, eps_1 {target_user:g}"
            curves.append(Curve(label, *_ends_apart(at, values)))
    return Panel(
        "(a) Laplace noise, another person's value",
        curves,
        horizontal="x_i",
        vertical="p",
    )


def _ends_apart(at: list[Cell], values: list[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Returns a line with gaps at its ends, where it may jump."""
    return (
        [at[0], None, *at[1:-1], None, at[-1]],
        [values[0], None, *values[1:-1], None, values[-1]],
    )


def _panel_b(table: Table) -> Panel:
    chosen = table.where("panel", "b")

    def apart(name: str) -> list[Cell]:
        equal, above = _BELOW.size, _BELOW.size + 1
        cells = chosen.column(name)
        # The point of equal budgets stands alone: p may jump on both sides of it.
        return [*cells[:equal], None, *cells[equal:above], None, *cells[above:]]

    at = apart("eps_i")
    return Panel(
        "(b) the victim at 3, another person's budget",
        [
            Curve("p_i, Laplace", at, apart(_FIRST)),
            Curve("p_i, Gaussian", at, apart(_SECOND)),
            Curve("largest weight, Laplace (ours)", at, apart(_WEIGHT), ours=True),
        ],
        horizontal="eps_i",
        vertical="p",
        log="x",
    )
