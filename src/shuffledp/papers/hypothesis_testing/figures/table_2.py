"""Liu et al. (2024), Table 2: delta after the shuffle at fixed epsilons.

Gaussian noise, budgets U(0.5, 2) with delta_local = 1e-10, 10,000 people. The paper prints
a row for its own bound and two for earlier ones; its own row does not follow from its
Theorem 2, which gives far smaller numbers. The attack stays below both at every epsilon:
it refutes neither.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.budget_distributions import draw_budgets
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.figures.result import Effort, Result
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.report.picture import new_figure, svg
from shuffledp.statistics.single_message import SingleMessage

NUM_USERS = 10_000
# epsilon: (Feldman et al. 2021, Chen et al. 2024, the paper's own), as printed.
PRINTED = {
    0.01: (0.0083, 0.0042, 0.0007),
    0.03: (0.0029, 0.0007, 2e-6),
    0.05: (0.0008, 5e-5, 3e-10),
    0.08: (6e-5, 3e-7, 1e-18),
    0.1: (1e-5, 3e-9, 1e-25),
}
_DELTA_LOCAL = 1e-10


def run(effort: Effort) -> Result:
    """Returns the table; budgets are drawn once, whatever the repetitions."""
    seed = effort.seed
    on_share = effort.on_share
    rng = np.random.default_rng(seed)
    people = Population.from_budgets(draw_budgets("f-dp/uniform2", NUM_USERS, rng=rng))
    mechanism = Gaussian(delta_local=_DELTA_LOCAL)
    setting = Setting(people, mechanism, None, _DELTA_LOCAL)
    rows: list[tuple[float, ...]] = []
    for epsilon, printed in PRINTED.items():
        guarantee = account(
            SingleMessage(mechanism), people, epsilon=epsilon, quantiles=True
        )
        rows.append(
            (
                epsilon,
                max(level.delta_central_lower for level in guarantee.levels),
                max(level.delta_central for level in guarantee.levels),
                HypothesisTesting().delta(setting, epsilon),
                *printed[::-1],
            )
        )
        on_share(len(rows) / len(PRINTED))
    return Result(
        title=f"Liu et al. (2024), Table 2: delta of {NUM_USERS:,} people, U(0.5, 2)",
        setting={"people": NUM_USERS, "budgets": "U(0.5, 2)", "delta_local": _DELTA_LOCAL},
        columns=(
            "epsilon", "attack", "certified", "Theorem 2", "printed: Liu 24",
            "printed: Chen 24", "printed: Feldman 21",
        ),
        rows=tuple(rows),
        notes=(
            "attack and certified: the band of the true delta of the worst-off person, at "
            "noise that is calibrated exactly. The paper's is the classical one, which is "
            "larger: an attack above a number of the paper would not refute it, either.",
        ),
        svg=_picture(rows),
    )  # fmt: skip


def _picture(rows: list[tuple[float, ...]]) -> str:
    figure = new_figure(6.4, 4.2)
    axes = figure.subplots()
    at, lower, upper, theorem, printed, *_ = zip(*rows, strict=True)
    floor = 1e-30
    axes.fill_between(at, np.maximum(lower, floor), upper, color="#1f5fa8", alpha=0.25)
    axes.plot(at, upper, color="#1f5fa8", lw=2, label="certified")
    axes.plot(
        at, printed, color="#d9730d", marker="o", label="Liu et al. 2024, as printed"
    )
    axes.plot(
        at,
        np.maximum(theorem, floor),
        color="#8a3ea0",
        marker="o",
        label="its Theorem 2",
    )
    axes.set_yscale("log")
    axes.set_ylim(floor, 1.0)
    axes.set_xlabel("central epsilon")
    axes.set_ylabel("delta")
    axes.legend(frameon=False)
    return svg(figure, "Delta against epsilon: attack, certificate, Liu et al. (2024)")
