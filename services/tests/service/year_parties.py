"""Three parties and the people of a year, and what they do every month."""

import csv
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from year_machines import PARTIES, Machines, UnexpectedError

ANSWERS = ("bike", "train", "car", "walk")
_SHARES = (0.4, 0.3, 0.2, 0.1)
LEVELS = (0.5, 1.0, 2.0)
_PATIENCE = 120.0


@dataclass
class Month:
    """What became of an epoch.

    Attributes:
        epoch: From 1.
        story: What happened in it.
        outcome: "published", "withheld" or "skipped", as it should be.
        tokens: How many people were given one.
        truth: How many people gave which answer.
        dummies: How many people sent what cannot be counted.
    """

    epoch: int
    story: str
    outcome: str = "published"
    tokens: int = 0
    truth: list[int] = field(default_factory=lambda: [0] * len(ANSWERS))
    dummies: int = 0


class Year:
    """The parties, the task, and what happened so far."""

    def __init__(self, machines: Machines, people: int, seed: int) -> None:
        self.machines, self.people = machines, people
        self.months: list[Month] = []
        self.folder = "commuting"
        self.minimum = round(0.75 * people / len(LEVELS))
        self._rng = np.random.default_rng(seed)
        self._identity, self._files = "", 0

    def agree(self) -> None:
        """Three parties draw keys and sign a task, and two start their service."""
        for party in PARTIES:
            self.machines.on(party, "task", "init", party, self.folder)
        for party in ("shuffler", "enroller"):
            self._send(f"{party}.public.json", party, "analyst")
        self.machines.on(
            "analyst", "task", "create", self.folder,
            "--name", "Commuting", "--asker", "City of Example",
            "--contact", "mobility@city.example", "--consent", "Shares are published.",
            "--question", "How do you get to work?",
            *(word for answer in ANSWERS for word in ("--category", answer)),
            "--levels", ",".join(map(str, LEVELS)), "--minimum", str(self.minimum),
            "--epochs", "12",
            "--shuffler", f"{self.folder}/shuffler.public.json",
            "--enroller", f"{self.folder}/enroller.public.json",
        )  # fmt: skip
        self._sign("task.json", "task.analyst.sig")
        self._start()

    def rotate(self, party: str) -> None:
        """Replaces one party's keys, as docs/how-to/deployment.md says."""
        former, new = self.folder, f"commuting-{party}"
        # Who makes the new task keeps it in a folder of its own.
        self.machines.path("analyst", new).mkdir()
        self.machines.on(party, "task", "init", party, new)
        if party != "analyst":
            self.machines.send(f"{new}/{party}.public.json", party, "analyst")
        self.machines.on("analyst", "task", "rotate", former, new)
        for other in {"shuffler", "enroller"} - {party}:
            place = self.machines.path(other, new)
            place.mkdir(exist_ok=True)
            shutil.copy(
                self.machines.path(other, former) / f"{other}.json",
                place / f"{other}.json",
            )
        self.folder = new
        self._sign("task.json", "former.task.json", "task.analyst.sig")
        for service in (self.machines.shuffler, self.machines.analyst):
            service.stop()
        self._start()

    def begin(self, story: str, outcome: str = "published") -> Month:
        """Enrolls everybody for the epoch that is open at the shuffler."""
        epoch = 1 + (self.months[-1].epoch if self.months else 0)
        month = Month(epoch, story, outcome, self.people)
        self.months.append(month)
        tokens = f"tokens-{epoch}.txt"
        self.machines.on(
            "enroller", "enrol", self.folder, "--count", str(self.people),
            "--epoch", str(epoch), "--output", tokens,
        )  # fmt: skip
        self._send(f"roster-{epoch}.bin", "enroller", "shuffler")
        self.machines.send(tokens, "enroller", "people")
        self._left = self.machines.path("people", tokens).read_text().splitlines()
        # The shuffler finds it by itself.
        self._wait_for(lambda: self._shuffler()["enrolment"] is not None)
        return month

    def answer(
        self,
        month: Month,
        share: float,
        *,
        dummies: int = 0,
        singly: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """A share of the people answers; then so many more send dummies."""
        number = round(share * self.people)
        values = self._rng.choice(len(ANSWERS), number, p=_SHARES)
        counts = np.bincount(values, minlength=len(ANSWERS))
        month.truth = [a + int(b) for a, b in zip(month.truth, counts, strict=True)]
        words = self._prepare(month, values, *(["--singly"] if singly else []))
        process = self.machines.begin("people", *words)
        meanwhile()
        self.machines.end(process, words)
        if dummies:
            month.dummies += dummies
            words = self._prepare(month, np.zeros(dummies, dtype=np.int64), "--dummy")
            self.machines.on("people", *words)

    def operate(self, action: str, *more: str, refused: str | None = None) -> str:
        """A command of the shuffler's operator."""
        url = self.machines.shuffler.url
        return self.machines.on(
            "shuffler", "task", action, self.folder, "--shuffler", url, *more,
            refused=refused,
        )  # fmt: skip

    def close(self) -> None:
        """Ends an epoch that is delivered."""
        self.operate("close")
        self.wait_until_counted()

    def wait_until_counted(self) -> None:
        """Until the analyst says that the present epoch is over."""
        epoch = self.months[-1].epoch
        self._wait_for(lambda: self.status()["awaited"] == epoch + 1)
        self._wait_for(lambda: self.status()["phase"] != "received")
        self._wait_for(lambda: self._shuffler()["phase"] in ("delivered", "skipped"))

    def wait_until_intake_ended(self) -> None:
        """Until the shuffler says that the present step waits for its operator."""
        self._wait_for(lambda: self._shuffler()["phase"] == "waiting")

    def status(self) -> dict[str, Any]:
        """What the analyst's service says of the task."""
        return self.machines.analyst.ask(f"/tasks/{self._identity}")

    def result(self, epoch: int) -> dict[str, Any]:
        """What it says of an epoch."""
        path = f"/tasks/{self._identity}/epochs/{epoch}"
        return self.machines.analyst.ask(path)

    def check_receipts(self, month: Month) -> int:
        """Checks all receipts of an epoch with the present task, and counts them."""
        number = 0
        for file in sorted(self.machines.path("people", ".").glob("receipts-*")):
            if int(file.name.split("-")[1]) == month.epoch:
                self.machines.on(
                    "people", "device", "check", file.name,
                    "--task", f"{self.folder}/task.json",
                    "--analyst", self.machines.analyst.url,
                )  # fmt: skip
                number += len(file.read_text().splitlines())
        return number

    def wait_for_receipts(self, number: int) -> None:
        """Until so many people's uploads were confirmed by the last command."""
        last = f"receipts-{self.months[-1].epoch}-{self._files}"
        path = self.machines.path("people", last)
        self._wait_for(
            lambda: path.exists() and len(path.read_bytes().splitlines()) >= number
        )

    def _prepare(self, month: Month, values: Any, *more: str) -> tuple[str, ...]:
        """Writes a table of people with tokens of their own; returns a command."""
        self._files += 1
        survey, tokens = f"people-{self._files}.csv", f"own-{self._files}.txt"
        levels = self._rng.permutation(np.resize(LEVELS, len(values)))
        with self.machines.path("people", survey).open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("answer", "epsilon"))
            rows.writerows(
                (ANSWERS[value], level)
                for value, level in zip(values, levels, strict=True)
            )
        own, self._left = self._left[: len(values)], self._left[len(values) :]
        self.machines.path("people", tokens).write_text("\n".join(own) + "\n")
        return (
            "device", "send", survey, "--value", "answer", "--level", "epsilon",
            "--shuffler", self.machines.shuffler.url,
            "--task", f"{self.folder}/task.json", "--tokens", tokens,
            "--receipts", f"receipts-{month.epoch}-{self._files}", *more,
        )  # fmt: skip

    def _sign(self, *names: str) -> None:
        """Both others read and sign what the analyst made; everybody gets all of it."""
        for name in names:
            self._send(name, "analyst", "shuffler", "enroller")
        for party in ("shuffler", "enroller"):
            self.machines.on(party, "task", "sign", self.folder)
            others = set(PARTIES) - {party}
            self._send(f"task.{party}.sig", party, *others)
        self._send("task.json", "analyst", "people")

    def _start(self) -> None:
        self.machines.analyst.start(self.folder)
        self.machines.shuffler.start(self.folder)
        path = self.machines.path("people", self.folder) / "task.json"
        self._identity = json.loads(path.read_text())["task_id"]

    def _send(self, name: str, source: str, *targets: str) -> None:
        self.machines.send(f"{self.folder}/{name}", source, *targets)

    def _shuffler(self) -> dict[str, Any]:
        return self.machines.shuffler.ask(f"/tasks/{self._identity}")

    def _wait_for(self, happened: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not happened():
            if time.monotonic() > end:
                raise UnexpectedError(f"Waited in vain: {self.status()}")
            time.sleep(0.05)
