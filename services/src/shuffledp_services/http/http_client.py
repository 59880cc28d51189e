"""Client of the services: retries, refusals from problem documents, HTTPS only.

A request that was not answered, or could not be stored, is sent again: all requests to the
services are idempotent.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp_services.http.trusted_certificates import untrusted_reason
from shuffledp_services.wire.canonical import read_object
from shuffledp_services.wire.refusal import Reason, Refusal

ATTEMPTS = 8
# Some firewalls never answer: a service that can be reached takes less to connect.
TIMEOUT = httpx.Timeout(60.0, connect=10.0)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_TYPE = "urn:shuffledp:problem:"
_LOCAL = ("localhost", "127.0.0.1", "::1")


class UnreachableError(ShuffledpError):
    """A service does not answer, or its answer is not that of a service of this kind."""


@dataclass(frozen=True)
class Reply:
    """Answer of a service.

    Attributes:
        document: One JSON object.
        attempts: Number of requests sent: an earlier one may have been carried out
            although its answer was lost.
    """

    document: dict[str, Any]
    attempts: int


def service_url(text: str) -> str:
    """Returns the URL of a service without a trailing slash.

    Raises:
        InvalidInputError: If `text` is no URL, contains white space or unprintable
            characters, or is a remote http:// URL, which sends tokens and keys in clear.
    """
    # Checked first: `urlsplit` drops line ends silently, and they would break links.
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
    """Sends a request, again while the service is unreachable or full; returns the answer.

    Args:
        client: HTTP client.
        method: HTTP method.
        url: URL of the request.
        content: Body of the request.
        headers: Headers of the request.
        attempts: Largest number of requests; None for `ATTEMPTS`.

    Raises:
        Refused: If the service refuses, with its reason and the number of attempts.
        UnreachableError: If it does not answer, or its certificate is not trusted.
    """
    attempts, pause = attempts or ATTEMPTS, _FIRST_PAUSE
    for attempt in range(1, attempts + 1):
        try:
            response = await client.request(
                method, url, content=content, headers=headers
            )
        # A lost connection: the service may be restarting.
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
            # A full disk or a restarting database may accept the request later.
            if refusal is not None and (
                refusal.reason is not Reason.STORAGE or attempt == attempts
            ):
                raise Refused(refusal, attempt)
            if response.is_success:
                return Reply(read_object(response.content, "an answer"), attempt)
            # A proxy answers 502 to 504 while the service restarts; any other is final.
            if response.status_code < 500:
                raise UnreachableError(
                    f"Expected a service of this package at {url}, got status "
                    f"{response.status_code}."
                )
        if attempt < attempts:
            await asyncio.sleep(pause)
            # Exponential backoff, for a service that restarts or is overloaded.
            pause = min(2.0 * pause, _LONGEST_PAUSE)
    raise UnreachableError(f"Expected an answer from {url}, got none.")


class Refused(Refusal):
    """Refusal received from a service.

    Attributes:
        attempts: Number of requests sent.
    """

    def __init__(self, refusal: Refusal, attempts: int) -> None:
        super().__init__(refusal.reason, str(refusal))
        self.attempts = attempts


def _refusal(response: httpx.Response) -> Refusal | None:
    """Returns the refusal in a problem document; None for any other response."""
    if response.is_success:
        return None
    try:
        document = read_object(response.content, "a problem document")
        reason = Reason(str(document.get("type")).removeprefix(_TYPE))
    except (Refusal, ValueError):
        return None
    # The untrusted text goes to a terminal: it is kept printable and short.
    detail = str(document.get("detail", ""))[:500]
    return Refusal(reason, "".join(c if c.isprintable() else "?" for c in detail))
