"""The tables of a TOML file of questions."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shuffledp.errors import DataError
from shuffledp.file_reading import require_file
from shuffledp.strict_json import check_depth, too_deep

_LARGEST_FILE = 2**24


def read_question_tables(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the table of each question, by its name, in the order of the file.

    Args:
        path: Of a file in UTF-8 with tables [questions.NAME], and nothing else.

    Raises:
        DataError: If it cannot be read, or has no such tables.
    """
    require_file(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"Expected a file of questions below 16 MB: {path}.")
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"Expected TOML in {path}: {error}.") from error
    except RecursionError:
        raise too_deep(str(path)) from None
    # Names with many dots nest without brackets, and so without any recursion so far.
    check_depth(tables, str(path))
    described = tables.get("questions")
    if set(tables) != {"questions"} or not isinstance(described, dict) or not described:
        raise DataError(
            f"Expected tables named [questions.NAME] in {path}, and nothing else."
        )
    for name, table in described.items():
        if not isinstance(table, dict):
            raise DataError(f"{path}: Expected a table [questions.{name}].")
    return described


def with_named_questions(
    tables: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Returns tables in which combinations state what the questions they name do.

    Args:
        tables: From `read_question_tables`. `attributes` may name choices of the same
            file, instead of stating categories; `people` a choice, and `number` a question
            for a number. Other names are left, for readers to refuse.
    """
    return {name: _stated(name, table, tables) for name, table in tables.items()}


def _stated(
    question: str, table: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    stated = dict(table)
    attributes, people = stated.get("attributes"), stated.get("people")
    if isinstance(attributes, list) and all(
        isinstance(name, str) and "options" in tables.get(name, {})
        for name in attributes
    ):
        if len(set(attributes)) < len(attributes):
            raise DataError(
                f"Expected different attributes in question {question}, got "
                f"{', '.join(attributes)}."
            )
        stated["attributes"] = {name: tables[name]["options"] for name in attributes}
    if isinstance(people, str) and "options" in tables.get(people, {}):
        stated["people"] = tables[people]["options"]
    number = stated.get("number")
    if isinstance(number, str) and number in tables:
        del stated["number"]
        terms = ("low", "high", "digits")
        stated |= {key: tables[number][key] for key in terms if key in tables[number]}
    return stated
