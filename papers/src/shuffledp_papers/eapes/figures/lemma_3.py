"""E-APES Lemma 3 and eq. (15): distances of two counts from normal, against n."""

import math

from shuffledp_papers.eapes.normal_limit import normal_distances
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Cell, Comparison, Effort, Result

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
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        distances = normal_distances(size, EPSILON, delta=1.0 / size)
        # Lemma 3 states C / sqrt(m) for m = n - 1: the last columns are the C it needs.
        root = math.sqrt(size - 1)
        numbers = (
            distances.printed,
            distances.rounded,
            distances.kolmogorov,
            distances.mode,
        )
        rows.append(
            (size, *numbers, root * distances.rounded, root * distances.kolmogorov)
        )
        effort.on_share(sum(sizes[: len(rows)]) / sum(sizes))
    setting: dict[str, Cell] = {"epsilon of all": EPSILON, "delta of all": "1 / n"}
    at = list(sizes)
    curves = [
        Curve(name, at, [row[index] for row in rows])
        for index, name in enumerate((_PRINTED, _ROUNDED, _FUNCTIONS), start=1)
    ]
    curves.append(Curve("1 / n", at, [1.0 / size for size in sizes]))
    curves.append(Curve("1 / sqrt(n)", at, [size**-0.5 for size in sizes]))
    panel = Panel("", curves, horizontal="people", vertical="distance", log="xy")
    (fifty,) = (row for row in rows if row[0] == 50)
    return Result(
        title=_TITLE,
        setting=setting,
        columns=(
            "people",
            _PRINTED,
            _ROUNDED,
            _FUNCTIONS,
            "largest probability",
            "C of total variation",
            "C of distribution functions",
        ),
        rows=tuple(rows),
        notes=figure_notes("eapes", "eapes-lemma3"),
        svg=draw(_TITLE, setting, [panel], description=_TITLE),
        comparisons=(
            Comparison(
                "eq. (15) at epsilon 0.1, n = 50", "0.0206", float(fifty[1] or 0.0)
            ),
        ),
    )
