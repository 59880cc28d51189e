"""Pictures of the leaderboard."""

from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.table import Cell
from shuffledp_papers.leaderboard.entry import ComparedPoint, Leaderboard, Standing

_MARKS = {
    "below the attack": (Standing.BELOW,),
    "between attack and certificate": (Standing.TIGHTER,),
    "certificate or above": (Standing.EQUAL, Standing.LOOSER),
}


def ratio_picture(board: Leaderboard) -> str:
    """Returns every stated epsilon over the attack's, one column per bound, as SVG."""
    names = list(board.sources)
    certified: list[tuple[Cell, Cell]] = [
        (1, each.certified / each.attack) for each in board.points if each.attack > 0.0
    ]
    curves = [_points("certified here", certified, ours=True)]
    for label, comparisons in _MARKS.items():
        marked: list[tuple[Cell, Cell]] = [
            (names.index(entry.bound) + 2, entry.epsilon / each.attack)
            for each, entry in board.rows
            if entry.comparison in comparisons
            and entry.epsilon is not None
            and each.attack > 0.0
        ]
        curves.append(_points(label, marked))
    panel = Panel(
        "",
        [curve for curve in curves if curve.at],
        horizontal="",
        vertical="stated epsilon / attack",
        log="y",
        ticks=["certified here", *names],
    )
    return draw(
        "Stated epsilons over what an attack reaches; below 1 is too small",
        {"grid": board.grid_version},
        [panel],
        description=(
            "For each bound, its epsilon divided by the attack's on every collection of "
            "the grid; the same numbers are in the table of entries."
        ),
    )


def growth_picture(board: Leaderboard) -> str:
    """Returns epsilon against the number of people, for one randomizer at one level."""
    chosen = _largest_series(board)
    sizes: list[Cell] = [each.point.population.num_users for each in chosen]
    curves = [
        Curve("attack here", sizes, [each.attack for each in chosen], ours=True),
        Curve("certified here", sizes, [each.certified for each in chosen], ours=True),
    ]
    for number, name in enumerate(board.sources):
        values: list[Cell] = [each.entries[number].epsilon for each in chosen]
        if any(value is not None for value in values):
            curves.append(Curve(name, sizes, values))
    point = chosen[0].point
    return draw(
        "Epsilon by number of people",
        {
            "randomizer": point.randomizer,
            "level": float(point.population.epsilons[0]),
            "delta": point.delta,
        },
        [Panel("", curves, horizontal="people", vertical="central epsilon", log="xy")],
        description=(
            f"Epsilon of every bound for {point.randomizer} against the number of people; "
            "the same numbers are in the table of entries."
        ),
    )


def _points(label: str, pairs: list[tuple[Cell, Cell]], *, ours: bool = False) -> Curve:
    at, values = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Curve(label, at, values, ours=ours, joined=False)


def _largest_series(board: Leaderboard) -> list[ComparedPoint]:
    """Returns the longest series of collections that differ in their size alone."""
    series: dict[tuple[object, ...], list[ComparedPoint]] = {}
    for each in board.points:
        point = each.point
        if point.population.num_levels == 1:
            level = float(point.population.epsilons[0])
            key = (point.randomizer, level, point.delta, point.rounds)
            series.setdefault(key, []).append(each)
    longest = max(series.values(), key=len)
    return sorted(longest, key=lambda each: each.point.population.num_users)
