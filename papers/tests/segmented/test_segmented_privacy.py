import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.outside_preconditions import OutsidePreconditions
from shuffledp_papers.segmented.privacy import (
    SegmentedPrivacy,
    largest_sampling_rate,
    smallest_blanket,
)


def crowd(num_users: int) -> Setting:
    return Setting(sdp.Population.from_counts({1.0: num_users}))


@pytest.mark.few_cases(5)
@pytest.mark.parametrize(
    ("num_users", "items", "epsilon", "claim"),
    [
        (5000, 4, 0.5, 51.22),
        (5000, 4, 1.0, 14.71),
        (5000, 4, 2.0, 4.488),
        (5000, 8, 0.5, 203.7),
        (5000, 8, 1.0, 57.95),
        (5000, 8, 2.0, 17.16),
        (50_000, 4, 0.5, 6.430),
        (50_000, 4, 1.0, 1.805),
        (50_000, 4, 2.0, 0.5369),
        (50_000, 8, 0.5, 25.59),
        (50_000, 8, 1.0, 7.121),
        (50_000, 8, 2.0, 2.056),
    ],
)
def test_the_smallest_blanket(
    num_users: int, items: int, epsilon: float, claim: float
) -> None:
    found = smallest_blanket(
        num_users,
        num_items=128,
        items_per_user=items,
        epsilon=epsilon,
        delta=0.01 / num_users,
    )

    # Four digits are pinned.
    assert found == pytest.approx(claim, rel=5e-4)


@pytest.mark.parametrize(
    ("num_users", "messages", "items", "rate"),
    [(5000, 1, 1, 0.5524), (5000, 5, 4, 0.313), (50_000, 1, 4, 0.395)],
)
def test_rates_that_theorem_3_allows_although_the_total_betrays_the_victim(
    num_users: int, messages: int, items: int, rate: float
) -> None:
    delta = 0.01 / num_users

    found = largest_sampling_rate(
        num_users,
        num_items=128,
        blanket_messages=messages,
        items_per_user=items,
        epsilon=0.5,
        delta=delta,
    )
    bound = SegmentedPrivacy(128, messages, items, found)

    # True at these rates: 9.05e-4, 7.8e-6 and 2.8e-7.
    assert found == pytest.approx(rate, rel=2e-3)
    assert bound.delta(crowd(num_users), 0.5) == pytest.approx(delta, rel=1e-6)
    assert bound.epsilon(crowd(num_users), delta) == pytest.approx(0.5, rel=1e-6)


def test_all_items_may_be_sent_where_the_blanket_is_thick() -> None:
    rate = largest_sampling_rate(
        5000, num_items=128, blanket_messages=6, items_per_user=4, epsilon=2, delta=2e-6
    )

    assert rate == 1.0


@given(
    st.integers(2, 4),
    st.floats(0.1, 2.5),
    # Theorem 1 is stated for q = d lambda of at least 1.
    st.floats(1.0 / 7.0, 1.0),
    st.integers(1, 3),
    st.floats(0.0, 2.0),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_theorem_3_by_listing_counts(
    people: int,
    messages: float,
    rate: float,
    items: int,
    epsilon: float,
    as_printed: bool,
) -> None:
    # Every blanket message is x, x' or another item: three outcomes.
    whole = math.ceil(messages)
    hit = messages / whole / 7
    blanket = people * whole - as_printed
    one_item = 0.0
    ratio = math.exp(epsilon / items)

    def chance(x: int, y: int) -> float:
        rest = blanket - x - y
        if min(x, y, rest) < 0:
            return 0.0
        ways = math.comb(blanket, x) * math.comb(blanket - x, y)
        return ways * hit ** (x + y) * (1 - 2 * hit) ** rest

    for x in range(blanket + 2):
        for y in range(blanket + 2):
            silent = (1 - rate) * chance(x, y)
            here = rate * chance(x - 1, y) + silent
            there = rate * chance(x, y - 1) + silent
            one_item += max(here - ratio * there, 0.0)
    expected = min(items * math.exp(epsilon) * one_item, 1.0)

    bound = SegmentedPrivacy(7, messages, items, rate, as_printed)

    found = bound.delta(crowd(people), epsilon)
    # Differences of sums of size e^epsilon.
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.floats(0.2, 5.0), st.floats(0.1, 1.0), st.integers(100, 5000))
@settings(max_examples=30, deadline=None)
def test_more_messages_and_fewer_reports_hide_better(
    messages: float, rate: float, people: int
) -> None:
    delta = SegmentedPrivacy(64, messages, 2, rate).delta(crowd(people), 0.8)

    more = SegmentedPrivacy(64, 2 * math.ceil(messages), 2, rate)
    rarer = SegmentedPrivacy(64, messages, 2, rate / 2)
    longer = SegmentedPrivacy(64, messages, 2, rate, as_printed=False)
    for bound in (more, rarer, longer):
        assert bound.delta(crowd(people), 0.8) <= delta * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1.0), "1 <= s < d"),
        ((8, 1.0, 8), "1 <= s < d"),
        ((8, 0.0), "0 < m"),
        ((8, math.nan), "0 < m"),
        ((8, 1.0, 1, 0.0), "0 < lambda <= 1"),
        ((8, 1.0, 1, 1.5), "0 < lambda <= 1"),
    ],
)
def test_protocols_that_make_no_sense(
    arguments: tuple[int | float, ...], message: str
) -> None:
    with pytest.raises(sdp.InvalidInputError, match=message):
        SegmentedPrivacy(*arguments)  # type: ignore[arg-type]


def test_settings_outside_the_theorem() -> None:
    people = sdp.Population.from_counts({1.0: 10})

    with pytest.raises(OutsidePreconditions, match="Poisson randomizer"):
        SegmentedPrivacy(8, 1.0).delta(Setting(people, sdp.Laplace()), 0.1)
    with pytest.raises(OutsidePreconditions, match="at least 2 people"):
        SegmentedPrivacy(8, 1.0).delta(crowd(1), 0.1)
    with pytest.raises(OutsidePreconditions, match=r"d lambda >= 1.*got q = 0\.8"):
        SegmentedPrivacy(8, 1.0, sampling_rate=0.1).delta(crowd(10), 0.1)
    # At the edge, though 49 times 1 / 49 rounds to less than 1.
    assert SegmentedPrivacy(49, 1.0, sampling_rate=1 / 49).delta(crowd(10), 0.1) > 0.0
    with pytest.raises(OutsidePreconditions, match="messages reach"):
        smallest_blanket(2, num_items=8, epsilon=1e-6, delta=1e-300)
