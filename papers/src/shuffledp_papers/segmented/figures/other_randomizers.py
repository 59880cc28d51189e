"""Algorithm 1 with k-ary response and with noisy numbers: budgets and errors by m."""

import numpy as np

from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.segmented.budget_search import (
    Privacy,
    RandomizerFamily,
    best_messages,
    kary_family,
    noise_family,
    segmented_messages,
)

NUM_USERS = 5_000
TARGETS = (0.5, 1.0, 2.0)
SHARES = (0.25, 0.5, 0.25)
BLANKETS = (0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.2)
DELTA = 0.01 / NUM_USERS
_PRIVACIES: tuple[Privacy, ...] = ("stated", "certified")
_NAMES = {"stated": "Theorem 2, as stated", "certified": "certified"}
# Budgets, their proven deltas, and errors.
_COLUMNS = (
    *(f"local budget at {target:g}" for target in TARGETS),
    *(f"certified at {target:g}" for target in TARGETS),
    "predicted",
    "simulated",
)


def run(effort: Effort) -> ComputedFigure:
    """Computes budgets and errors of both families at every m."""
    rng = np.random.default_rng(effort.seed)
    counts = {t: int(s * NUM_USERS) for t, s in zip(TARGETS, SHARES, strict=True)}
    people = Population.from_counts(counts)
    families = (kary_family(16), noise_family(cells=4))
    rows: list[dict[str, Cell]] = []
    steps = [(family, privacy) for family in families for privacy in _PRIVACIES]
    for family, privacy in effort.each(steps):
        best = best_messages(
            family, people, delta=DELTA, privacy=privacy, shares=_shares(family)
        ).blanket
        for blanket in sorted((*BLANKETS, best)):
            cells = _cells(family, people, blanket, privacy, effort.repetitions, rng)
            rows.append(
                {
                    "randomizer": family.name,
                    "m": blanket,
                    "m: best": blanket == best,
                    "privacy": _NAMES[privacy],
                    **dict(zip(_COLUMNS, cells, strict=True)),
                }
            )
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "targets": "0.5, 1, 2 at 25/50/25%",
            "delta": DELTA,
        },
        table=table,
        panels=[_panel(family.name, table) for family in families],
    )


def _cells(
    family: RandomizerFamily,
    people: Population,
    blanket: float,
    privacy: Privacy,
    repetitions: int,
    rng: np.random.Generator,
) -> tuple[Cell, ...]:
    """Returns the cells of `_COLUMNS`; None where a target is missed."""
    try:
        protocol, budgets = segmented_messages(
            family, people, blanket=blanket, delta=DELTA, privacy=privacy
        )
    # Too few blanket messages for a target: the row stays empty.
    except CertificationError:
        return (None,) * len(_COLUMNS)
    # The others' own messages count, too, which the search leaves out by Lemma 2.
    proven = [
        protocol.certified_delta(level, target, delta=DELTA, own=True)
        for level, target in enumerate(TARGETS)
    ]
    shares = _shares(family)
    truth = shares @ family.scores.values
    errors = []
    for _ in range(repetitions):
        # Values are drawn each time: `error` is about a population, not about its
        # users.
        holders = np.array([rng.multinomial(n, shares) for n in people.counts.tolist()])
        counts = protocol.draw_counts(holders, rng=rng)
        estimate = family.scores.estimate(protocol, counts)
        errors.append(float(((estimate - truth) ** 2).sum()))
    predicted = family.scores.error(protocol, shares)
    return (*budgets, *proven, predicted, float(np.mean(errors)))


def _shares(family: RandomizerFamily) -> Floats:
    """Returns the share of users with each value, proportional to 1, 1/2, 1/3, ..."""
    falling = 1.0 / np.arange(1.0, len(family.scores.values) + 1.0)
    shares: Floats = falling / falling.sum()
    return shares


def _panel(family: str, table: Table) -> Panel:
    curves = []
    for privacy, name in _NAMES.items():
        chosen = table.where("randomizer", family).where("privacy", name)
        at, ours = chosen.column("m"), privacy == "certified"
        curves += [
            Curve(name, at, chosen.column("predicted"), ours=ours),
            Curve(f"{name}, simulated", at, chosen.column("simulated"), joined=False),
        ]
    return Panel(
        family,
        curves,
        horizontal="blanket messages per person",
        vertical="sum of squared errors",
        log="xy",
    )
