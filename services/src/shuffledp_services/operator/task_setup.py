"""Setup of a task: public keys of the parties, and promises that the minimum keeps.

Larger populations hide a participant better, so a promise that the smallest population with
a released result keeps is kept by all. Reports that are found invalid once a batch is
opened hide no other participant, and opening is paid for: promises leave room for some of
them, or a single dummy would withhold an epoch. If participants choose targets, a rule for
plans implies all targets for any population that a plan relies on: the targets are the
promises.
"""

import os
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.survey import EpochStage, Offer
from shuffledp_services.collection.batch_verdict import BatchVerdict, assess_batch
from shuffledp_services.collection.planning import best_plan, slack
from shuffledp_services.operator.task_signatures import sign
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    TASK_FILE,
    AnalystSecrets,
)
from shuffledp_services.storage.new_files import removed_on_error, write_new
from shuffledp_services.wire.notice import Notice
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import ID_SIZE, MAX_PEOPLE, Task

# Placeholder for promises that are not known yet: it only has to exceed any certificate.
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
    dummy_commitment: bytes | None = None,
) -> Task:
    """Writes a new task into the analyst's folder, with the analyst's signature.

    Args:
        folder: Folder with the analyst's keys.
        name: As in `Task`, like every argument without an explanation here.
        notice: Organization that asks, and terms of the participants' consent.
        question: Question of the task.
        choices: Local epsilons or central targets on offer.
        minimum: Minimum number of participants for each choice.
        promise: Central epsilon promised to each choice; None for the values that the
            minimum keeps, or for the targets.
        delta: Central delta of every epoch.
        absent: Number of participants who hide no other; None for `slack`.
        epochs: Number of epochs that the allowance pays for.
        shuffler_key: From the shuffler's public part, 32 bytes.
        enroller_key: From the enroller's public part, 32 bytes.
        dummy_commitment: From the shuffler's public part, if it has one; only a task whose
            shuffler adds the noise names it.

    Raises:
        InvalidInputError: If a value is out of range, or the minimum does not keep the
            promises when `slack` reports are invalid.
        CertificationError: If no guarantee can be proven at the minimum.
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

    def build_task(promise: tuple[float, ...]) -> Task:
        return Task(
            task_id=task_id,
            name=name,
            notice=notice,
            question=question,
            choices=choices,
            minimum=minimum,
            promise=promise,
            allowance=tuple(_allowance_for(epsilon, epochs) for epsilon in promise),
            delta=delta,
            absent=people_absent,
            suite=analyst.suite,
            analyst_key=analyst_key,
            analyst_signing_key=analyst_signing_key,
            shuffler_signing_key=shuffler_key,
            enroller_signing_key=enroller_key,
            plan_rule=rule,
            dummy_commitment=(
                dummy_commitment if question.survey.noise_by_shuffler else None
            ),
        )

    task_id, rule = os.urandom(ID_SIZE), None
    if question.survey.central:
        offer = Offer(tuple(map(float, choices)), delta, people_absent)
        rule = question.survey.choosing(offer).make_rule()
    if promise is None:
        # Divided, so that the allowance for all epochs stays finite.
        draft = build_task((_ANY / epochs,) * len(choices))
        task = build_task(_promises_at_minimum(draft))
    else:
        task = build_task(promise)
        # The smallest population hides users least, so that it decides about the
        # promise.
        if failures := _at_minimum(task).failures:
            raise InvalidInputError(
                "Expected promises that the smallest number of people keeps, "
                f"{slack(task.minimum):,} spoiled reports among them; "
                f"{'; '.join(failures)}."
            )
    task.check_shown()
    write_new(folder / TASK_FILE, task.to_json())
    # Reads the file again, so that exactly the stored bytes are signed.
    with removed_on_error([folder / TASK_FILE]):
        sign(folder, Role.ANALYST)
    return task


def _promises_at_minimum(task: Task) -> tuple[float, ...]:
    """Returns the central epsilons certified for the minimum population, rounded up."""
    verdict = _at_minimum(task)
    if verdict.spent is None:
        raise InvalidInputError(f"{verdict.failures[-1]}")
    if task.question.survey.central:
        return task.choices
    # Upward: a promise below the certified epsilon could not be kept at the minimum.
    return tuple(map(rounded_up, verdict.spent))


def _at_minimum(task: Task) -> BatchVerdict:
    none_spent, spoiled = (0.0,) * len(task.choices), slack(task.minimum)
    if not task.question.survey.central:
        return assess_batch(
            Step(task, 1), task.minimum, spoiled=spoiled, spent_before=none_spent
        )
    # The population is divided among the targets as evenly as possible.
    num_choices, smallest = len(task.choices), task.minimum[0]
    share, remainder = divmod(smallest, num_choices)
    choice_run = Step(task, 1, EpochStage.CHOICE).choice_run
    chosen = choice_run.exact(
        [share + (index < remainder) for index in range(num_choices)]
    )
    step = Step(task, 1, EpochStage.ANSWER, best_plan(task, chosen))
    return assess_batch(
        step, (smallest,), chosen=chosen, spoiled=spoiled, spent_before=none_spent
    )


def _allowance_for(epsilon: float, epochs: int) -> float:
    """Returns an allowance for `epochs` epochs, and not for one more."""
    # Epsilons are added in floating point, epoch by epoch: 2^-52 per epoch covers that.
    total = Decimal(epsilon) * epochs * (1 + Decimal(epochs) * Decimal(2) ** -52)
    context = Context(prec=_ALLOWANCE_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(total))


def rounded_up(epsilon: float) -> float:
    """Rounds up to three significant digits.

    >>> rounded_up(0.0253314), rounded_up(1.0)
    (0.0254, 1.0)
    """
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(Decimal(epsilon)))
