"""Published result of an epoch as JSON values: estimate, certificate, assumptions."""

from functools import partial
from typing import Any

import numpy as np

from shuffledp.accounting.assumptions import ORDER
from shuffledp.accounting.cautions import coalition_caution
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.interval import reach
from shuffledp.errors import DataError
from shuffledp.statistics.manipulation import Manipulation, manipulation_of
from shuffledp.statistics.stage_runs import AnswerRun, Estimate, NumbersEstimate
from shuffledp.statistics.summary_parts import TWO_ERRORS
from shuffledp.tally import Tally
from shuffledp.types import Floats
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.task import Task

CONFIDENCE = 0.95

NOISE_BY_SHUFFLER = (
    "The shuffler draws its dummies as it should, adds all of them, and keeps them to "
    "itself: if it does not, nothing is left of the central epsilons against the analyst, "
    "and nothing in the counts shows it. It committed to the secret they are drawn from "
    "before anybody answered. Whether it drew them from there, an auditor finds out to "
    "whom it opens the seed of the epoch."
)
"""What everybody who reads a certificate has to believe, where the shuffler adds noise."""


def result_of(
    state: AnalystState,
    people: tuple[int, ...],
    tally: Tally,
    estimate: Estimate,
    certificate: Guarantee,
    *,
    spoiled: int,
    spent: tuple[float, ...],
    listed: bytes,
) -> dict[str, Any]:
    """Returns the document to publish.

    Args:
        state: State in which the batch was received.
        people: Number of accepted reports with each choice; in total, if choices are not
            named.
        tally: Counts of these reports.
        estimate: Estimate from the tally.
        certificate: Certificate of these reports.
        spoiled: Number of participants whose reports are invalid, dummies included.
        spent: Central epsilon that each choice pays for the result.
        listed: SHA-256 of the list of messages, 32 bytes.
    """
    chosen, enrolment = state.chosen, _enrolment(state)
    return {
        "task": state.task.identity,
        "digest": state.task.fingerprint,
        "epoch": state.epoch,
        "batch": {
            "id": to_text(state.batch_id or b""),
            # The SHA-256 of the list that `service.wire.inclusion` describes.
            "messages": to_text(listed),
        },
        "people": list(people),
        "spent": list(spent),
        "enrolment": enrolment.to_dict(),
        "spoiled": spoiled,
        "chosen": None if chosen is None else chosen.to_dict(),
        "tally": tally.to_dict(),
        "certificate": certificate.to_dict(),
        # Verification computes these again from the members above, and compares.
        **derived_values(
            state.task,
            people,
            tally,
            estimate,
            certificate,
            manipulation=published_manipulation(
                state.step.answer_run, tally, state.chosen, estimate
            ),
            spoiled=spoiled,
            enrolment=enrolment,
        ),
    }


def derived_values(
    task: Task,
    people: tuple[int, ...],
    tally: Tally,
    estimate: Estimate,
    certificate: Guarantee,
    *,
    manipulation: Manipulation,
    spoiled: int,
    enrolment: Enrolment,
) -> dict[str, Any]:
    """Returns the members of a result that can be computed from the others.

    Args:
        task: Task of the result.
        people: Number of accepted reports, as in `result_of`.
        tally: Counts of these reports.
        estimate: Estimate from the tally.
        certificate: Certificate of these reports.
        manipulation: From `published_manipulation`.
        spoiled: Number of participants whose reports are invalid.
        enrolment: Number of participants who could answer.
    """
    survey = task.question.survey
    return {
        "statistic": survey.words.name,
        "mode": survey.mode,
        "protocol_digest": tally.identity.digest,
        "estimate": {
            "num_users": estimate.num_users,
            "confidence": CONFIDENCE,
            "rows": _rows(survey.labels, estimate),
            **_numbers(estimate),
            "unbiased_if": survey.unbiased_if,
            "two_errors": TWO_ERRORS,
            "manipulation": manipulation.to_dict(),
            "manipulation_note": manipulation.sentence(survey.words.display),
        },
        "assumptions": [
            *_assumptions(task, enrolment, sum(people), spoiled),
            *_coalition(certificate),
            # `_assumptions` replaces the general one about the order of messages.
            *(text for text in certificate.assumptions if text != ORDER),
        ],
    }


def _coalition(certificate: Guarantee) -> tuple[str, ...]:
    """Returns what is left if shuffler and analyst do work together, in a sentence."""
    caution = coalition_caution(certificate.statements[0])
    return certificate.coalition if caution is None else (caution,)


def published_manipulation(
    answer_run: AnswerRun, tally: Tally, chosen: Tally | None, estimate: Estimate
) -> Manipulation:
    """Returns how far dishonest people can move the estimate from this tally."""
    return manipulation_of(
        partial(answer_run.manipulation, tally, chosen),
        num_users=estimate.num_users,
        errors=estimate.standard_error,
    )


def _rows(labels: tuple[str, ...], estimate: Estimate) -> list[dict[str, Any]]:
    # Scalars of a mean or a sum become one row.
    columns = (
        np.atleast_1d(estimate.value),
        np.atleast_1d(estimate.standard_error),
        np.reshape(estimate.interval(CONFIDENCE), (-1, 2)),
        np.atleast_1d(estimate.population_error),
        _population_intervals(estimate),
    )
    return [
        {
            "name": name,
            "value": row[0],
            "standard_error": row[1],
            "interval": row[2],
            "population_error": row[3],
            "population_interval": row[4],
        }
        for name, *row in zip(labels, *(c.tolist() for c in columns), strict=True)
    ]


def _population_intervals(estimate: Estimate) -> Floats:
    """Returns intervals of numbers in the population, shape (rows, 2)."""
    value = np.atleast_1d(estimate.value)[:, None]
    error = np.atleast_1d(estimate.standard_error)[:, None]
    population = np.atleast_1d(estimate.population_error)[:, None]
    own = np.reshape(estimate.interval(CONFIDENCE), (-1, 2)) - value
    # Who took part is a second, independent error, of a normal distribution. An interval
    # for noise that is large or rare is wider than a normal one, and stays so.
    # Roots before products: squares of the widest ranges overflow.
    root = np.sqrt(np.maximum(population - error, 0.0)) * np.sqrt(population + error)
    margin = np.hypot(own, reach(CONFIDENCE) * root)
    intervals: Floats = value + np.array([-1.0, 1.0]) * margin
    return intervals


def _numbers(estimate: Estimate) -> dict[str, Any]:
    """Returns rows in units of their own, if a form asks for numbers."""
    if not isinstance(estimate, NumbersEstimate):
        return {}
    rows = [row.to_dict() for row in estimate.numbers(CONFIDENCE)]
    # Results without such rows stay what they were.
    return {"numbers": rows} if rows else {}


def _assumptions(
    task: Task, enrolment: Enrolment, accepted: int, spoiled: int
) -> list[str]:
    """Returns the assumptions of this service, beside those of the certificate."""
    # The certificate counts on these users alone.
    hiding = max(accepted - task.absent - spoiled, 0)
    relied_on = (
        f"numbers hold as long as {hiding:,} people sent what their devices drew."
        if task.dummy_commitment is None
        else "people add no noise, and numbers hold whatever others sent."
    )
    lines = [
        f"Of {accepted:,} accepted reports, {task.absent:,} are assumed to come from "
        f"people who collude or send noise, and {spoiled:,} reports could not be read or "
        f"were dummies: {relied_on}",
        "The shuffler and the analyst do not work together: one sees who sends, the other "
        "what is sent.",
        "Every device seals each message with randomness of its own. The batch is in the "
        "order of the hashes of what was sealed, which was checked before it was opened: "
        "nobody is trusted with it.",
        f"{enrolment.tokens:,} tokens were issued, one to each person, and the enroller "
        "does not remember to whom.",
        f"Messages are sealed for the analyst with {task.suite.words}, and only "
        "the analyst holds the private key.",
    ]
    if not task.choices_are_levels:
        lines.append(
            "Which target somebody chose is not protected by these numbers: targets are "
            "reported as they are, without a name, and shuffled."
        )
    elif task.question.linked:
        lines.append(
            "Every message stays with its level; how many people chose which level is "
            "public."
        )
    else:
        lines.append(
            "The analyst learns how many people chose each level, not which message "
            "comes from which level."
        )
    if task.dummy_commitment is not None:
        lines.append(NOISE_BY_SHUFFLER)
    return lines


def _enrolment(state: AnalystState) -> Enrolment:
    if state.enrolment is None:
        raise DataError("Expected an enrolment with every batch.")
    return state.enrolment
