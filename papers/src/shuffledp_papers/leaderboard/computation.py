"""Computation of the leaderboard: every bound on every collection of the grid."""

import math
import os
import platform
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from shuffledp.accounting.account import account
from shuffledp.errors import CertificationError
from shuffledp.version import __version__
from shuffledp_papers.bounds.bound import PublishedBound
from shuffledp_papers.bounds.equal_noise import Band, band_of, check_equal, query_of
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.leaderboard.composed_bound import ComposedBound
from shuffledp_papers.leaderboard.entry import (
    ComparedPoint,
    Entry,
    Leaderboard,
    Standing,
    compare,
    entry_status,
    rounded_up,
)
from shuffledp_papers.leaderboard.grid import Grid, GridPoint
from shuffledp_papers.leaderboard.measured_work import Cost, measured
from shuffledp_papers.outside_preconditions import OutsidePreconditions


def leaderboard(
    grid: Grid,
    *,
    date: str,
    outside: Sequence[PublishedBound] = (),
    on_share: Callable[[float], None] = lambda _share: None,
) -> Leaderboard:
    """Evaluates all published bounds, and those from outside, on the grid.

    Args:
        grid: The collections.
        date: Of the run, which is recorded as it is.
        outside: Bounds beside the published ones.
        on_share: Called with the share of collections that are done.
    """
    bounds = (*PUBLISHED, *outside)
    points = []
    for number, point in enumerate(grid.points, start=1):
        points.append(compared_point(point, bounds))
        on_share(number / len(grid.points))
    return Leaderboard(
        grid_version=grid.version,
        version=__version__,
        date=date,
        machine=(
            f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
            f"Python {platform.python_version()}, NumPy {np.__version__}, "
            f"SciPy {scipy.__version__}"
        ),
        sources={bound.name: bound.source for bound in bounds},
        points=tuple(points),
    )


def compared_point(
    point: GridPoint, bounds: Sequence[PublishedBound] = PUBLISHED
) -> ComparedPoint:
    """Returns one collection with certificate, attack and all bounds."""
    guarantee, cost = measured(
        lambda: account(
            point.protocol, point.population, delta=point.delta, rounds=point.rounds
        )
    )
    band = band_of(guarantee)
    entries = tuple(_entry(bound, point, band) for bound in bounds)
    return ComparedPoint(point, band.attack, band.certified, cost, entries)


def _entry(bound: PublishedBound, point: GridPoint, band: Band) -> Entry:
    (number, why), cost = measured(lambda: _stated(bound, point))
    status = entry_status(bound, point.setting)
    if number is None:
        # A refusal computes nothing: its memory would be that of its sentence.
        cost = Cost(cost.seconds, None)
        return Entry(bound.name, status, None, Standing.NONE, why, cost)
    query = query_of(point.setting, delta=point.delta, rounds=point.rounds)
    check_equal(query, band.query)
    comparison = compare(number, attack=band.attack, certified=band.certified)
    return Entry(bound.name, status, rounded_up(number), comparison, "", cost)


def _stated(bound: PublishedBound, point: GridPoint) -> tuple[float | None, str]:
    """Returns the stated epsilon, or None and the reason."""
    if point.rounds > 1:
        bound = bound.over(point.rounds) or ComposedBound(bound, point.rounds)
    try:
        number = bound.epsilon(point.setting, point.delta)
    except (OutsidePreconditions, CertificationError) as reason:
        return None, str(reason)
    # An infinite epsilon is not a statement.
    return (number, "") if math.isfinite(number) else (None, "No finite number.")
