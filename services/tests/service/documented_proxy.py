"""The proxy of docs/how-to/deployment.md, as it stands there, before a live shuffler."""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from live_services import free_ports

_DOCUMENT = Path(__file__).parents[3] / "docs" / "how-to" / "deployment.md"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


def _documented() -> list[str]:
    return re.findall(r"```nginx\n(.*?)```", _DOCUMENT.read_text(), re.DOTALL)


@contextmanager
def nginx(
    folder: Path, service: int, change: Callable[[str], str] = lambda text: text
) -> Iterator[int]:
    """Runs the documented proxies; only ports and certificates are others.

    Args:
        folder: For its files.
        service: The shuffler's port.
        change: Of the shuffler's part, where something else is to be measured.
    """
    if NGINX is None:
        raise FileNotFoundError("Expected nginx on this machine.")
    shuffler, analyst = _documented()
    [port, other] = free_ports(2)
    shuffler = re.sub(r" *ssl_certificate.*\n", "", change(shuffler))
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
    command = [NGINX, "-p", str(folder), "-c", str(config)]
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
