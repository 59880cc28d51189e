"""Picture of a plan: predicted errors of its protocols, one below the other."""

from collections.abc import Sequence

from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure

_BLUE, _ORANGE = "#1f5fa8", "#d9730d"


def errors_picture(
    names: Sequence[str], errors: Sequence[float], *, recommended: int
) -> MatplotlibPicture:
    """Draws errors on one axis, which begins at 0.

    Args:
        names: Of the protocols.
        errors: Predicted, one per protocol; an infinite one stays without a mark.
        recommended: The index of the recommended protocol.
    """
    figure = new_figure(7.6, 1.1 + 0.3 * len(names))
    axes = figure.subplots()
    colors = [_ORANGE if row == recommended else _BLUE for row in range(len(names))]
    axes.scatter(errors, range(len(names)), c=colors)
    # From 0: distances then show by which factor errors differ.
    axes.set_xlim(left=0.0)
    axes.set_yticks(range(len(names)), list(names))
    axes.invert_yaxis()  # The first protocol on top.
    axes.set_xlabel("predicted error (orange: recommended)")
    return MatplotlibPicture(figure, f"Predicted errors of {len(names)} protocols")
