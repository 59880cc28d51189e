"""A year of one task: twelve epochs by documented commands, with all that goes wrong.

    python services/tests/service/year.py --people 300

Three parties and the people have a folder each. Every month, the enroller makes tokens,
people answer, and some stay away; services are killed, a database is lost, another is
restored from an old copy, keys are replaced. At the end the ledger is compared with what
was published.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import numpy as np
from year_machines import Machines, Service
from year_parties import LEVELS, Month, Year

# With a chance of 6e-7 for each of some 40 numbers, a right one is called wrong.
_STANDARD_ERRORS = 5.0


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
    year.wait_until_intake_ended()
    year.operate("skip")

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
