"""What people are told a statistic is."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["share", "number"]


@dataclass(frozen=True)
class Words:
    """The words of one statistic, wherever it is shown.

    Attributes:
        name: In commands, files and certificates, such as "frequency".
        title: Over a table, such as "Frequencies".
        asked: What it answers, such as "How often each category occurs".
        row: What one row of its table is about, such as "category".
        rows: Several of them, such as "categories".
        unit: Whether it estimates shares, shown in percent, or other numbers.
    """

    name: str
    title: str
    asked: str
    row: str
    rows: str
    unit: Unit
