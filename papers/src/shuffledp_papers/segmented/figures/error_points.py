"""Points of Figures 2 to 6: their curves, and the numbers that the paper's text gives."""

from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison
from shuffledp_papers.figures.table import Cell
from shuffledp_papers.segmented.figures.conditions import (
    BEST_BLANKETS,
    SIZES,
    Condition,
)

PUBLISHED, OURS = "Wang et al. 2025", "ours, certified"

# The text says "around" of an m that is read off a figure.
_AROUND = 0.25


@dataclass(frozen=True)
class ErrorPoint:
    """The error of one protocol in one setting.

    Attributes:
        condition: The setting.
        protocol: Its name.
        blanket: m; None for a protocol without this parameter.
        best: Whether m is the best.
        predicted: Error that its formula predicts.
        simulated: Mean error of simulated collections.
        deviation: Standard error of that mean.
    """

    condition: Condition
    protocol: str
    blanket: float | None
    best: bool
    predicted: float
    simulated: float
    deviation: float

    def record(self, least: float) -> dict[str, Cell]:
        """Returns the row of the table; `least` is the published protocol's least error."""
        return {
            "setting": self.condition.name,
            "protocol": self.protocol,
            "m": self.blanket,
            "m: best": self.best,
            "predicted": self.predicted,
            "simulated": self.simulated,
            "standard error": self.deviation,
            "of the paper's best": self.predicted / least,
        }


def least_of(points: Sequence[ErrorPoint], protocol: str) -> ErrorPoint:
    """Returns the point of a protocol whose predicted error is least."""
    chosen = [point for point in points if point.protocol == protocol]
    return min(chosen, key=lambda point: point.predicted)


def panel_of(points: Sequence[ErrorPoint]) -> Panel:
    """Returns the curves of one setting.

    Args:
        points: Of all protocols in this setting.
    """
    curves = []
    for name in (OURS, PUBLISHED):
        chosen = [point for point in points if point.protocol == name]
        at = [point.blanket for point in chosen]
        curves.append(
            Curve(name, at, [point.predicted for point in chosen], ours=name == OURS)
        )
    simulated = [point for point in points if point.blanket is not None]
    curves.append(
        Curve(
            "simulated, of both",
            [point.blanket for point in simulated],
            [point.simulated for point in simulated],
            joined=False,
        )
    )
    # Competitors have no m: horizontal lines from end to end.
    ends = [f([p.blanket for p in points if p.blanket is not None]) for f in (min, max)]
    curves += [
        Curve(point.protocol, ends, [point.predicted] * 2)
        for point in points
        if point.blanket is None
    ]
    return Panel(
        points[0].condition.name,
        curves,
        horizontal="blanket messages per person",
        vertical="mean squared error",
        log="xy",
    )


def best_blanket_comparisons(points: Sequence[ErrorPoint]) -> list[Comparison]:
    """Returns the best m of a setting beside the one in the text, if there is one."""
    condition, published = points[0].condition, least_of(points, PUBLISHED)
    key = (condition.data, condition.set_size, condition.num_users)
    # The text calls an m the best for shares S1 only.
    if condition.shares != "S1" or key not in BEST_BLANKETS:
        return []
    printed = BEST_BLANKETS[key]
    above = _relative_excess(points, float(printed), published)
    (why,) = figure_notes("segmented", "flat", above=above)
    return [
        Comparison(
            f"{condition.name}: m of the least error",
            printed,
            published.blanket or 0.0,
            within=_AROUND,
            why=why,
        )
    ]


def population_size_comparisons(
    settings: Sequence[Sequence[ErrorPoint]],
) -> list[Comparison]:
    """Returns the factor between the errors of MSNBC at 5,000 and at 50,000 users."""
    minimum = {
        points[0].condition.num_users: least_of(points, PUBLISHED).predicted
        for points in settings
        if (points[0].condition.data, points[0].condition.shares) == ("msnbc", "S1")
    }
    if len(minimum) < len(SIZES):
        return []
    small, large = (minimum[size] for size in SIZES)
    return [
        Comparison(
            f"MSNBC: least error at {SIZES[0]:,} people over that at {SIZES[1]:,}",
            "30",
            small / large,
            within=0.25,
        )
    ]


def gain_note(settings: Sequence[Sequence[ErrorPoint]]) -> str:
    """Returns the note on the relative gain over the best competitor, by setting."""
    gains = []
    for points in settings:
        published = least_of(points, PUBLISHED)
        rival = min(
            (point for point in points if point.blanket is None),
            key=lambda point: point.predicted,
        )
        gain = max(1.0 - published.predicted / rival.predicted, 0.0)
        gains.append(f"{gain:.0%} ({points[0].condition.name}, {rival.protocol})")
    (note,) = figure_notes("segmented", "gains", gains=", ".join(gains))
    return note


def _relative_excess(
    points: Sequence[ErrorPoint], blanket: float, published: ErrorPoint
) -> float:
    """Returns the relative excess of the error at the nearest m over the least one."""
    chosen = [point for point in points if point.protocol == PUBLISHED]
    nearest = min(chosen, key=lambda point: abs((point.blanket or 0.0) - blanket))
    return nearest.predicted / published.predicted - 1.0
