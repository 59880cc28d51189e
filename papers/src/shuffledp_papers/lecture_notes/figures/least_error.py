"""The least error of any local protocol, and of protocols with all transcripts."""

import math

import numpy as np

from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.lower_bound import (
    Transcripts,
    adaptive_tables,
    least_error,
    transcripts,
)
from shuffledp_papers.lecture_notes.mean_errors import response_error

EPSILON = 1.0
# 2^n transcripts times 2^n data sets are enumerated.
PEOPLE = (1, 2, 3, 4, 5, 6, 7, 8)


def run(effort: Effort) -> ComputedFigure:
    """Returns errors of the best analyst, for every number of users."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = []
    for people in effort.each(PEOPLE):
        response = _responses(people)
        drawn = [
            transcripts(adaptive_tables(people, EPSILON, rng=rng))
            for _ in range(effort.repetitions)
        ]
        ones = np.concatenate([np.ravel(each.ones()) for each in (response, *drawn)])
        rows.append(
            {
                "people": people,
                "least possible": least_error(people, EPSILON),
                "responses, best analyst": response.error(),
                "adaptive, best analyst": min(each.error() for each in drawn),
                "responses, unbiased": response_error(people, EPSILON),
                "least posterior": float(ones.min()),
                "largest posterior": float(ones.max()),
                "dependence": max(each.dependence() for each in (response, *drawn)),
            }
        )
    return ComputedFigure(
        setting={"epsilon": EPSILON, "bits": "drawn evenly"},
        table=Table.from_records(rows),
        values={
            "least": 1 / (1 + math.e),
            "most": math.e / (1 + math.e),
            "repetitions": effort.repetitions,
        },
    )


def _responses(people: int) -> Transcripts:
    # The same table after every earlier transcript: randomizers that do not adapt.
    keep = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))
    table = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    return transcripts(
        [np.broadcast_to(table, (2**person, 2, 2)) for person in range(people)]
    )
