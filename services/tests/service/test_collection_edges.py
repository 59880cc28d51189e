"""What a step begins with cannot be changed, and what a plan may rely on."""

from dataclasses import replace

import pytest
from service_parties import parties

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.planning import answers_needed
from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step


def test_another_enrolment_of_the_same_epoch_is_refused() -> None:
    who = parties("frequency")
    first = who.enroller.enrolment(1)
    state = ShufflerState.begin(who.task).enroll(first)
    other = replace(first, tokens=first.tokens + 1)

    with pytest.raises(Refusal) as refusal:
        state.enroll(other)

    assert refusal.value.reason is Reason.SIGNATURE_FORGED
    assert state.enroll(first) is state


def test_no_epoch_is_closed_before_the_first() -> None:
    task = parties("frequency").task

    assert ShufflerState(task, 1, task.stages[0]).closed_epochs == 0


def test_plans_rely_on_the_minimum_of_everybody_or_on_nine_in_ten() -> None:
    task = parties("items", minimum=(300, 1, 1)).task
    choosing = Step(task, 1, EpochStage.CHOICE).choice_run

    assert answers_needed(task, choosing.exact((100, 50, 50))) == 300
    assert answers_needed(task, choosing.exact((500, 300, 200))) == 900
