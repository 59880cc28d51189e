"""E-APES Lemma 3 and eq. (15): distances of two counts from normal, against n."""

import math

from shuffledp_papers.eapes.normal_limit import normal_distances
from shuffledp_papers.figures.line_plot import Curve, column_curves, draw_curves
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import Cell, Table

SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000)
QUICK = SIZES[:6]
# As in the example of the paper, 0.0206 at n = 50.
EPSILON = 0.1
_TITLE = "E-APES Lemma 3: two counts and the normal law of the same moments"
_PRINTED, _ROUNDED, _FUNCTIONS = (
    "eq. (15) as printed",
    "total variation, rounded",
    "distribution functions",
)


def run(effort: Effort) -> Result:
    """Returns the distances; nothing is drawn at random."""
    sizes = QUICK if effort.quick else SIZES
    rows: list[dict[str, Cell]] = []
    for size in sizes:
        distances = normal_distances(size, EPSILON, delta=1.0 / size)
        # Lemma 3 states C / sqrt(m) for m = n - 1: the last columns are the C it needs.
        root = math.sqrt(size - 1)
        rows.append(
            {
                "people": size,
                _PRINTED: distances.printed,
                _ROUNDED: distances.rounded,
                _FUNCTIONS: distances.kolmogorov,
                "largest probability": distances.mode,
                "C of total variation": root * distances.rounded,
                "C of distribution functions": root * distances.kolmogorov,
            }
        )
        effort.on_share(sum(sizes[: len(rows)]) / sum(sizes))
    setting: dict[str, Cell] = {"epsilon of all": EPSILON, "delta of all": "1 / n"}
    table = Table.from_records(rows)
    curves = [
        *column_curves(
            sizes, table, {name: name for name in (_PRINTED, _ROUNDED, _FUNCTIONS)}
        ),
        Curve("1 / n", sizes, [1.0 / size for size in sizes]),
        Curve("1 / sqrt(n)", sizes, [size**-0.5 for size in sizes]),
    ]
    (fifty,) = table.where("people", 50).numbers(_PRINTED)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        notes=figure_notes("eapes", "eapes-lemma3"),
        svg=draw_curves(
            _TITLE,
            setting,
            curves,
            horizontal="people",
            vertical="distance",
            log="xy",
            description=_TITLE,
        ),
        comparisons=(Comparison("eq. (15) at epsilon 0.1, n = 50", "0.0206", fifty),),
    )
