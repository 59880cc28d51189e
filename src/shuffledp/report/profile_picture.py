"""Picture of privacy profiles: delta against epsilon, one band per level."""

import numpy as np

from shuffledp.accounting.privacy_profile import PrivacyProfile
from shuffledp.format_number import plain
from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure

# Of different lightness, so that they differ in black-and-white print, too.
_COLORS = ("#1f5fa8", "#d9730d", "#2e7d4f", "#8a3ea0", "#a61c3c", "#57606a")
# Lower end of the logarithmic axis: smaller deltas are drawn there.
_FLOOR = 1e-12


def profile_picture(profiles: list[PrivacyProfile]) -> MatplotlibPicture:
    """Draws the band between attack and certificate for every level."""
    figure = new_figure(7.6, 4.6)
    axes = figure.subplots()
    for index, profile in enumerate(profiles):
        color = _COLORS[index % len(_COLORS)]
        certified = np.maximum(profile.certified, _FLOOR)
        attacked = np.maximum(profile.attacked, _FLOOR)
        axes.fill_between(
            profile.epsilons, attacked, certified, color=color, alpha=0.25, lw=0
        )
        axes.plot(
            profile.epsilons,
            certified,
            color=color,
            label=f"level {plain(profile.epsilon_local)}",
        )
        axes.plot(profile.epsilons, attacked, color=color, linestyle=":", lw=1.2)
    axes.set_yscale("log")
    axes.set_ylim(_FLOOR, 1.0)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("central epsilon")
    axes.set_ylabel("delta (solid: certified, dotted: an attack shows)")
    axes.legend(frameon=False, ncols=2)
    return MatplotlibPicture(figure, f"Privacy profile of {len(profiles)} levels")
