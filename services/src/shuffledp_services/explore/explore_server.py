"""A server of the explore page, for this machine only."""

from collections.abc import Callable
from contextlib import suppress

import uvicorn

from shuffledp_services.explore.explore_app import create_explore
from shuffledp_services.operator.server import listen, url_of

# The loopback address: other machines cannot connect.
_HOST = "127.0.0.1"


def run_explore(port: int, started: Callable[[str], None]) -> None:
    """Serves the explore page until a signal ends it.

    Args:
        port: A port of 127.0.0.1; 0 for any free port.
        started: Called with the URL as soon as the port accepts connections.

    Raises:
        DataError: If the port is taken.
    """
    with listen(_HOST, port) as listening:
        # The socket already queues connections, so a browser may connect before the
        # server runs.
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
