"""Figures of central epsilon against the number of users: papers and certificate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import Band, ClaimComparison, band, stated
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.result import Cell, Effort, Result

_BAND = (
    "attack and certified: the band in which the true epsilon of the worst-off person "
    "lies. A number below the attack is exceeded and marked !; - means that the theorem "
    "does not speak of this setting."
)
# Parameters that say what values are, and how finely messages are cut.
_RANGE = {"low", "high", "clip", "cells"}
# Of distribution, people, delta, attack and certified; claims follow with their flags.
_ATTACK, _CERTIFIED, _CLAIMS = 3, 4, 5


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
        rows: list[tuple[Cell, ...]] = []
        total = len(self.populations) * len(self.sizes)
        for name in self.populations:
            budgets = draw_budgets(name, max(self.sizes), rng=rng)
            # Populations are nested: curves differ by size, not by another draw.
            for size in self.sizes:
                rows.append(self._row(name, Population.from_budgets(budgets[:size])))
                effort.on_share(len(rows) / total)
        setting = self._setting()
        claims = [(name, f"{name}: exceeded") for name in self.bounds]
        return Result(
            title=self.title,
            setting=setting,
            columns=(
                "distribution",
                "people",
                "delta",
                "attack",
                "certified",
                *(column for pair in claims for column in pair),
                *self.elsewhere,
            ),
            rows=tuple(rows),
            notes=(_BAND, *self.notes),
            svg=draw(
                self.title,
                setting,
                [self._panel(name, rows) for name in self.populations],
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

    def _row(self, name: str, people: Population) -> tuple[Cell, ...]:
        n = people.num_users
        delta = self.delta or (self.delta_times_n or 1.0) / n
        interval = band(self.mechanism, people, delta=delta)
        claims = [
            cell
            for bound in self.bounds.values()
            for cell in self._claim(bound, people, delta, interval)
        ]
        ends = (interval.attack, interval.certified)
        # Not compared: the attack is on the randomizer of the figure.
        others = [
            stated(bound, _about(people, device), delta=delta).number
            for bound, device in self.elsewhere.values()
        ]
        # Budget distributions are named paper/distribution; the title has the paper.
        return (name.split("/")[1], n, delta, *ends, *claims, *others)

    def _claim(
        self, bound: PublishedBound, people: Population, delta: float, interval: Band
    ) -> tuple[Cell, Cell]:
        """Returns the number that a bound states, and whether the attack refutes it."""
        claim = stated(bound, _about(people, self.mechanism), delta=delta)
        compared = ClaimComparison(claim, interval)
        return compared.stated.number, compared.refuted

    def _panel(self, population: str, rows: Sequence[Sequence[Cell]]) -> Panel:
        chosen = [row for row in rows if row[0] == population.split("/")[1]]
        at = [row[1] for row in chosen]

        def column(index: int) -> list[Cell]:
            return [row[index] for row in chosen]

        curves = [
            Curve("certified (shuffledp)", at, column(_CERTIFIED), ours=True),
            Curve("attack (shuffledp)", at, column(_ATTACK), ours=True),
            *(
                # Every second column is a flag.
                Curve(name, at, column(_CLAIMS + 2 * index))
                for index, name in enumerate(self.bounds)
            ),
            *(
                Curve(name, at, column(_CLAIMS + 2 * len(self.bounds) + index))
                for index, name in enumerate(self.elsewhere)
            ),
        ]
        return Panel(
            population.split("/")[1].capitalize(),
            # A theorem that never speaks of this setting has no curve.
            [c for c in curves if any(value is not None for value in c.values)],
            horizontal="people",
            vertical="central epsilon",
            log="xy",
        )


def _about(people: Population, device: LocalRandomizer) -> Setting:
    return Setting(people, device, None, device.delta_local)
