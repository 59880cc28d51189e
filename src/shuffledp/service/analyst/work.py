"""Judges a batch from its counts, opens it, counts it, and publishes or withholds.

Started again after any interruption, it begins at the sealed batch and at zero: counts are
in memory alone until, in one step, the result is on the disk and the batch is gone.
"""

import threading
from collections.abc import Callable

from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.service.analyst.hosted import AnalystHost, nothing
from shuffledp.service.analyst.opening import OpenShards, open_on_all_cores
from shuffledp.service.analyst.results import result_of
from shuffledp.service.analyst.sealed_batch import SealedBatch, keep
from shuffledp.service.analyst.store import AnalystStore, EpochRecord
from shuffledp.service.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp.service.collection.batch_verdict import BatchVerdict, assess_batch
from shuffledp.service.collection.message_counter import MessageCounter
from shuffledp.service.collection.planning import answers_needed, best_plan
from shuffledp.service.collection.shortfall import shortfalls
from shuffledp.service.monitoring.events import Event, log_event
from shuffledp.service.wire.canonical import canonical
from shuffledp.service.wire.inclusion import RESULT, list_messages
from shuffledp.service.wire.plan import Acknowledgement, PublishedPlan, check_plan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import signed
from shuffledp.service.wire.step import Step
from shuffledp.statistics.survey import EpochStage


class Work:
    """Counts the batch of one task, if one waits to be counted."""

    def __init__(
        self,
        hosted: AnalystHost,
        store: AnalystStore,
        *,
        stop: threading.Event,
        open_shards: OpenShards = open_on_all_cores,
        reached: Callable[[str], None] = nothing,
    ) -> None:
        self._hosted, self._task = hosted, hosted.task
        self._store, self._stop, self._reached = store, stop, reached
        self._open_shards = open_shards

    def run(self) -> None:
        """Ends with the batch gone, and a plan, a result or a reason on the disk.

        Raises:
            Interrupted: If it was stopped before.
            DataError: If the batch is not as it was received.
        """
        state = self._store.state(self._task)
        if state.phase is not AnalystPhase.RECEIVED:
            return
        batch = self._store.sealed(self._task)
        if state.stage is EpochStage.CHOICE:
            self._plan(state, batch)
        else:
            self._publish(state, batch)

    def _plan(self, state: AnalystState, batch: SealedBatch) -> None:
        """Counts choices, and chooses what answers follow."""
        people = batch.header.people
        if missing := shortfalls(self._task, people):
            self._withhold(state, people, tuple(map(str, missing)))
            return
        counting = self._open(state, batch)
        try:
            chosen = counting.of(people)
            plan = best_plan(self._task, chosen)
            published = PublishedPlan.sign(
                self._task,
                state.epoch,
                plan,
                minimum=answers_needed(self._task, chosen),
                counts=tuple(chosen.counts.ravel().tolist()),
                signing_key=self._hosted.secrets.signing_key,
            )
            check_plan(plan, published.minimum, self._task)
        except (CertificationError, InvalidInputError, Refusal) as error:
            self._withhold(state, people, (_said("No plan can be made", error),))
            return
        # Nobody should answer under a plan that is known not to keep its promises.
        step = Step(self._task, state.epoch, EpochStage.ANSWER, plan)
        verdict = assess_batch(step, people, chosen=chosen, spent_before=state.spent)
        if verdict.failures:
            self._withhold(state, people, verdict.failures, verdict)
            return
        acknowledged = acknowledge(self._hosted, state.batch_id or b"", published)
        self._reached("before plan")
        self._store.planned(state.publish_plan(plan, chosen), acknowledged)
        log_event(Event.PLANNED, state)
        self._reached("after plan")

    def _publish(self, state: AnalystState, batch: SealedBatch) -> None:
        """Counts answers, if they are enough, and publishes what they tell."""
        people = batch.header.people
        verdict = self._judge(state, people)
        if verdict.failures:
            self._withhold(state, people, verdict.failures, verdict)
            return
        counting = self._open(state, batch)
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
        hashes = list_messages(batch.by_prefix(), state.step.sealed_size)
        listed = self._store.list_messages(state, hashes)
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
        if (kept := self._hosted.kept) is not None:
            keep(batch, kept / f"{self._task.identity}.{state.epoch}")
        result = signed(RESULT, said, self._hosted.secrets.signing_key)
        self._finish(
            state, EpochRecord(state.epoch, people, spent, True, result=result)
        )

    def _open(self, state: AnalystState, batch: SealedBatch) -> MessageCounter:
        """Opens all messages, and keeps their counts."""
        counting = self._open_shards(
            state.step,
            batch.shards(),
            self._hosted.secrets.private_key,
            stopped=self._stop.is_set,
        )
        self._reached("opened")
        return counting

    def _judge(
        self, state: AnalystState, people: tuple[int, ...], spoiled: int = 0
    ) -> BatchVerdict:
        return assess_batch(
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
        verdict: BatchVerdict | None = None,
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
        log_event(Event.WITHHELD if record.result is None else Event.PUBLISHED, state)
        self._reached("after result")


def acknowledge(
    hosted: AnalystHost, batch_id: bytes, plan: PublishedPlan | None = None
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
