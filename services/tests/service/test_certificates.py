"""Services with certificates of an authority that browsers do not know."""

import asyncio
import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from shuffler_parties import parties

from shuffledp.cli.main import app
from shuffledp.errors import DataError, ShuffledpError
from shuffledp_services.http.http_client import UnreachableError, ask
from shuffledp_services.http.trusted_certificates import (
    service_client,
    trusted_certificates,
)
from shuffledp_services.shuffler.analyst_client import (
    AnalystClient,
    UnansweredError,
)
from shuffledp_services.wire.invitation import draw_invitations


@dataclass(frozen=True)
class Server:
    """Answers with an empty object over TLS."""

    url: str
    authority: Path


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_arguments: object) -> None:
        pass


def certificate_in(folder: Path) -> tuple[Path, Path]:
    """Files of a certificate, which is its own authority, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Internal CA")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    files = folder / "authority.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


@pytest.fixture(name="server")
def fixture_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    trusted_certificates.cache_clear()
    authority, key = certificate_in(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, key)
    with HTTPServer(("127.0.0.1", 0), _Answers) as http:
        http.socket = context.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield Server(f"https://127.0.0.1:{http.server_port}", authority)
        finally:
            http.shutdown()
            thread.join()
    trusted_certificates.cache_clear()


def asked(server: Server, ca: Path | None) -> dict[str, object]:
    async def run() -> dict[str, object]:
        async with service_client(30.0, ca=ca) as client:
            return (await ask(client, "GET", server.url)).document

    return asyncio.run(run())


def test_a_certificate_that_is_not_trusted_is_named_at_once(server: Server) -> None:
    with pytest.raises(UnreachableError, match=r"Certificate not trusted .*--ca FILE"):
        asked(server, None)


def test_a_named_authority_is_trusted(server: Server) -> None:
    assert asked(server, server.authority) == {}


def test_an_authority_of_the_system_is_trusted(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where this system looks for all that it trusts.
    monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))

    assert asked(server, None) == {}


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")

    for name in ("none.pem", "missing.pem"):
        with pytest.raises(DataError, match="certificates in PEM form"):
            trusted_certificates(tmp_path / name)


@pytest.mark.parametrize("trusted", [False, True])
def test_a_shuffler_trusts_the_analysts_authority_if_it_is_named(
    trusted: bool, server: Server
) -> None:
    client = AnalystClient(server.url, ca=server.authority if trusted else None)
    task = parties().task

    # She answers, and says nothing of an epoch; or is not asked.
    with pytest.raises(UnansweredError) as caught:
        asyncio.run(client.awaited(task))

    assert ("name an epoch" in str(caught.value)) is trusted


@pytest.mark.parametrize("trusted", [False, True])
def test_commands_trust_the_authority_that_they_are_given(
    trusted: bool, server: Server, tmp_path: Path
) -> None:
    task = tmp_path / "task.json"
    agreed = parties().task
    task.write_bytes(agreed.to_json())
    (link,) = draw_invitations(agreed, 1, 1)
    (tmp_path / "tokens.txt").write_text(f"{link.to_text()}\n")
    (tmp_path / "people.csv").write_text("answer,epsilon\nred,0.5\n")
    ca = ["--ca", str(server.authority)] if trusted else []

    arguments = [
        *("device", "send", str(tmp_path / "people.csv"), "--value", "answer"),
        *("--level", "epsilon", "--shuffler", server.url, "--task", str(task)),
        *("--tokens", str(tmp_path / "tokens.txt"), *ca),
    ]
    outcome = CliRunner().invoke(app, arguments)

    # What `main` says in one line, with exit code 2.
    assert isinstance(outcome.exception, ShuffledpError)
    untrusted = str(outcome.exception).startswith("Certificate not trusted")
    assert untrusted is not trusted
