"""Ledger of the privacy that every choice has spent, by basic composition.

Epsilons of a participant's epochs add up, and so do deltas. Each choice is charged as if a
participant made it in every epoch: one who changes it has spent at most the sum of the
costs of their choices in the epochs in which they took part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp_services.analyst.analyst_store import EpochRecord, Former
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task


@dataclass(frozen=True)
class ChoiceAccount:
    """Account of one choice.

    Attributes:
        choice: Local epsilon or central target.
        by_epoch: Central epsilon of every epoch that is over.
        spent: Sum of `by_epoch`.
        promise: Largest central epsilon of one more epoch.
        allowance: Largest central epsilon of all epochs together.
        exhausted: Whether the allowance cannot pay for one more epoch.
    """

    choice: float
    by_epoch: tuple[float, ...]
    spent: float
    promise: float
    allowance: float
    exhausted: bool

    @property
    def spent_percent(self) -> float:
        """Share of the allowance that is spent, in percent."""
        return _percent(self.spent, self.allowance)

    @property
    def committed_percent(self) -> float:
        """Share after one more epoch, in percent; the current one if it cannot be paid."""
        after = self.spent if self.exhausted else self.spent + self.promise
        return _percent(after, self.allowance)


@dataclass(frozen=True)
class Ledger:
    """Accounts of all choices of a task.

    Attributes:
        epochs: Numbers of the epochs that are over.
        choices: One account per choice.
        delta: Sum of the deltas of epochs whose answers were opened.
    """

    epochs: tuple[int, ...]
    choices: tuple[ChoiceAccount, ...]
    delta: float

    @property
    def open(self) -> bool:
        """Whether every choice can pay for one more epoch."""
        return not any(account.exhausted for account in self.choices)


def ledger_of(state: AnalystState, epochs: Sequence[EpochRecord]) -> Ledger:
    """Returns the ledger of a task.

    Args:
        state: State of the task.
        epochs: All epochs that are over, in order.
    """
    task = state.task
    columns = zip(task.choices, state.spent, task.promise, task.allowance, strict=True)
    accounts = tuple(
        ChoiceAccount(
            choice,
            tuple(record.spent[index] for record in epochs),
            spent,
            promise,
            allowance,
            choice in state.exhausted,
        )
        for index, (choice, spent, promise, allowance) in enumerate(columns)
    )
    # Basic composition: epsilons and deltas of epochs add up. A batch that was never
    # opened revealed only its counts.
    delta = task.delta * sum(record.opened for record in epochs)
    return Ledger(tuple(record.epoch for record in epochs), accounts, delta)


def replacements(
    task: Task, formers: Sequence[Former]
) -> list[tuple[Task, int, tuple[Role, ...]]]:
    """Returns each former task, the last epoch with its keys, and the replaced parties.

    Args:
        task: Served task.
        formers: Former tasks, in order.
    """
    # Each former task with its successor, the last one with the served task.
    later = [*(former.task for former in formers[1:]), task]
    return [
        (former.task, former.after, check_succession(successor, former.task))
        for former, successor in zip(formers, later, strict=False)
    ]


def _percent(part: float, whole: float) -> float:
    # A forced cost may exceed the allowance, and a bar cannot be longer than its frame.
    return round(100.0 * min(part / whole, 1.0), 2)
