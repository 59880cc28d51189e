"""Serves the page to play with, on this machine alone."""

from collections.abc import Callable
from contextlib import suppress

from shuffledp.explore.app import create_explore
from shuffledp.extras import require
from shuffledp.service.operator.server import listen, url_of

require("uvicorn", extra="service", what="The page of shuffledp explore")

import uvicorn  # noqa: E402

_HOST = "127.0.0.1"


def run_explore(port: int, started: Callable[[str], None]) -> None:
    """Serves until a signal comes.

    Args:
        port: Of this machine's own address; 0 for any that is free.
        started: Is told the URL; from then on it can be asked for.

    Raises:
        DataError: If the port is taken.
    """
    with listen(_HOST, port) as listening:
        # Requests wait from now on, so that a browser may come before the server.
        started(url_of(_HOST, listening))
        config = uvicorn.Config(
            create_explore(),
            access_log=False,
            server_header=False,
            log_level="critical",
            log_config=None,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
