"""Vectors of a form whose numbers may be skipped: from answers to sealed messages.

One person answers everything, the others leave out a number, or all of it. Devices draw
with permanent randomness. What they draw from its words is their own matter: readers
compare contexts, buckets, which follow from the words alone, and bytes.
"""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np

from known_sealing import seal_with
from shuffledp.randomness import KeyedRandom
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.survey import QUESTIONS, CountsSurvey
from shuffledp.statistics.survey import EpochStage, Offer
from shuffledp_services.device.permanent_randomness import stream_contexts
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_messages
from vector_parties import ANALYST, EPOCH, color_task

_QUESTIONS = QUESTIONS.checked(
    [
        {"text": "How do you get to work?", "options": ["bike", "bus"], "most": 1},
        {
            "text": "How old are you?",
            "unit": "years",
            "low": 16.0,
            "high": 110.0,
            "edges": [16.0, 35.0, 55.0, 110.0],
            # The last bucket is of people who skipped it.
            "levels": [[1, 4]],
            "skippable": True,
        },
        {
            "text": "How long is the way?",
            "unit": "minutes",
            "low": 0.0,
            "high": 120.0,
            "steps": 3,
            "levels": [[2, 3], [1, 3]],
            "skippable": True,
        },
    ]
)
_TARGETS, _TARGET = (1.0, 2.0), 1
_COUNTS, _MINIMUM = (100, 100), 200
_DEVICE, _LINK = sha256(b"test secret of a device"), sha256(b"test secret of a link")
# Options that were picked, and numbers; null for one that was skipped.
_ANSWERS: tuple[dict[str, list[Any]], ...] = (
    {"picked": [1], "numbers": [44.0, 30.0]},
    {"picked": [0], "numbers": [None, 120.0]},
    {"picked": [], "numbers": [16.0, None]},
    {"picked": [], "numbers": [None, None]},
)


def skipped_vectors() -> dict[str, Any]:
    """Returns a task with its plan, and a report for each answer."""
    task = skipping_task()
    assert task.plan_rule is not None
    run = task.question.survey.choosing(task.offer)
    plan = task.plan_rule.plan(run.exact(_COUNTS), _MINIMUM, spare=0)
    published = PublishedPlan.sign(
        task, EPOCH, plan, minimum=_MINIMUM, counts=_COUNTS, signing_key=ANALYST
    )
    status = {
        "task": json.loads(task.to_json()),
        "epoch": EPOCH,
        "stage": "answer",
        "phase": "open",
        "plan": published.to_dict(),
        "enrolment": None,
    }
    step = Step(task, EPOCH, EpochStage.ANSWER, plan)
    return {
        "task": task.to_json().decode(),
        "served": json.dumps(status, separators=(",", ":")),
        "device_secret": to_text(_DEVICE),
        "link_secret": to_text(_LINK),
        "epoch": EPOCH,
        "choice_position": _TARGET,
        "info": to_text(step.info()),
        "reports": [_report(step, number) for number in range(len(_ANSWERS))],
    }


def skipping_task() -> Task:
    """Returns a task of a choice and two numbers that may be skipped."""
    survey = CountsSurvey(_QUESTIONS)
    colors = color_task(task_id=bytes(range(32, 48)))
    offer = Offer(_TARGETS, 1e-6, colors.absent)
    return replace(
        colors,
        name="Wege",
        question=Question("How do you get around?", survey),
        choices=_TARGETS,
        minimum=_COUNTS,
        promise=_TARGETS,
        allowance=tuple(10.0 * target for target in _TARGETS),
        plan_rule=survey.choosing(offer).make_rule(),
    )


def _report(step: Step, number: int) -> dict[str, Any]:
    answer = _ANSWERS[number]
    numbers = [math.nan if each is None else each for each in answer["numbers"]]
    stated = np.array([[*answer["picked"], *numbers]])
    (context,) = stream_contexts(step, [_LINK], np.array([_TARGET]), stated)
    people = np.frombuffer(context, np.uint8).reshape(1, -1)
    # A choice that was left out has the position after its options.
    row = np.array([[*(answer["picked"] or [2]), *numbers]])
    buckets = FormEncoding(_QUESTIONS).encode(row, rng=KeyedRandom(_DEVICE, people))
    sizes = np.array([group.buckets for group in FormEncoding(_QUESTIONS).groups])
    entries = step.run.randomize(
        row, np.array([_TARGETS[_TARGET]]), rng=KeyedRandom(_DEVICE, people)
    )
    plain = write_messages(entries[0])
    sealed = [
        seal_with(
            sha256(b"test ephemeral key %d of report %d" % (place, number)),
            step.task.analyst_key,
            step.info(),
            each,
        )
        for place, each in enumerate(plain)
    ]
    return {
        **answer,
        "context": to_text(context),
        "buckets": np.where(buckets[0] < 0, sizes, buckets[0]).tolist(),
        "entries": entries[0].tolist(),
        "plain": [to_text(each) for each in plain],
        "sealed": [to_text(each) for each in sealed],
    }
