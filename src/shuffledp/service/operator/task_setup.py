"""A new task: the parties' public keys, and promises that its smallest crowd keeps.

Larger crowds hide better, so that what the smallest one that may be released keeps, all
keep. Reports that turn out to be spoiled once a batch is open hide nobody, and what was
opened is paid for: promises leave room for some of them, or a single dummy would withhold
an epoch. Where people choose targets, a rule for plans implies all of them for any crowd
that a plan relies on: targets themselves are promised.
"""

import os
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.collection.batch_verdict import BatchVerdict, assess_batch
from shuffledp.service.collection.planning import best_plan, slack
from shuffledp.service.operator.task_signatures import sign
from shuffledp.service.storage.key_files import (
    ANALYST_FILE,
    TASK_FILE,
    AnalystSecrets,
    write_new,
)
from shuffledp.service.wire.notice import Notice
from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.question import Question
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import ID_SIZE, MAX_PEOPLE, Task
from shuffledp.statistics.survey import EpochStage, Offer

# Promises while none are known: they only have to be above what is certified.
_ANY = 1e300
_DIGITS, _ALLOWANCE_DIGITS = 3, 12


def create_task(
    folder: Path,
    *,
    name: str,
    notice: Notice,
    question: Question,
    choices: tuple[float, ...],
    minimum: tuple[int, ...],
    promise: tuple[float, ...] | None,
    delta: float,
    absent: int | None,
    epochs: int,
    shuffler_key: bytes,
    enroller_key: bytes,
) -> Task:
    """Writes a new task into the analyst's folder, with her signature.

    Args:
        folder: With her keys.
        name: As in `Task`, like everything that is not explained here.
        notice: Who asks, and what people consent to.
        question: What is asked.
        choices: Privacy levels or targets on offer.
        minimum: One number for each.
        promise: One central epsilon for each; None for what the minimum keeps, or for
            the targets.
        delta: Of every epoch.
        absent: People who hide nobody; None for `slack`.
        epochs: How many the allowance is for.
        shuffler_key: From its public part, 32 bytes.
        enroller_key: From its public part, 32 bytes.

    Raises:
        InvalidInputError: If a value is out of range, or the minimum cannot keep what is
            promised when `slack` reports are spoiled.
        CertificationError: If nothing can be proven of so few people.
        DataError: If the folder has no keys or a task already, or cannot be written.
    """
    if epochs < 1:
        raise InvalidInputError(f"Expected at least 1 epoch, got {epochs}.")
    if max(minimum, default=0) > MAX_PEOPLE:
        raise InvalidInputError(
            f"Expected a minimum of at most {MAX_PEOPLE:,} people per choice."
        )
    people_absent = slack(minimum) if absent is None else absent
    if (folder / TASK_FILE).exists():
        raise DataError(f"Expected no {folder / TASK_FILE} yet: it is kept as it is.")
    analyst = AnalystSecrets.load(folder / ANALYST_FILE)
    analyst_key, analyst_signing_key = analyst.public_keys()

    def task_of(promise: tuple[float, ...]) -> Task:
        return Task(
            task_id=task_id,
            name=name,
            notice=notice,
            question=question,
            choices=choices,
            minimum=minimum,
            promise=promise,
            allowance=tuple(_sum_of(epsilon, epochs) for epsilon in promise),
            delta=delta,
            absent=people_absent,
            suite=analyst.suite,
            analyst_key=analyst_key,
            analyst_signing_key=analyst_signing_key,
            shuffler_signing_key=shuffler_key,
            enroller_signing_key=enroller_key,
            plan_rule=rule,
        )

    task_id, rule = os.urandom(ID_SIZE), None
    if question.survey.central:
        offer = Offer(tuple(map(float, choices)), delta, people_absent)
        rule = question.survey.choosing(offer).make_rule()
    if promise is None:
        draft = task_of((_ANY / epochs,) * len(choices))
        task = task_of(_kept(draft))
    else:
        task = task_of(promise)
        if failures := _at_minimum(task).failures:
            raise InvalidInputError(
                "Expected promises that the smallest number of people keeps, "
                f"{slack(task.minimum):,} spoiled reports among them; "
                f"{'; '.join(failures)}."
            )
    task.check_shown()
    write_new(folder / TASK_FILE, task.to_json().decode())
    sign(folder, Role.ANALYST)
    return task


def _kept(task: Task) -> tuple[float, ...]:
    """Returns what the smallest crowd keeps, rounded up."""
    verdict = _at_minimum(task)
    if verdict.spent is None:
        raise InvalidInputError(f"{verdict.failures[-1]}")
    if task.question.survey.central:
        return task.choices
    return tuple(map(rounded_up, verdict.spent))


def _at_minimum(task: Task) -> BatchVerdict:
    nothing, spoiled = (0.0,) * len(task.choices), slack(task.minimum)
    if not task.question.survey.central:
        return assess_batch(
            Step(task, 1), task.minimum, spoiled=spoiled, spent_before=nothing
        )
    # As many people of each target as there can be.
    number, smallest = len(task.choices), task.minimum[0]
    each, more = divmod(smallest, number)
    choosing = Step(task, 1, EpochStage.CHOICE).choosing
    chosen = choosing.exact([each + (place < more) for place in range(number)])
    step = Step(task, 1, EpochStage.ANSWER, best_plan(task, chosen))
    return assess_batch(
        step, (smallest,), chosen=chosen, spoiled=spoiled, spent_before=nothing
    )


def _sum_of(epsilon: float, epochs: int) -> float:
    """Returns an allowance for so many epochs, and not for one more."""
    # What is spent is added up in floating point, one epoch after the other.
    most = Decimal(epsilon) * epochs * (1 + Decimal(epochs) * Decimal(2) ** -52)
    context = Context(prec=_ALLOWANCE_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(most))


def rounded_up(epsilon: float) -> float:
    """Returns the next number of three digits.

    >>> rounded_up(0.0253314), rounded_up(1.0)
    (0.0254, 1.0)
    """
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(Decimal(epsilon)))
