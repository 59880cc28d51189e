"""E-APES Figure 4: central epsilon against the number of users, delta = 1 / n.

For each distribution of Table 3 the paper draws 1,000 budgets and repeats them until
there are n. Its baseline is Theorem 4 of APES. The figure shows the closed form of that
theorem, the numbers behind it (APES prints these in its tables), and certificate and
attack.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats
from shuffledp_papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import band, check_equal, stated
from shuffledp_papers.eapes.eapes_theorem import EapesCorollary
from shuffledp_papers.figures.bound_figure import BAND_CURVES
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Panel, column_curves
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

DISTRIBUTIONS = ("uniform1", "uniform2", "gauss1", "gauss2", "gauss3")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
DRAWN = 1_000
STATED: dict[str, PublishedBound] = {
    "E-APES, Theorem 3 with C = 0": EapesCorollary(),
    "APES, Theorem 4 in closed form": ApesClosed(),
    "APES, Theorem 4 as numbers": ApesNumerical(),
}
_OURS = ("attack", "certified", "attack, bit", "certified, bit")


def run(effort: Effort) -> ComputedFigure:
    """Returns means over draws of the budgets, and the range of the main ones."""
    names = DISTRIBUTIONS[:2] if effort.quick else DISTRIBUTIONS
    rows: list[dict[str, Cell]] = []
    total = len(names) * len(SIZES)
    for name in names:
        draws = [
            draw_budgets(
                f"e-apes/{name}", DRAWN, rng=np.random.default_rng([effort.seed, index])
            )
            for index in range(effort.repetitions)
        ]
        for size in SIZES:
            numbers = [_numbers(budgets, size) for budgets in draws]
            rows.append(
                {
                    "distribution": name,
                    "people": size,
                    "delta": 1.0 / size,
                    **_means(numbers),
                }
            )
            effort.on_share(len(rows) / total)
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={
            "randomizer": "clip-laplace, and response of a bit",
            "delta": "1 / n",
            "budgets": f"{DRAWN:,} drawn, repeated",
        },
        table=table,
        notes=_notes(table, effort.repetitions),
        panels=[_panel(name, table) for name in names],
    )


def _numbers(budgets: Floats, size: int) -> tuple[list[float], list[float | None]]:
    """Returns attacks and certificates, and the paper's epsilons, of one draw."""
    # As in the paper, the drawn budgets are repeated.
    people = Population.from_budgets(np.tile(budgets, size // DRAWN))
    noise, bit = (
        band(randomizer, people, delta=1.0 / size)
        for randomizer in (ClipLaplace(), KRandomizedResponse(2))
    )
    setting = Setting(people, ClipLaplace())
    claims = [stated(bound, setting, delta=1.0 / size) for bound in STATED.values()]
    # Each draw's claims are compared with attacks on the same noise.
    for claim in claims:
        check_equal(claim.query, noise.query)
    numbers = [claim.number for claim in claims]
    return [noise.attack, noise.certified, bit.attack, bit.certified], numbers


def _means(
    draws: Sequence[tuple[list[float], list[float | None]]],
) -> dict[str, Cell]:
    """Returns means over draws, and ranges of the certificate and of the first bound."""
    ours = np.array([each[0] for each in draws])
    attack = float(ours[:, 0].mean())
    cells: dict[str, Cell] = dict(zip(_OURS, ours.mean(axis=0).tolist(), strict=True))
    for index, name in enumerate(STATED):
        numbers = [each[1][index] for each in draws]
        known = [number for number in numbers if number is not None]
        # A mean over some draws only would not be comparable.
        mean = float(np.mean(known)) if len(known) == len(numbers) else None
        # Exceeded: the stated epsilon is below a proven lower bound.
        exceeded = None if mean is None else mean < attack
        cells |= {name: mean, f"{name}: exceeded": exceeded}
    first = [float(each[1][0] or 0.0) for each in draws]
    for name, ends in (("certified", ours[:, 1].tolist()), (next(iter(STATED)), first)):
        cells |= {f"{name}: least": min(ends), f"{name}: most": max(ends)}
    return cells


def _panel(name: str, table: Table) -> Panel:
    chosen = table.where("distribution", name)
    at = chosen.column("people")
    ours = BAND_CURVES | {"certified, a bit (shuffledp)": "certified, bit"}
    claims = column_curves(at, chosen, {name: name for name in STATED})
    low, high = (
        chosen.column(f"{claims[0].label}: {end}") for end in ("least", "most")
    )
    claims[0] = replace(claims[0], low=low, high=high)
    curves = [*column_curves(at, chosen, ours, ours=ours), *claims]
    return Panel(
        name, curves, horizontal="people", vertical="central epsilon", log="xy"
    )


def _notes(table: Table, repetitions: int) -> tuple[str, ...]:
    # None is NaN, which nanmin and nanmax leave out.
    own, closed, numbers = (np.array(table.numbers(name)) for name in STATED)
    certified = np.array(table.numbers("certified"))
    better = int(np.sum(own < numbers))
    return (
        *figure_notes(
            "eapes",
            "eapes-fig4",
            repetitions=repetitions,
            least_closed=np.nanmin(closed / own),
            most_closed=np.nanmax(closed / own),
            better=better,
            settings=len(table.rows),
            least_numbers=np.nanmin(numbers / own),
            most_numbers=np.nanmax(numbers / own),
            least_own=np.min(own / certified),
            most_own=np.max(own / certified),
        ),
        *_alike(table, own, certified),
    )


def _alike(table: Table, own: Floats, certified: Floats) -> tuple[str, ...]:
    """Returns a note on the paper's claim (iv), if both distributions are in the rows."""
    names = np.array(table.column("distribution"))
    if "uniform2" not in names or "gauss2" not in names:
        return ()
    stated, true = (
        float(np.max(np.abs(each[names == "uniform2"] / each[names == "gauss2"] - 1.0)))
        for each in (own, certified)
    )
    return figure_notes(
        "eapes", "distributions", stated=100 * stated, certified=100 * true
    )
