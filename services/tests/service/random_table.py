"""What became of collections whose services were killed at random times, in tables."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from live_collection import Case
from live_services import Party
from random_collections import Account, Plot
from scipy.stats import beta

_NAMES: dict[Case, str] = {
    "frequency": "agnostic",
    "stratified": "stratified",
    "items": "targets",
}
_CONFIDENCE = 0.95
_COLUMNS = (
    "collections",
    "kills",
    "of the shuffler",
    "of the analyst",
    "reports",
    "dropped",
    "lost",
    "twice",
    "costs missing",
    "failed",
)


@dataclass(frozen=True)
class Trial:
    """A collection, and the coins of whoever kills, or freezes; shuffler processes."""

    case: Case
    store: str
    plot: Plot
    seed: int
    workers: int = 1
    freezes: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a collection.

    Attributes:
        trial: Which.
        killed: How often each service died at which boundary; "" is any moment.
        account: Of all that was confirmed.
        seconds: That it took.
        frozen: How often a process of the shuffler was stopped.
        waits: Seconds from such a freeze until the batch was handed over, or dropped, that
            was closed then.
        open_waits: The same, if the step was open: people answer meanwhile.
    """

    trial: Trial
    killed: dict[Party, dict[str, int]]
    account: Account
    seconds: float
    frozen: int = 0
    waits: tuple[float, ...] = ()
    open_waits: tuple[float, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether anything was lost, doubled, unpaid or wrong."""
        found = self.account
        return bool(found.lost or found.doubled or found.missing or found.wrong)

    def deaths(self, *parties: Party) -> int:
        """How often these services died."""
        return sum(sum(self.killed[party].values()) for party in parties)

    @property
    def row(self) -> Counter[str]:
        """What it adds to a row of a table."""
        numbers = (
            1,
            self.deaths("shuffler", "analyst"),
            self.deaths("shuffler"),
            self.deaths("analyst"),
            self.account.reports,
            self.account.dropped,
            self.account.lost,
            self.account.doubled,
            self.account.missing,
            int(self.failed),
        )
        return Counter(dict(zip(_COLUMNS, numbers, strict=True)))


def write_outcome(outcome: Outcome) -> str:
    """Returns one line, without its end."""
    return json.dumps(asdict(outcome))


def read_outcomes(file: Path | None) -> dict[int, Outcome]:
    """Returns what stands in a file, by seed; nothing if there is none."""
    lines = file.read_text().splitlines() if file and file.exists() else []
    found = [json.loads(line) for line in lines]
    return {
        value["trial"]["seed"]: Outcome(
            Trial(**value["trial"]),
            value["killed"],
            Account(**value["account"]),
            value["seconds"],
            value.get("frozen", 0),
            tuple(value.get("waits", ())),
            tuple(value.get("open_waits", ())),
        )
        for value in found
    }


def tables(outcomes: Sequence[Outcome]) -> str:
    """Returns all tables, and what they say."""
    every: Callable[[Outcome], tuple[str, ...]] = lambda one: ("all", "")  # noqa: E731
    parts = [
        _table(
            ("database", "what"),
            outcomes,
            [lambda one: (one.trial.store, _NAMES[one.trial.case]), every],
        ),
        _table(("what happens",), outcomes, [lambda one: (one.trial.plot,)]),
        _boundaries(outcomes),
    ]
    return "\n\n".join((*parts, _said(outcomes)))


def _freezes(outcomes: Sequence[Outcome]) -> str:
    number = sum(outcome.frozen for outcome in outcomes)
    parts = [f"{number:,} freezes of the shuffler"]
    for what, waits in (
        ("a closed batch was handed over or dropped", [o.waits for o in outcomes]),
        ("an open step was over", [o.open_waits for o in outcomes]),
    ):
        if every := [wait for some in waits for wait in some]:
            parts.append(
                f"{len(every):,} times until {what}: median {median(every):.1f} s, at most "
                f"{max(every):.1f} s"
            )
    return "; ".join(parts) + "."


def _table(
    names: tuple[str, ...],
    outcomes: Sequence[Outcome],
    kinds: Iterable[Callable[[Outcome], tuple[str, ...]]],
) -> str:
    rows = dict[tuple[str, ...], Counter[str]]()
    for kind in kinds:
        for outcome in outcomes:
            rows.setdefault(kind(outcome), Counter()).update(outcome.row)
    lines = [(*names, *_COLUMNS), ("---",) * len(names) + ("---:",) * len(_COLUMNS)]
    for name, row in rows.items():
        lines.append((*name, *(f"{row[column]:,}" for column in _COLUMNS)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _boundaries(outcomes: Sequence[Outcome]) -> str:
    found = Counter[str]()
    for outcome in outcomes:
        for deaths in outcome.killed.values():
            found.update(deaths)
    anywhere = found.pop("", 0)
    named = ", ".join(f"{name} {times:,}" for name, times in sorted(found.items()))
    return f"Kills at any moment: {anywhere:,}; at a boundary: {named}."


def _said(outcomes: Sequence[Outcome]) -> str:
    kills = sum(outcome.deaths("shuffler", "analyst") for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    said = (
        f"{len(outcomes):,} collections, {kills:,} kills, {failed} collections failed."
    )
    if any(outcome.trial.freezes for outcome in outcomes):
        said = f"{said} {_freezes(outcomes)}"
    if not 0 <= failed < kills:
        return said
    # Clopper and Pearson: as if every failed collection were one kill's fault.
    most = beta.ppf(_CONFIDENCE, failed + 1, kills - failed)
    return (
        f"{said} At {_CONFIDENCE:.0%} confidence, at most {100.0 * most:.2g}% of kills of "
        "these kinds lose or double a report, or forget a cost."
    )
