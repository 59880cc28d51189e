"""Both state machines: nothing is released early, counted twice or left unpaid."""

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rotated_parties import successor
from service_parties import LEVELS, allowed_plan, parties, publish

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.collection.continuation import (
    replace_keys,
    resume_after_loss,
)
from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signed_plan import Acknowledgement, PublishedPlan
from shuffledp_services.wire.step import MAX_EPOCH, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import UploadHeader

WHO = parties("frequency")
ITEMS_WHO = parties("items", minimum=(300, 1, 1), task_id=bytes(16))
TASK, ITEMS = WHO.task, ITEMS_WHO.task
ENOUGH = (100, 100, 100)
PLAN = allowed_plan(ITEMS)
PUBLISHED = publish(ITEMS, ITEMS_WHO.analyst.signing_key)
CHOSEN = Step(ITEMS, 1, EpochStage.CHOICE).choice_run.exact((100, 100, 100))
BATCH, OTHER = bytes(16), bytes([1]) * 16


def reason_of(call: Any, *arguments: Any, **named: Any) -> Reason:
    with pytest.raises(Refusal) as refusal:
        call(*arguments, **named)
    return refusal.value.reason


@cache
def after_task(task: Task) -> Task:
    """The task with other keys that takes its place."""
    return successor(task, *Role)


def enrolment_of(task: Task, epoch: int) -> Enrolment:
    return (WHO if task.choices_are_levels else ITEMS_WHO).enroller.enrolment(epoch)


def enrolled(task: Task, epoch: int = 1) -> ShufflerState:
    begun = ShufflerState.begin(task, epoch, after=epoch - 1)
    return begun.enroll(enrolment_of(task, epoch))


def acknowledged(
    state: ShufflerState, plan: PublishedPlan | None = None
) -> ShufflerState:
    assert state.batch_id is not None
    said = Acknowledgement(state.task.digest, state.batch_id, plan)
    return state.deliver(said)


def header(state: AnalystState, batch_id: bytes = BATCH, **changes: Any) -> BatchHeader:
    """Of a batch that the state waits for."""
    over = state.phase.value in ("published", "withheld")
    step = state.step
    if over:
        begun = AnalystState.begin(state.task)
        step = replace(begun, epoch=state.epoch + 1).step
    fitting = BatchHeader(
        state.task.digest,
        step.epoch,
        step.epoch - 1,
        step.stage,
        batch_id,
        (300,) if len(state.task.stages) == 2 else ENOUGH,
        step.sealed_size,
        0,
        (),
        enrolment_of(state.task, step.epoch),
        step.messages_per_report,
    )
    return replace(fitting, **changes)


def test_one_value_is_collected_closed_delivered_and_collected_again() -> None:
    opened = enrolled(TASK)

    closed = opened.close(ENOUGH, BATCH)
    delivered = acknowledged(closed)
    again = delivered.next_epoch()

    assert [state.phase.value for state in (opened, closed, delivered, again)] == [
        "open",
        "closed",
        "delivered",
        "open",
    ]
    assert (again.epoch, again.stage, again.batch_id) == (2, EpochStage.ANSWER, None)


def test_items_follow_levels_under_the_plan_that_was_published() -> None:
    levels = enrolled(ITEMS)

    items = acknowledged(levels.close((300,), BATCH), PUBLISHED)
    after = acknowledged(items.close((300,), OTHER)).next_epoch()

    assert (levels.stage, levels.step.messages_per_report) == (EpochStage.CHOICE, 1)
    assert (items.epoch, items.stage, items.phase) == (
        1,
        EpochStage.ANSWER,
        levels.phase,
    )
    size = PLAN.record["parameters"]["report_size"]
    assert items.step.messages_per_report == size
    assert items.step.plan_digest.hex() == PLAN.digest
    assert (after.epoch, after.stage, after.plan) == (2, EpochStage.CHOICE, None)


def test_a_plan_of_another_epoch_or_task_is_refused() -> None:
    closed = enrolled(ITEMS).close((300,), BATCH)

    for changes in ({"epoch": 2}, {"task": TASK.digest}):
        plan = replace(PUBLISHED, **changes)
        assert reason_of(acknowledged, closed, plan) is Reason.WRONG_EPOCH


def test_an_epoch_without_a_plan_ends_after_its_levels() -> None:
    levels = enrolled(ITEMS)

    over = acknowledged(levels.close((300,), BATCH))

    assert (over.phase, over.batch_id) == (ShufflerPhase.DELIVERED, None)
    assert (over.next_epoch().epoch, over.next_epoch().stage) == (2, EpochStage.CHOICE)


def test_an_epoch_whose_batch_is_refused_is_over_and_stays_counted() -> None:
    answers, levels = enrolled(TASK), enrolled(ITEMS)

    for opened, people in ((answers, ENOUGH), (levels, (300,))):
        over = opened.close(people, BATCH).skip(refused=True)
        assert (over.phase, over.batch_id) == (ShufflerPhase.SKIPPED, None)
        begun = over.next_epoch()
        assert (begun.epoch, begun.stage) == (2, opened.stage)
        # She has something of it, and may never finish it: no delivery is claimed.
        assert (begun.after, begun.closed_epochs) == (0, 1)


def test_no_more_epochs_begin_than_the_task_pays_for() -> None:
    state = ShufflerState.begin(TASK)

    for number in range(TASK.epochs):
        assert state.closed_epochs == number
        # An epoch in which nothing was closed costs nothing.
        state = state.skip().next_epoch() if number == 1 else state
        opened = state.enroll(enrolment_of(TASK, state.epoch))
        closed = opened.close(ENOUGH, BATCH)
        # What she says of a batch that she was sent changes nothing.
        over = closed.skip(refused=True) if number % 2 else acknowledged(closed)
        state = over if number == TASK.epochs - 1 else over.next_epoch()

    assert state.closed_epochs == TASK.epochs
    assert reason_of(state.next_epoch) is Reason.ALLOWANCE_SPENT
    renamed = replace_keys(state, after_task(TASK), (0,) * 3)
    assert reason_of(renamed.next_epoch) is Reason.ALLOWANCE_SPENT


def test_an_epoch_of_two_steps_counts_once() -> None:
    items = acknowledged(enrolled(ITEMS).close((300,), BATCH), PUBLISHED)

    assert items.closed_epochs == 1
    assert items.close((300,), OTHER).closed_epochs == 1


def test_an_epoch_can_be_skipped_wherever_it_is_stuck() -> None:
    levels = enrolled(ITEMS, epoch=3)
    published = publish(ITEMS, ITEMS_WHO.analyst.signing_key, epoch=3)
    items = acknowledged(levels.close((300,), BATCH), published)
    refused = items.close((300,), OTHER)

    for state, why in ((levels, False), (items, False), (refused, True)):
        over = state.skip(refused=why)
        begun = over.next_epoch()
        assert (over.phase, over.batch_id) == (ShufflerPhase.SKIPPED, None)
        closed = int(state.stage is EpochStage.ANSWER)
        counted = {"after": 2, "closed_epochs": closed}
        assert begun == ShufflerState.begin(ITEMS, 4, **counted)
        # Two in a row: the last one that was delivered is still the same.
        assert begun.skip().next_epoch() == ShufflerState.begin(ITEMS, 5, **counted)


def test_what_is_over_or_may_have_arrived_is_not_skipped() -> None:
    closed = enrolled(TASK).close(ENOUGH, BATCH)
    delivered = acknowledged(closed)
    skipped = enrolled(TASK).skip()

    for state, refused in ((closed, False), (delivered, True), (skipped, True)):
        assert reason_of(state.skip, refused=refused) is Reason.NOT_OPEN
    header = UploadHeader(TASK.task_id, 1, EpochStage.ANSWER)
    assert reason_of(skipped.check_upload, header) is Reason.NOT_OPEN
    assert reason_of(skipped.close, ENOUGH, OTHER) is Reason.NOT_OPEN


def test_only_an_open_step_has_a_deadline_and_none_passes_before_its_time() -> None:
    opened = enrolled(TASK)
    timed = opened.with_deadline(1000).with_deadline(2000)

    assert [timed.is_overdue(now) for now in (1000.0, 1999.9, 2000.0)] == [
        False, False, True,
    ]  # fmt: skip
    assert not opened.is_overdue(1e18)
    for state in (timed.close(ENOUGH, BATCH), timed.skip()):
        assert not state.is_overdue(3000.0)
        assert reason_of(state.with_deadline, 3000) is Reason.NOT_OPEN
    # What follows has none.
    assert timed.skip().next_epoch().deadline is None
    levels = enrolled(ITEMS).with_deadline(2000).close((300,), BATCH)
    assert acknowledged(levels, PUBLISHED).deadline is None


def test_a_step_past_its_deadline_waits_with_what_came_in_until_somebody_decides() -> (
    None
):
    waiting = enrolled(TASK).with_deadline(1000).wait()

    header = UploadHeader(TASK.task_id, 1, EpochStage.ANSWER)
    assert reason_of(waiting.check_upload, header) is Reason.NOT_OPEN
    assert reason_of(waiting.wait) is Reason.NOT_OPEN
    assert reason_of(waiting.next_epoch) is Reason.NOT_OPEN
    assert not waiting.is_overdue(2000.0)
    # Another deadline opens it again; and it is dropped by nobody but the operator.
    assert waiting.with_deadline(2000) == enrolled(TASK).with_deadline(2000)
    assert waiting.close(ENOUGH, BATCH).phase is ShufflerPhase.CLOSED
    assert waiting.skip().phase is ShufflerPhase.SKIPPED
    for state in (waiting.close(ENOUGH, BATCH), waiting.skip()):
        assert reason_of(state.wait) is Reason.NOT_OPEN


def test_after_a_lost_database_the_epoch_after_the_interrupted_one_begins() -> None:
    lost = enrolled(TASK)
    paid = TASK.epochs

    begun = partial(ShufflerState.begin, TASK, after=2)
    assert resume_after_loss(lost, 3, known=0) == begun(4, closed_epochs=3)
    # She never heard of one that was skipped, and of one that was open.
    assert resume_after_loss(lost, 3, known=4) == begun(5, closed_epochs=4)
    for awaited in (-5, 0, 1):
        # Who waits for this epoch lost nothing.
        resume = partial(resume_after_loss, known=0)
        assert reason_of(resume, lost, awaited) is Reason.NOT_OPEN
    # Nobody knows any more which epochs had a batch: each may have been paid for.
    for awaited, known in ((3, paid), (paid, 0), (10**30, 0)):
        resume = partial(resume_after_loss, lost, awaited, known=known)
        assert reason_of(resume) is Reason.ALLOWANCE_SPENT
    for state in (lost.close(ENOUGH, BATCH), lost.skip()):
        resume = partial(resume_after_loss, known=0)
        assert reason_of(resume, state, 3) is Reason.NOT_OPEN


def test_uploads_for_anything_else_are_refused_with_the_reason() -> None:
    state = enrolled(TASK, epoch=3)
    right = UploadHeader(TASK.task_id, 3, EpochStage.ANSWER)

    state.check_upload(right)

    for changes, reason in (
        ({"task_id": bytes([9]) * 16}, Reason.UNKNOWN_TASK),
        ({"epoch": 2}, Reason.WRONG_EPOCH),
        ({"epoch": 0}, Reason.WRONG_EPOCH),
        ({"epoch": MAX_EPOCH}, Reason.WRONG_EPOCH),
        ({"stage": EpochStage.CHOICE}, Reason.WRONG_STAGE),
    ):
        wrong = replace(right, **changes)
        assert reason_of(state.check_upload, wrong) is reason
    closed = state.close(ENOUGH, BATCH)
    assert reason_of(closed.check_upload, right) is Reason.NOT_OPEN
    assert reason_of(acknowledged(closed).check_upload, right) is Reason.NOT_OPEN


def test_a_level_with_one_person_too_few_is_not_released_and_is_named() -> None:
    state = enrolled(TASK)

    with pytest.raises(Refusal) as refusal:
        state.close((100, 99, 5000), BATCH)

    assert refusal.value.reason is Reason.TOO_FEW_PEOPLE
    assert str(refusal.value) == "level 1: 99 of 100 people."


def test_levels_of_items_are_not_told_apart_when_a_step_is_closed() -> None:
    state = enrolled(ITEMS)

    (missing,) = state.shortfalls((299,))

    assert str(missing) == "everybody: 299 of 300 people"
    assert state.shortfalls((300,)) == ()


def test_the_shuffler_refuses_what_comes_at_the_wrong_time() -> None:
    opened = enrolled(TASK)
    closed = opened.close(ENOUGH, BATCH)
    delivered = acknowledged(closed)
    said = Acknowledgement(TASK.digest, BATCH)

    assert reason_of(opened.next_epoch) is Reason.NOT_OPEN
    assert reason_of(closed.next_epoch) is Reason.NOT_OPEN
    assert reason_of(closed.close, ENOUGH, OTHER) is Reason.NOT_OPEN
    assert reason_of(delivered.close, ENOUGH, OTHER) is Reason.NOT_OPEN
    for state, other in (
        (opened, said),
        (delivered, said),
        (closed, Acknowledgement(TASK.digest, OTHER)),
        (closed, Acknowledgement(2 * OTHER, BATCH)),
    ):
        assert reason_of(state.deliver, other) is Reason.MALFORMED
    last = replace(delivered, epoch=MAX_EPOCH)
    assert reason_of(last.next_epoch) is Reason.NOT_OPEN


def test_the_analyst_receives_judges_and_waits_for_the_next_epoch() -> None:
    waiting = AnalystState.begin(TASK)

    received = waiting.receive(header(waiting))
    published = received.finish((0.1, 0.2, 0.3), published=True)
    later = published.receive(header(published, OTHER))
    withheld = later.finish((0.1, 0.2, 0.3), published=False)

    assert received.receive(header(waiting)) is received
    assert published.phase.value == "published"
    assert (later.epoch, later.phase.value) == (2, "received")
    assert withheld.phase.value == "withheld"
    # A batch that was seen is paid for, whether or not anything is published.
    assert withheld.spent == pytest.approx((0.2, 0.4, 0.6))


def test_the_analyst_plans_items_between_two_batches() -> None:
    begun = AnalystState.begin(ITEMS)

    planned = begun.receive(header(begun)).publish_plan(PLAN, CHOSEN)
    done = planned.receive(header(planned, OTHER)).finish((0.5, 1, 2), published=True)

    assert (planned.stage, planned.phase.value) == (EpochStage.ANSWER, "waiting")
    # The shuffler may not have heard that the levels arrived.
    assert planned.receive(header(begun)) is planned
    assert (done.plan, done.chosen) == (PLAN, CHOSEN)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"epoch": 2, "after": 1}, Reason.WRONG_EPOCH),
        ({"epoch": 0}, Reason.WRONG_EPOCH),
        ({"epoch": 10**300}, Reason.WRONG_EPOCH),
        ({"epoch": TASK.last_epoch + 1, "after": 0}, Reason.WRONG_EPOCH),
        ({"stage": EpochStage.CHOICE}, Reason.WRONG_STAGE),
        ({"people": (300,)}, Reason.WRONG_SIZE),
        ({"people": ()}, Reason.WRONG_SIZE),
        ({"sealed_size": 10}, Reason.WRONG_SIZE),
        ({"messages_per_report": 2}, Reason.WRONG_SIZE),
    ],
    ids=str,
)
def test_the_analyst_refuses_batches_of_something_else(
    changes: dict[str, Any], reason: Reason
) -> None:
    state = AnalystState.begin(TASK)

    assert reason_of(state.receive, header(state, **changes)) is reason


def test_the_analyst_goes_on_after_epochs_that_were_skipped() -> None:
    waiting = AnalystState.begin(TASK)
    first = waiting.receive(header(waiting)).finish((0.1, 0.2, 0.3), published=True)
    fourth = header(first, OTHER, epoch=4, after=1, enrolment=enrolment_of(TASK, 4))

    later = first.receive(fourth)

    assert list(first.skipped_before(4)) == [2, 3]
    assert (later.epoch, later.phase.value) == (4, "received")
    assert (later.spent, later.awaited) == ((0.1, 0.2, 0.3), 5)
    # Neither what is over nor what was skipped comes back.
    done = later.finish((0.0,) * 3, published=False)
    for epoch in (1, 2, 3, 4):
        old = header(done, bytes([9]) * 16, epoch=epoch, after=0)
        assert reason_of(done.receive, old) is Reason.ALREADY_DELIVERED


def test_answers_that_never_come_are_skipped_with_their_plan() -> None:
    begun = AnalystState.begin(ITEMS)
    planned = begun.receive(header(begun)).publish_plan(PLAN, CHOSEN)
    choices = Step(ITEMS, 2, EpochStage.CHOICE)
    second = header(
        begun,
        OTHER,
        epoch=2,
        after=0,
        stage=EpochStage.CHOICE,
        enrolment=enrolment_of(ITEMS, 2),
        sealed_size=choices.sealed_size,
    )

    later = planned.receive(second)

    assert list(planned.skipped_before(2)) == [1]
    assert (planned.awaited, later.awaited) == (1, 2)
    assert (later.epoch, later.plan, later.chosen) == (2, None, None)


def test_an_analyst_who_forgot_a_delivered_epoch_accepts_no_later_one() -> None:
    forgetful = AnalystState.begin(TASK)

    third = header(forgetful, epoch=3, after=1, enrolment=enrolment_of(TASK, 3))

    assert reason_of(forgetful.receive, third) is Reason.WRONG_EPOCH
    assert forgetful.receive(replace(third, after=0)).epoch == 3


def test_a_later_epoch_waits_until_the_one_before_is_counted() -> None:
    waiting = AnalystState.begin(TASK)
    received = waiting.receive(header(waiting))

    for after in (0, 1):
        second = header(waiting, OTHER, epoch=2, after=after)
        assert reason_of(received.receive, second) is Reason.WRONG_EPOCH
    assert received.awaited == 2


def test_another_batch_of_the_same_step_is_refused() -> None:
    waiting = AnalystState.begin(TASK)
    received = waiting.receive(header(waiting))
    finished = received.finish((0.1, 0.1, 0.1), published=True)
    other = header(waiting, OTHER)

    for state in (received, finished):
        assert reason_of(state.receive, other) is Reason.ALREADY_DELIVERED


def test_choices_that_were_counted_are_not_asked_for_again() -> None:
    begun = AnalystState.begin(ITEMS)
    planned = begun.receive(header(begun)).publish_plan(PLAN, CHOSEN)
    again = header(begun, OTHER)

    assert reason_of(planned.receive, again) is Reason.ALREADY_DELIVERED


def test_a_kept_copy_of_a_dropped_batch_is_paid_for_or_refused() -> None:
    # She refused it once, as her service ran without the task; the epoch was skipped.
    waiting = AnalystState.begin(TASK)
    kept, again = header(waiting), header(waiting, OTHER)
    second = header(
        waiting, bytes([2]) * 16, epoch=2, after=0, enrolment=enrolment_of(TASK, 2)
    )

    # Nobody told her yet: it is counted once, paid for, and nothing after it is lost.
    counted = waiting.receive(kept).finish((0.1, 0.2, 0.3), published=True)
    later = counted.receive(second)
    # From the next batch on she knows.
    told = waiting.receive(second).finish((0.1, 0.2, 0.3), published=True)

    assert (later.epoch, later.spent) == (2, (0.1, 0.2, 0.3))
    assert reason_of(told.receive, kept) is Reason.ALREADY_DELIVERED
    # Of a batch and of that of people who were asked again, she takes one.
    for first, other in ((kept, again), (again, kept)):
        received = waiting.receive(first)
        assert reason_of(received.receive, other) is Reason.ALREADY_DELIVERED


def test_steps_of_the_analyst_in_another_order_are_refused() -> None:
    waiting, items = AnalystState.begin(TASK), AnalystState.begin(ITEMS)
    received = items.receive(header(items))

    for call in (
        lambda: waiting.finish((0, 0, 0), published=True),
        lambda: waiting.publish_plan(PLAN, CHOSEN),
        lambda: waiting.receive(header(waiting)).publish_plan(PLAN, CHOSEN),
        lambda: items.publish_plan(PLAN, CHOSEN),
        lambda: received.finish((0, 0, 0), published=True),
    ):
        assert reason_of(call) is Reason.WRONG_STAGE


def test_a_level_that_cannot_pay_as_promised_stops_the_next_batch() -> None:
    # Allowances of 5, 5 and 10; promises of 0.5, 1 and 2.
    waiting = AnalystState.begin(TASK)
    received = waiting.receive(header(waiting))

    poor = received.finish((0.0, 4.25, 0.0), published=True)
    rich = received.finish((4.5, 4.0, 8.0), published=True)

    assert poor.exhausted == (1.0,)
    assert reason_of(poor.receive, header(poor, OTHER)) is Reason.ALLOWANCE_SPENT
    assert rich.receive(header(rich, OTHER)).epoch == 2


def test_answers_to_a_plan_of_a_former_task_are_skipped_and_choices_come_once() -> None:
    waiting = AnalystState.begin(ITEMS)
    planned = waiting.receive(header(waiting)).publish_plan(PLAN, CHOSEN)

    after = planned.succeed(after_task(ITEMS))
    once_more = header(after, OTHER, epoch=1, stage=EpochStage.CHOICE)

    assert (after.epoch, after.over, after.phase) == (2, 1, AnalystPhase.WAITING)
    assert (after.plan, after.chosen, after.enrolment) == (None, None, None)
    assert reason_of(after.receive, once_more) is Reason.ALREADY_DELIVERED
    assert waiting.succeed(after_task(ITEMS)).epoch == 1


def test_a_deadline_and_an_enrolment_end_with_the_keys_they_were_made_for() -> None:
    open_epoch = enrolled(TASK, 3).with_deadline(1000)

    after = replace_keys(open_epoch, after_task(TASK), (0, 0, 0))
    plan_follows = replace(enrolled(ITEMS), stage=EpochStage.ANSWER, plan=PUBLISHED)

    assert after == ShufflerState.begin(after_task(TASK), 3, after=2)
    for state, people in ((open_epoch, (0, 1, 0)), (plan_follows, (0,))):
        task = after_task(state.task)
        assert reason_of(replace_keys, state, task, people) is Reason.NOT_OPEN
    assert reason_of(replace_keys, open_epoch, TASK, (0, 0, 0)) is Reason.UNKNOWN_TASK


COUNT = st.integers(0, 200)
SHUFFLER_CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("close"), st.tuples(COUNT, COUNT, COUNT)),
        st.tuples(st.just("deliver"), st.sampled_from(["right", "old", "other"])),
        st.tuples(st.just("next"), st.none()),
        st.tuples(st.just("skip"), st.booleans()),
        st.tuples(st.just("succeed"), st.booleans()),
    ),
    max_size=40,
)


@pytest.mark.slow
@given(st.sampled_from([TASK, ITEMS]), SHUFFLER_CALLS)
# The first time, a line of successors takes as long as their keys take to be drawn.
@settings(max_examples=300, deadline=None)
def test_no_sequence_of_calls_releases_too_few_people_or_a_batch_twice(
    task: Any, calls: list[tuple[str, Any]]
) -> None:
    state = enrolled(task)
    released: list[tuple[int, EpochStage]] = []
    closed: list[bytes] = []

    for number, (call, what) in enumerate(calls):
        before = state
        try:
            if call == "close":
                people = what if task.choices_are_levels else (sum(what),)
                state = state.close(people, number.to_bytes(16, "big"))
                needed = state.task.minimum[: len(people)]
                assert all(np.array(people) >= np.array(needed))
                released.append((state.epoch, state.stage))
                closed.append(number.to_bytes(16, "big"))
            elif call == "deliver":
                names = {"right": closed[-1:], "old": closed[:-1], "other": [OTHER]}
                batch_id = (names[what] or [bytes(16)])[-1]
                said = Acknowledgement(state.task.digest, batch_id, PUBLISHED)
                state = state.deliver(said)
                assert batch_id == before.batch_id
            elif call == "skip":
                state = state.skip(refused=what)
                assert what or before.phase is ShufflerPhase.OPEN
            elif call == "succeed":
                state = replace_keys(state, after_task(state.task), (int(what),))
                # What is open has been answered by nobody, and is not known to her.
                assert before.phase is not ShufflerPhase.CLOSED
                assert before.phase is not ShufflerPhase.OPEN or not what
                assert (state.epoch, state.after) == (before.epoch, before.after)
            else:
                state = state.next_epoch()
                ended = before.phase
                assert ended in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED)
                delivered = ended is ShufflerPhase.DELIVERED
                assert state.after == (before.epoch if delivered else before.after)
                assert state.closed_epochs == before.closed_epochs < state.task.epochs
        except Refusal:
            assert state is before

    assert len(set(released)) == len(released)


ANALYST_CALLS = st.lists(
    st.one_of(
        st.tuples(
            st.just("receive"),
            st.tuples(
                st.integers(0, 4),
                st.sampled_from(EpochStage),
                st.integers(0, 6),
                st.integers(0, 3),
            ),
        ),
        st.tuples(st.just("finish"), st.booleans()),
        st.tuples(st.just("plan"), st.none()),
        st.tuples(st.just("succeed"), st.none()),
    ),
    max_size=60,
)


@pytest.mark.slow
@given(st.sampled_from([TASK, ITEMS]), ANALYST_CALLS)
# The first time, a line of successors takes as long as their keys take to be drawn.
@settings(max_examples=300, deadline=None)
def test_no_sequence_of_calls_counts_a_batch_twice_or_exceeds_an_allowance(
    task: Any, calls: list[tuple[str, Any]]
) -> None:
    # Every epoch costs what it may at most: what is promised.
    state = AnalystState.begin(task)
    counted: set[tuple[int, EpochStage]] = set()
    finished: set[int] = set()

    for call, what in calls:
        before = state
        try:
            if call == "receive":
                epoch, stage, batch, after = what
                fitting = header(
                    state, bytes([batch]) * 16, epoch=epoch, stage=stage, after=after
                )
                state = state.receive(fitting)
                if state is not before:
                    assert after <= before.over < epoch
                    assert epoch >= before.epoch
                    assert (epoch, stage) not in counted
                    counted.add((epoch, stage))
            elif call == "plan":
                state = state.publish_plan(PLAN, CHOSEN)
                assert before.phase is AnalystPhase.RECEIVED
            elif call == "succeed":
                state = state.succeed(after_task(state.task))
                assert before.phase is not AnalystPhase.RECEIVED
                assert state.spent == before.spent
                assert state.over >= before.over
                assert state.awaited >= before.awaited
            else:
                state = state.finish(task.promise, published=what)
                assert state.epoch not in finished
                finished.add(state.epoch)
        except Refusal:
            assert state is before

    assert all(np.array(state.spent) <= np.array(task.allowance))
    assert all(count == len(finished) for count in np.array(state.spent) / LEVELS)
