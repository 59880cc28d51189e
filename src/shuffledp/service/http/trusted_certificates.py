"""Whose certificates a client of a service trusts: the system's authorities, and one more.

What else the environment says is left alone: a proxy that it names would see who talks to
whom.
"""

import ssl
from functools import cache
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.extras import require

require("httpx", extra="service", what="A client of a service")

import httpx  # noqa: E402


@cache
def trusted_certificates(ca: Path | None = None) -> ssl.SSLContext:
    """Returns the system's trust store, read once: that takes some 20 ms.

    Args:
        ca: A file in PEM form with certificates of authorities that are trusted, too.

    Raises:
        DataError: If the file cannot be read, or holds no certificate.
    """
    context = ssl.create_default_context()
    if ca is not None:
        try:
            context.load_verify_locations(ca)
        except OSError as error:
            # Errors of certificates are among these.
            raise DataError(f"Expected certificates in PEM form in {ca}.") from error
    return context


def service_client(
    timeout: float | httpx.Timeout,
    *,
    ca: Path | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Returns a client that asks services directly.

    Args:
        timeout: Seconds, or several of them.
        ca: As in `trusted_certificates`.
        transport: How to reach services; None for the network.

    Raises:
        DataError: If the file cannot be read, or holds no certificate.
    """
    verify = trusted_certificates(ca)
    return httpx.AsyncClient(
        timeout=timeout, transport=transport, trust_env=False, verify=verify
    )


def untrusted_reason(error: BaseException | None) -> str | None:
    """Returns why a certificate was not trusted, if that is what an error comes from."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None
