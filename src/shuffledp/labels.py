"""What people are told a statistic is."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from shuffledp.types import Mode

Unit: TypeAlias = Literal["share", "number"]


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
class StatisticLabels:
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
