"""What is published of an epoch, as plain values: estimate, certificate, assumptions."""

from typing import Any

import numpy as np

from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.report.summarize_sets import UNBIASED_IF_ITEMS
from shuffledp.report.summary_parts import TWO_ERRORS, UNBIASED_IF
from shuffledp.service.collection.analyst_state import AnalystState
from shuffledp.service.collection.certificate import Certificate
from shuffledp.service.collection.tally import Estimate
from shuffledp.service.wire.sealing import Suite

CONFIDENCE = 0.95

_SUITES = {
    Suite.X25519: "X25519 (HPKE, RFC 9180)",
    Suite.X_WING: "X25519 and ML-KEM-768 (HPKE, RFC 9180)",
}


def result_of(
    state: AnalystState,
    people: tuple[int, ...],
    estimate: Estimate,
    certificate: Certificate,
    *,
    spoiled: int,
) -> dict[str, Any]:
    """Returns the document that is published.

    Args:
        state: In which the batch was received.
        people: Accepted reports per level; in all, for items.
        estimate: Of these reports.
        certificate: Of these reports.
        spoiled: How many people's reports cannot be read or mean nothing, dummies included.
    """
    task = state.task
    mode = task.question.mode
    unbiased_if = UNBIASED_IF_ITEMS if task.has_items else UNBIASED_IF[mode]
    return {
        "task": task.identity,
        "epoch": state.epoch,
        "statistic": task.question.statistic,
        "mode": mode,
        "people": list(people),
        "spoiled": spoiled,
        "estimate": {
            "num_users": estimate.num_users,
            "confidence": CONFIDENCE,
            "rows": _rows(state, estimate),
            "unbiased_if": unbiased_if,
            "two_errors": TWO_ERRORS,
        },
        "certificate": certificate.to_dict(),
        "assumptions": [
            *_assumptions(state, sum(people), spoiled),
            *certificate.assumptions,
        ],
    }


def _rows(state: AnalystState, estimate: Estimate) -> list[dict[str, Any]]:
    question = state.task.question
    if isinstance(estimate, FrequencyEstimate | ItemsEstimate):
        names = question.categories
        value, error = estimate.value, estimate.standard_error
        population = estimate.population_error
        intervals = estimate.interval(CONFIDENCE)
        wide = estimate.interval(CONFIDENCE, about="population")
    else:
        said_yes = question.statistic == "sum"
        names = ("people who say yes" if said_yes else "mean",)
        value, error = np.array([estimate.value]), np.array([estimate.standard_error])
        population = np.array([estimate.population_error])
        intervals = np.array([estimate.interval(CONFIDENCE)])
        reached = reach(CONFIDENCE) * population
        wide = np.stack([value - reached, value + reached], axis=1)
    columns = (value, error, intervals, population, wide)
    return [
        {
            "name": name,
            "value": row[0],
            "standard_error": row[1],
            "interval": row[2],
            "population_error": row[3],
            "population_interval": row[4],
        }
        for name, *row in zip(names, *(c.tolist() for c in columns), strict=True)
    ]


def _assumptions(state: AnalystState, accepted: int, spoiled: int) -> list[str]:
    """Returns what this service adds to the assumptions of the certificate."""
    task = state.task
    hiding = max(accepted - task.absent - spoiled, 0)
    lines = [
        f"Of {accepted:,} accepted reports, {task.absent:,} are assumed to come from "
        f"people who collude or send noise, and {spoiled:,} reports could not be read or "
        f"were dummies: numbers hold as long as {hiding:,} people sent what their devices "
        "drew.",
        "The shuffler and the analyst do not work together: one sees who sends, the other "
        "what is sent.",
        "Whoever hands out tokens gives one to each person and does not remember to whom.",
        f"Messages are sealed for the analyst with {_SUITES[task.suite]}, and nobody else "
        "holds her private key.",
    ]
    if task.has_items:
        lines.append(
            "Which level somebody chose is not protected by these numbers: levels are "
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
    return lines
