"""Wang et al. (2025), Figures 2 to 6: errors of segmented collections of sets.

Three targets, 0.5, 1 and 2, in the shares S1 = 25/50/25%, S2 = 50/25/25%, S3 = 25/25/50%;
delta = 0.01 / n; 5,000 and 50,000 people. Errors are sums over items of squared errors
about the participants. Against the number m of blanket messages stand the published
protocol, at the sampling rates that its Theorem 3 states, and ours, at the largest rates
that are *certified*; a line is the prediction, a point the mean of simulated collections.
The competitors do not depend on m; each has its own accounting, as described in
`items_competitors`.

MSNBC sets are padded to 4 pages with pages the visitor did not look at: only so are there
17 items, as the paper says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.items.calibration import largest_send_chance
from shuffledp.datasets.item_sets import draw_uniform_sets, load_msnbc_sets
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.papers.figures.result import Cell, Effort, Result
from shuffledp.papers.segmented.figures.competitors import (
    Competitor,
    balls_into_bins,
    separate_balls_into_bins,
    subexp_local,
    subexp_shuffle,
)
from shuffledp.papers.segmented.figures.panels import panels_picture
from shuffledp.papers.segmented.protocol import published_rates
from shuffledp.population import Population
from shuffledp.statistics.items.protocol import Items
from shuffledp.types import Floats, Ints

TARGETS = (0.5, 1.0, 2.0)
SHARES = {"S1": (0.25, 0.5, 0.25), "S2": (0.5, 0.25, 0.25), "S3": (0.25, 0.25, 0.5)}
BLANKETS = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.5, 10.0)
SIZES = (5_000, 50_000)


@dataclass(frozen=True)
class Panel:
    """One setting of a figure.

    Attributes:
        data: "msnbc" or "synthetic".
        set_size: s.
        shares: "S1", "S2" or "S3".
        num_users: n.
    """

    data: str
    set_size: int
    shares: str
    num_users: int

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return f"{self.data} {self.shares} s={self.set_size} n={self.num_users}"

    @property
    def people(self) -> Population:
        """Targets and people."""
        counts = np.rint(np.array(SHARES[self.shares]) * self.num_users).astype(int)
        return Population.from_counts(dict(zip(TARGETS, counts.tolist(), strict=True)))

    @property
    def delta(self) -> float:
        """At which targets are stated."""
        return 0.01 / self.num_users

    def sets(self, rng: np.random.Generator) -> tuple[Ints, int]:
        """Returns everybody's items, shape (n, s), and d."""
        if self.data == "msnbc":
            found = load_msnbc_sets(
                set_size=self.set_size,
                num_users=self.num_users,
                padding="items",
                rng=rng,
            )
        else:
            found = draw_uniform_sets(self.num_users, set_size=self.set_size, rng=rng)
        return found.sets, found.num_items


def figure(title: str, panels: Sequence[Panel]) -> Callable[[Effort], Result]:
    """Returns what computes a figure of these panels."""

    def run(effort: Effort) -> Result:
        repetitions = effort.repetitions
        seed = effort.seed
        on_share = effort.on_share
        rng = np.random.default_rng(seed)
        rows: list[tuple[Cell, ...]] = []
        for index, panel in enumerate(panels):
            rows += _rows(panel, repetitions, rng)
            on_share((index + 1) / len(panels))
        return Result(
            title=f"{title}, {repetitions} repetitions",
            setting={"targets": "0.5, 1, 2", "delta": "0.01 / n"},
            columns=(
                "setting",
                "protocol",
                "m",
                "predicted",
                "simulated",
                "of the paper's best",
            ),
            rows=tuple(rows),
            notes=(
                "Sum over items of squared errors. of the paper's best: divided by the "
                "published protocol's smallest predicted error. Only ours is certified.",
            ),
            svg=panels_picture(title, rows),
        )

    return run


def _rows(
    panel: Panel, repetitions: int, rng: np.random.Generator
) -> list[tuple[Cell, ...]]:
    people = panel.people
    sets, num_items = panel.sets(rng)
    indices = rng.permutation(np.repeat(np.arange(people.num_levels), people.counts))
    truth = np.bincount(sets.ravel(), minlength=num_items)[:num_items] / panel.num_users
    found: list[tuple[str, Cell, float, Cell]] = []
    for name, protocols in (
        ("Wang et al. 2025", _published(panel, num_items)),
        ("ours, certified", _certified(panel, num_items)),
    ):
        for protocol in protocols:
            simulated = _simulated(
                protocol, people, sets, indices, truth, repetitions, rng
            )
            predicted = protocol.predicted_mse(people, truth)
            found.append((name, protocol.blanket, predicted, simulated))
    for competitor in _competitors(panel, num_items):
        errors = [
            float(((competitor.draw(sets, order, rng=rng) - truth) ** 2).sum())
            for order in (rng.permutation(indices) for _ in range(min(repetitions, 5)))
        ]
        predicted = competitor.predicted_mse(truth)
        found.append((competitor.name, "-", predicted, float(np.mean(errors))))
    best = min(error for name, _, error, _ in found if name == "Wang et al. 2025")
    return [
        (panel.name, name, m, predicted, simulated, predicted / best)
        for name, m, predicted, simulated in found
    ]


def _published(panel: Panel, num_items: int) -> list[Items]:
    protocols = []
    for blanket in BLANKETS:
        try:
            rates = published_rates(
                panel.people,
                num_items=num_items,
                set_size=panel.set_size,
                blanket=blanket,
                delta=panel.delta,
            )
            protocols.append(
                Items(
                    num_items,
                    panel.set_size,
                    TARGETS,
                    rates,
                    blanket,
                    noise="bernoulli",
                )
            )
        except (CertificationError, InvalidInputError):
            continue
    return protocols


def _certified(panel: Panel, num_items: int) -> list[Items]:
    protocols = []
    for blanket in BLANKETS:
        rates = tuple(
            largest_send_chance(
                target,
                panel.delta,
                num_items=num_items,
                set_size=panel.set_size,
                honest=panel.num_users,
                blanket=blanket,
            )
            for target in TARGETS
        )
        protocols.append(Items(num_items, panel.set_size, TARGETS, rates, blanket))
    return protocols


def _competitors(panel: Panel, num_items: int) -> list[Competitor]:
    people, s, delta = panel.people, panel.set_size, panel.delta
    return [
        subexp_local(people, num_items=num_items, set_size=s),
        subexp_shuffle(people, num_items=num_items, set_size=s, delta=delta),
        balls_into_bins(people, num_items=num_items, set_size=s, delta=delta),
        separate_balls_into_bins(
            people, num_items=num_items, set_size=s, delta=delta, weights="equal"
        ),
        separate_balls_into_bins(
            people, num_items=num_items, set_size=s, delta=delta, weights="published"
        ),
    ]


def _simulated(
    protocol: Items,
    people: Population,
    sets: Ints,
    indices: Ints,
    truth: Floats,
    repetitions: int,
    rng: np.random.Generator,
) -> float:
    errors = []
    for _ in range(repetitions):
        chosen = np.array(TARGETS)[rng.permutation(indices)]
        holders = protocol.holders(sets, chosen)
        tally = protocol.draw_tally(holders, people, rng=rng)
        value = protocol.estimate(tally, people).value
        errors.append(float(((value - truth) ** 2).sum()))
    return float(np.mean(errors))


def _both(data: str, set_size: int, *shares: str) -> list[Panel]:
    return [Panel(data, set_size, share, n) for share in shares for n in SIZES]


FIGURE_2 = figure("Wang et al. (2025), Figure 2: MSNBC, S1", _both("msnbc", 4, "S1"))
FIGURE_3 = figure(
    "Wang et al. (2025), Figure 3: 128 items, S1",
    _both("synthetic", 4, "S1") + _both("synthetic", 8, "S1"),
)
FIGURE_4 = figure(
    "Wang et al. (2025), Figure 4: MSNBC, S2 and S3", _both("msnbc", 4, "S2", "S3")
)
FIGURE_5 = figure(
    "Wang et al. (2025), Figure 5: 128 items, S2",
    _both("synthetic", 4, "S2") + _both("synthetic", 8, "S2"),
)
FIGURE_6 = figure(
    "Wang et al. (2025), Figure 6: 128 items, S3",
    _both("synthetic", 4, "S3") + _both("synthetic", 8, "S3"),
)
