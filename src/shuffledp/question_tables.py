"""The tables of a TOML file of questions."""

import tomllib
from pathlib import Path
from typing import Any

from shuffledp.errors import DataError

_LARGEST_FILE = 2**24


def read_question_tables(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the table of each question, by its name, in the order of the file.

    Args:
        path: Of a file in UTF-8 with tables [questions.NAME], and nothing else.

    Raises:
        DataError: If it cannot be read, or has no such tables.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"Expected a file of questions below 16 MB: {path}.")
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"Expected TOML in {path}: {error}.") from error
    described = tables.get("questions")
    if set(tables) != {"questions"} or not isinstance(described, dict) or not described:
        raise DataError(
            f"Expected tables named [questions.NAME] in {path}, and nothing else."
        )
    for name, table in described.items():
        if not isinstance(table, dict):
            raise DataError(f"{path}: Expected a table [questions.{name}].")
    return described
