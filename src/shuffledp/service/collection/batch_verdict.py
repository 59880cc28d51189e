"""What a batch is worth, computed from how many people took part, before it is opened."""

from dataclasses import dataclass

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.service.collection.shortfall import shortfalls
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import Task
from shuffledp.tally import Tally


@dataclass(frozen=True)
class BatchVerdict:
    """Whether a batch keeps what its task promises.

    Attributes:
        certificate: What every choice is worth; None if nothing can be proven.
        spent: Certified central epsilon of every choice of the task; 0 for one that
            nobody made. None if nothing can be proven.
        failures: What is not kept, for people to read; empty if everything is.
    """

    certificate: Guarantee | None
    spent: tuple[float, ...] | None
    failures: tuple[str, ...]


def assess_batch(
    step: Step,
    people: tuple[int, ...],
    *,
    chosen: Tally | None = None,
    spoiled: int = 0,
    spent_before: tuple[float, ...],
) -> BatchVerdict:
    """Certifies a batch of answers, and compares it with the task's promises.

    Args:
        step: In which people answered.
        people: Accepted reports with each choice; in all, if choices are not named.
        chosen: What was counted before, if choices were collected.
        spoiled: Users whose reports do not hide others, from
            `MessageCounter.spoiled_people`.
        spent_before: Central epsilon that each choice spent in earlier epochs.
    """
    task = step.task
    failures = [str(missing) for missing in shortfalls(task, people)]
    try:
        certificate = _certify(step, people, chosen, spoiled)
    except (CertificationError, PopulationError, InvalidInputError) as error:
        # Failures are listed without full stops.
        said = f"Nothing can be certified: {error}".rstrip(".")
        return BatchVerdict(None, None, (*failures, said))
    spent = spent_of(task, certificate)
    for choice, epsilon, promise, before, allowance in zip(
        task.choices, spent, task.promise, spent_before, task.allowance, strict=True
    ):
        who = task.named(choice)
        if epsilon > promise:
            failures.append(
                f"{who}: certified epsilon {epsilon:g}, promised {promise:g}"
            )
        if before + epsilon > allowance:
            failures.append(
                f"{who}: {before + epsilon:g} spent in all, of {allowance:g}"
            )
    return BatchVerdict(certificate, spent, tuple(failures))


def _certify(
    step: Step, people: tuple[int, ...], chosen: Tally | None, spoiled: int
) -> Guarantee:
    """Asks the accountant about the object that runs, and nothing else."""
    batch = step.answering.batch_people(people, chosen)
    return account(
        step.answering.protocol,
        batch.people,
        delta=step.task.delta,
        # Whoever made a choice and sent no answer hides nobody.
        absent=step.task.absent + spoiled + batch.missing,
        quantiles=False,
    )


def spent_of(task: Task, certificate: Guarantee) -> tuple[float, ...]:
    """Returns the certified epsilon of every choice of the task; 0 if nobody made it."""
    found = {entry.chosen: entry.epsilon_central for entry in certificate.levels}
    return tuple(found.get(choice, 0.0) for choice in task.choices)
