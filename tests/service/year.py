"""A year of one task: twelve epochs by documented commands, with all that goes wrong.

    python tests/service/year.py --people 300

Three parties and the people have a folder each. Every month, the enroller makes tokens,
people answer, and some stay away; services are killed, a database is lost, another is
restored from an old copy, keys are replaced. At the end the ledger is compared with what
was published.
"""

import argparse
import csv
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import numpy as np
from year_machines import PARTIES, Machines, Service, UnexpectedError

ANSWERS = ("bike", "train", "car", "walk")
_SHARES = (0.4, 0.3, 0.2, 0.1)
LEVELS = (0.5, 1.0, 2.0)
# With a chance of 6e-7 for each of some 40 numbers, a right one is called wrong.
_STANDARD_ERRORS = 5.0
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
        """Replaces one party's keys, as docs/deployment.md says."""
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

    def wait_until_over(self) -> None:
        """Until the shuffler says that the present epoch is over."""
        self._wait_for(lambda: self._shuffler()["phase"] in ("delivered", "skipped"))

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


def live(year: Year) -> None:
    """Twelve epochs."""
    shuffler, analyst = year.machines.shuffler, year.machines.analyst

    year.agree()

    month = year.begin("an ordinary month: a tenth stays away")
    year.answer(month, 0.9, singly=True)
    year.operate("status")
    year.close()

    def kill_it() -> None:
        year.wait_for_receipts(year.people // 4)
        shuffler.kill()
        shuffler.start(year.folder)

    year.operate("next")
    month = year.begin("the shuffler is killed while people answer; one dummy")
    year.answer(month, 0.9, singly=True, dummies=1, meanwhile=kill_it)
    year.close()

    year.operate("next")
    month = year.begin("too few people answer: skipped", "skipped")
    year.answer(month, 0.3)
    year.operate("close", refused="people")
    year.operate("skip")

    year.operate("next")
    month = year.begin("a deadline closes it")
    year.answer(month, 0.95)
    year.operate("deadline", "--at", soon())
    year.wait_until_counted()

    year.operate("next")
    month = year.begin("the shuffler's database is lost: interrupted", "skipped")
    year.answer(month, 0.5)
    shuffler.kill()
    shuffler.lose_database()
    for path in year.machines.path("shuffler", year.folder).glob("roster-*.bin"):
        path.unlink()
    shuffler.start(year.folder)
    year.operate("resume")

    month = year.begin("it goes on; the analyst is killed while she counts")
    year.answer(month, 0.9)
    year.operate("close")
    analyst.kill()
    analyst.start(year.folder)
    year.wait_until_counted()

    former = year.folder
    year.rotate("shuffler")
    year.operate("next")
    month = year.begin("the shuffler has new keys: the former ones close nothing")
    year.answer(month, 0.95)
    year.machines.on(
        "shuffler", "task", "close", former, "--shuffler", shuffler.url,
        refused="were keys replaced?",
    )  # fmt: skip
    year.close()

    year.operate("next")
    month = year.begin("a deadline passes, and too few are there", "skipped")
    year.answer(month, 0.4)
    year.operate("deadline", "--at", soon())
    year.wait_until_over()

    backup, newest = (year.machines.path("analyst", n) for n in ("backup", "newest"))
    restart(analyst, year.folder, lambda: analyst.copy_to(backup))
    year.operate("next")
    month = year.begin("the analyst backs up before it, and not after")
    year.answer(month, 0.9)
    year.close()

    year.operate("next")
    month = year.begin("her old copy refuses the batch, the newest takes it")
    year.answer(month, 0.9)

    def restore_the_old_one() -> None:
        analyst.copy_to(newest)
        analyst.restore(backup)

    restart(analyst, year.folder, restore_the_old_one)
    year.operate("close", refused="wrong-epoch")
    restart(analyst, year.folder, lambda: analyst.restore(newest))
    # It tries once a minute, and at once when it starts.
    restart(shuffler, year.folder)
    year.wait_until_counted()

    year.rotate("analyst")
    year.operate("next")
    month = year.begin("the analyst has new keys; too many dummies", "withheld")
    year.answer(month, 0.7, dummies=round(0.2 * year.people))
    year.close()

    year.operate("next")
    month = year.begin("both are killed while it is closed")
    year.answer(month, 0.95)
    words = ("task", "close", year.folder, "--shuffler", shuffler.url)
    process = year.machines.begin("shuffler", *words)
    time.sleep(0.8)
    for service in (shuffler, analyst):
        service.kill()
        service.start(year.folder)
    year.machines.end(process, words)
    year.wait_until_counted()


def soon() -> str:
    """A moment that is still ahead once a command on a busy machine has come through."""
    return datetime.fromtimestamp(int(time.time()) + 10, UTC).isoformat()


def restart(
    service: Service, folder: str, between: Callable[[], None] = lambda: None
) -> None:
    """Stops a service, does something, and starts it."""
    service.stop()
    between()
    service.start(folder)


@dataclass(frozen=True)
class Row:
    """What an epoch came to.

    Attributes:
        month: The epoch.
        outcome: As the analyst's service says.
        people: Whose reports were counted; 0 if nothing was opened.
        spent: Largest central epsilon of a level.
        receipts: Uploads whose receipts were checked.
        distance: Of the estimate that is farthest from the truth, in standard errors.
    """

    month: Month
    outcome: str
    people: int
    spent: float
    receipts: int
    distance: float


def judge(year: Year) -> tuple[list[Row], list[str]]:
    """What every epoch came to, and all that is wrong."""
    status, wrong, rows = year.status(), list[str](), list[Row]()
    ledger = np.zeros(len(LEVELS))
    records = status["epochs"]
    if [record["epoch"] for record in records] != [m.epoch for m in year.months]:
        wrong.append("other epochs than there were")
    for month, record in zip(year.months, records, strict=False):
        spent, receipts, distance = record["spent"], 0, 0.0
        if record["phase"] != month.outcome:
            wrong.append(f"epoch {month.epoch}: {record['phase']}")
        if record["phase"] == "published":
            result = year.result(month.epoch)
            spent = result["spent"]
            if sum(result["people"]) != sum(month.truth) + month.dummies:
                wrong.append(f"epoch {month.epoch}: reports were lost or doubled")
            distance = _distance(result, month.truth)
            receipts = year.check_receipts(month)
        if record["phase"] == "skipped" and any(spent):
            wrong.append(f"epoch {month.epoch}: paid, and skipped")
        ledger += spent
        people = sum(record["people"])
        rows.append(Row(month, record["phase"], people, max(spent), receipts, distance))
    if ledger.tolist() != status["spent"]:
        wrong.append(f"ledger: {status['spent']}, and epochs add up to {ledger}")
    if max(row.distance for row in rows) > _STANDARD_ERRORS:
        wrong.append("an estimate is far from the truth")
    replaced = [(entry["after"], entry["keys"]) for entry in status["replaced"]]
    if replaced != [(6, ["shuffler"]), (10, ["analyst"])]:
        wrong.append(f"keys: {replaced}")
    return rows, wrong


def _distance(result: dict[str, Any], truth: list[int]) -> float:
    shares = np.array(truth) / sum(truth)
    rows = result["estimate"]["rows"]
    errors = [
        abs(row["value"] - share) / row["standard_error"]
        for row, share in zip(rows, shares.tolist(), strict=True)
    ]
    return float(max(errors))


def main() -> None:
    """Prints a row for each epoch and a verdict; the exit status is 1 if it is bad."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--people", type=int, default=300, help="with a token [300]")
    parser.add_argument("--seed", type=int, default=1, help="of what people do [1]")
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Machines(Path(folder)) as machines:
        year = Year(machines, given.people, given.seed)
        live(year)
        rows, wrong = judge(year)
    form = "{:>5}  {:<9}  {:>6}  {:>6}  {:>7}  {:>8}  {:>8}  {}"
    print(
        form.format(
            "epoch", "outcome", "tokens", "people", "spent", "receipts", "distance", ""
        )
    )
    for row in rows:
        month = row.month
        print(
            form.format(
                month.epoch,
                row.outcome,
                month.tokens,
                row.people,
                f"{row.spent:.4f}",
                row.receipts,
                f"{row.distance:.1f}",
                month.story,
            )
        )
    kills = machines.shuffler.kills + machines.analyst.kills
    said = "; ".join(wrong) or "the ledger is what was published, and nobody was lost"
    print(
        f"{len(rows)} epochs, {machines.commands} commands, {kills} kills, "
        f"{time.monotonic() - began:.0f} s: {said}."
    )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
