"""Errors and guarantees against f_c and against epsilon_c, side by side."""

from collections.abc import Mapping, Sequence

from shuffledp.types import Floats
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.result import Cell

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


def two_panels(
    title: str,
    setting: Mapping[str, Cell],
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    error: str,
    errors: Mapping[str, str],
) -> str:
    """Returns, as SVG, errors above and guarantees below, for both varied parameters.

    Args:
        title: Of the experiment.
        setting: Of the experiment.
        columns: Of the table; among them "eps(mu)", "cert. C", "cert. M", "cert. L", and
            for each simulated error "NAME low" and "NAME high".
        rows: Of the table: varied parameter, its value, then numbers.
        error: The label of the errors' axis.
        errors: {label: column} of those to draw.
    """
    indices = {name: index for index, name in enumerate(columns)}
    panels = []
    for guarantees in (False, True):
        for varied in ("f_c", "epsilon_c"):
            chosen = [row for row in rows if row[0] == varied]
            panels.append(
                Panel(
                    "" if guarantees else f"{varied} varies",
                    _guarantees(indices, chosen)
                    if guarantees
                    else _errors(indices, chosen, errors),
                    horizontal=varied,
                    vertical="central epsilon" if guarantees else error,
                    log="y",
                )
            )
    description = f"The {error} and central epsilons, against f_c and epsilon_c"
    return draw(title, setting, panels, description=description)


def _errors(
    indices: Mapping[str, int],
    rows: Sequence[Sequence[Cell]],
    errors: Mapping[str, str],
) -> list[Curve]:
    at = [row[1] for row in rows]
    curves = []
    for label, name in errors.items():
        # Only simulated errors have an interval.
        low, high = (
            [row[indices[f"{name} {end}"]] for row in rows]
            if f"{name} {end}" in indices
            else None
            for end in ("low", "high")
        )
        values = [row[indices[name]] for row in rows]
        curves.append(Curve(label, at, values, low=low, high=high))
    return curves


def _guarantees(
    indices: Mapping[str, int], rows: Sequence[Sequence[Cell]]
) -> list[Curve]:
    at = [row[1] for row in rows]
    claim = Curve(_CLAIM, at, [row[indices["eps(mu)"]] for row in rows])
    certified = [
        Curve(
            _CERTIFIED.format(group),
            at,
            [row[indices[f"cert. {group[0].upper()}"]] for row in rows],
            ours=True,
        )
        for group in _GROUPS
    ]
    return [claim, *certified]
