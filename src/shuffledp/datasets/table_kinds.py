"""File suffixes of tables, and names of categories, without loading a table reader."""

from collections.abc import Sequence

from shuffledp.errors import InvalidInputError
from shuffledp.option_text import Argument, option_text

SEPARATED = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
TABLES = SEPARATED + JSON_LINES + PARQUET

# Largest number of categories: no one reads a longer table.
MAX_TABLE_CATEGORIES = 100_000


def category_names(given: str | int | Sequence[str]) -> int | tuple[str, ...]:
    """Parses 17 or "17" as a number of categories, "a,b,c" or a list as their names."""
    if isinstance(given, int) or (
        # Without isascii, digits of other scripts would be numbers, too.
        isinstance(given, str) and given.isascii() and given.strip().isdecimal()
    ):
        num_categories = int(given)
        if not 2 <= num_categories <= MAX_TABLE_CATEGORIES:
            raise InvalidInputError(
                f"Expected 2 to {MAX_TABLE_CATEGORIES:,} categories, got {num_categories}."
            )
        return num_categories
    texts = given.split(",") if isinstance(given, str) else given
    names = tuple(name.strip() for name in texts)
    if len(set(names)) != len(names) or len(names) < 2 or "" in names:
        raise InvalidInputError(
            option_text(
                "Expected {} to be a number or at least 2 different names, such as 17 or "
                "yes,no; got {!r}.",
                Argument("categories"),
                given,
            )
        )
    return names
