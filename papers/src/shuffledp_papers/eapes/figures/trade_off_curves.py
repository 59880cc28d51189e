"""Panels and table of trade-off functions, one curve each, over type-I errors."""

from collections.abc import Mapping

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.table import Table

ALPHA = np.linspace(0.0, 1.0, 101)
# The figure has a point at every hundredth, the table at every twentieth.
_EVERY = 5


def trade_off_panels(curves: Mapping[str, Mapping[str, Floats]]) -> list[Panel]:
    """Returns a panel for each title, with least type-II errors at ALPHA by name."""
    return [
        Panel(
            title,
            [
                Curve(name, ALPHA.tolist(), beta.tolist())
                for name, beta in panel.items()
            ],
            horizontal="type-I error",
            vertical="least type-II error",
        )
        for title, panel in curves.items()
    ]


def trade_off_table(curves: Mapping[str, Mapping[str, Floats]]) -> Table:
    """Returns the table of all curves."""
    named = {name: beta for panel in curves.values() for name, beta in panel.items()}
    parts = [part[::_EVERY] for part in (ALPHA, *named.values())]
    return Table(("type-I error", *named), np.column_stack(parts).tolist())
