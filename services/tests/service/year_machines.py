"""Machines of the parties of a collection: commands that are documented, and two services.

Every machine is a folder; between them files alone are sent, and requests.
"""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import httpx
from live_services import free_ports

PARTIES = ("analyst", "shuffler", "enroller")
_PATIENCE = 60.0
_PROGRAM = (sys.executable, "-m", "shuffledp")


class UnexpectedError(Exception):
    """A command or a service did what it should not."""


class Service:
    """A party's service, on its own database, that can be killed and started again."""

    def __init__(self, party: str, machine: Path, port: int, *more: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.kills = 0
        self._party, self._machine, self._more = party, machine, more
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, folder: str) -> None:
        """With the task in a folder; returns once it is ready."""
        words = ["serve", self._party, folder, "--port", str(self._port), *self._more]
        words += ["--database", f"sqlite:///{self._party}.db"]
        with (self._machine / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                [*_PROGRAM, *words],
                cwd=self._machine,
                stdout=log,
                stderr=log,
                env=_quiet(),
            )
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/ready", trust_env=False).is_success:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        said = (self._machine / "log.txt").read_text().splitlines()[-1:]
        raise UnexpectedError(f"The {self._party} did not start: {said}")

    def kill(self) -> None:
        """With SIGKILL, whatever it does."""
        self.kills += 1
        self._end(hard=True)

    def stop(self) -> None:
        """As an operator does."""
        self._end(hard=False)

    def ask(self, path: str) -> dict[str, Any]:
        """What it answers, as soon as it does."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{self.url}{path}", trust_env=False)
                document: dict[str, Any] = answer.json()
                return document
            time.sleep(0.1)
        raise UnexpectedError(f"The {self._party} is silent.")

    def copy_to(self, place: Path) -> None:
        """Backs its database up, while it stands still."""
        self._copy(self._machine, place)

    def restore(self, place: Path) -> None:
        """Puts a copy in the place of its database, while it stands still."""
        self.lose_database()
        self._copy(place, self._machine)

    def lose_database(self) -> None:
        """Deletes it, and all that belongs to it."""
        for path in self._machine.glob(f"{self._party}.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _copy(self, source: Path, target: Path) -> None:
        name = f"{self._party}.db"
        target.mkdir(exist_ok=True)
        shutil.copy(source / name, target)
        shutil.copytree(source / f"{name}.batches", target / f"{name}.batches")

    def _end(self, *, hard: bool) -> None:
        if self._process is None:
            return
        if hard:
            self._process.kill()
        else:
            self._process.terminate()
        self._process.wait(timeout=_PATIENCE)
        self._process = None


class Machines:
    """Those of three parties, and one of the people who take part."""

    def __init__(self, root: Path) -> None:
        self._of = {name: root / name for name in (*PARTIES, "people")}
        for folder in self._of.values():
            folder.mkdir()
        ports = free_ports(2)
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        self.shuffler = Service(
            "shuffler", self._of["shuffler"], ports[0], "--analyst", urls[1]
        )
        self.analyst = Service(
            "analyst", self._of["analyst"], ports[1], "--shuffler", urls[0]
        )
        self.commands = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for service in (self.shuffler, self.analyst):
            service.stop()

    def path(self, machine: str, name: str) -> Path:
        """Where a file is."""
        return self._of[machine] / name

    def begin(self, machine: str, *words: str) -> subprocess.Popen[str]:
        """Starts a command."""
        self.commands += 1
        return subprocess.Popen(
            [*_PROGRAM, *words],
            cwd=self._of[machine],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_quiet(),
        )

    def on(self, machine: str, *words: str, refused: str | None = None) -> str:
        """Runs a command, and returns what it said.

        Args:
            machine: Whose.
            words: Of the command.
            refused: Part of the reason for which it should refuse; None if it should not.
        """
        return self.end(self.begin(machine, *words), words, refused=refused)

    def end(
        self,
        process: subprocess.Popen[str],
        words: tuple[str, ...],
        *,
        refused: str | None = None,
    ) -> str:
        """Waits for a command that `begin` started."""
        out, err = process.communicate(timeout=600)
        if (process.returncode == 0) != (refused is None) or (refused or "") not in err:
            raise UnexpectedError(f"shuffledp {' '.join(words)}: {out}{err}")
        return out + err

    def send(self, name: str, source: str, *targets: str) -> None:
        """Copies a file from a machine to the same place on others."""
        for target in targets:
            place = self._of[target] / name
            place.parent.mkdir(exist_ok=True)
            shutil.copy(self._of[source] / name, place)


def _quiet() -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
