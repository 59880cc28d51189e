"""Certificates that clients trust: the system's authorities, and optionally one more.

Other settings of the environment are ignored: a proxy named there would see which client
talks to which service.
"""

import ssl
from functools import cache
from pathlib import Path

import httpx

from shuffledp.errors import DataError


@cache
def trusted_certificates(ca: Path | None = None) -> ssl.SSLContext:
    """Returns the system's trust store.

    Args:
        ca: PEM file with certificates of further trusted authorities.

    Raises:
        DataError: If the file cannot be read, or contains no certificate.
    """
    # Cached: reading the store takes some 20 ms.
    context = ssl.create_default_context()
    if ca is not None:
        try:
            context.load_verify_locations(ca)
        except OSError as error:
            # ssl.SSLError is an OSError, too.
            raise DataError(f"Expected certificates in PEM form in {ca}.") from error
    return context


def service_client(
    timeout: float | httpx.Timeout,
    *,
    ca: Path | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Returns a client that connects to services directly, without a proxy.

    Args:
        timeout: Timeout in seconds, or one for each phase of a request.
        ca: As in `trusted_certificates`.
        transport: Transport for tests; None for the network.

    Raises:
        DataError: If the file cannot be read, or contains no certificate.
    """
    verify = trusted_certificates(ca)
    return httpx.AsyncClient(
        timeout=timeout, transport=transport, trust_env=False, verify=verify
    )


def untrusted_reason(error: BaseException | None) -> str | None:
    """Returns why a certificate was not trusted; None if an error has another cause."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None
