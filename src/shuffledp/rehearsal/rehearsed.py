"""Result of a rehearsal, with its tables, pictures and files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arguments import expect_path
from shuffledp.display_text import (
    interval_text,
    number_format,
    printable,
    printable_names,
)
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.file_writing import check_folder, check_new, write_file
from shuffledp.format_number import plain
from shuffledp.matplotlib_picture import MatplotlibPicture
from shuffledp.option_text import in_python
from shuffledp.report.estimate_picture import estimate_picture
from shuffledp.report.estimates_frame import estimates_frame
from shuffledp.report.files import html_report, write_report
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.text_tables import TextTable, as_html, as_text

if TYPE_CHECKING:
    import polars as pl

# Of the names in text tables, which should fit a screen of 80 characters.
_LONGEST_NAME = 24
# Endings of files that a report is not: its folder would have a misleading name.
_OTHER_FILES = frozenset(
    [
        ".arrow",
        ".csv",
        ".doc",
        ".docx",
        ".feather",
        ".jpg",
        ".json",
        ".md",
        ".odt",
        ".parquet",
        ".pdf",
        ".png",
        ".svg",
        ".tex",
        ".txt",
        ".xls",
        ".xlsx",
    ]
)


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsed:
    """Result of a rehearsed collection: estimates, the truth, and the guarantee.

    >>> import shuffledp as sdp
    >>> frame = {"way": ["bike", "train"] * 1_000, "epsilon": [1.0] * 2_000}
    >>> import polars as pl
    >>> result = sdp.rehearse(pl.DataFrame(frame), value="way", level="epsilon", seed=1)
    >>> result.to_frame()["truth"].to_list()
    [0.5, 0.5]
    >>> result.guarantee.worst.epsilon_central
    0.0861705

    Attributes:
        summary: The result as plain values.
    """

    summary: Summary

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for the people of every level."""
        return self.summary.guarantee

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about serious problems, such as levels that depend on values."""
        return self.summary.warnings

    @property
    def plan(self) -> Any:
        """The plan of the collection, where one was made: None of single messages."""
        return self.summary.plan

    @property
    def estimates(self) -> Mapping[str, Any]:
        """Estimates by question, with all that they can compute: margins, quantiles."""
        return self.summary.estimates

    def to_frame(self) -> "pl.DataFrame":
        """Returns all estimates as a Polars data frame: a row per estimated number.

        Its `to_pandas` and `to_arrow` make others of it.
        """
        return estimates_frame(self.summary)

    def plot(self) -> MatplotlibPicture:
        """Draws estimates with their intervals beside the truth.

        Raises:
            MissingExtraError: If the report extra is not installed.
        """
        return estimate_picture(self.summary)

    def report(self, path: str | Path, *, force: bool = False) -> list[Path]:
        """Writes the report: one page, if the path ends in .html, or else a folder.

        A folder gets the page, its pictures, JSON, CSV, Parquet and an Arrow file, as on
        the command line.

        Args:
            path: Of the page, or of a folder that is new or empty.
            force: Whether existing files may be replaced.

        Returns:
            The paths of the files.

        Raises:
            InvalidInputError: If it is no path, or of another kind of file, such as .pdf.
            DataError: If they cannot be written, or would replace other files.
            MissingExtraError: If the report extra is not installed.
        """
        target = expect_path(path, "a page or a folder")
        ending = target.suffix.lower()
        is_page = ending in (".html", ".htm")
        if ending in _OTHER_FILES and not target.is_dir():
            raise InvalidInputError(
                "Expected the path of a page, which ends in .html, or of a folder for "
                f"page, pictures and tables, got {target.name}."
            )
        try:
            # Files that may not be replaced are refused before the page is rendered.
            if is_page:
                check_new([target], force=force)
            else:
                check_folder(target, force=force)
        # Errors name command-line options; here they name Python arguments.
        except DataError as error:
            raise DataError(in_python(error)) from None
        if not is_page:
            return write_report(self.summary, target)
        write_file(target, html_report(self.summary))
        return [target]

    def __str__(self) -> str:
        """Returns the tables of estimates and of levels, as text."""
        return as_text(*self._estimates(), *self.guarantee.views())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(*self._estimates(), *self.guarantee.views())

    def _estimates(self) -> tuple[TextTable, ...]:
        summary, sections = self.summary, self.summary.sections
        last = len(sections) - 1
        # What is true of all sections stands once, below the last.
        return tuple(
            self._table(
                section,
                summary.warnings if index == last else (),
                summary.sentences if index == last else (),
            )
            for index, section in enumerate(sections)
        )

    def _table(
        self,
        section: SummarySection,
        warnings: tuple[str, ...],
        sentences: tuple[str, ...],
    ) -> TextTable:
        summary, rows = self.summary, listed_rows(section)
        written = number_format(section.words.display, [row.spread for row in rows])

        names = printable_names([row.name for row in rows], _LONGEST_NAME)

        def texts(name: str, row: EstimateRow) -> tuple[str, ...]:
            truth = "-" if row.truth is None else written(row.truth)
            interval = interval_text(written, row.low, row.high)
            beside = () if row.consistent is None else (written(row.consistent),)
            return name, written(row.estimate), *beside, interval, truth

        people = f"{summary.num_users:,} people, rehearsed"
        is_own = section.words.title == summary.words.title
        # The title of a question is whatever its author called it.
        title = f"of {people}" if is_own else f"({people})"
        if len(summary.sections) == 1:
            title += f": {printable(summary.source)}"
        return TextTable(
            f"{printable(section.words.title)} {title}",
            (
                section.words.row,
                "estimate",
                *(("consistent",) if section.has_consistent else ()),
                f"{plain(100 * summary.confidence)}% interval",
                "truth",
            ),
            tuple(map(texts, names, rows)),
            warnings,
            (section.coverage(summary.confidence), *sentences),
        )
