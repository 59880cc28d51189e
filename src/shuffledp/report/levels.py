"""What a guarantee says of every level: the rows of tables and the marks of pictures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.report.words import plain

AnyGuarantee: TypeAlias = Guarantee | ItemsGuarantee


@dataclass(frozen=True)
class LevelTable:
    """A table of levels, and what stands around it.

    Attributes:
        headings: Of the columns; the last two are of what is certified, and of what an
            attack shows.
        rows: One per level.
        worst: The certified (epsilon, delta) of the level protected least.
        parameters: Public parameters, by name.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    worst: tuple[float, float]
    parameters: Mapping[str, int | float | str]


def level_table(guarantee: AnyGuarantee) -> LevelTable:
    """Returns the table of a guarantee at a delta."""
    ends = ("central epsilon, certified", "attack shows")
    if isinstance(guarantee, ItemsGuarantee):
        return LevelTable(
            ("epsilon asked for", "people", "send chance", *ends),
            tuple(
                (
                    plain(level.level),
                    f"{level.count:,}",
                    plain(level.send_chance),
                    plain(level.epsilon_central),
                    plain(level.epsilon_central_lower),
                )
                for level in guarantee.levels
            ),
            (guarantee.worst.epsilon_central, guarantee.delta),
            {
                "num_items": guarantee.num_items,
                "set_size": guarantee.set_size,
                "blanket": guarantee.blanket,
                "report_size": guarantee.report_size,
            },
        )
    return LevelTable(
        ("local epsilon", "people", "hide among", *ends),
        tuple(
            (
                plain(level.epsilon_local)
                + (f" ({level.quantile})" if level.quantile else ""),
                f"{level.count:,}",
                f"{level.hides_among:,}",
                plain(level.epsilon_central),
                plain(level.epsilon_central_lower),
            )
            for level in guarantee.levels
        ),
        (guarantee.worst.epsilon_central, guarantee.worst.delta_central),
        guarantee.parameters,
    )
