"""One bit in place of any message: against exact fractions, for any table."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.errors import InvalidInputError
from shuffledp_papers.lecture_notes.one_bit_reduction import OneBitReduction


@given(
    st.integers(2, 4),
    st.integers(2, 5),
    st.floats(0.1, 3.0),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_who_is_kept_has_sent_what_the_randomizer_sends(
    values: int, messages: int, epsilon: float, seed: int, mixed: bool
) -> None:
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.ones(messages)) * 0.9 + 0.1 / messages
    table = base * np.exp(0.25 * epsilon * rng.uniform(-1, 1, (values, messages)))
    table /= table.sum(axis=1, keepdims=True)
    one_bit = OneBitReduction(table, table.mean(axis=0) if mixed else table[0], epsilon)

    kept = one_bit.kept_probabilities()

    # Whatever is held, everybody is kept with the same chance, and given that, Q.
    assert kept.sum(axis=1) == pytest.approx(one_bit.kept_share, rel=1e-12)
    assert kept / one_bit.kept_share == pytest.approx(table, rel=1e-12)
    assert one_bit.level() <= epsilon * (1.0 + 1e-9)


def test_the_level_is_attained_and_one_half_would_exceed_it() -> None:
    # e^eps = 3: keep 3/4; the public law is that of value 0.
    keep, other = Fraction(3, 4), Fraction(1, 4)
    response = np.array([[0.75, 0.25], [0.25, 0.75]])
    one_bit = OneBitReduction(response, response[0], math.log(3.0))

    # Message 1, values 1 and 0: a bit is 1 with chance c 3 and c 1, c = 1/4.
    c = 1 / (keep / other + 1)
    zeros = (1 - c * 1) / (1 - c * keep / other)
    assert zeros == 3
    assert one_bit.level() == pytest.approx(math.log(3.0), rel=1e-12)
    # With 1/2 at eps = 1/2, e^eps = 1.6487: 1 / (2 - e^eps) is e^1.046.
    growth = math.exp(0.5)
    assert math.log((1 - 0.5) / (1 - 0.5 * growth)) == pytest.approx(1.046, abs=5e-4)


def test_draws_follow_the_law() -> None:
    rng, n = np.random.default_rng(2), 60_000
    table = np.array([[0.5, 0.3, 0.2], [0.25, 0.45, 0.3]])
    one_bit = OneBitReduction(table, table[0], 1.0)
    values = np.arange(n) % 2

    public = one_bit.draw_public(n, rng=rng)
    bits = one_bit.randomize(values, public, rng=rng)

    expected = one_bit.kept_probabilities()
    for value in (0, 1):
        kept = np.bincount(public[bits & (values == value)], minlength=3) / (n / 2)
        spread = np.sqrt(expected[value] / (n / 2))
        # Six numbers: a false alarm in 250,000 seeds.
        assert np.all(np.abs(kept - expected[value]) < 5.0 * spread)


@pytest.mark.parametrize(
    ("table", "public", "epsilon", "message"),
    [
        ([[0.5, 0.5], [0.9, 0.1]], [0.5, 0.5], 1.0, "within a factor"),
        ([[0.5, 0.5], [0.6, 0.4]], [0.9, 0.1], 1.0, "within a factor"),
        ([[0.5, 0.6], [0.5, 0.5]], [0.5, 0.5], 1.0, "add up to 1"),
        ([[0.0, 1.0], [0.5, 0.5]], [0.5, 0.5], 1.0, "above 0"),
        ([[0.5, 0.5]], [0.5, 0.25, 0.25], 1.0, "a distribution of messages"),
        ([[0.5, 0.5]], [0.5, 0.5], 0.0, "epsilon"),
    ],
)
def test_tables_beyond_the_budget_are_refused(
    table: list[list[float]], public: list[float], epsilon: float, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        OneBitReduction(np.array(table), np.array(public), epsilon)


def test_people_who_hold_something_else_are_refused() -> None:
    one_bit = OneBitReduction(np.full((2, 2), 0.5), np.full(2, 0.5), 1.0)
    rng = np.random.default_rng(1)

    for values, public in (([2], [0]), ([0], [2]), ([-1], [0]), ([0, 1], [0])):
        with pytest.raises(InvalidInputError):
            one_bit.randomize(np.array(values), np.array(public), rng=rng)
