"""The proxy of docs/how-to/deployment.md, as it stands there, before a live shuffler."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

pytest.importorskip("starlette", reason="Needs the extra service.")

from live_collection import task_for
from live_services import free_ports, pair

from shuffledp.service.wire.reports import max_reports, report_size, write_header
from shuffledp.service.wire.step import Step

_DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "deployment.md"
_NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


def _documented() -> list[str]:
    return re.findall(r"```nginx\n(.*?)```", _DOCUMENT.read_text(), re.DOTALL)


@contextmanager
def nginx(folder: Path, service: int) -> Iterator[int]:
    """Runs the documented proxies; only ports and certificates are others."""
    if _NGINX is None:
        pytest.skip("Needs nginx.")
    shuffler, analyst = _documented()
    [port, other] = free_ports(2)
    shuffler = re.sub(r" *ssl_certificate.*\n", "", shuffler)
    shuffler = shuffler.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    shuffler = shuffler.replace("127.0.0.1:8000", f"127.0.0.1:{service}")
    # Everything is in the folder, and what it logs besides, too.
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log info;\n"
        "events { worker_connections 256; }\n"
        f"http {{ {paths} {shuffler}\n"
        f"server {{ listen 127.0.0.1:{other}; access_log off;\n{analyst} }} }}\n"
    )
    command = [_NGINX, "-p", str(folder), "-c", str(config)]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)
                break
            except httpx.TransportError:
                time.sleep(0.02)
        yield port
    finally:
        running.terminate()
        running.wait()


@pytest.mark.slow
def test_the_documented_proxy_passes_answers_on_and_notes_no_address(
    tmp_path: Path,
) -> None:
    who = task_for("frequency")
    shuffler, _ = pair(who, tmp_path)
    step, rng = Step(who.task, 1), np.random.default_rng(1)
    rows = rng.integers(0, 256, (max_reports(step), report_size(step)), dtype=np.uint8)
    forged = write_header(step) + rows.tobytes()

    with shuffler, nginx(tmp_path, shuffler.setup.port) as port:
        url = f"http://127.0.0.1:{port}/tasks/{who.task.identity}"
        # The service ends these while the proxy is still writing.
        refused = [
            httpx.post(f"{url}/reports", content=forged, trust_env=False)
            for _ in range(5)
        ]
        with httpx.Client(trust_env=False) as client:
            many = [client.get(url).status_code for _ in range(80)]
        large = httpx.post(f"{url}/reports", content=bytes(2**24), trust_env=False)
    noted = (tmp_path / "error.log").read_text()

    assert [answer.status_code for answer in refused] == [403] * 5
    assert all("token-forged" in answer.text for answer in refused)
    assert many[0] == 200
    assert 503 in many
    assert large.status_code in (413, 503)
    assert "client:" not in noted
    assert not list((tmp_path / "client_body").iterdir())
