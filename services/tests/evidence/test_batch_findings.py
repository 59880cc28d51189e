"""Order, delivery and levels: batches that are right, and batches that are not."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from canary_oracles import some_canaries, some_hashes, some_seen

from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.delivery_test import delivery_finding
from shuffledp_services.evidence.epoch_view import EpochView, MessageBatch
from shuffledp_services.evidence.evidence import AuditFinding
from shuffledp_services.evidence.level_leakage_test import levels_finding
from shuffledp_services.evidence.message_positions import message_positions
from shuffledp_services.evidence.shuffle_order_test import (
    order_finding,
    uploads_finding,
)

Hashes = np.ndarray[tuple[int, ...], np.dtype[np.bytes_]]


def one_pile(hashes: Hashes) -> MessageBatch:
    size = len(hashes)
    return MessageBatch(hashes, np.zeros(size, np.int64), np.full(size, 99))


def sent_in_order(canaries: Canaries) -> Hashes:
    rows: Hashes = canaries.hashes[np.argsort(canaries.send_positions)].ravel()
    return rows


def uniform(p_values: list[float]) -> None:
    """Five standard errors: a false alarm once in 10^6 times."""
    runs = len(p_values)
    for alpha in (0.5, 0.2, 0.05):
        share = float(np.mean(np.array(p_values) <= alpha))
        assert share <= alpha + 5.0 * math.sqrt(alpha * (1.0 - alpha) / runs), alpha


def test_an_order_that_is_kept_or_reversed_is_found_and_a_random_one_is_not() -> None:
    rng, canaries = np.random.default_rng(2), some_canaries(12)
    kept = sent_in_order(canaries)

    def p(
        hashes: Hashes, check: Callable[[Canaries, EpochView], AuditFinding]
    ) -> float:
        found = check(canaries, some_seen(batch=one_pile(hashes))).p_value
        assert found is not None
        return found

    for order in (kept, kept[::-1]):
        assert p(order, order_finding) == pytest.approx(2.0 / math.factorial(12))
    for check in (order_finding, uploads_finding):
        uniform([p(rng.permutation(kept), check) for _ in range(200)])


def test_an_order_reversed_within_uploads_is_found_there_alone() -> None:
    rng = np.random.default_rng(3)
    uploads = np.repeat(np.arange(10), 4)
    canaries = some_canaries(40, send_positions=np.arange(40), uploads=uploads)

    blocks = rng.permutation(10)[:, None] * 4 + np.arange(4)[::-1]
    seen = some_seen(batch=one_pile(canaries.hashes[blocks.ravel(), 0]))

    whole, within = order_finding(canaries, seen), uploads_finding(canaries, seen)
    assert within.p_value is not None
    assert whole.p_value is not None
    assert within.p_value == pytest.approx(2.0 / 24**10, rel=1e-6)
    assert whole.p_value > 1e-4


def test_a_sorted_batch_has_one_order() -> None:
    rng, canaries = np.random.default_rng(4), some_canaries(5)
    hashes = np.sort(np.concatenate([canaries.hashes[:, 0], some_hashes(20, rng=rng)]))

    right = some_seen(sorted_by_hash=True, batch=one_pile(hashes))
    wrong = some_seen(sorted_by_hash=True, batch=one_pile(hashes[::-1]))
    twice = some_seen(sorted_by_hash=True, batch=one_pile(hashes[[0, 0, 1]]))

    assert order_finding(canaries, right).e_value == 1.0
    assert uploads_finding(canaries, right).p_value is None
    assert order_finding(canaries, wrong).certain
    assert order_finding(canaries, twice).certain
    # Every pile begins anew; a pile that comes after a later one does not.
    piles = np.repeat([0, 1], [10, 15])
    shown = MessageBatch(np.concatenate([hashes[15:], hashes[:15]]), piles, piles)
    assert not order_finding(
        canaries, some_seen(sorted_by_hash=True, batch=shown)
    ).certain
    shown = MessageBatch(np.concatenate([hashes[15:], hashes[:15]]), 1 - piles, piles)
    assert order_finding(canaries, some_seen(sorted_by_hash=True, batch=shown)).certain


def test_one_message_cannot_be_in_any_order() -> None:
    canaries = some_canaries(1)
    seen = some_seen(batch=one_pile(canaries.hashes[:, 0]))

    assert order_finding(canaries, seen).p_value is None
    assert "No two messages" in uploads_finding(canaries, seen).sentence
    assert order_finding(canaries, some_seen()).p_value is None


@pytest.mark.parametrize("of", ["batch", "included"])
def test_what_is_missing_doubled_or_from_before_is_certain(of: str) -> None:
    rng, canaries = (
        np.random.default_rng(5),
        some_canaries(6, receipts=np.ones(6, np.bool_)),
    )
    hashes, earlier = canaries.hashes[:, 0], some_hashes(3, rng=rng)

    def finding(listed: Hashes, **changed: object) -> AuditFinding:
        shown = one_pile(listed) if of == "batch" else listed
        return delivery_finding(
            canaries, some_seen(earlier=earlier, **{of: shown}, **changed)
        )

    assert finding(hashes).e_value == 1.0
    assert finding(hashes, absent=2).e_value == 1.0
    assert finding(hashes[1:]).certain
    assert finding(hashes[[0, 1, 2, 3, 4, 5, 5]]).certain
    assert finding(np.concatenate([hashes, earlier[:1]])).certain
    others = some_hashes(2, rng=np.random.default_rng(6))
    assert not finding(np.concatenate([hashes, others])).certain
    assert finding(np.concatenate([hashes, others, others[:1]])).certain
    assert delivery_finding(canaries, some_seen()).p_value is None


def test_a_report_of_many_messages_is_missing_if_one_of_them_is() -> None:
    rng = np.random.default_rng(6)
    rows = some_hashes(6, rng=rng).reshape(3, 2)
    canaries = some_canaries(3, hashes=rows, receipts=np.array([True, False, False]))

    lost = delivery_finding(canaries, some_seen(included=rows.ravel()[1:]))
    unsure = delivery_finding(canaries, some_seen(included=rows.ravel()[:4]))
    never = some_seen(absent=1, included=rows.ravel()[:4], gives_receipts=False)
    allowed = delivery_finding(canaries, never)

    assert lost.certain
    assert unsure.e_value == 1.0  # Nobody signed anything.
    # One of the 101 who sent got lost: a canary with chance 3 / 101.
    assert allowed.p_value == pytest.approx(3.0 / 101.0)


def test_losses_without_receipts_are_counted_against_what_is_allowed() -> None:
    rng, canaries = np.random.default_rng(7), some_canaries(30)
    found = []
    for _ in range(400):
        lost = rng.choice(100, size=10, replace=False)
        kept = np.delete(canaries.hashes[:, 0], lost[lost < 30])
        seen = some_seen(
            people=np.array([90]), absent=10, included=kept, gives_receipts=False
        )
        found.append(delivery_finding(canaries, seen).p_value)

    uniform([p for p in found if p is not None])
    assert len(found) == 400


def two_levels(count: int) -> Canaries:
    rng = np.random.default_rng(8)
    levels = rng.permutation(np.repeat([1.0, 2.0], count // 2))
    return some_canaries(count, levels=levels, receipts=np.ones(count, np.bool_))


def seen_at_two(**changed: object) -> EpochView:
    known = {"people": np.array([60, 50]), "minimum": np.array([20, 20])}
    return some_seen(levels=np.array([1.0, 2.0]), **(known | changed))


def test_published_numbers_below_canaries_or_the_minimum_are_certain() -> None:
    canaries = two_levels(40)

    assert levels_finding(canaries, seen_at_two()).e_value == 1.0
    few = seen_at_two(people=np.array([19, 50]), minimum=np.array([5, 5]))
    assert levels_finding(canaries, few).certain
    below = seen_at_two(minimum=np.array([20, 51]))
    assert levels_finding(canaries, below).certain
    whole = seen_at_two(people=np.array([39]), minimum=np.array([5]))
    assert levels_finding(canaries, whole).certain
    with pytest.raises(InvalidInputError, match="levels of the task"):
        levels_finding(some_canaries(2, levels=np.array([1.0, 3.0])), seen_at_two())


def test_piles_that_are_of_levels_must_be_of_the_right_ones() -> None:
    canaries = two_levels(10)
    piles = (np.sort(canaries.levels) == 2.0).astype(np.int64)
    hashes = canaries.hashes[np.argsort(canaries.levels, kind="stable"), 0]

    right = seen_at_two(hides_levels=False, batch=MessageBatch(hashes, piles, piles))
    wrong = seen_at_two(
        hides_levels=False, batch=MessageBatch(hashes, 1 - piles, piles)
    )

    assert levels_finding(canaries, right).e_value == 1.0
    assert levels_finding(canaries, wrong).certain


@pytest.mark.parametrize("told_by", ["piles", "sizes", "order"])
def test_what_goes_with_levels_is_found_where_they_are_hidden(told_by: str) -> None:
    rng, canaries = np.random.default_rng(9), two_levels(40)
    second = (canaries.levels == 2.0).astype(np.int64)

    def p(label: Ints) -> float:
        order = (
            np.argsort(label, kind="stable") if told_by == "order" else np.arange(40)
        )
        same = np.zeros(40, np.int64)
        piles = label if told_by == "piles" else same
        sizes = label if told_by == "sizes" else same
        batch = MessageBatch(canaries.hashes[order, 0], piles[order], sizes[order])
        found = levels_finding(
            canaries, seen_at_two(batch=batch, sorted_by_hash=told_by != "order")
        )
        assert found.p_value is not None
        return found.p_value

    # 40 over 20 ways to be so; each kind, or side, is tried.
    assert p(second) == pytest.approx(2.0 / math.comb(40, 20), rel=2.0)
    uniform([p(rng.permutation(second)) for _ in range(150)])


def test_a_level_in_the_middle_of_a_batch_is_found() -> None:
    canaries = some_canaries(30, levels=np.repeat([1.0, 2.0, 3.0], 10))
    order = np.concatenate([np.arange(20, 30), np.arange(10), np.arange(10, 20)])
    seen = some_seen(
        levels=np.array([1.0, 2.0, 3.0]),
        people=np.array([100]),
        batch=one_pile(canaries.hashes[order, 0]),
    )

    found = levels_finding(canaries, seen)

    assert found.p_value is not None
    assert found.p_value <= 3 * 2 / math.comb(30, 10) * 1.001


def test_places_and_counts_are_of_the_messages_wanted() -> None:
    hashes = some_hashes(5, rng=np.random.default_rng(10))

    places, counts = message_positions(hashes[[4, 0, 1]], hashes[[0, 2, 0, 4]])

    assert places.tolist() == [3, 0, -1]
    assert counts.tolist() == [1, 2, 0]
    assert message_positions(hashes, hashes[:0])[0].tolist() == [-1] * 5
