"""Picture of a guarantee: each level's certified epsilon beside the chosen one."""

from shuffledp.accounting.statement import Statement
from shuffledp.format_number import plain
from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure

_BLUE, _ORANGE, _GREY = "#1f5fa8", "#d9730d", "#6b7280"


def guarantee_picture(statement: Statement) -> MatplotlibPicture:
    """Draws the certified central epsilon of each level beside its local one.

    If users chose central targets, these take the place of local levels.
    """
    central_choices = any(level.epsilon_local is None for level in statement.levels)
    beside = "central, asked for" if central_choices else "local, on the device"
    # Larger where both marks may coincide, so that both are visible.
    area = 110.0 if central_choices else None
    title = f"Epsilon of each level: {beside}, and certified"
    levels = [(level.chosen, level.epsilon_central) for level in statement.levels]
    figure = new_figure(7.6, 1.2 + 0.5 * len(levels))
    axes = figure.subplots()
    for row, (level, central) in enumerate(levels):
        # A logarithmic axis has no 0: levels of 0 stay without a mark.
        if central > 0:
            axes.plot(
                [central, level], [row, row], color=_GREY, linewidth=1.2, zorder=1
            )
            axes.annotate(
                plain(central),
                (central, row),
                textcoords="offset points",
                xytext=(0, 8),
                ha="center",
                fontsize=9,
                color=_BLUE,
            )
        axes.scatter([level], [row], s=area, color=_ORANGE, zorder=2)
        axes.scatter([central], [row], color=_BLUE, zorder=2)
    axes.scatter([], [], color=_BLUE, label="central, certified")
    axes.scatter([], [], s=area, color=_ORANGE, label=beside)
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_yticks(
        range(len(levels)), [f"level {plain(level)}" for level, _ in levels]
    )
    # Reversed: the first level on top, with space for the number above it.
    axes.set_ylim(len(levels) - 0.4, -0.9)
    axes.set_xlabel(f"epsilon (central: at delta = {plain(statement.delta or 0.0)})")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return MatplotlibPicture(figure, title)
