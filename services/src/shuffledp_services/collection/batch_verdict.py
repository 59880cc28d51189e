"""Certificate of a batch, computed from report counts before it is opened."""

from dataclasses import dataclass

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.tally import Tally
from shuffledp_services.collection.shortfall import shortfalls
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task


@dataclass(frozen=True)
class BatchVerdict:
    """Certificate of a batch, compared with the promises of its task.

    Attributes:
        certificate: The guarantee of every choice; None if nothing can be certified.
        spent: Certified central epsilon of every choice of the task; 0 for a choice
            without reports. None if nothing can be certified.
        failures: The broken promises, as sentences; empty if all are kept.
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
        step: The step of the answers.
        people: Accepted reports per choice; one total if choices are not named.
        chosen: The counts of the choices, if these were collected before.
        spoiled: Users whose reports do not hide others, from
            `MessageCounter.spoiled_people`.
        spent_before: Central epsilon of each choice in earlier epochs.
    """
    # Minima are checked even if nothing can be certified.
    task = step.task
    failures = [str(missing) for missing in shortfalls(task, people)]
    try:
        certificate = _certify(step, people, chosen, spoiled)
    except (CertificationError, PopulationError, InvalidInputError) as error:
        # Failures are listed without full stops.
        failure = f"Nothing can be certified: {error}".rstrip(".")
        return BatchVerdict(None, None, (*failures, failure))
    spent = spent_of(task, certificate)
    for choice, epsilon, promise, before, allowance in zip(
        task.choices, spent, task.promise, spent_before, task.allowance, strict=True
    ):
        name = task.named(choice)
        if epsilon > promise:
            failures.append(
                f"{name}: certified epsilon {epsilon:g}, promised {promise:g}"
            )
        # Composition over epochs is additive: allowances are sums of epsilons.
        if before + epsilon > allowance:
            failures.append(
                f"{name}: {before + epsilon:g} spent in all, of {allowance:g}"
            )
    return BatchVerdict(certificate, spent, tuple(failures))


def _certify(
    step: Step, people: tuple[int, ...], chosen: Tally | None, spoiled: int
) -> Guarantee:
    """Certifies the protocol object that runs, with the counts of its users."""
    batch = step.answer_run.batch_people(people, chosen)
    return account(
        step.answer_run.protocol,
        batch.people,
        delta=step.task.delta,
        # A user who reported a choice and sent no answer does not hide the others.
        absent=step.task.absent + spoiled + batch.missing,
        quantiles=False,
    )


def spent_of(task: Task, certificate: Guarantee) -> tuple[float, ...]:
    """Returns the certified epsilon of every choice; 0 for one without reports."""
    epsilons = {entry.chosen: entry.epsilon_central for entry in certificate.levels}
    return tuple(epsilons.get(choice, 0.0) for choice in task.choices)
