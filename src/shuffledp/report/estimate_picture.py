"""Pictures of a rehearsal: estimates with their intervals beside the truth."""

from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure
from shuffledp.report.chart_parts import title
from shuffledp.report.listed_rows import listed_rows
from shuffledp.report.section_chart import draw_section, section_height
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_section import SummarySection

_WIDTH = 7.6
# Of the title of a section, in inches.
_TITLE = 0.3


def estimate_picture(summary: Summary) -> MatplotlibPicture:
    """Draws all sections of a summary that have a picture, one below another."""
    drawn = [section for section in summary.sections if section.chart is not None]
    if len(drawn) == 1:
        return section_picture(drawn[0], summary.confidence)
    heights = [section_height(section) + _TITLE for section in drawn]
    figure = new_figure(_WIDTH, sum(heights))
    parts = figure.subfigures(len(drawn), 1, squeeze=False, height_ratios=heights)
    for part, section in zip(parts.ravel(), drawn, strict=True):
        part.suptitle(title(section.words.title), fontsize=11, fontweight="bold")
        draw_section(part, section, summary.confidence)
    return MatplotlibPicture(
        figure, f"Estimated and true numbers of {len(drawn)} pictures"
    )


def section_picture(section: SummarySection, confidence: float) -> MatplotlibPicture:
    """Draws one section of a summary.

    Args:
        section: With a chart.
        confidence: Of the intervals, in (0, 1).
    """
    words, display = section.words, section.words.display
    figure = new_figure(_WIDTH, section_height(section))
    draw_section(figure, section, confidence)
    if display.is_single:
        return MatplotlibPicture(figure, f"Estimated and true {words.name}")
    num_rows = len(listed_rows(section))
    return MatplotlibPicture(
        figure, f"Estimated and true {display.noun} of {num_rows} {words.rows}"
    )
