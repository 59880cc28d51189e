"""Figures of central epsilon against the number of people: papers and certificate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.budget_distributions import draw_budgets
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import OutsidePreconditions
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.figures.result import Cell, OnShare, Result
from shuffledp.population import Population
from shuffledp.report.picture import new_figure, svg
from shuffledp.statistics.single_message import SingleMessage

_COLORS = (
    "#d9730d", "#2e7d4f", "#8a3ea0", "#a61c3c", "#57606a", "#b58900", "#0f766e", "#9d174d",
)  # fmt: skip
_CERTIFIED = "#1f5fa8"
REFUTED = "!"


@dataclass(frozen=True)
class BoundFigure:
    """What a figure shows.

    Attributes:
        title: Of the figure.
        populations: Names of budget distributions, one panel each.
        sizes: Numbers of people.
        delta_times_n: delta = this / n; or, if `delta` is given, None.
        delta: The same delta for all sizes.
        bounds: {how the paper calls it: bound}.
        mechanism: What is certified and attacked.
        notes: What to make of it.
    """

    title: str
    populations: tuple[str, ...]
    sizes: tuple[int, ...]
    bounds: Mapping[str, PublishedBound]
    mechanism: LocalRandomizer
    notes: tuple[str, ...]
    delta: float | None = None
    delta_times_n: float | None = None

    def run(self, repetitions: int, seed: int, on_share: OnShare) -> Result:
        """Returns the figure; budgets are drawn once, whatever the repetitions."""
        del repetitions
        rng = np.random.default_rng(seed)
        rows: list[tuple[Cell, ...]] = []
        total = len(self.populations) * len(self.sizes)
        for name in self.populations:
            budgets = draw_budgets(name, max(self.sizes), rng=rng)
            for size in self.sizes:
                rows.append(self._row(name, Population.from_budgets(budgets[:size])))
                on_share(len(rows) / total)
        return Result(
            title=self.title,
            columns=(
                "distribution",
                "people",
                "delta",
                "attack",
                "certif.",
                *self.bounds,
            ),
            rows=tuple(rows),
            notes=(
                "attack and certified: the band in which the true epsilon of the worst-off "
                f"person lies, for {self.mechanism.mechanism}. A number below the attack "
                "is refuted and marked !; - means that the theorem does not speak of this "
                "setting.",
                *self.notes,
            ),
            svg=self._picture(rows),
        )

    def _row(self, name: str, people: Population) -> tuple[Cell, ...]:
        n = people.num_users
        delta = self.delta or (self.delta_times_n or 1.0) / n
        guarantee = account(
            SingleMessage(self.mechanism), people, delta=delta, quantiles=True
        )
        attack = max(level.epsilon_central_lower for level in guarantee.levels)
        certified = max(level.epsilon_central for level in guarantee.levels)
        claims = [
            self._claim(bound, people, delta, attack) for bound in self.bounds.values()
        ]
        return (name.split("/")[1], n, delta, attack, certified, *claims)

    def _claim(
        self, bound: PublishedBound, people: Population, delta: float, attack: float
    ) -> Cell:
        setting = Setting(people, self.mechanism, None, self.mechanism.delta_local)
        try:
            number = bound.epsilon(setting, delta)
        except OutsidePreconditions:
            return "-"
        return f"{number:.3g}{REFUTED}" if number < attack else number

    def _picture(self, rows: Sequence[Sequence[Cell]]) -> str:
        columns = min(len(self.populations), 3)
        lines = -(-len(self.populations) // columns)
        figure = new_figure(3.6 * columns + 1.0, 3.2 * lines + 0.8)
        panels = np.ravel(figure.subplots(lines, columns, sharey=True, squeeze=False))
        for panel, name in zip(panels, self.populations, strict=False):
            chosen = [row for row in rows if row[0] == name.split("/")[1]]
            at = [row[1] for row in chosen]
            lower, upper = ([row[index] for row in chosen] for index in (3, 4))
            panel.fill_between(at, lower, upper, color=_CERTIFIED, alpha=0.25, lw=0)
            panel.plot(at, upper, color=_CERTIFIED, lw=2, label="certified")
            for color, (bound, index) in zip(
                _COLORS, zip(self.bounds, range(5, 99), strict=False), strict=False
            ):
                points = [
                    (n, float(str(row[index]).removesuffix(REFUTED)))
                    for n, row in zip(at, chosen, strict=True)
                    if row[index] != "-"
                ]
                if points:
                    panel.plot(
                        *zip(*points, strict=True),
                        color=color,
                        marker="o",
                        markersize=3,
                        lw=1,
                        label=bound,
                    )
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_title(name, fontsize=10)
            panel.set_xlabel("people")
        for panel in panels[len(self.populations) :]:
            panel.set_visible(False)
        panels[0].set_ylabel("central epsilon")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=4,
            frameon=False,
            fontsize=8,
        )
        return svg(
            figure, f"{self.title}: central epsilon against the number of people"
        )
