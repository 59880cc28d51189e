"""A new task: promises that its smallest crowd keeps, and the files of every party.

Larger crowds hide better, so that what the smallest one that may be released keeps, all
keep. For items, certificates depend on how many people send items after they reported
their level: promises leave room for a tenth of them to stay away.
"""

import math
import os
import unicodedata
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path

import numpy as np

from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.collection.certificate import Verdict, judge
from shuffledp.service.secrets import (
    ANALYST_FILE,
    SHUFFLER_FILE,
    TASK_FILE,
    AnalystSecrets,
    ShufflerSecrets,
    write_new,
)
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.question import Question
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.signing import verify_key_of
from shuffledp.service.wire.task import ID_SIZE, MAX_PEOPLE, Task
from shuffledp.statistics.items_framework import ItemsFramework

# Of those who reported a level, how many may send no items.
STAY_AWAY = 0.1

# Promises while none are known: they only have to be above what is certified.
_ANY = 1e300
_DIGITS, _BUDGET_DIGITS = 3, 12


def create_task(
    folder: Path,
    *,
    name: str,
    question: Question,
    levels: tuple[float, ...],
    minimum: tuple[int, ...],
    promise: tuple[float, ...] | None,
    delta: float,
    absent: int,
    epochs: int,
    suite: Suite,
) -> Task:
    """Draws all keys, and writes the folder of a new task.

    Args:
        folder: Made if it is missing.
        name: As in `Task`, like everything that is not explained here.
        question: What is asked.
        levels: Privacy levels on offer.
        minimum: One number for each level.
        promise: One central epsilon for each level; None for what the minimum keeps.
        delta: Of every epoch.
        absent: People who hide nobody.
        epochs: How many the budget allows.
        suite: How messages are sealed.

    Raises:
        InvalidInputError: If a value is out of range, or the minimum cannot keep what is
            promised.
        CertificationError: If nothing can be proven of so few people.
        DataError: If the folder has a task already, or cannot be written.
    """
    if epochs < 1:
        raise InvalidInputError(f"Expected at least 1 epoch, got {epochs}.")
    if max(minimum, default=0) > MAX_PEOPLE:
        raise InvalidInputError(
            f"Expected a minimum of at most {MAX_PEOPLE:,} people per level."
        )
    if any(map(_has_controls, (name, question.text, *question.categories))):
        raise InvalidInputError(
            "Expected no control characters in the name, the question and the categories."
        )
    for file in (TASK_FILE, SHUFFLER_FILE, ANALYST_FILE):
        if (folder / file).exists():
            raise DataError(f"Expected no {folder / file} yet: it is kept as it is.")
    shuffler, analyst = ShufflerSecrets.new(), AnalystSecrets.new(suite)
    analyst_key, analyst_signing_key = analyst.public_keys(suite)

    def task_of(promise: tuple[float, ...]) -> Task:
        return Task(
            task_id=task_id,
            name=name,
            question=question,
            levels=levels,
            minimum=minimum,
            promise=promise,
            budget=tuple(_sum_of(epsilon, epochs) for epsilon in promise),
            delta=delta,
            absent=absent,
            suite=suite,
            analyst_key=analyst_key,
            analyst_signing_key=analyst_signing_key,
            shuffler_signing_key=verify_key_of(shuffler.signing_key),
        )

    task_id = os.urandom(ID_SIZE)
    if promise is None:
        draft = task_of((_ANY / epochs,) * len(levels))
        task = task_of(_items_kept(draft) if draft.has_items else _kept(draft))
    else:
        task = task_of(promise)
        if failures := _at_minimum(task).failures:
            raise InvalidInputError(
                "Expected promises that the smallest number of people keeps; "
                f"{'; '.join(failures)}."
            )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Could not make {folder}: {error.strerror}.") from error
    shuffler.save(folder / SHUFFLER_FILE)
    analyst.save(folder / ANALYST_FILE)
    write_new(folder / TASK_FILE, task.to_json().decode())
    return task


def _has_controls(text: str) -> bool:
    # They could do more to a terminal than to be shown.
    return any(unicodedata.category(character) == "Cc" for character in text)


def _kept(task: Task) -> tuple[float, ...]:
    """Returns what the minimum keeps, rounded up."""
    verdict = _at_minimum(task)
    if verdict.spent is None:
        raise InvalidInputError(f"{verdict.failures[-1]}")
    return tuple(map(rounded_up, verdict.spent))


def _items_kept(task: Task) -> tuple[float, ...]:
    """Returns the levels themselves, with room for those who stay away."""
    smallest = task.minimum[0]
    planned = math.ceil(smallest / (1.0 - STAY_AWAY))
    alone = _planned(task, planned, planned).spent
    left = _planned(task, planned, smallest).spent
    if alone is None or left is None:
        raise InvalidInputError("Expected more people: nothing can be certified.")
    # Which level comes close to its epsilon depends on who chooses what; the loss less so.
    loss = max(less / full for less, full in zip(left, alone, strict=True))
    return tuple(rounded_up(level * max(loss, 1.0)) for level in task.levels)


def _at_minimum(task: Task) -> Verdict:
    if task.has_items:
        return _planned(task, task.minimum[0], task.minimum[0])
    return judge(task, task.minimum, spent_before=(0.0,) * len(task.levels))


def _planned(task: Task, planned: int, people: int) -> Verdict:
    """Judges items of so many people, under a plan for as many levels."""
    framework = task.question.protocol(task.levels, task.delta, task.absent)
    if not isinstance(framework, ItemsFramework):
        raise InvalidInputError("Expected a question about items.")
    each = np.full(len(task.levels), planned / len(task.levels))
    levels = LevelCounts(np.array(task.levels), each, None, planned)
    items = framework.plan(levels).protocol
    plan = PublishedPlan(items.rates, items.blanket, items.randomizer.report_size)
    nothing = (0.0,) * len(task.levels)
    return judge(task, (people,), plan=plan, levels=levels, spent_before=nothing)


def _sum_of(epsilon: float, epochs: int) -> float:
    """Returns a budget for so many epochs, and not for one more."""
    # What is spent is added up in floating point, one epoch after the other.
    most = Decimal(epsilon) * epochs * (1 + Decimal(epochs) * Decimal(2) ** -52)
    context = Context(prec=_BUDGET_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(most))


def rounded_up(epsilon: float) -> float:
    """Returns the next number of three digits.

    >>> rounded_up(0.0253314), rounded_up(1.0)
    (0.0254, 1.0)
    """
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return float(context.create_decimal(Decimal(epsilon)))
