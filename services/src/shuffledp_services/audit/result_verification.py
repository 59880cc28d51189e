"""Verification of a published result against its task, its signature and its own numbers.

Compares everything in the result with the task: the signature; the estimate that the task's
protocol computes from the tally; the participants and the population of the certificate;
the epsilon spent and the epsilon certified. Participants trust the analyst alone for the
tally, because no other party can open messages. Elsewhere are the proof of a certificate
(`statistics.verify_certificate`) and the check that a message was counted
(`service.device.receipt_check`).
"""

import math
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
from shuffledp_services.collection.batch_verdict import spent_of
from shuffledp_services.collection.message_counter import split_proportionally
from shuffledp_services.collection.shortfall import shortfalls
from shuffledp_services.wire.canonical import to_number
from shuffledp_services.wire.inclusion import RESULT
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signing import check_signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import MAX_PEOPLE, Task

# Another machine may sum in another order, so that only the last digits differ.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
_LONGEST = 60


@dataclass(frozen=True)
class _ResultStatements:
    """Values that a result states, as opposed to those computed from them."""

    step: Step
    people: tuple[int, ...]
    spoiled: int
    spent: tuple[float, ...]
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
        DataError: If `result` is no published result, or belongs to another task.
    """
    # An unknown member would be signed, but checked by nothing below.
    missing = PUBLISHED_RESULT ^ set(result)
    if missing:
        raise DataError(
            "Expected a result that a service of this version published: "
            f"{_quoted(min(missing))} is missing, or unknown."
        )
    if (result["digest"], result["task"]) != (task.fingerprint, task.identity):
        raise DataError(
            f"Expected a result of this very task, whose sha256 is {task.fingerprint}, "
            f"got {_quoted(result['digest'])}: if keys were replaced, the task.json of "
            "that time."
        )
    # Collected and not raised: one false statement must not hide the others.
    problems = [*_signatures(result, task)]
    try:
        statements = _read(result, task)
    except ShuffledpError as error:
        return (*problems, f"it cannot be read: {_one_line(error)}")
    problems += _people(statements)
    problems += _certificate(statements)
    problems += _following(statements, result)
    return tuple(problems)


def _signatures(result: Mapping[str, Any], task: Task) -> Iterator[str]:
    try:
        check_signed(RESULT, dict(result), task.analyst_signing_key)
    except Refusal:
        yield "it is not signed by the task's analyst, or was changed since"
    try:
        Enrolment.read(result["enrolment"], task)
    except Refusal as error:
        yield f"its enrolment: {_one_line(error)}"


def _read(result: Mapping[str, Any], task: Task) -> _ResultStatements:
    """Reads the statements, and builds the protocol that the task prescribes."""
    epoch, spoiled, people = result["epoch"], result["spoiled"], result["people"]
    if type(epoch) is not int or not 1 <= epoch <= task.last_epoch:
        raise DataError(f"Expected an epoch from 1 to {task.last_epoch}.")
    counted = len(task.counted)
    if not isinstance(people, list) or len(people) != counted:
        raise DataError(f"Expected {counted} numbers of people.")
    if not all(type(n) is int and 0 <= n <= MAX_PEOPLE for n in (*people, spoiled)):
        raise DataError("Expected whole numbers of people.")
    spent = result["spent"]
    if not isinstance(spent, list) or len(spent) != len(task.choices):
        raise DataError(f"Expected {len(task.choices)} numbers that were spent.")
    # Read from the result alone, and compared with the task afterwards.
    certificate, tally = (
        read_certificate(result["certificate"]),
        Tally.from_dict(result["tally"]),
    )
    chosen = result["chosen"]
    if (chosen is None) is not task.names_choices:
        raise DataError("Expected a tally of choices where people choose targets.")
    # After a choice of targets a plan was published; it names the whole protocol.
    plan = None if task.names_choices else certificate.protocol
    step = Step(task, epoch, EpochStage.ANSWER, plan)
    # One protocol of all three: the task's, the tally's and the certificate's.
    if not certificate.protocol == tally.identity == step.answering.identity:
        raise DataError(
            f"Expected a tally and a certificate of the task's protocol, "
            f"{step.answering.identity}."
        )
    choices = None if chosen is None else Tally.from_dict(chosen)
    if choices is not None and choices.identity != step.choosing.identity:
        raise DataError("Expected a tally of the task's targets.")
    try:
        enrolment = Enrolment.read(result["enrolment"], task)
    except Refusal:
        enrolment = None  # Reported by `_signatures`.
    return _ResultStatements(
        step,
        tuple(people),
        spoiled,
        tuple(to_number(number, "what was spent") for number in spent),
        enrolment,
        choices,
        tally,
        certificate,
    )


def _people(statements: _ResultStatements) -> Iterator[str]:
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
    remaining = total - statements.spoiled
    if statements.tally.num_users != remaining:
        yield (
            f"{total:,} people less {statements.spoiled:,} spoiled are {remaining:,}, "
            f"and its tally is of {statements.tally.num_users:,}"
        )
    elif not _fits(statements):
        yield "its tally is of other people at each level than it says took part"


def _fits(statements: _ResultStatements) -> bool:
    task, people = statements.step.task, statements.people
    if len(statements.tally.people) != 1:
        return False
    if not task.names_choices:
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
        return all(n <= most for n, most in zip(expected, people, strict=True))
    # Without levels at the messages, invalid reports count at all levels in proportion.
    away = split_proportionally(people, statements.spoiled).tolist()
    return expected == [n - less for n, less in zip(people, away, strict=True)]


def _certificate(statements: _ResultStatements) -> Iterator[str]:
    """Compares the certificate's population, parameters and epsilons with the task."""
    task, certificate = statements.step.task, statements.certificate
    try:
        batch = statements.step.answering.batch_people(
            statements.people, statements.chosen
        )
    except ShuffledpError as error:
        yield f"nothing can be certified of its people: {_one_line(error)}"
        return
    # Users without a valid report hide no other.
    absent = task.absent + statements.spoiled + batch.missing
    if certificate.people_digest != digest(batch.people):
        yield "its certificate is of other people than it says took part"
    for quantity, stated, wanted in (
        ("absent people", certificate.absent, absent),
        ("delta", certificate.delta, task.delta),
        ("rounds", certificate.rounds, 1),
        ("coordinates", certificate.coordinates, 1),
    ):
        if stated != wanted:
            yield f"its certificate is for {quantity} {stated}, expected {wanted}"
    listed = [entry.chosen for entry in certificate.levels]
    # Sorted, and not as a set: a level that is listed twice is an error, too.
    if sorted(listed) != batch.people.epsilons.tolist():
        yield "its certificate does not list every choice that people made, once"
    columns = zip(
        task.choices,
        statements.spent,
        spent_of(task, certificate),
        task.promise,
        strict=True,
    )
    for choice, spent, certified, promise in columns:
        if spent != certified:
            yield f"{task.named(choice)}: {spent!r} spent, {certified!r} certified"
        # Written this way round, it refuses NaN, too.
        if not certified <= promise:
            yield f"{task.named(choice)}: {certified!r} certified, {promise!r} promised"


def _following(
    statements: _ResultStatements, result: Mapping[str, Any]
) -> Iterator[str]:
    """Recomputes all derived values of a result, and compares them."""
    task = statements.step.task
    try:
        estimate = statements.step.answering.estimate(
            statements.tally, statements.chosen
        )
    except (InvalidInputError, ArithmeticError) as error:
        yield f"nothing can be estimated from its tally: {_one_line(error)}"
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
            statements.step.answering, statements.tally, statements.chosen, estimate
        ),
        spoiled=statements.spoiled,
        enrolment=statements.enrolment,
    )
    for name in sorted(expected):
        yield from _differences(name, result[name], expected[name])


def _differences(path: str, stated: object, expected: object) -> Iterator[str]:
    """Yields the paths at which two JSON values differ."""
    if (
        isinstance(expected, dict)
        and isinstance(stated, dict)
        and set(stated) == set(expected)
    ):
        for name, value in expected.items():
            yield from _differences(f"{path}, {name}", stated[name], value)
    elif (
        isinstance(expected, list)
        and isinstance(stated, list)
        and len(stated) == len(expected)
    ):
        for row, (entry, value) in enumerate(
            zip(stated, expected, strict=True), start=1
        ):
            name = value["name"] if isinstance(value, dict) else f"{row}"
            yield from _differences(f"{path} {name!a}", entry, value)
    elif isinstance(expected, float) and type(stated) in (int, float):
        # JSON does not distinguish 1.0 from 1.
        number = to_number(stated, path)
        if not math.isclose(number, expected, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE):
            yield f"{path}: it says {_quoted(stated)}, and {expected!r} follows"
    # True equals 1 in Python, so that the types are compared, too.
    elif type(stated) is not type(expected) or stated != expected:
        yield f"{path}: it says {_quoted(stated)}, and {_quoted(expected)} follows"


def _quoted(value: object) -> str:
    """Returns an untrusted value as short ASCII text, safe for a terminal."""
    text = ascii(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _one_line(error: Exception) -> str:
    """Returns an error's text on one line, without unprintable characters."""
    text = str(error).rstrip(".")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
