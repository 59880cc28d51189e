"""A PostgreSQL server of its own for tests, in a folder that is removed afterwards."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def missing() -> str | None:
    """Says why no server can be started; None if one can."""
    if shutil.which("initdb") is None or shutil.which("postgres") is None:
        return "no PostgreSQL server installed"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL must not run as root, and there is no other user"
    return None


class Server:
    """Reached through a socket in its folder, not from the network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"postgresql://tests@/postgres?host={folder}"
        self._process: subprocess.Popen[bytes] | None = None

    def new_database(self) -> str:
        """Returns the address of a database of its own: a shuffler shares none."""
        name = f"tests_{uuid.uuid4().hex}"
        command = ["createdb", "-h", str(self.folder), "-U", "tests", name]
        subprocess.run(command, check=True, timeout=60)
        return self.address.replace("/postgres?", f"/{name}?")

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The same, dropped afterwards."""
        address = self.new_database()
        try:
            yield address
        finally:
            name = address.removeprefix("postgresql://tests@/").partition("?")[0]
            command = ["dropdb", "-f", "-h", str(self.folder), "-U", "tests", name]
            subprocess.run(command, check=True, timeout=60)

    def create(self) -> None:
        data = self.folder / "data"
        command = ["initdb", "-D", str(data), "-U", "tests", "-A", "trust", "--no-sync"]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, user=_user(), timeout=60
        )

    def start(self, *settings: str) -> None:
        command = ["postgres", "-D", str(self.folder / "data"), "-k", str(self.folder)]
        command += ["-c", "listen_addresses=", "-c", "shared_buffers=64MB"]
        for setting in settings:
            command += ["-c", setting]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            command, stdout=log, stderr=log, user=_user(), cwd=self.folder
        )
        log.close()
        # The line is there once connections are accepted.
        status = self.folder / "data" / "postmaster.pid"
        for _ in range(600):
            if status.is_file() and "ready" in status.read_text():
                return
            time.sleep(0.05)
        raise TimeoutError("PostgreSQL did not start.")

    def stop(self, *, crash: bool = False) -> None:
        if self._process is not None:
            # SIGINT ends all connections, and the server cleanly; SIGQUIT at once.
            self._process.send_signal(3 if crash else 2)
            self._process.wait(timeout=60)
            self._process = None


@contextmanager
def server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="shuffledp-postgres-"))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    running = Server(folder)
    try:
        running.create()
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder)


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None
