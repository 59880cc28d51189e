"""Readiness of a service to take requests, as opposed to being alive."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from shuffledp_services.monitoring.event_log import log_crash
from shuffledp_services.wire.refusal import Refusal

STARTING = "starting"
STOPPING = "stopping"
NO_STORAGE = "the database cannot be used"
NO_ROOM = "there is no room for a batch"
CLOCK_JUMPED = "this machine's clock jumped: deadlines wait for a minute"
CLOCKS_DIFFER = "the clocks of this machine and of the {} differ by more than a minute"
UNTENDED = "no process hands over batches and keeps deadlines"

_log = logging.getLogger("shuffledp_services")


class Readiness:
    """Readiness of a service, from the opening of its storage until it stops.

    Attributes:
        reason: Why the service is not ready; None while it is.
    """

    def __init__(self, fields: Mapping[str, str | int]) -> None:
        """Begins as not ready, because the service starts.

        Args:
            fields: Further fields of the answer, none about participants.
        """
        self.reason: str | None = STARTING
        self._fields = dict(fields)
        self._warnings = list[str]()

    def warn(self, warning: str, *, holds: bool) -> None:
        """Adds or removes a warning, which does not affect readiness.

        Args:
            warning: Text of the warning.
            holds: Whether to add it; False removes it.
        """
        # Logged once, and not at every check.
        if holds and warning not in self._warnings:
            self._warnings.append(warning)
            _log.warning("Not as it should be: %s.", warning)
        elif not holds and warning in self._warnings:
            self._warnings.remove(warning)

    def set_storage(self, *, usable: bool, otherwise: str = NO_STORAGE) -> None:
        """Records whether the storage is usable.

        Args:
            usable: Whether it is.
            otherwise: Reason for not being ready if it is not.
        """
        # A service that stops does not become ready again.
        if self.reason != STOPPING:
            self.reason = None if usable else otherwise

    async def check_storage(
        self, check: Callable[[], Awaitable[None]], otherwise: str = NO_STORAGE
    ) -> bool:
        """Checks the storage by using it, and records and returns whether it is usable.

        Args:
            check: Raises any exception if the storage is not usable.
            otherwise: Reason for not being ready if it is not.
        """
        usable = False
        try:
            await check()
            usable = True
        # Expected of a storage that is not usable, and no crash.
        except Refusal:
            pass
        except Exception as error:
            log_crash(error)
        self.set_storage(usable=usable, otherwise=otherwise)
        return usable

    async def get_ready(self, _request: Request) -> Response:
        """Answers whether the service is ready."""
        # Not an earlier answer that something on the way has stored.
        fresh = {"Cache-Control": "no-store"}
        warnings = {"warnings": list(self._warnings)} if self._warnings else {}
        if self.reason is None:
            return JSONResponse(
                {"status": "ready", **self._fields, **warnings}, headers=fresh
            )
        return JSONResponse(
            {"status": "not-ready", "reason": self.reason, **self._fields, **warnings},
            status_code=HTTPStatus.SERVICE_UNAVAILABLE,
            headers=fresh,
        )
