"""Figures of central epsilon against the number of users: papers and certificate."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import ClaimComparison, band, stated
from shuffledp_papers.figures.line_plot import Panel, column_curves, draw
from shuffledp_papers.figures.result import Effort, Result
from shuffledp_papers.figures.table import Cell, Table

_BAND = (
    "attack and certified: the band in which the true epsilon of the worst-off person "
    "lies. A number below the attack is exceeded and marked !; - means that the theorem "
    "does not speak of this setting."
)
# Parameters that say what values are, and how finely messages are cut.
_RANGE = {"low", "high", "clip", "cells"}
# {label of the curve: column} of what this library proves.
BAND_CURVES = {"certified (shuffledp)": "certified", "attack (shuffledp)": "attack"}


@dataclass(frozen=True)
class BoundFigure:
    """Settings and bounds of a figure.

    Attributes:
        title: Title of the figure.
        populations: Names of budget distributions, one panel each.
        sizes: Numbers of users.
        delta_times_n: delta = this / n; or, if `delta` is given, None.
        delta: The same delta for all sizes.
        elsewhere: Legend label -> (bound, its randomizer): claims about other randomizers
            with these budgets.
        bounds: Legend label with the paper -> bound.
        mechanism: The randomizer of claims, certificate and attack.
        notes: Notes below the figure.
    """

    title: str
    populations: tuple[str, ...]
    sizes: tuple[int, ...]
    bounds: Mapping[str, PublishedBound]
    mechanism: LocalRandomizer
    notes: tuple[str, ...]
    delta: float | None = None
    delta_times_n: float | None = None
    elsewhere: Mapping[str, tuple[PublishedBound, LocalRandomizer]] = field(
        default_factory=dict
    )

    def run(self, effort: Effort) -> Result:
        """Returns the figure; budgets are drawn once."""
        rng = np.random.default_rng(effort.seed)
        rows: list[dict[str, Cell]] = []
        total = len(self.populations) * len(self.sizes)
        for name in self.populations:
            budgets = draw_budgets(name, max(self.sizes), rng=rng)
            # Populations are nested: curves differ by size, not by another draw.
            for size in self.sizes:
                rows.append(self._row(name, Population.from_budgets(budgets[:size])))
                effort.on_share(len(rows) / total)
        setting = self._setting()
        table = Table.from_records(rows)
        return Result(
            title=self.title,
            setting=setting,
            table=table,
            notes=(_BAND, *self.notes),
            svg=draw(
                self.title,
                setting,
                [self._panel(name, table) for name in self.populations],
                description=f"{self.title}: central epsilon against the number of people",
            ),
            keys=2,
        )

    def _setting(self) -> dict[str, Cell]:
        stated = self.delta
        delta = f"{self.delta_times_n:g} / n" if stated is None else stated
        named = [
            f"{name} {value}"
            for name, value in self.mechanism.parameters.items()
            if name not in _RANGE
        ]
        randomizer = ", ".join([self.mechanism.mechanism, *named])
        return {"randomizer": randomizer, "delta": delta}

    def _row(self, name: str, people: Population) -> dict[str, Cell]:
        n = people.num_users
        delta = self.delta or (self.delta_times_n or 1.0) / n
        interval = band(self.mechanism, people, delta=delta)
        cells: dict[str, Cell] = {
            # Budget distributions are named paper/distribution; the title has the paper.
            "distribution": name.split("/")[1],
            "people": n,
            "delta": delta,
            "attack": interval.attack,
            "certified": interval.certified,
        }
        for label, bound in self.bounds.items():
            claim = stated(bound, _about(people, self.mechanism), delta=delta)
            cells[label] = claim.number
            cells[f"{label}: exceeded"] = ClaimComparison(claim, interval).refuted
        # Not compared: the attack is on the randomizer of the figure.
        for label, (bound, device) in self.elsewhere.items():
            cells[label] = stated(bound, _about(people, device), delta=delta).number
        return cells

    def _panel(self, population: str, table: Table) -> Panel:
        name = population.split("/")[1]
        chosen = table.where("distribution", name)
        claims = {label: label for label in (*self.bounds, *self.elsewhere)}
        curves = column_curves(
            chosen.column("people"), chosen, BAND_CURVES | claims, ours=BAND_CURVES
        )
        return Panel(
            name.capitalize(),
            # A theorem that never speaks of this setting has no curve.
            [c for c in curves if any(value is not None for value in c.values)],
            horizontal="people",
            vertical="central epsilon",
            log="xy",
        )


def _about(people: Population, device: LocalRandomizer) -> Setting:
    return Setting(people, device, None, device.delta_local)
