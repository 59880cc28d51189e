"""Figures of central epsilon against the number of people: papers and certificate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.budget_distributions import draw_budgets
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import OutsidePreconditions
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.figures.picture import Curve, Panel, draw
from shuffledp.papers.figures.result import Cell, Effort, Result
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage

_BAND = (
    "attack and certified: the band in which the true epsilon of the worst-off person "
    "lies. A number below the attack is refuted and marked !; - means that the theorem "
    "does not speak of this setting."
)
# Of distribution, people, delta, attack and certified; claims follow with their flags.
_ATTACK, _CERTIFIED, _CLAIMS = 3, 4, 5


@dataclass(frozen=True)
class BoundFigure:
    """What a figure shows.

    Attributes:
        title: Of the figure.
        populations: Names of budget distributions, one panel each.
        sizes: Numbers of people.
        delta_times_n: delta = this / n; or, if `delta` is given, None.
        delta: The same delta for all sizes.
        bounds: {how the legend calls it, with its paper: bound}.
        mechanism: What is claimed about, certified and attacked.
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

    def run(self, effort: Effort) -> Result:
        """Returns the figure; budgets are drawn once."""
        rng = np.random.default_rng(effort.seed)
        rows: list[tuple[Cell, ...]] = []
        total = len(self.populations) * len(self.sizes)
        for name in self.populations:
            budgets = draw_budgets(name, max(self.sizes), rng=rng)
            for size in self.sizes:
                rows.append(self._row(name, Population.from_budgets(budgets[:size])))
                effort.on_share(len(rows) / total)
        setting = self._setting()
        claims = [(name, f"{name}: refuted") for name in self.bounds]
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
        return {"randomizer": self.mechanism.mechanism, "delta": delta}

    def _row(self, name: str, people: Population) -> tuple[Cell, ...]:
        n = people.num_users
        delta = self.delta or (self.delta_times_n or 1.0) / n
        guarantee = account(
            SingleMessage(self.mechanism), people, delta=delta, quantiles=True
        )
        attack = max(level.epsilon_central_lower for level in guarantee.levels)
        certified = max(level.epsilon_central for level in guarantee.levels)
        claims = [
            cell
            for bound in self.bounds.values()
            for cell in self._claim(bound, people, delta, attack)
        ]
        return (name.split("/")[1], n, delta, attack, certified, *claims)

    def _claim(
        self, bound: PublishedBound, people: Population, delta: float, attack: float
    ) -> tuple[Cell, Cell]:
        """Returns what a bound states, and whether the attack refutes it."""
        setting = Setting(people, self.mechanism, None, self.mechanism.delta_local)
        try:
            number = bound.epsilon(setting, delta)
        except OutsidePreconditions:
            return None, None
        return number, number < attack

    def _panel(self, population: str, rows: Sequence[Sequence[Cell]]) -> Panel:
        chosen = [row for row in rows if row[0] == population.split("/")[1]]
        at = [row[1] for row in chosen]

        def column(place: int) -> list[Cell]:
            return [row[place] for row in chosen]

        curves = [
            Curve("certified (shuffledp)", at, column(_CERTIFIED), ours=True),
            Curve("attack (shuffledp)", at, column(_ATTACK), ours=True),
            *(
                Curve(name, at, column(_CLAIMS + 2 * place))
                for place, name in enumerate(self.bounds)
            ),
        ]
        return Panel(
            population,
            [c for c in curves if any(value is not None for value in c.values)],
            horizontal="people",
            vertical="central epsilon",
            log="xy",
        )
