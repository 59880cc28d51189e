"""Whether a service may be sent requests, which is more than that it lives."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from shuffledp.extras import require
from shuffledp.service.events import log_crash
from shuffledp.service.wire.refusal import Refusal

require("starlette", extra="service", what="A service")

from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, Response  # noqa: E402

STARTING = "starting"
STOPPING = "stopping"
NO_STORAGE = "the database cannot be used"
NO_ROOM = "there is no room for a batch"


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
        if self.reason is None:
            return JSONResponse({"status": "ready", **self._said}, headers=fresh)
        return JSONResponse(
            {"status": "not-ready", "reason": self.reason, **self._said},
            status_code=HTTPStatus.SERVICE_UNAVAILABLE,
            headers=fresh,
        )
