"""Whether a service may be sent requests, which is more than that it lives."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from shuffledp.extras import require
from shuffledp.service.monitoring.events import log_crash
from shuffledp.service.wire.refusal import Refusal

require("starlette", extra="service", what="A service")

from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, Response  # noqa: E402

STARTING = "starting"
STOPPING = "stopping"
NO_STORAGE = "the database cannot be used"
NO_ROOM = "there is no room for a batch"
CLOCK_JUMPED = "this machine's clock jumped: deadlines wait for a minute"
CLOCKS_DIFFER = "the clocks of this machine and of the {} differ by more than a minute"
UNTENDED = "no process hands over batches and keeps deadlines"

_log = logging.getLogger("shuffledp.service")


class Readiness:
    """Ready from the moment that everything is opened until the service stops.

    Attributes:
        reason: Why it is not ready; None while it is.
    """

    def __init__(self, said: Mapping[str, str | int]) -> None:
        """Begins as one that starts.

        Args:
            said: What else is answered; never about people.
        """
        self.reason: str | None = STARTING
        self._said = dict(said)
        self._warnings = list[str]()

    def warn(self, warning: str, *, holds: bool) -> None:
        """Learns of something that somebody should look at, though requests may come.

        Args:
            warning: What is said, as long as it holds.
            holds: Whether it does.
        """
        if holds and warning not in self._warnings:
            self._warnings.append(warning)
            _log.warning("Not as it should be: %s.", warning)
        elif not holds and warning in self._warnings:
            self._warnings.remove(warning)

    def storage(self, *, usable: bool, otherwise: str = NO_STORAGE) -> None:
        """Learns whether the storage can be used now.

        Args:
            usable: Whether it can.
            otherwise: What is said if it cannot.
        """
        if self.reason != STOPPING:
            self.reason = None if usable else otherwise

    async def look(
        self, check: Callable[[], Awaitable[None]], otherwise: str = NO_STORAGE
    ) -> bool:
        """Learns whether the storage can be used now, by using it; returns that.

        Args:
            check: Raises whatever it likes if it cannot.
            otherwise: What is said if it cannot.
        """
        usable = False
        try:
            await check()
            usable = True
        except Refusal:
            pass
        except Exception as error:
            log_crash(error)
        self.storage(usable=usable, otherwise=otherwise)
        return usable

    async def get_ready(self, _request: Request) -> Response:
        """Says whether it is ready."""
        fresh = {"Cache-Control": "no-store"}
        warnings = {"warnings": list(self._warnings)} if self._warnings else {}
        if self.reason is None:
            return JSONResponse(
                {"status": "ready", **self._said, **warnings}, headers=fresh
            )
        return JSONResponse(
            {"status": "not-ready", "reason": self.reason, **self._said, **warnings},
            status_code=HTTPStatus.SERVICE_UNAVAILABLE,
            headers=fresh,
        )
