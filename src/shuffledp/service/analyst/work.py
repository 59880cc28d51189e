"""Judges a batch from its counts, opens it, counts it, and publishes or withholds.

Started again after any interruption, it begins at the sealed batch and at zero: counts are
in memory alone until, in one step, the result is on the disk and the batch is gone.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import CertificationError, DataError, InvalidInputError
from shuffledp.identity import Identity
from shuffledp.service.analyst.hosted import AnalystHost, nothing
from shuffledp.service.analyst.results import result_of
from shuffledp.service.analyst.store import AnalystStore, EpochRecord
from shuffledp.service.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp.service.collection.certificate import Verdict, judge
from shuffledp.service.collection.counting import Counting
from shuffledp.service.collection.shortfall import shortfalls
from shuffledp.service.events import Event, say
from shuffledp.service.wire.canonical import canonical
from shuffledp.service.wire.inclusion import RESULT, list_messages
from shuffledp.service.wire.plan import Acknowledgement, read_plan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.sealing import Opener
from shuffledp.service.wire.signing import signed
from shuffledp.service.wire.step import Step
from shuffledp.statistics.survey import EpochStage

# Messages that are in memory at a time.
CHUNK = 4096


class Interrupted(Exception):  # noqa: N818 - no error: the service is being stopped
    """The work was asked to stop; it begins again when the service does."""


class Work:
    """Counts the batch of one task, if one waits to be counted."""

    def __init__(
        self,
        hosted: AnalystHost,
        store: AnalystStore,
        *,
        stop: threading.Event,
        reached: Callable[[str], None] = nothing,
    ) -> None:
        self._hosted, self._task = hosted, hosted.task
        self._store, self._stop, self._reached = store, stop, reached

    def run(self) -> None:
        """Ends with the batch gone, and a plan, a result or a reason on the disk.

        Raises:
            Interrupted: If it was stopped before.
            DataError: If the batch is not as it was received.
        """
        state = self._store.state(self._task)
        if state.phase is not AnalystPhase.RECEIVED:
            return
        people, path = self._store.sealed(self._task)
        if state.stage is EpochStage.CHOICE:
            self._plan(state, people, path)
        else:
            self._publish(state, people, path)

    def _plan(self, state: AnalystState, people: tuple[int, ...], path: Path) -> None:
        """Counts choices, and chooses what answers follow."""
        if missing := shortfalls(self._task, people):
            self._withhold(state, people, tuple(map(str, missing)))
            return
        counting = self._open(state, people, path)
        try:
            chosen = counting.of(people)
            found = state.step.choosing.plan(chosen)
            plan = read_plan(found.record, self._task)
        except (CertificationError, InvalidInputError, Refusal) as error:
            self._withhold(state, people, (_said("No plan can be made", error),))
            return
        # Nobody should answer under a plan that is known not to keep its promises.
        step = Step(self._task, state.epoch, EpochStage.ANSWER, plan)
        verdict = judge(step, people, chosen=chosen, spent_before=state.spent)
        if verdict.failures:
            self._withhold(state, people, verdict.failures, verdict)
            return
        acknowledged = acknowledge(self._hosted, state.batch_id or b"", plan)
        self._reached("before plan")
        self._store.planned(state.publish_plan(plan, chosen), acknowledged)
        say(Event.PLANNED, state)
        self._reached("after plan")

    def _publish(
        self, state: AnalystState, people: tuple[int, ...], path: Path
    ) -> None:
        """Counts answers, if they are enough, and publishes what they tell."""
        verdict = self._judge(state, people)
        if verdict.failures:
            self._withhold(state, people, verdict.failures, verdict)
            return
        counting = self._open(state, people, path)
        spoiled = counting.spoiled_people
        if spoiled:
            verdict = self._judge(state, people, spoiled)
        spent = verdict.spent or _cost_without_proof(state)
        if verdict.failures or verdict.certificate is None:
            self._withhold(state, people, verdict.failures, verdict, spent=spent)
            return
        try:
            tally = counting.of(people)
            found = state.step.answering.estimate(tally, state.chosen)
        except InvalidInputError as error:
            failures = (_said("Nothing can be estimated", error),)
            self._withhold(state, people, failures, verdict, spent=spent)
            return
        listed = list_messages(path, state.step.sealed_size)
        self._store.list_messages(state, listed)
        said = result_of(
            state,
            people,
            tally,
            found,
            verdict.certificate,
            spoiled=spoiled,
            spent=spent,
            listed=listed,
        )
        result = signed(RESULT, said, self._hosted.secrets.signing_key)
        self._finish(
            state, EpochRecord(state.epoch, people, spent, True, result=result)
        )

    def _open(
        self, state: AnalystState, people: tuple[int, ...], path: Path
    ) -> Counting:
        """Opens all messages, a few at a time, and keeps their counts."""
        step, suite = state.step, self._task.suite
        counting, size = Counting(step), step.sealed_size
        piles = step.piles(people)
        with path.open("rb") as file:
            for group, reports in enumerate(piles):
                opener = Opener(
                    suite, self._hosted.secrets.private_key, step.info(group)
                )
                left = reports * step.messages_per_report
                while left:
                    if self._stop.is_set():
                        raise Interrupted
                    part = min(left, CHUNK)
                    content = file.read(part * size)
                    if len(content) != part * size:
                        raise DataError("Expected the batch as it was received.")
                    starts = range(0, len(content), size)
                    counting.add(
                        group, [opener.open(content[at : at + size]) for at in starts]
                    )
                    left -= part
        self._reached("opened")
        return counting

    def _judge(
        self, state: AnalystState, people: tuple[int, ...], spoiled: int = 0
    ) -> Verdict:
        return judge(
            state.step,
            people,
            chosen=state.chosen,
            spoiled=spoiled,
            spent_before=state.spent,
        )

    def _withhold(
        self,
        state: AnalystState,
        people: tuple[int, ...],
        failures: tuple[str, ...],
        verdict: Verdict | None = None,
        *,
        spent: tuple[float, ...] | None = None,
    ) -> None:
        """Ends an epoch without a result; nothing is spent if nothing was opened."""
        promise = self._task.promise
        kept = (
            verdict is not None
            and verdict.spent is not None
            and all(a <= b for a, b in zip(verdict.spent, promise, strict=True))
        )
        enough = not shortfalls(self._task, people)
        reason = Reason.ALLOWANCE_SPENT if kept and enough else Reason.TOO_FEW_PEOPLE
        paid = spent or (0.0,) * len(promise)
        record = EpochRecord(
            state.epoch, people, paid, spent is not None, failures, reason
        )
        self._finish(state, record)

    def _finish(self, state: AnalystState, record: EpochRecord) -> None:
        self._reached("before result")
        after = state.finish(record.spent, published=record.published)
        self._store.finish(after, record)
        say(Event.WITHHELD if record.result is None else Event.PUBLISHED, state)
        self._reached("after result")


def acknowledge(
    hosted: AnalystHost, batch_id: bytes, plan: Identity | None = None
) -> bytes:
    """Returns the signed document that tells the shuffler to forget a batch."""
    document = Acknowledgement(hosted.task.digest, batch_id, plan)
    return canonical(document.signed(hosted.secrets.signing_key))


def _said(what: str, error: Exception) -> str:
    return f"{what}: {error}".rstrip(".")


def _cost_without_proof(state: AnalystState) -> tuple[float, ...]:
    """What an epoch costs that was seen and of whose crowd nothing can be proven.

    At a privacy level it costs the level, should that be more than is left: a local
    guarantee is pure, adds up over epochs, and needs nobody else. Of a target, which is
    none, all that is left is paid.
    """
    task = state.task
    if not task.question.survey.central:
        return task.choices
    return tuple(
        max(allowance - spent, promise)
        for allowance, spent, promise in zip(
            task.allowance, state.spent, task.promise, strict=True
        )
    )
