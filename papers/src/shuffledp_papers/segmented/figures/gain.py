"""Relative gains of the published protocol over its competitors, under several readings.

The paper reports errors about 70% (section 6.1) or about 50% (abstract, section 6.4) below
those of existing approaches, without saying how balls into bins was calibrated for people
with s items. All errors here are predicted ones; the published protocol is at its best m.

    reading          method
    together         all items of a user at once: group privacy, as in Figures 2 to 6
    runs of its own  every item in a separate run, at eps / s and delta / s, with its own
                     blanket messages
    population       together; errors about a population that the users are drawn from
    dummies          together; MSNBC sets padded with items outside all sets
"""

from dataclasses import dataclass, replace

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.segmented.figures.competitors import (
    BallsIntoBins,
    Competitor,
    all_balls_into_bins,
    subexp_shuffle,
)
from shuffledp_papers.segmented.figures.conditions import (
    FIGURES,
    Condition,
    conditions_of,
)
from shuffledp_papers.segmented.figures.simulated_errors import published_at_best
from shuffledp_papers.segmented.privacy import smallest_blanket

# Figures 2 and 4, S1 to S3 of MSNBC, and Figure 3.
CONDITIONS = tuple(
    condition for number in "243" for condition in conditions_of(FIGURES[number])
)
READINGS = ("together", "runs of its own", "population", "dummies")
_RIVALS = ("MM", "SepMM", "Weighted SepMM", "Subexp, shuffle")


@dataclass(frozen=True)
class PredictedErrors:
    """Predicted errors of one setting under one reading.

    Attributes:
        published: Error of the published protocol, at its best m.
        rivals: Errors of `_RIVALS`.
    """

    published: float
    rivals: tuple[float, ...]

    @property
    def gain(self) -> float:
        """Relative gain over the best competitor."""
        return 1.0 - self.published / min(self.rivals)

    @property
    def gain_over_mm(self) -> float:
        """Relative gain over MM."""
        return 1.0 - self.published / self.rivals[0]


def errors_of(condition: Condition, reading: str, *, seed: int) -> PredictedErrors:
    """Returns the errors predicted under a reading, for data drawn with this seed."""
    if reading == "dummies":
        condition = replace(condition, padding="dummies")
    sets, num_items = condition.sets(np.random.default_rng(seed))
    people, s, delta = condition.people, condition.set_size, condition.delta
    truth: Floats = np.bincount(sets.ravel(), minlength=num_items) / condition.num_users
    rivals = all_balls_into_bins(people, num_items=num_items, set_size=s, delta=delta)
    if reading == "runs of its own":
        rivals = [_in_runs(rival, condition, num_items) for rival in rivals]
    # Variance of the shares if users are drawn from a population.
    sampling = 0.0
    if reading == "population":
        sampling = float(np.sum(truth * (1.0 - truth))) / condition.num_users
    best = published_at_best(condition, num_items, truth)
    published = best.predicted_mse(people, truth)
    subsets = subexp_shuffle(people, num_items=num_items, set_size=s, delta=delta)
    competitors: list[Competitor] = [*rivals, subsets]
    errors = [rival.predicted_mse(truth) + sampling for rival in competitors]
    return PredictedErrors(published + sampling, tuple(errors))


def run(effort: Effort) -> ComputedFigure:
    """Computes errors and gains of every setting under every reading."""
    rows: list[dict[str, Cell]] = []
    for condition in effort.each(CONDITIONS):
        for reading in READINGS:
            # Synthetic sets all have s items: there is nothing to pad.
            if reading == "dummies" and condition.data != "msnbc":
                continue
            errors = errors_of(condition, reading, seed=effort.seed)
            rows.append(
                {
                    "setting": condition.name,
                    "reading": reading,
                    "published, best m": errors.published,
                    **dict(zip(_RIVALS, errors.rivals, strict=True)),
                    "gain": errors.gain,
                    "gain over MM": errors.gain_over_mm,
                }
            )
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={"targets": "0.5, 1, 2", "delta": "0.01 / n"},
        table=table,
        numbers=[float(np.mean(table.where("reading", "together").numbers("gain")))],
        panels=[_panel(data, table) for data in ("msnbc", "synthetic")],
    )


def _in_runs(
    rival: BallsIntoBins, condition: Condition, num_items: int
) -> BallsIntoBins:
    """Returns a competitor that runs once per item, each time with its own blanket."""
    s, people = condition.set_size, condition.people
    together = rival.counts.size == 1
    # A collection of all levels together keeps the smallest target.
    targets = people.epsilons[:1] if together else people.epsilons
    # Every run has its own blanket: a user sends s times as many messages.
    blankets = [
        s
        * smallest_blanket(
            count,
            num_items=num_items,
            # Simple composition of s runs: each has eps / s and delta / s.
            epsilon=target / s,
            delta=condition.delta / s,
        )
        for count, target in zip(rival.counts.tolist(), targets.tolist(), strict=True)
    ]
    return replace(rival, blankets=np.array(blankets))


def _panel(data: str, table: Table) -> Panel:
    settings = dict.fromkeys(map(str, table.column("setting")))
    names = [name for name in settings if name.startswith(data)]
    curves = []
    for reading in READINGS:
        chosen = table.where("reading", reading)
        gains = dict(zip(chosen.column("setting"), chosen.column("gain"), strict=True))
        values = [gains.get(name) for name in names]
        if any(value is not None for value in values):
            at = range(1, len(names) + 1)
            curves.append(Curve(reading, at, values, joined=False))
    return Panel(
        "MSNBC, s = 4" if data == "msnbc" else "128 items, S1",
        curves,
        horizontal="",
        vertical="error less than the best competitor's",
        ticks=[name.split(maxsplit=1)[1] for name in names],
    )
