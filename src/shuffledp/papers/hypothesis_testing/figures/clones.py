"""Liu et al. (2024), Figure 3: the "confounding effect" p of others' messages, by budget.

p_i is the chance that somebody else's message is mistaken for one of the victim's, as a
type-I error, under Laplace and Gaussian noise (delta_local = 1e-10, classical noise), for
victims at 0.5, 1 and 2. Beside it stands what a mixture allows: the privacy blanket of a
Clip-Laplace message, which is a true weight.
"""

import numpy as np

from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.figures.result import Effort, Result
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.report.picture import new_figure, svg
from shuffledp.types import Floats

VICTIMS = (0.5, 1.0, 2.0)
OTHERS = (0.05, 0.1, 0.2, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_DELTA_LOCAL = 1e-10
_COLORS = ("#1f5fa8", "#d9730d", "#2e7d4f")


def run(effort: Effort) -> Result:
    """Returns p for every victim and budget of others; nothing is random."""
    on_share = effort.on_share
    rows: list[tuple[float, ...]] = []
    for victim in VICTIMS:
        laplace = _confusion(victim, 0.0)
        gaussian = _confusion(victim, _DELTA_LOCAL)
        blanket = _blanket(victim)
        columns = zip(OTHERS, laplace, gaussian, blanket, strict=True)
        rows += [(victim, *(float(cell) for cell in row)) for row in columns]
        on_share(len(rows) / (len(VICTIMS) * len(OTHERS)))
    return Result(
        title="Liu et al. (2024), Figure 3: clone probabilities",
        setting={"delta_local": _DELTA_LOCAL},
        columns=("victim", "other", "Laplace p", "Gaussian p", "blanket weight"),
        rows=tuple(rows),
        notes=(
            "p is a type-I error, no weight of a mixture; the blanket weight is one, for "
            "Clip-Laplace and the certificate's omega. They are not comparable as numbers: "
            "2 p stands for both of the victim's values.",
        ),
        svg=_picture(rows),
    )


def _confusion(victim: float, delta_local: float) -> Floats:
    people = Population.from_budgets([victim, *OTHERS])
    mechanism = (
        Gaussian(delta_local=delta_local, calibration="classical")
        if delta_local
        else Laplace()
    )
    setting = Setting(people, mechanism, victim, delta_local)
    found, _ = HypothesisTesting().confusion(setting)
    return found[people.level_indices(np.array(OTHERS))]


def _blanket(victim: float) -> Floats:
    people = Population.from_budgets([victim, *OTHERS])
    ((cover, *_),) = ClipLaplace().covers([victim], people, delta=1e-6)
    return cover.blanket_probabilities[people.level_indices(np.array(OTHERS))]


def _picture(rows: list[tuple[float, ...]]) -> str:
    figure = new_figure(7.4, 3.8)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, column, name in zip(
        panels, (2, 3), ("Laplace", "Gaussian"), strict=True
    ):
        for color, victim in zip(_COLORS, VICTIMS, strict=True):
            chosen = [row for row in rows if row[0] == victim]
            panel.plot(
                [row[1] for row in chosen],
                [row[column] for row in chosen],
                color=color,
                marker="o",
                markersize=3.5,
                label=f"victim at {victim:g}",
            )
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("local epsilon of the other person")
    panels[0].set_ylabel("p")
    panels[0].legend(frameon=False, fontsize=9)
    return svg(
        figure, "Clone probabilities, Liu et al. (2024), against the other's budget"
    )
