"""Runs a service until it is stopped, and says nothing about who asked it what."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from starlette.applications import Starlette

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.service.wire.task import Task

require("uvicorn", extra="service", what="A service")

import uvicorn  # noqa: E402

Hosted = TypeVar("Hosted")
Store = TypeVar("Store")


def run(app: Starlette, *, host: str, port: int) -> None:
    """Serves until a signal comes; what is being answered is answered before it ends."""
    # What a service writes is for its own user's eyes.
    os.umask(0o077)
    uvicorn.run(
        app,
        host=host,
        port=port,
        # Where people are, and what they ask for, is nobody's business.
        access_log=False,
        proxy_headers=False,
        server_header=False,
        log_level="warning",
    )


def hosted_tasks(
    folders: Sequence[Path], load: Callable[[Path], tuple[Task, Hosted]]
) -> dict[str, Hosted]:
    """Returns what is served, by the tasks' identities.

    Raises:
        InvalidInputError: If a task is named twice.
    """
    found = dict[str, Hosted]()
    for folder in folders:
        task, hosted = load(folder)
        if task.identity in found:
            raise InvalidInputError(f"Expected each task once: {folder}.")
        found[task.identity] = hosted
    return found


def store_at(
    database: str,
    *,
    sqlite: Callable[[Path], Store],
    postgres: Callable[[str], Store] | None = None,
) -> Store:
    """Returns a store, not opened yet.

    Args:
        database: "sqlite:///relative", "sqlite:////absolute", or "postgresql://...".
        sqlite: Makes a store in a file.
        postgres: Makes a store on a server; None if there is none of this kind.

    Raises:
        InvalidInputError: If the text is no such address; it is not repeated, as it may
            hold a password.
    """
    scheme, _, rest = database.partition(":///")
    if scheme == "sqlite" and rest:
        return sqlite(Path(rest))
    try:
        server = urlsplit(database).scheme in ("postgresql", "postgres")
    except ValueError:
        server = False
    if server and postgres is not None:
        return postgres(database)
    known = "" if postgres is None else " or postgresql://USER@HOST/NAME"
    raise InvalidInputError(f"Expected --database sqlite:///FILE{known}.")
