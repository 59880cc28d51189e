"""Requests to a service: problem documents become refusals, and nothing goes out in clear.

A request that was not answered, or could not be stored, is sent again: all that the
services are asked to do can be asked twice.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.extras import require
from shuffledp.service.http.trusted_certificates import untrusted_reason
from shuffledp.service.wire.canonical import read_object
from shuffledp.service.wire.refusal import Reason, Refusal

require("httpx", extra="service", what="A client of a service")

import httpx  # noqa: E402

ATTEMPTS = 8
TIMEOUT = 60.0

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_TYPE = "urn:shuffledp:problem:"
_LOCAL = ("localhost", "127.0.0.1", "::1")


class UnreachableError(ShuffledpError):
    """A service does not answer, or answers what no service of this kind would."""


@dataclass(frozen=True)
class Reply:
    """What a service answered.

    Attributes:
        document: One JSON object.
        attempts: How often it was asked: at an earlier time it may have done its part
            without being heard.
    """

    document: dict[str, Any]
    attempts: int


def service_url(text: str) -> str:
    """Returns the address of a service, without a slash at its end.

    Raises:
        InvalidInputError: If it is none, holds white space or characters that cannot be
            seen, or would send tokens and keys in clear.
    """
    # Read first: what splits addresses leaves line ends out, and they would break links.
    if not text.isprintable() or " " in text:
        raise InvalidInputError(
            f"Expected a URL without white space and control characters, got {text!r}."
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https") or port == 0:
        raise InvalidInputError(
            "Expected a URL such as https://host, with a port from 1 to 65535 if it names "
            f"one, got {text!r}."
        )
    if "?" in text or "#" in text:
        raise InvalidInputError(f"Expected a URL that ends in a path, got {text!r}.")
    if parts.scheme == "http" and host not in _LOCAL:
        raise InvalidInputError(
            f"Expected https://, except on this machine, got {text!r}: tokens and keys "
            "would travel in clear."
        )
    return text.rstrip("/")


async def ask(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    attempts: int | None = None,
) -> Reply:
    """Returns what a service answers, asked again while it is out of reach or full.

    Args:
        client: To ask with.
        method: Of HTTP.
        url: Which is asked.
        content: Of the request.
        headers: Of the request.
        attempts: How often to ask at most; None for `ATTEMPTS`.

    Raises:
        Refusal: If it refuses, for its reason; `attempts` is an attribute of it.
        UnreachableError: If it does not answer, or its certificate is not trusted.
    """
    attempts, pause = attempts or ATTEMPTS, _FIRST_PAUSE
    for attempt in range(1, attempts + 1):
        try:
            response = await client.request(
                method, url, content=content, headers=headers
            )
        except httpx.TransportError as error:
            if reason := untrusted_reason(error):
                raise UnreachableError(
                    f"Certificate not trusted at {url}: {reason}. Name the authority that "
                    "issued it with --ca FILE."
                ) from error
            response = None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(f"Expected a service at {url}.") from error
        if response is not None:
            refusal = _refusal(response)
            # A disk that is full, or a database that restarts, may have room later.
            if refusal is not None and (
                refusal.reason is not Reason.STORAGE or attempt == attempts
            ):
                raise Refused(refusal, attempt)
            if response.is_success:
                return Reply(read_object(response.content, "an answer"), attempt)
            if response.status_code < 500:
                raise UnreachableError(
                    f"Expected a service of this package at {url}, got status "
                    f"{response.status_code}."
                )
        if attempt < attempts:
            await asyncio.sleep(pause)
            pause = min(2.0 * pause, _LONGEST_PAUSE)
    raise UnreachableError(f"Expected an answer from {url}, got none.")


class Refused(Refusal):
    """A refusal that was received.

    Attributes:
        attempts: How often the service was asked.
    """

    def __init__(self, refusal: Refusal, attempts: int) -> None:
        super().__init__(refusal.reason, str(refusal))
        self.attempts = attempts


def _refusal(response: httpx.Response) -> Refusal | None:
    """Returns the refusal in a problem document; None if it is anything else."""
    if response.is_success:
        return None
    try:
        document = read_object(response.content, "a problem document")
        reason = Reason(str(document.get("type")).removeprefix(_TYPE))
    except (Refusal, ValueError):
        return None
    # What somebody else wrote goes to a terminal: printable, and not much of it.
    detail = str(document.get("detail", ""))[:500]
    return Refusal(reason, "".join(c if c.isprintable() else "?" for c in detail))
