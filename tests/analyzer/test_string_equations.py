"""Decoding, from shares of bits that are known: the equations alone."""

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp import InvalidInputError
from shuffledp.analyzer.bit_shares import (
    BitShares,
    agnostic_bit_shares,
    stratified_bit_shares,
)
from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.analyzer.strings import check_candidates, decode_strings
from shuffledp.randomizers.bloom import bloom_filters
from shuffledp.types import Floats

ZIPF = 1.0 / np.arange(1, 21)
ZIPF /= ZIPF.sum()


def exact_shares(weights: Floats, texts: list[str]) -> BitShares:
    """Bits of which everything is known but a hair."""
    value = np.stack(
        [
            weights @ bloom_filters(texts, [m] * len(texts), num_bits=64, num_hashes=2)
            for m in range(4)
        ]
    )
    hair = np.array([1e-9, 2e-9, 1e-9, 3e-9])
    return BitShares(value, hair, hair, hair, step=np.zeros(4))


def decoded(known: BitShares, texts: list[str], rate: float = 0.05) -> StringEstimate:
    return decode_strings(
        known,
        tuple(texts),
        num_hashes=2,
        num_users=1_000_000,
        false_discovery_rate=rate,
        mode="agnostic",
    )


def test_exact_shares_of_bits_give_back_the_strings() -> None:
    texts = [f"exact {number}" for number in range(20)]

    estimate = decoded(exact_shares(ZIPF, texts), texts)

    # Equations that hold exactly; only rounding is left.
    assert np.abs(estimate.value - ZIPF).max() < 1e-12
    assert estimate.unexplained == pytest.approx(0.0, abs=1e-12)
    assert estimate.misfit == 1.0
    assert estimate.found.all()


def test_weighted_least_squares_agree_with_numpy() -> None:
    texts = [f"some {number}" for number in range(30)]
    rng = np.random.default_rng(5)
    known = BitShares(
        rng.normal(0.03, 0.05, (4, 64)), *(np.array([4.0, 1.0, 2.0, 1.0]) / 1e3,) * 4
    )

    estimate = decoded(known, texts)

    density = 1.0 - (63.0 / 64.0) ** 2
    design = np.concatenate(
        [
            bloom_filters(texts, [m] * 30, num_bits=64, num_hashes=2).T - density
            for m in range(4)
        ]
    )
    root = np.repeat(1.0 / np.sqrt(known.noise_if_set), 64)
    expected, *_ = np.linalg.lstsq(
        design * root[:, None], (known.value.ravel() - density) * root, rcond=None
    )
    # Normal equations of a well-conditioned problem: 1e-16 times its condition.
    assert np.abs(estimate.value - expected).max() < 1e-11
    assert estimate.unexplained == pytest.approx(1.0 - expected.sum(), abs=1e-11)


def test_no_bit_of_a_report_moves_an_estimate_by_more_than_the_step() -> None:
    texts = [f"some {number}" for number in range(10)]
    value = np.full((2, 64), 0.05)
    noise, step = np.array([4.0, 1.0]) / 1e3, np.array([1.0, 3.0])
    # Steps so small that weights, which depend on all shares, stay what they are.
    before = decoded(BitShares(value, noise, noise, noise, 1e-9 * step), texts)

    moves = np.zeros(11)
    for cohort, bit in np.ndindex(2, 64):
        moved = value.copy()
        moved[cohort, bit] += 1e-9 * step[cohort]
        after = decoded(BitShares(moved, noise, noise, noise, step), texts)
        changes = np.append(after.value, after.unexplained)
        changes -= np.append(before.value, before.unexplained)
        moves = np.maximum(moves, np.abs(changes))

    # Rounding of a difference of 1e-9 is some 1e-6 of it.
    np.testing.assert_allclose(before.step, moves, rtol=1e-4)


def test_p_values_are_one_sided_and_intervals_two_sided() -> None:
    texts = [f"exact {number}" for number in range(20)]
    estimate = decoded(exact_shares(ZIPF, texts), texts)

    ends = estimate.interval(0.95)

    z = estimate.value / estimate.standard_error
    assert np.allclose(estimate.p_value, ndtr(-z), rtol=1e-12)
    # The table value, to the digits that tables print.
    half = (ends[:, 1] - ends[:, 0]) / 2.0
    assert np.allclose(half, 1.959964 * estimate.standard_error, rtol=1e-6)
    with pytest.raises(InvalidInputError, match="confidence"):
        estimate.interval(95.0)


def test_candidates_that_filters_cannot_tell_apart_are_refused() -> None:
    # With 32 bits, the strings numbered 0 and 5 set the same two of them.
    texts = [f"crowded {number}" for number in range(16)]
    hair = np.array([0.01])
    known = BitShares(np.full((1, 32), 0.1), hair, hair, hair, hair)

    with pytest.raises(InvalidInputError, match="tell apart"):
        decoded(known, texts)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "at least one"),
        (["a", "b", "a"], "different"),
        ("abc", "flat list"),
        ([1, 2], "flat list"),
        ([["a"]], "flat list"),
        (None, "flat list"),
        ([f"{number}" for number in range(22)], "in 5 cohorts"),
    ],
)
def test_lists_that_cannot_be_decoded_are_refused(
    candidates: list[str], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_candidates(candidates, num_cohorts=4, num_bits=8)


def test_as_many_candidates_as_equations_allow_are_accepted() -> None:
    texts = [f"{number}" for number in range(21)]

    assert check_candidates(texts, num_cohorts=4, num_bits=8) == tuple(texts)


def test_levels_that_send_nothing_but_noise_are_refused() -> None:
    even, counts = np.array([0.5]), np.array([[5], [5]])

    with pytest.raises(InvalidInputError, match="above 0"):
        agnostic_bit_shares(
            np.ones((2, 8), dtype=np.int64),
            level_counts=counts,
            p_set=even,
            p_unset=even,
        )
    with pytest.raises(InvalidInputError, match="above 0"):
        stratified_bit_shares(
            np.ones((2, 1, 8), dtype=np.int64),
            level_counts=counts,
            p_set=even,
            p_unset=even,
        )
