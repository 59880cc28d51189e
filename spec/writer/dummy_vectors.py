"""Vectors of a shuffler that adds the noise: its task, plan, seeds and batch id."""

from typing import Any

import numpy as np

from shuffledp.asked_question import AskedQuestion
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.survey import EpochStage, Offer
from shuffledp_services.shuffler.batch_dummies import BatchDummies, sum_hashes
from shuffledp_services.storage.key_files import DummySecrets
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.parties import Role, public_part
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from vector_parties import EPOCH, SHUFFLER, color_task

_SECRET = sha256(b"test secret of dummies")
_QUESTIONS = (
    AskedQuestion("Which colour?", ("red", "green", "grau-grün")),
    AskedQuestion("Which of these?", ("bread", "cheese", "wine"), most=2),
)
_TARGETS = (1.0, 2.0)


def dummy_vectors() -> dict[str, Any]:
    """Returns a task, its plan, messages of two people, and what follows from them."""
    secrets, task = DummySecrets(_SECRET), dummy_task()
    assert task.plan_rule is not None
    run = task.question.survey.choosing(task.offer)
    plan = task.plan_rule.plan(run.exact((50, 50)), task.minimum[0], spare=0)
    step = Step(task, EPOCH, EpochStage.ANSWER, plan)
    # The second person leaves out a color, and picks one of two things.
    entries = step.run.randomize(
        np.array([[0, 4, 5], [3, 6, 6]]),
        np.array(_TARGETS),
        rng=np.random.default_rng(1),
    )
    sealed = [bytes([number]) * step.sealed_size for number in range(6)]
    hashes = np.array([sha256(message) for message in sealed], dtype="S32")
    dummies, total = BatchDummies(step, secrets.seed(EPOCH)), sum_hashes(hashes)
    first = next(dummies.draw(total))[: step.sealed_size]
    return {
        "task": task.to_json().decode(),
        "public_part": public_part(Role.SHUFFLER, SHUFFLER, secrets.commitment),
        "plan": plan.record,
        "entries": entries.tolist(),
        "mean_dummies": step.dummies and step.dummies.mean_dummies,
        "secret": to_text(_SECRET),
        "commitment": to_text(secrets.commitment),
        "epoch": EPOCH,
        "seed": to_text(secrets.seed(EPOCH).secret),
        # Any bytes of this size: the shuffler cannot tell.
        "messages": [to_text(message) for message in sealed],
        "sum": to_text(total.to_bytes(32, "big")),
        "batch_id": to_text(dummies.batch_id),
        "first_sealed": to_text(sha256(first)),
    }


def dummy_task() -> Task:
    """Returns a task of two questions whose shuffler adds the noise."""
    survey = CountsSurvey(_QUESTIONS, noise="shuffler")
    colors = color_task()
    rule = survey.choosing(Offer(_TARGETS, 1e-6, colors.absent)).make_rule()
    names = (
        *("task_id", "name", "notice", "delta", "absent", "suite", "analyst_key"),
        *("analyst_signing_key", "shuffler_signing_key", "enroller_signing_key"),
    )
    return Task(
        **{name: getattr(colors, name) for name in names},
        question=Question("Two questions", survey),
        choices=_TARGETS,
        minimum=(100, 100),
        promise=_TARGETS,
        allowance=tuple(10.0 * target for target in _TARGETS),
        plan_rule=rule,
        dummy_commitment=DummySecrets(_SECRET).commitment,
    )
