"""Wang et al. (2025), Figures 2 to 6: errors of segmented collections of sets.

Three targets, 0.5, 1 and 2, in the shares S1 = 25/50/25%, S2 = 50/25/25%, S3 = 25/25/50%;
delta = 0.01 / n; 5,000 and 50,000 users. Errors are sums over items of squared errors about
the participants. On the horizontal axis is the number m of blanket messages, for the
published protocol, at the sampling rates that its Theorem 3 states, and for ours, at the
largest rates that are *certified*; a line is the prediction, a point the mean of simulated
collections. Both stand at their best m as well. The competitors do not depend on m; each
has its own accounting, as described in `competitors`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table
from shuffledp_papers.segmented.figures.conditions import (
    FIGURES,
    Condition,
    conditions_of,
)
from shuffledp_papers.segmented.figures.error_points import (
    PUBLISHED,
    ErrorPoint,
    best_blanket_comparisons,
    gain_note,
    least_of,
    panel_of,
    population_size_comparisons,
)
from shuffledp_papers.segmented.figures.simulated_errors import simulate_points


def figure(conditions: Sequence[Condition]) -> Callable[[Effort], ComputedFigure]:
    """Returns a function that computes a figure of these settings."""

    def run(effort: Effort) -> ComputedFigure:
        rng = np.random.default_rng(effort.seed)
        settings: list[list[ErrorPoint]] = []
        for condition in effort.each(conditions):
            settings.append(simulate_points(condition, effort.repetitions, rng))
        return ComputedFigure(
            setting={"targets": "0.5, 1, 2", "delta": "0.01 / n"},
            table=Table.from_records(
                point.record(least_of(points, PUBLISHED).predicted)
                for points in settings
                for point in points
            ),
            notes=(*figure_notes("segmented", "errors"), gain_note(settings)),
            panels=[panel_of(points) for points in settings],
            comparisons=(
                *(
                    comparison
                    for points in settings
                    for comparison in best_blanket_comparisons(points)
                ),
                *population_size_comparisons(settings),
            ),
        )

    return run


FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6 = (
    figure(conditions_of(FIGURES[number])) for number in "23456"
)
