"""What a batch is worth, computed from how many people took part, before it is opened."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.account import account_items
from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.population import Population
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.task import Task
from shuffledp.statistics.items_framework import ItemsFramework

Certificate: TypeAlias = Guarantee | ItemsGuarantee


@dataclass(frozen=True)
class Verdict:
    """Whether a batch keeps what its task promises.

    Attributes:
        certificate: What every level is worth; None if nothing can be proven.
        spent: Certified central epsilon of every level of the task; 0 for a level that
            nobody chose. None if nothing can be proven.
        failures: What is not kept, for people to read; empty if everything is.
    """

    certificate: Certificate | None
    spent: tuple[float, ...] | None
    failures: tuple[str, ...]


def judge(
    task: Task,
    people: tuple[int, ...],
    *,
    plan: PublishedPlan | None = None,
    levels: LevelCounts | None = None,
    spoiled: int = 0,
    spent_before: tuple[float, ...],
) -> Verdict:
    """Certifies a batch of answers, and compares it with the task's promises.

    Args:
        task: The task.
        people: Accepted reports per level; in all, for items.
        plan: For items: what was published.
        levels: For items: what was learned about levels before.
        spoiled: How many people's reports hide nobody, from `Tally.spoiled_people`.
        spent_before: Central epsilon that each level spent in earlier epochs.
    """
    failures = _missing_people(task, people)
    try:
        certificate = _certify(task, people, plan, levels, task.absent + spoiled)
    except (CertificationError, PopulationError, InvalidInputError) as error:
        # Failures are listed without full stops.
        said = f"Nothing can be certified: {error}".rstrip(".")
        return Verdict(None, None, (*failures, said))
    spent = _central(task, certificate)
    for level, epsilon, promise, before, budget in zip(
        task.levels, spent, task.promise, spent_before, task.budget, strict=True
    ):
        if epsilon > promise:
            failures.append(
                f"level {level:g}: certified epsilon {epsilon:g}, promised {promise:g}"
            )
        if before + epsilon > budget:
            failures.append(
                f"level {level:g}: {before + epsilon:g} spent in all, of {budget:g}"
            )
    return Verdict(certificate, spent, tuple(failures))


def _missing_people(task: Task, people: tuple[int, ...]) -> list[str]:
    if task.has_items:
        needed = [("all levels", people[0], task.minimum[0])]
    else:
        names = [f"level {level:g}" for level in task.levels]
        needed = list(zip(names, people, task.minimum, strict=True))
    return [
        f"{name}: {count:,} of {least:,} people"
        for name, count, least in needed
        if count < least
    ]


def _certify(
    task: Task,
    people: tuple[int, ...],
    plan: PublishedPlan | None,
    levels: LevelCounts | None,
    absent: int,
) -> Certificate:
    if not task.has_items:
        protocol = task.question.protocol(task.levels, task.delta, task.absent)
        if isinstance(protocol, ItemsFramework):
            raise InvalidInputError("Expected a question about one value.")
        crowd = population(task, people)
        if absent > crowd.num_users - 1:
            raise PopulationError("Expected somebody to be left who hides people.")
        return account(
            protocol, crowd, delta=task.delta, absent=absent, quantiles=False
        )
    if plan is None or levels is None:
        raise InvalidInputError("Expected the plan and the levels of the items.")
    planned = levels.people()
    # Whoever reported a level and no items hides nobody.
    missing = max(planned.num_users - people[0], 0)
    return account_items(
        planned,
        plan.rates,
        num_items=len(task.question.categories),
        set_size=task.question.set_size,
        blanket=plan.blanket,
        delta=task.delta,
        absent=min(absent + missing, planned.num_users),
        report_size=plan.report_size,
    )


def population(task: Task, people: tuple[int, ...]) -> Population:
    """Returns the levels that somebody chose, with their numbers of people."""
    return Population.from_counts(
        {
            level: count
            for level, count in zip(task.levels, people, strict=True)
            if count > 0
        }
    )


def _central(task: Task, certificate: Certificate) -> tuple[float, ...]:
    """Returns the certified epsilon of every level of the task."""
    found: dict[float, float] = {}
    if isinstance(certificate, ItemsGuarantee):
        found = {entry.level: entry.epsilon_central for entry in certificate.levels}
    else:
        found = {
            entry.epsilon_local: entry.epsilon_central for entry in certificate.levels
        }
    return tuple(np.array([found.get(level, 0.0) for level in task.levels]).tolist())
