"""Theorem 9.2 on enumerated transcripts, against an enumeration by hand."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.lecture_notes.lower_bound import (
    adaptive_tables,
    least_error,
    transcripts,
)


def responses(people: int, epsilon: float) -> list[np.ndarray]:
    keep = 1.0 / (1.0 + math.exp(-epsilon))
    table = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    return [np.broadcast_to(table, (2**i, 2, 2)) for i in range(people)]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_protocol_errs_less(epsilon: float, seed: int) -> None:
    tables = adaptive_tables(5, epsilon, rng=np.random.default_rng(seed))

    found = transcripts(tables)

    ones = found.ones()
    assert 1.0 / (1.0 + math.exp(epsilon)) * (1.0 - 1e-12) <= ones.min()
    assert ones.max() <= math.exp(epsilon) / (1.0 + math.exp(epsilon)) * (1.0 + 1e-12)
    assert found.dependence() < 1e-14
    assert found.error() >= least_error(5, epsilon)
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_responses_attain_the_bound() -> None:
    for people in (1, 4, 7):
        found = transcripts(responses(people, 1.0)).error()

        assert found == pytest.approx(least_error(people, 1.0), rel=1e-12)


def test_the_error_by_listing_bits_and_answers() -> None:
    tables = adaptive_tables(3, 0.8, rng=np.random.default_rng(9))

    expected = 0.0
    for answers in itertools.product([0, 1], repeat=3):
        places = [0, answers[0], 2 * answers[0] + answers[1]]
        weights = {}
        for bits in itertools.product([0, 1], repeat=3):
            chance = 1.0 / 8.0
            for i in range(3):
                chance *= tables[i][places[i], bits[i], answers[i]]
            weights[bits] = chance
        total = sum(weights.values())
        mean = sum(w * sum(bits) / 3 for bits, w in weights.items()) / total
        expected += sum(w * (sum(bits) / 3 - mean) ** 2 for bits, w in weights.items())

    assert transcripts(tables).error() == pytest.approx(math.sqrt(expected), rel=1e-12)


def test_tables_must_follow_each_other() -> None:
    first, second = responses(2, 1.0)

    with pytest.raises(InvalidInputError, match=r"shape \(2, 2, messages\)"):
        transcripts([first, first])
    with pytest.raises(InvalidInputError, match="add up to 1"):
        transcripts([first, 0.9 * second])
    with pytest.raises(InvalidInputError, match="too many to list"):
        transcripts(responses(13, 1.0))
