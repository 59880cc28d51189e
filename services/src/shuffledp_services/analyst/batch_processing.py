"""Processing of a batch: checks its counts, opens and counts it, publishes or withholds.

After any interruption it restarts from the sealed batch: counts are only in memory until
one step writes the result to the disk and deletes the batch.
"""

import threading
from collections.abc import Callable

from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.analyst_host import AnalystHost, ignore_boundary
from shuffledp_services.analyst.analyst_store import AnalystStore, EpochRecord
from shuffledp_services.analyst.results import result_of
from shuffledp_services.analyst.sealed_batch import SealedBatch, retain
from shuffledp_services.analyst.shard_opening import OpenShards, open_on_all_cores
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.collection.batch_verdict import BatchVerdict, assess_batch
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.collection.planning import answers_needed, best_plan
from shuffledp_services.collection.shortfall import shortfalls
from shuffledp_services.monitoring.event_log import Event, log_event
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.inclusion import RESULT, list_messages
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import (
    Acknowledgement,
    PublishedPlan,
    check_plan,
)
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step


class BatchProcessor:
    """Processes the batch of one task, if one waits to be counted."""

    def __init__(
        self,
        hosted: AnalystHost,
        store: AnalystStore,
        *,
        stop: threading.Event,
        open_shards: OpenShards = open_on_all_cores,
        reached: Callable[[str], None] = ignore_boundary,
    ) -> None:
        self._hosted, self._task = hosted, hosted.task
        self._store, self._stop, self._reached = store, stop, reached
        self._open_shards = open_shards

    def run(self) -> None:
        """Stores a plan, a result or a reason for withholding, and deletes the batch.

        Raises:
            Interrupted: If it was stopped before the end.
            DataError: If the batch differs from the one that was received.
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
        """Counts choices, and publishes the plan for the answers."""
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
            # As every device will: a plan that they refuse must not be published.
            check_plan(plan, published.minimum, self._task)
        except (CertificationError, InvalidInputError, Refusal) as error:
            self._withhold(
                state, people, (_failure_text("No plan can be made", error),)
            )
            return
        # No participant should answer under a plan that cannot keep its promises.
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
        """Counts answers if there are enough, and publishes the result."""
        people = batch.header.people
        verdict = self._judge(state, people)
        if verdict.failures:
            self._withhold(state, people, verdict.failures, verdict)
            return
        counting = self._open(state, batch)
        # Users with invalid messages may hide no other, which only opened messages
        # show: the certificate is computed again without them.
        spoiled = counting.spoiled_people
        if spoiled:
            verdict = self._judge(state, people, spoiled)
        # The messages are open now, so that the epoch costs something even if it is
        # withheld.
        spent = verdict.spent or _cost_without_proof(state)
        if verdict.failures or verdict.certificate is None:
            self._withhold(state, people, verdict.failures, verdict, spent=spent)
            return
        try:
            tally = counting.of(people)
            estimate = state.step.answer_run.estimate(tally, state.chosen)
        except InvalidInputError as error:
            failures = (_failure_text("Nothing can be estimated", error),)
            self._withhold(state, people, failures, verdict, spent=spent)
            return
        # The result names the digest of the list, which therefore comes first.
        hashes = list_messages(batch.by_prefix(), state.step.sealed_size)
        listed = self._store.list_messages(state, hashes)
        document = result_of(
            state,
            people,
            tally,
            estimate,
            verdict.certificate,
            spoiled=spoiled,
            spent=spent,
            listed=listed,
        )
        # Before the result is stored, because `_finish` deletes the batch.
        if (folder := self._hosted.retained_batches) is not None:
            retain(batch, folder / f"{self._task.identity}.{state.epoch}")
        result = signed(RESULT, document, self._hosted.secrets.signing_key)
        self._finish(
            state, EpochRecord(state.epoch, people, spent, True, result=result)
        )

    def _open(self, state: AnalystState, batch: SealedBatch) -> MessageCounter:
        """Opens all messages, and returns their counts."""
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
        """Ends an epoch without a result; no epsilon is spent if no message was opened."""
        promise = self._task.promise
        # If this epoch alone keeps its promises, earlier ones used up the allowance.
        keeps_promises = (
            verdict is not None
            and verdict.spent is not None
            and all(a <= b for a, b in zip(verdict.spent, promise, strict=True))
        )
        enough = not shortfalls(self._task, people)
        reason = (
            Reason.ALLOWANCE_SPENT
            if keeps_promises and enough
            else Reason.TOO_FEW_PEOPLE
        )
        epsilons_spent = spent or (0.0,) * len(promise)
        # Messages were opened if and only if a cost was given.
        record = EpochRecord(
            state.epoch, people, epsilons_spent, spent is not None, failures, reason
        )
        self._finish(state, record)

    def _finish(self, state: AnalystState, record: EpochRecord) -> None:
        self._reached("before result")
        after = state.finish(record.spent, published=record.published)
        # One transaction: a crash leaves the sealed batch, or the record of its epoch.
        self._store.finish(after, record)
        log_event(Event.WITHHELD if record.result is None else Event.PUBLISHED, state)
        self._reached("after result")


def acknowledge(
    hosted: AnalystHost, batch_id: bytes, plan: PublishedPlan | None = None
) -> bytes:
    """Returns the signed acknowledgement, after which the shuffler deletes a batch."""
    document = Acknowledgement(hosted.task.digest, batch_id, plan)
    return canonical(document.signed(hosted.secrets.signing_key))


def _failure_text(problem: str, error: Exception) -> str:
    return f"{problem}: {error}".rstrip(".")


def _cost_without_proof(state: AnalystState) -> tuple[float, ...]:
    """Returns the cost of an epoch that was opened without a certificate."""
    task = state.task
    if not task.question.survey.central:
        # A level is its local epsilon, paid even beyond the allowance: a local guarantee
        # is pure, composes over epochs, and needs no other participants.
        return task.choices
    # A target gives no local guarantee: it pays its whole remaining allowance.
    return tuple(
        max(allowance - spent, promise)
        for allowance, spent, promise in zip(
            task.allowance, state.spent, task.promise, strict=True
        )
    )
