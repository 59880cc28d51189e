"""Errors and guarantees against f_c and against epsilon_c, side by side."""

from collections.abc import Mapping

from shuffledp.types import Floats
from shuffledp_papers.figures.line_plot import Curve, Panel, column_curves
from shuffledp_papers.figures.table import Table

_CLAIM = "E-APES, epsilon of its mu (not proven)"
_CERTIFIED = "certified, {} people (shuffledp)"
_GROUPS = ("conservative", "moderate", "liberal")
# 95% of a normal distribution is within this number of deviations.
_QUANTILE = 1.96


def root_mean_square(errors: Floats) -> tuple[float, float, float]:
    """Returns the root mean square, and the ends of its 95% interval.

    Args:
        errors: One per repetition, at least 2, shape (repetitions,).
    """
    squares = errors**2
    mean = float(squares.mean())
    reach = _QUANTILE * float(squares.std(ddof=1)) / squares.size**0.5
    # The normal interval of a mean square may reach below 0.
    low, high = max(mean - reach, 0.0), mean + reach
    return mean**0.5, low**0.5, high**0.5


def two_panels(table: Table, *, error: str, errors: Mapping[str, str]) -> list[Panel]:
    """Returns errors above and guarantees below, for both varied parameters.

    Args:
        table: With columns "varied" for the parameter and "at" for its value; "eps(mu)",
            "cert. C", "cert. M", "cert. L"; and for each simulated error "NAME low" and
            "NAME high".
        error: The label of the errors' axis.
        errors: {label: column} of those to draw.
    """
    panels = []
    for guarantees in (False, True):
        for varied in ("f_c", "epsilon_c"):
            chosen = table.where("varied", varied)
            panels.append(
                Panel(
                    "" if guarantees else f"{varied} varies",
                    _guarantees(chosen) if guarantees else _errors(chosen, errors),
                    horizontal=varied,
                    vertical="central epsilon" if guarantees else error,
                    log="y",
                )
            )
    return panels


def _errors(table: Table, errors: Mapping[str, str]) -> list[Curve]:
    curves = []
    for label, name in errors.items():
        # Only simulated errors have an interval.
        low, high = (
            table.column(f"{name} {end}") if f"{name} {end}" in table.columns else None
            for end in ("low", "high")
        )
        at, values = table.column("at"), table.column(name)
        curves.append(Curve(label, at, values, low=low, high=high))
    return curves


def _guarantees(table: Table) -> list[Curve]:
    certified = {
        _CERTIFIED.format(group): f"cert. {group[0].upper()}" for group in _GROUPS
    }
    return column_curves(
        table.column("at"), table, {_CLAIM: "eps(mu)", **certified}, ours=certified
    )
