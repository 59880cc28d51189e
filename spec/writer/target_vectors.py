"""The result of a collection in which people chose two of three targets.

Plan, tally, certificate and result are those of forty people, of whom one did not answer
and one sent a dummy. The sealed messages are not part of it: only their hashes enter.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shuffledp.asked_question import AskedQuestion
from shuffledp.identity import Identity
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.survey import EpochStage, Offer
from shuffledp_services.analyst.results import result_of
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.collection.batch_verdict import assess_batch
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.wire.canonical import canonical, sha256
from shuffledp_services.wire.inclusion import RESULT
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.roster import read_roster, write_roster
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_messages
from vector_parties import ANALYST, ENROLLER, EPOCH, color_task

_QUESTIONS = (
    AskedQuestion("Which colour?", ("red", "green")),
    AskedQuestion("Which of these?", ("bread", "cheese", "wine"), most=2),
)
_TARGETS = (0.5, 1.0, 2.0)
# The one in the middle has no people.
_CHOSEN = (10, 0, 30)
_PEOPLE, _SPOILED = 39, 1


def target_vectors() -> dict[str, Any]:
    """Returns the task, its plan, the result, and results that are not verified."""
    task = target_task()
    assert task.plan_rule is not None
    run = task.question.survey.choosing(task.offer)
    plan = task.plan_rule.plan(run.exact(_CHOSEN), task.minimum[0], spare=0)
    published = PublishedPlan.sign(
        task,
        EPOCH,
        plan,
        minimum=task.minimum[0],
        counts=_CHOSEN,
        signing_key=ANALYST,
    )
    content = _result(task, plan)
    return {
        "task": task.to_json().decode(),
        "epoch": EPOCH,
        "plan": canonical(published.to_dict()).decode(),
        "result": canonical(signed(RESULT, content, ANALYST)).decode(),
        "not_verified": [
            {
                "mistake": mistake,
                "result": canonical(
                    signed(RESULT, {**content, **changes}, ANALYST)
                ).decode(),
            }
            for mistake, changes in _mistakes(content)
        ],
    }


def target_task() -> Task:
    """Returns a task of two questions for forty people at three targets."""
    survey = CountsSurvey(_QUESTIONS)
    colors = color_task(task_id=bytes(range(64, 80)))
    offer = Offer(_TARGETS, 1e-6, colors.absent)
    return replace(
        colors,
        name="Essen",
        question=Question("Two questions", survey),
        choices=_TARGETS,
        minimum=(38, 1, 1),
        promise=_TARGETS,
        allowance=tuple(10.0 * target for target in _TARGETS),
        plan_rule=survey.choosing(offer).make_rule(),
    )


def _result(task: Task, plan: Identity) -> dict[str, Any]:
    choice = Step(task, EPOCH, EpochStage.CHOICE)
    choices = np.repeat(np.arange(len(_TARGETS)), _CHOSEN)
    counter = MessageCounter(choice)
    counter.add(0, [*write_messages(choices)])
    chosen = counter.of((len(choices),))
    step = Step(task, EPOCH, EpochStage.ANSWER, plan)
    rng = np.random.default_rng(1)
    # Red or green; bread, and no second one: options are numbered through.
    colors = rng.integers(2, size=_PEOPLE)
    answers = np.column_stack([colors, np.full((_PEOPLE, 2), (2, 5))])
    epsilons = np.array(_TARGETS)[choices[:_PEOPLE]]
    entries = step.run.randomize(answers, epsilons, rng=rng)
    plain: list[bytes | None] = [*write_messages(entries[:-_SPOILED].ravel())]
    plain += write_messages(entries[-1] * 0, dummy=True)
    answered = MessageCounter(step)
    answered.add(0, plain)
    tokens = [sha256(b"test token %d" % index) for index in range(len(choices))]
    roster = write_roster(task, EPOCH, tokens, ENROLLER)
    hashes = sorted(sha256(b"test sealed message %d" % k) for k in range(len(plain)))
    state = replace(
        AnalystState.begin(task),
        epoch=EPOCH,
        stage=EpochStage.ANSWER,
        phase=AnalystPhase.RECEIVED,
        batch_id=sha256(b"test batch of answers")[:16],
        plan=plan,
        chosen=chosen,
        enrolment=read_roster(roster, task).enrolment,
    )
    people = (_PEOPLE,)
    spoiled = answered.spoiled_people
    verdict = assess_batch(
        step,
        people,
        chosen=chosen,
        spoiled=spoiled,
        spent_before=(0.0,) * len(_TARGETS),
    )
    assert verdict.certificate is not None
    assert verdict.spent is not None
    tally = answered.of(people)
    return result_of(
        state,
        people,
        tally,
        step.answer_run.estimate(tally, chosen),
        # The version changes with every release, and is not judged by readers.
        replace(verdict.certificate, version="test"),
        spoiled=spoiled,
        spent=verdict.spent,
        listed=sha256(b"".join(hashes)),
    )


def _mistakes(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Returns mistakes, and the members that each changes."""
    certificate, spent = content["certificate"], content["spent"]
    chosen = content["chosen"]
    present = {**certificate, "absent": certificate["absent"] - 1}
    return [
        ("people who did not answer are forgotten", {"certificate": present}),
        (
            "a target without people that pays nothing",
            {"spent": [spent[0], 0.0, spent[2]]},
        ),
        ("choices of other people", {"chosen": {**chosen, "counts": [[[11, 0, 29]]]}}),
    ]
