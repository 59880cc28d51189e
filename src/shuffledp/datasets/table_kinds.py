"""Which files are tables of people, and how large one may be; loads no table reader."""

from shuffledp.errors import InvalidInputError

SEPARATED = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
TABLES = SEPARATED + JSON_LINES + PARQUET

# More categories than this are no table that anybody reads.
MAX_TABLE_CATEGORIES = 100_000


def category_names(text: str) -> int | tuple[str, ...]:
    """Reads "17" as a number of categories and "a,b,c" as their names."""
    if text.strip().isdecimal():
        number = int(text)
        if not 2 <= number <= MAX_TABLE_CATEGORIES:
            raise InvalidInputError(
                f"Expected 2 to {MAX_TABLE_CATEGORIES:,} categories, got {text.strip()}."
            )
        return number
    names = tuple(name.strip() for name in text.split(","))
    if len(set(names)) != len(names) or len(names) < 2 or "" in names:
        raise InvalidInputError(
            "Expected --categories to be a number or at least 2 different names, "
            f"such as 17 or yes,no; got {text!r}."
        )
    return names
