"""What every choice has spent, by basic composition.

Epsilons of one person's epochs add up, and so do deltas. Choices are added up as if
everybody made the same one each time: whoever changes hers has spent no more than the sum
of what her choices cost in the epochs she took part in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp.service.analyst.store import EpochRecord, Former
from shuffledp.service.collection.analyst_state import AnalystState
from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.succession import check_succession
from shuffledp.service.wire.task import Task


@dataclass(frozen=True)
class ChoiceAccount:
    """The account of one choice.

    Attributes:
        choice: The level or target.
        by_epoch: Central epsilon of every epoch that is over.
        spent: Their sum.
        promise: What one more epoch may cost.
        allowance: What all may cost.
        exhausted: Whether one more epoch cannot be paid.
    """

    choice: float
    by_epoch: tuple[float, ...]
    spent: float
    promise: float
    allowance: float
    exhausted: bool

    @property
    def spent_percent(self) -> float:
        """How much of the allowance is spent, from 0 to 100."""
        return _percent(self.spent, self.allowance)

    @property
    def committed_percent(self) -> float:
        """The same after one more epoch; no more than now if it cannot be paid."""
        after = self.spent if self.exhausted else self.spent + self.promise
        return _percent(after, self.allowance)


@dataclass(frozen=True)
class Ledger:
    """All accounts of a task.

    Attributes:
        epochs: The numbers of the epochs that are over.
        choices: One account per choice.
        delta: The sum of the deltas of epochs whose answers were opened.
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
        state: Where the task stands.
        epochs: All epochs that are over, in order.
    """
    task = state.task
    columns = zip(task.choices, state.spent, task.promise, task.allowance, strict=True)
    accounts = tuple(
        ChoiceAccount(
            choice,
            tuple(record.spent[place] for record in epochs),
            spent,
            promise,
            allowance,
            choice in state.exhausted,
        )
        for place, (choice, spent, promise, allowance) in enumerate(columns)
    )
    delta = task.delta * sum(record.opened for record in epochs)
    return Ledger(tuple(record.epoch for record in epochs), accounts, delta)


def replacements(
    task: Task, formers: Sequence[Former]
) -> list[tuple[Task, int, tuple[Role, ...]]]:
    """Returns each former task, after which epoch its keys were replaced, and whose.

    Args:
        task: That is served.
        formers: Those before, in order.
    """
    later = [*(former.task for former in formers[1:]), task]
    return [
        (former.task, former.after, check_succession(successor, former.task))
        for former, successor in zip(formers, later, strict=False)
    ]


def _percent(part: float, whole: float) -> float:
    return round(100.0 * min(part / whole, 1.0), 2)
