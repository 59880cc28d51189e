"""E-APES Lemma 3 and eq. (15): distances of two counts from normal, against n."""

import math

from shuffledp_papers.eapes.normal_limit import normal_distances
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000)
QUICK = SIZES[:6]
# As in the example of the paper, 0.0206 at n = 50.
EPSILON = 0.1


def run(effort: Effort) -> ComputedFigure:
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
                "eq. (15) as printed": distances.printed,
                "total variation, rounded": distances.rounded,
                "distribution functions": distances.kolmogorov,
                "largest probability": distances.mode,
                "C of total variation": root * distances.rounded,
                "C of distribution functions": root * distances.kolmogorov,
            }
        )
        effort.on_share(sum(sizes[: len(rows)]) / sum(sizes))
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={"epsilon of all": EPSILON, "delta of all": "1 / n"},
        table=table,
        numbers=table.where("people", 50).numbers("eq. (15) as printed"),
        pictured=Table.from_records(
            row | {"1 / n": 1.0 / size, "1 / sqrt(n)": size**-0.5}
            for row, size in zip(rows, sizes, strict=True)
        ),
    )
