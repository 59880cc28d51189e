"""Tables of the levels of a statement."""

from dataclasses import dataclass

from shuffledp.accounting.epsilon_solver import shortened
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.format_number import plain

COALITION_HEADING = "shuffler and analyst together"


@dataclass(frozen=True)
class LevelTable:
    """A table of levels.

    Attributes:
        headings: Of the columns; the last two are the certified value and the attack's.
            What is left against shuffler and analyst together has a column before these
            where it is not the local epsilon of the first column.
        rows: One per level.
        worst: The certified (epsilon, delta) of the level protected least.
        differ: Whether another level is protected better.

    Certified numbers of more than 15 digits are shown with six, rounded upward.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    worst: tuple[float, float]
    differ: bool


def level_table(statement: Statement) -> LevelTable:
    """Returns the table of a statement."""
    symbol = solved(statement)
    levels = statement.levels
    certified = {(level.epsilon_central, level.delta_central) for level in levels}
    largest_epsilon, differ = max(certified), len(certified) > 1
    if statement.epsilon is None:
        largest_epsilon = shortened(largest_epsilon[0]), largest_epsilon[1]
    return LevelTable(
        (
            chosen_heading(statement),
            "people",
            "hide among",
            *([COALITION_HEADING] if _coalition_differs(statement) else []),
            f"central {symbol}, certified",
            "attack shows",
        ),
        tuple(
            _level_row(level, symbol, coalition=_coalition_differs(statement))
            for level in levels
        ),
        largest_epsilon,
        differ,
    )


def solved(statement: Statement) -> str:
    """Returns the name of the parameter that was solved for."""
    return "epsilon" if statement.epsilon is None else "delta"


def chosen_heading(statement: Statement) -> str:
    """Returns the heading of the column of chosen levels or targets."""
    on_targets = any(level.epsilon_local is None for level in statement.levels)
    return "central epsilon asked for" if on_targets else "local epsilon"


def _coalition_differs(statement: Statement) -> bool:
    return any(
        level.epsilon_coalition != level.epsilon_local or level.epsilon_local is None
        for level in statement.levels
    )


def _coalition_cell(level: LevelGuarantee) -> str:
    epsilon = level.epsilon_coalition
    return "no guarantee" if epsilon is None else _certified_cell(epsilon)


def _certified_cell(number: float) -> str:
    return plain(shortened(number))


def _level_row(
    level: LevelGuarantee, symbol: str, *, coalition: bool
) -> tuple[str, ...]:
    lower = getattr(level, f"{symbol}_central_lower")
    return (
        plain(level.chosen) + (f" ({level.quantile})" if level.quantile else ""),
        f"{level.count:,}",
        f"{level.hides_among:,}",
        *([_coalition_cell(level)] if coalition else []),
        _certified_cell(getattr(level, f"{symbol}_central")),
        # At 0 no attack was found, which does not say that there is none.
        plain(lower) if lower > 0.0 else "nothing",
    )
