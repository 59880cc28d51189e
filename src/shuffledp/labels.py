"""Names and titles of a statistic for display."""

from dataclasses import dataclass

from shuffledp.types import Mode

UNBIASED_IF: dict[Mode, str] = {
    "agnostic": (
        "Unbiased if values and levels are independent: levels were shuffled apart from "
        "the messages. If certain people choose certain levels, use the stratified mode."
    ),
    "stratified": (
        "Unbiased whatever the levels depend on: every message carries its level, and "
        "people hide among their own level only."
    ),
}


@dataclass(frozen=True)
class Display:
    """Display of a statistic's numbers in tables, reports and plots.

    Attributes:
        noun: For a single number, such as "share".
        factor: A displayed number is this multiple of the estimate.
        suffix: Follows a displayed number.
        axis: Label of an axis of displayed numbers.
        decimals: Of displayed numbers; None for as many as the standard error justifies.
        has_bars: Whether the distance of a number from 0 means something.
        is_single: Whether one number is estimated, with an interval about the participants
            and one about the population that they come from.
        note: A sentence below the numbers of a report, or none.
        shift_unit: Unit of a difference of two displayed numbers, or none.
    """

    noun: str
    factor: float = 1.0
    suffix: str = ""
    axis: str = ""
    decimals: int | None = None
    has_bars: bool = True
    is_single: bool = False
    note: str = ""
    shift_unit: str = ""

    @property
    def has_bar_column(self) -> bool:
        """Whether tables have a column of bars."""
        # Bars compare rows: a single number has no other to be compared with.
        return self.has_bars and not self.is_single


SHARES = Display(
    "share",
    factor=100.0,
    suffix="%",
    axis="share of the people (%)",
    decimals=2,
    note="Estimates are not cut off at 0: that would bias the others.",
    shift_unit="percentage points",
)


@dataclass(frozen=True)
class StatisticLabels:
    """Names and titles of one statistic, for all displays.

    Attributes:
        name: In commands, files and certificates, such as "frequency".
        title: Over a table, such as "Frequencies".
        asked: The question it answers, such as "How often each category occurs".
        row: The subject of a row of its table, such as "category".
        rows: The plural of `row`, such as "categories".
        display: How its numbers are displayed.
    """

    name: str
    title: str
    asked: str
    row: str
    rows: str
    display: Display
