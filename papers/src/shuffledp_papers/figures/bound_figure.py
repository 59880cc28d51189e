"""Figures of central epsilon against the number of users: papers and certificate."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import (
    Band,
    BoundValue,
    band,
    is_refuted,
    stated,
)
from shuffledp_papers.figures.computed_figure import ComputedFigure, PictureRow
from shuffledp_papers.figures.result import Effort
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
        populations: Names of budget distributions, one panel each.
        sizes: Numbers of users.
        bounds: Legend label with the paper -> bound.
        mechanism: The randomizer of claims, certificate and attack.
        delta: The same for all sizes.
        elsewhere: Legend label -> (bound, its randomizer): claims about other randomizers
            with these budgets.
    """

    populations: tuple[str, ...]
    sizes: tuple[int, ...]
    bounds: Mapping[str, PublishedBound]
    mechanism: LocalRandomizer
    delta: float
    elsewhere: Mapping[str, tuple[PublishedBound, LocalRandomizer]] = field(
        default_factory=dict
    )

    def run(self, effort: Effort) -> ComputedFigure:
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
        table = Table.from_records(rows)
        claims = {label: label for label in (*self.bounds, *self.elsewhere)}
        panels = PictureRow(
            at="people",
            vertical="central epsilon",
            curves=BAND_CURVES | claims,
            log="xy",
            ours=tuple(BAND_CURVES),
            by="distribution",
            panel="{}",
        ).panels(table)
        return ComputedFigure(
            setting=self._setting(),
            table=table,
            notes=(_BAND,),
            panels=[replace(each, title=each.title.capitalize()) for each in panels],
        )

    def _setting(self) -> dict[str, Cell]:
        named = [
            f"{name} {value}"
            for name, value in self.mechanism.parameters.items()
            if name not in _RANGE
        ]
        randomizer = ", ".join([self.mechanism.mechanism, *named])
        return {"randomizer": randomizer, "delta": self.delta}

    def _row(self, name: str, people: Population) -> dict[str, Cell]:
        interval = band(self.mechanism, people, delta=self.delta)
        cells: dict[str, Cell] = {
            # Budget distributions are named paper/distribution; the title has the paper.
            "distribution": name.split("/")[1],
            "people": people.num_users,
            "delta": self.delta,
            "attack": interval.attack,
            "certified": interval.certified,
        }
        for label, bound in self.bounds.items():
            claim = stated(bound, Setting(people, self.mechanism), delta=self.delta)
            cells |= claim_cells(label, claim, interval)
        # Not compared: the attack is on the randomizer of the figure.
        for label, (bound, device) in self.elsewhere.items():
            claim = stated(bound, Setting(people, device), delta=self.delta)
            cells[label] = claim.number
        return cells


def claim_cells(label: str, claim: BoundValue, interval: Band) -> dict[str, Cell]:
    """Returns a stated number, and in the next column whether the attack refutes it."""
    return {label: claim.number, f"{label}: exceeded": is_refuted(claim, interval)}
