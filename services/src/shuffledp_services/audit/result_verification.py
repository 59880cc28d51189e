"""Verification of a published result against its task, its signature and its own numbers.

Compares everything in the result with the task: the signature; the estimate that the task's
protocol computes from the tally; the participants and the population of the certificate;
the epsilon spent and the epsilon certified. Participants trust the analyst alone for the
tally, because no other party can open messages. Elsewhere are the proof of a certificate
(`statistics.verify_certificate`) and the check that a message was counted
(`service.device.receipt_check`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.account import digest
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.statistics.certificate_parts import PUBLISHED_RESULT
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally
from shuffledp_services.analyst.results import derived_values, published_manipulation
from shuffledp_services.audit.stated_values import differences, one_line, quoted
from shuffledp_services.collection.batch_verdict import spent_of
from shuffledp_services.collection.message_counter import split_proportionally
from shuffledp_services.collection.shortfall import shortfalls
from shuffledp_services.wire.canonical import from_text, to_number
from shuffledp_services.wire.inclusion import HASH_SIZE, RESULT
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signing import check_signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import ID_SIZE, MAX_PEOPLE, Task

# A correct result is found to have too little noise once in 10^9 cases at most.
_FALSE_ALARM = 1e-9


@dataclass(frozen=True)
class _ResultStatements:
    """Values that a result states, as opposed to those computed from them."""

    step: Step
    people: tuple[int, ...]
    invalid: int
    epsilons_spent: tuple[float, ...]
    enrolment: Enrolment | None
    chosen: Tally | None
    tally: Tally
    certificate: Guarantee


def problems_in(result: Mapping[str, Any], task: Task) -> tuple[str, ...]:
    """Returns one line per false statement of a result; an empty tuple if it verifies.

    Args:
        result: As it was published; need not be trusted.
        task: Obtained from the party that asks the question.

    Raises:
        DataError: If `result` is not a published result, or belongs to another task.
    """
    # An unknown member would be signed, but checked by nothing below.
    missing = PUBLISHED_RESULT ^ set(result)
    if missing:
        raise DataError(
            "Expected a result that a service of this version published: "
            f"{quoted(min(missing))} is missing, or unknown."
        )
    if (result["digest"], result["task"]) != (task.fingerprint, task.identity):
        raise DataError(
            f"Expected a result of this very task, whose sha256 is {task.fingerprint}, "
            f"got {quoted(result['digest'])}: if keys were replaced, the task.json of "
            "that time."
        )
    # Collected and not raised: one false statement must not hide the others.
    problems = [*_signature_problems(result, task)]
    try:
        statements = _read(result, task)
    except ShuffledpError as error:
        return (*problems, f"it cannot be read: {one_line(error)}")
    problems += _participant_problems(statements)
    problems += _certificate_problems(statements)
    problems += _noise_problems(statements)
    problems += _derived_value_problems(statements, result)
    return tuple(problems)


def _signature_problems(result: Mapping[str, Any], task: Task) -> Iterator[str]:
    try:
        check_signed(RESULT, dict(result), task.analyst_signing_key)
    except Refusal:
        yield "it is not signed by the task's analyst, or was changed since"
    try:
        Enrolment.read(result["enrolment"], task)
    except Refusal as error:
        yield f"its enrolment: {one_line(error)}"
    # Auditors and receipts compare these with the batch; here only their form is known.
    batch = result["batch"]
    try:
        if not isinstance(batch, dict) or set(batch) != {"id", "messages"}:
            raise Refusal(Reason.MALFORMED, "Expected an id and a digest of messages.")
        from_text(batch["id"], ID_SIZE, "a batch id")
        from_text(batch["messages"], HASH_SIZE, "a digest")
    except Refusal as error:
        yield f"its batch: {one_line(error)}"


def _read(result: Mapping[str, Any], task: Task) -> _ResultStatements:
    """Reads the statements, and builds the protocol that the task prescribes."""
    epoch, num_invalid, people = result["epoch"], result["spoiled"], result["people"]
    if type(epoch) is not int or not 1 <= epoch <= task.last_epoch:
        raise DataError(f"Expected an epoch from 1 to {task.last_epoch}.")
    num_counted = len(task.counted)
    if not isinstance(people, list) or len(people) != num_counted:
        raise DataError(f"Expected {num_counted} numbers of people.")
    if not all(type(n) is int and 0 <= n <= MAX_PEOPLE for n in (*people, num_invalid)):
        raise DataError("Expected whole numbers of people.")
    epsilons_spent = result["spent"]
    if not isinstance(epsilons_spent, list) or len(epsilons_spent) != len(task.choices):
        raise DataError(f"Expected {len(task.choices)} numbers that were spent.")
    # Read from the result alone, and compared with the task afterwards.
    certificate, tally = (
        read_certificate(result["certificate"]),
        Tally.from_dict(result["tally"]),
    )
    chosen_tally = result["chosen"]
    if (chosen_tally is None) is not task.choices_are_levels:
        raise DataError("Expected a tally of choices where people choose targets.")
    # After a choice of targets a plan was published; it names the whole protocol.
    plan = None if task.choices_are_levels else certificate.protocol
    step = Step(task, epoch, EpochStage.ANSWER, plan)
    # One protocol of all three: the task's, the tally's and the certificate's.
    if not certificate.protocol == tally.identity == step.answer_run.identity:
        raise DataError(
            f"Expected a tally and a certificate of the task's protocol, "
            f"{step.answer_run.identity}."
        )
    choices = None if chosen_tally is None else Tally.from_dict(chosen_tally)
    if choices is not None and choices.identity != step.choice_run.identity:
        raise DataError("Expected a tally of the task's targets.")
    try:
        enrolment = Enrolment.read(result["enrolment"], task)
    except Refusal:
        enrolment = None  # Reported by `_signature_problems`.
    return _ResultStatements(
        step,
        tuple(people),
        num_invalid,
        tuple(to_number(number, "what was spent") for number in epsilons_spent),
        enrolment,
        choices,
        tally,
        certificate,
    )


def _participant_problems(statements: _ResultStatements) -> Iterator[str]:
    """Compares the number of participants with the tally and with the enrolment."""
    task, total = statements.step.task, sum(statements.people)
    for missing in shortfalls(task, statements.people):
        yield f"too few people: {missing}"
    if statements.enrolment is not None:
        if statements.enrolment.epoch != statements.step.epoch:
            yield f"its enrolment is for epoch {statements.enrolment.epoch}"
        if total > statements.enrolment.tokens:
            yield f"{total:,} people, and {statements.enrolment.tokens:,} tokens"
    # Invalid reports are accepted by the shuffler, and are missing in the tally.
    remaining = total - statements.invalid
    if statements.tally.num_users != remaining:
        yield (
            f"{total:,} people less {statements.invalid:,} spoiled are {remaining:,}, "
            f"and its tally is of {statements.tally.num_users:,}"
        )
    elif not _matches_people(statements):
        yield "its tally is of other people at each level than it says took part"


def _matches_people(statements: _ResultStatements) -> bool:
    task, people = statements.step.task, statements.people
    if len(statements.tally.people) != 1:
        return False
    if not task.choices_are_levels:
        # Targets are not named at messages.
        return not statements.tally.levels.size
    counted = dict(
        zip(statements.tally.levels.tolist(), statements.tally.people[0], strict=True)
    )
    if not set(counted) <= set(task.choices):
        return False
    expected = [int(counted.get(choice, 0)) for choice in task.choices]
    if statements.step.linked:
        # Only the analyst knows which participants' messages were invalid.
        return all(n <= accepted for n, accepted in zip(expected, people, strict=True))
    # Without levels at the messages, invalid reports count at all levels in proportion.
    invalid_people = split_proportionally(people, statements.invalid).tolist()
    return expected == [
        n - invalid for n, invalid in zip(people, invalid_people, strict=True)
    ]


def _certificate_problems(statements: _ResultStatements) -> Iterator[str]:
    """Compares the certificate's population, parameters and epsilons with the task."""
    task, certificate = statements.step.task, statements.certificate
    try:
        batch = statements.step.answer_run.batch_people(
            statements.people, statements.chosen
        )
    except ShuffledpError as error:
        yield f"nothing can be certified of its people: {one_line(error)}"
        return
    # Users without a valid report hide no other.
    absent = task.absent + statements.invalid + batch.missing
    if certificate.people_digest != digest(batch.people):
        yield "its certificate is of other people than it says took part"
    for quantity, stated, expected in (
        ("absent people", certificate.absent, absent),
        ("delta", certificate.delta, task.delta),
        ("rounds", certificate.rounds, 1),
        ("coordinates", certificate.coordinates, 1),
    ):
        if stated != expected:
            yield f"its certificate is for {quantity} {stated}, expected {expected}"
    listed_choices = [entry.chosen for entry in certificate.levels]
    # As a list: a level that is listed twice is an error, too.
    if listed_choices != batch.people.epsilons.tolist():
        yield "its certificate does not list every choice that people made, once"
    columns = zip(
        task.choices,
        statements.epsilons_spent,
        spent_of(task, certificate),
        task.promise,
        strict=True,
    )
    for choice, epsilon_spent, certified, promise in columns:
        if epsilon_spent != certified:
            yield f"{task.named(choice)}: {epsilon_spent!r} spent, {certified!r} certified"
        # Written this way round, it refuses NaN, too.
        if not certified <= promise:
            yield f"{task.named(choice)}: {certified!r} certified, {promise!r} promised"


def _noise_problems(statements: _ResultStatements) -> Iterator[str]:
    """Tests whether counts are large enough to hold the noise that devices draw."""
    honest = sum(statements.people) - statements.invalid - statements.step.task.absent
    try:
        p_value = statements.step.answer_run.noise_p_value(
            statements.tally, max(honest, 0)
        )
    except (ShuffledpError, IndexError, ValueError) as error:
        yield f"its noise cannot be tested: {one_line(error)}"
        return
    if p_value is not None and p_value < _FALSE_ALARM:
        yield (
            "its counts have less noise than devices draw: a count as small has a "
            f"probability of {p_value:.1g} at most"
        )


def _derived_value_problems(
    statements: _ResultStatements, result: Mapping[str, Any]
) -> Iterator[str]:
    """Recomputes all derived values of a result, and compares them."""
    task = statements.step.task
    try:
        estimate = statements.step.answer_run.estimate(
            statements.tally, statements.chosen
        )
    except (InvalidInputError, ArithmeticError) as error:
        yield f"nothing can be estimated from its tally: {one_line(error)}"
        return
    if statements.enrolment is None:
        return  # The enrolment enters the stated assumptions, which cannot be compared.
    expected = derived_values(
        task,
        statements.people,
        statements.tally,
        estimate,
        statements.certificate,
        manipulation=published_manipulation(
            statements.step.answer_run, statements.tally, statements.chosen, estimate
        ),
        spoiled=statements.invalid,
        enrolment=statements.enrolment,
    )
    for name in sorted(expected):
        yield from differences(name, result[name], expected[name])
