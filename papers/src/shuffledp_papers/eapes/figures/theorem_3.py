"""E-APES Theorems 1 to 3: adaptive processes, as stated, exact and proven.

Every place of Definition 4 has three-ary response with the place's budget; the target user
holds the first or second value, all others the third. The exact divergence of that process
is compared with the divergence of Theorem 1's counts, with the normal limit without its
constant (Theorem 3 as the paper uses it), and with the proven bound for every adaptive
process with the same budgets of places.
"""

from shuffledp.population import Population
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.eapes.eapes_theorem import EapesCorollary
from shuffledp_papers.eapes.process import counted_trade_off
from shuffledp_papers.eapes.slots import response_divergence, slot_divergence
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table, number

PLACES: dict[str, dict[float, int]] = {
    "200 at 1": {1.0: 200},
    "500 at 4": {4.0: 500},
    "50 at 0.1, 50 at 1": {0.1: 50, 1.0: 50},
    "one at 6, 199 at 0.1": {0.1: 199, 6.0: 1},
}
EPSILONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
# Below, differences of sums of numbers near 1 are rounding.
_SMALLEST = 1e-13
_EXACT, _PROVEN = "exact, three-ary response", "proven, any adaptive process"
_COUNTS, _LIMIT = "stated, Theorem 1: two counts", "stated, Theorem 3 with C = 0"


def run(effort: Effort) -> ComputedFigure:
    """Returns divergences at every epsilon; nothing is drawn at random."""
    rows: list[dict[str, Cell]] = []
    for name, level_counts in effort.each(PLACES.items()):
        people = Population.from_counts(level_counts)
        counts = counted_trade_off(people.budgets())
        for epsilon in EPSILONS:
            exact = response_divergence(level_counts, epsilon)
            proven = slot_divergence(level_counts, epsilon)
            stated = (
                counts.delta(epsilon),
                EapesCorollary().delta(Setting(people), epsilon),
            )
            if proven < _SMALLEST:
                continue
            # Differences of curves that touch are rounding, too.
            flags = [exact > claim * (1.0 + 1e-9) + _SMALLEST for claim in stated]
            rows.append(
                {
                    "budgets of places": name,
                    "epsilon": epsilon,
                    _EXACT: exact,
                    _PROVEN: proven,
                    _COUNTS: stated[0],
                    "Theorem 1: exceeded": flags[0],
                    _LIMIT: stated[1],
                    "Theorem 3 with C = 0: exceeded": flags[1],
                }
            )
    return ComputedFigure(
        setting={"randomizer": "three-ary response at every place"},
        table=Table.from_records(rows),
        pictured=Table.from_records(map(_above_zero, rows)),
    )


def _above_zero(row: dict[str, Cell]) -> dict[str, Cell]:
    # A logarithmic axis has no zeros.
    columns = (_EXACT, _PROVEN, _COUNTS, _LIMIT)
    return row | {
        name: row[name] if number(row[name]) > _SMALLEST else None for name in columns
    }
