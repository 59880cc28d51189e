"""Does a published result say what follows from its own numbers, and who signed it?

Everything in it is compared with its task: who signed; what the task's own protocol
estimates from the tally; who took part, and whom the certificate is about; what was spent,
and what is certified. That the tally is what people sent rests on the analyst alone: nobody
else can open messages. Whether a certificate is proven is asked elsewhere
(`statistics.verify`), and whether a message was counted, too (`service.checking`).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.account import digest
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.service.analyst.results import what_follows
from shuffledp.service.collection.certificate import spent_of
from shuffledp.service.collection.counting import in_proportion
from shuffledp.service.collection.shortfall import shortfalls
from shuffledp.service.wire.canonical import to_number
from shuffledp.service.wire.inclusion import RESULT
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.signing import check_signed
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import MAX_PEOPLE, Task
from shuffledp.statistics.certificate_parts import PUBLISHED_RESULT
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally

# Another machine adds up in another order: its last digits may differ, no more.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
_LONGEST = 60


@dataclass(frozen=True)
class _Said:
    """What a result states, and does not compute."""

    step: Step
    people: tuple[int, ...]
    spoiled: int
    spent: tuple[float, ...]
    enrolment: Enrolment | None
    chosen: Tally | None
    tally: Tally
    certificate: Guarantee


def problems_in(result: Mapping[str, Any], task: Task) -> tuple[str, ...]:
    """Returns what a result says that is not so, a line each; nothing if all of it is.

    Args:
        result: As it was published, from whomever.
        task: From whoever asks the question.

    Raises:
        DataError: If it is no result, or one of another task.
    """
    missing = PUBLISHED_RESULT ^ set(result)
    if missing:
        raise DataError(
            "Expected a result that a service of this version published: "
            f"{_shown(min(missing))} is missing, or unknown."
        )
    if (result["digest"], result["task"]) != (task.fingerprint, task.identity):
        raise DataError(
            f"Expected a result of this very task, whose sha256 is {task.fingerprint}, "
            f"got {_shown(result['digest'])}: if keys were replaced, the task.json of that "
            "time."
        )
    problems = [*_signatures(result, task)]
    try:
        said = _read(result, task)
    except ShuffledpError as error:
        return (*problems, f"it cannot be read: {_line(error)}")
    problems += _people(said)
    problems += _certificate(said)
    problems += _following(said, result)
    return tuple(problems)


def _signatures(result: Mapping[str, Any], task: Task) -> Iterator[str]:
    try:
        check_signed(RESULT, dict(result), task.analyst_signing_key)
    except Refusal:
        yield "it is not signed by the task's analyst, or was changed since"
    try:
        Enrolment.read(result["enrolment"], task)
    except Refusal as error:
        yield f"its enrolment: {_line(error)}"


def _read(result: Mapping[str, Any], task: Task) -> _Said:
    """Reads what is stated, and builds the protocol that the task says runs."""
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
    certificate, tally = (
        read_certificate(result["certificate"]),
        Tally.from_dict(result["tally"]),
    )
    chosen = result["chosen"]
    if (chosen is None) is not task.names_choices:
        raise DataError("Expected a tally of choices where people choose targets.")
    # Where targets were chosen, a plan followed: it names all that ran.
    plan = None if task.names_choices else certificate.protocol
    step = Step(task, epoch, EpochStage.ANSWER, plan)
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
        enrolment = None  # That is said above.
    return _Said(
        step,
        tuple(people),
        spoiled,
        tuple(to_number(number, "what was spent") for number in spent),
        enrolment,
        choices,
        tally,
        certificate,
    )


def _people(said: _Said) -> Iterator[str]:
    """Compares who took part with what was counted, and with who could."""
    task, total = said.step.task, sum(said.people)
    for missing in shortfalls(task, said.people):
        yield f"too few people: {missing}"
    if said.enrolment is not None:
        if said.enrolment.epoch != said.step.epoch:
            yield f"its enrolment is for epoch {said.enrolment.epoch}"
        if total > said.enrolment.tokens:
            yield f"{total:,} people, and {said.enrolment.tokens:,} tokens"
    left = total - said.spoiled
    if said.tally.num_users != left:
        yield (
            f"{total:,} people less {said.spoiled:,} spoiled are {left:,}, and its tally "
            f"is of {said.tally.num_users:,}"
        )
    elif not _fits(said):
        yield "its tally is of other people at each level than it says took part"


def _fits(said: _Said) -> bool:
    task, people = said.step.task, said.people
    if len(said.tally.people) != 1:
        return False
    if not task.names_choices:
        return not said.tally.levels.size
    counted = dict(zip(said.tally.levels.tolist(), said.tally.people[0], strict=True))
    if not set(counted) <= set(task.choices):
        return False
    found = [int(counted.get(choice, 0)) for choice in task.choices]
    if said.step.linked:
        # Whose message was spoiled is known to the analyst alone.
        return all(n <= most for n, most in zip(found, people, strict=True))
    away = in_proportion(people, said.spoiled).tolist()
    return found == [n - less for n, less in zip(people, away, strict=True)]


def _certificate(said: _Said) -> Iterator[str]:
    """Compares whom the certificate is about, and what it certifies, with the rest."""
    task, certificate = said.step.task, said.certificate
    try:
        batch = said.step.answering.batch_people(said.people, said.chosen)
    except ShuffledpError as error:
        yield f"nothing can be certified of its people: {_line(error)}"
        return
    absent = task.absent + said.spoiled + batch.missing
    if certificate.people_digest != digest(batch.people):
        yield "its certificate is of other people than it says took part"
    for what, is_said, wanted in (
        ("absent people", certificate.absent, absent),
        ("delta", certificate.delta, task.delta),
        ("rounds", certificate.rounds, 1),
        ("coordinates", certificate.coordinates, 1),
    ):
        if is_said != wanted:
            yield f"its certificate is for {what} {is_said}, expected {wanted}"
    listed = [entry.chosen for entry in certificate.levels]
    if sorted(listed) != batch.people.epsilons.tolist():
        yield "its certificate does not list every choice that people made, once"
    columns = zip(
        task.choices,
        said.spent,
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


def _following(said: _Said, result: Mapping[str, Any]) -> Iterator[str]:
    """Computes anew what follows from the rest, and compares."""
    task = said.step.task
    try:
        estimate = said.step.answering.estimate(said.tally, said.chosen)
    except (InvalidInputError, ArithmeticError) as error:
        yield f"nothing can be estimated from its tally: {_line(error)}"
        return
    if said.enrolment is None:
        return  # It is part of what is assumed.
    found = what_follows(
        task,
        said.people,
        said.tally,
        estimate,
        said.certificate,
        spoiled=said.spoiled,
        enrolment=said.enrolment,
    )
    for name in sorted(found):
        yield from _differences(name, result[name], found[name])


def _differences(place: str, said: object, found: object) -> Iterator[str]:
    """Returns where two plain values differ, by the names on the way."""
    if isinstance(found, dict) and isinstance(said, dict) and set(said) == set(found):
        for name, value in found.items():
            yield from _differences(f"{place}, {name}", said[name], value)
    elif isinstance(found, list) and isinstance(said, list) and len(said) == len(found):
        for row, (one, value) in enumerate(zip(said, found, strict=True), start=1):
            name = value["name"] if isinstance(value, dict) else f"{row}"
            yield from _differences(f"{place} {name!a}", one, value)
    elif isinstance(found, float) and type(said) in (int, float):
        number = to_number(said, place)
        if not math.isclose(number, found, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE):
            yield f"{place}: it says {_shown(said)}, and {found!r} follows"
    elif type(said) is not type(found) or said != found:
        yield f"{place}: it says {_shown(said)}, and {_shown(found)} follows"


def _shown(value: object) -> str:
    """Returns a value that somebody else wrote, for a terminal."""
    text = ascii(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _line(error: Exception) -> str:
    """Returns what an error says, on one line that terminals show as it is."""
    text = str(error).rstrip(".")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
