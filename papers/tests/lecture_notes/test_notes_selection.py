"""Selection: enumerated levels, distributions of draws, and debiased shares."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.lecture_notes.selection import (
    curators_choice,
    level_formula,
    listed_level,
    name_candidates,
    naming_probabilities,
    shares_of_bits,
)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_the_level_of_naming_is_listed_and_below_its_budget(epsilon: float) -> None:
    for d in (2, 3, 6):
        found = listed_level(d, epsilon)

        # Pair by pair, message by message.
        worst = max(
            math.log(one / other)
            for x, y in itertools.product(
                itertools.product([False, True], repeat=d), repeat=2
            )
            for one, other in zip(
                *naming_probabilities(np.array([x, y]), epsilon), strict=True
            )
        )
        assert found == pytest.approx(worst, rel=1e-12)
        assert found == pytest.approx(level_formula(d, epsilon), rel=1e-12)
        assert found < epsilon


def test_names_are_drawn_with_their_chances() -> None:
    rng, n = np.random.default_rng(5), 40_000
    approvals = np.tile(np.array([True, False, True, False]), (n, 1))

    named = np.bincount(name_candidates(approvals, 2.0, rng=rng), minlength=4) / n

    chances = naming_probabilities(approvals[:1], 2.0)[0]
    # A false alarm in 400,000 seeds.
    assert np.all(np.abs(named - chances) < 5.0 * np.sqrt(chances * (1 - chances) / n))


def test_the_curator_draws_by_the_exponential_mechanism() -> None:
    rng, runs = np.random.default_rng(6), 20_000
    counts = np.array([3, 5, 4])

    drawn = [curators_choice(counts, 1.5, rng=rng) for _ in range(runs)]

    weights = np.exp(0.75 * counts)
    chances = weights / weights.sum()
    found = np.bincount(drawn, minlength=3) / runs
    assert np.all(
        np.abs(found - chances) < 5.0 * np.sqrt(chances * (1 - chances) / runs)
    )


def test_shares_of_bits_are_unbiased() -> None:
    rng, n, runs = np.random.default_rng(7), 300, 2_000
    asked = np.arange(n) % 3
    approved = np.arange(n) % 9 < asked * 3 + 1
    truth = [float(approved[asked == j].mean()) for j in range(3)]

    found = np.array(
        [
            shares_of_bits(approved, asked, 1.0, num_candidates=3, rng=rng)
            for _ in range(runs)
        ]
    )

    spread = found.std(axis=0) / math.sqrt(runs)
    assert np.all(np.abs(found.mean(axis=0) - truth) < 5.0 * spread)


def test_of_whom_nobody_was_asked_is_never_chosen() -> None:
    rng = np.random.default_rng(8)

    found = shares_of_bits(
        np.zeros(4, dtype=np.bool_),
        np.zeros(4, dtype=int),
        1.0,
        num_candidates=2,
        rng=rng,
    )

    assert found[1] == -math.inf
    with pytest.raises(InvalidInputError):
        naming_probabilities(np.zeros((2, 3)), 1.0)  # type: ignore[arg-type]
