"""Noise of the shuffler and in slots, against enumerations by definition."""

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from imported_packages import imported_packages

import shuffledp_check_noise as noise


@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_outcomes_of_dummies_are_those_of_equal_ratio(rate: float) -> None:
    decay, most = Fraction(3, 5), 4
    weights = [Fraction(decay ** abs(u - most)) for u in range(2 * most + 1)]
    none, total = Fraction(0), sum(weights, Fraction(0))
    masses = [weight / total for weight in weights]
    sent, share = Fraction(rate), dict[Any, list[Fraction]]()
    for before, mass in zip([none, *masses], [*masses, none], strict=True):
        p = sent * before + (1 - sent) * mass
        each = share.setdefault(p / mass if mass else "infinite", [Fraction(0)] * 2)
        each[0], each[1] = each[0] + p, each[1] + mass

    seen = noise.Dummies({"decay": 0.6, "dummies": most}).outcomes(arb(rate), arb(1))

    # 0.6 is a double, and not quite 3/5.
    assert np.array([[float(p), float(q)] for p, q in seen]) == pytest.approx(
        np.array([[float(p), float(q)] for p, q in share.values()]), rel=1e-14
    )
    for column in zip(*seen, strict=True):
        assert sum(column, arb(0)).overlaps(arb(1))


def test_dummies_tell_apart_what_only_one_world_shows() -> None:
    seen = noise.Dummies({"decay": 0.6, "dummies": 9}).outcomes(arb(1), arb(1))

    assert seen[0][0] == 0
    assert seen[-1][1] == 0


SLOTS = {"slots": 400, "decay": 0.5, "longest": 3, "pairs": 2.0, "strength": 1.5}


def test_outcomes_of_slots_are_a_power_of_one_slot() -> None:
    # One bucket, into which every slot jumps or not.
    group, width = {"buckets": 1, "most": 1}, 36
    slots = noise.Slots(SLOTS, group, fmpq(1))
    one = np.zeros((4, 4))
    for j in (1, 2, 3):
        one[j, 0] = one[0, j] = 1.5 * 0.5**j / j / 400
    one[1, 1] = 2.0 / 400
    one[0, 0] = 1 - one.sum()
    masses = np.zeros((width, width))
    masses[0, 0] = 1.0
    for _ in range(400):
        total = np.zeros((width, width))
        for x, y in itertools.product(range(4), repeat=2):
            total[x:, y:] += one[x, y] * masses[: width - x, : width - y]
        masses = total
    # More than 36 messages of a sign occur with a probability of 1e-17.
    growth, rate = math.exp(0.5), 0.8
    more = np.zeros((width, width))
    more[1:] = masses[:-1]
    sent = rate * more + (1 - rate) * masses

    seen = slots.outcomes(arb(rate), arb(1e-28))

    assert slots.slots == 400
    for turned in (False, True):
        pairs = [(q, p) if turned else (p, q) for p, q in seen]
        first, second = (masses, sent) if turned else (sent, masses)
        exact = np.maximum(first - growth * second, 0).sum()
        found = sum((max(float(p) - growth * float(q), 0.0) for p, q in pairs))
        assert found == pytest.approx(exact, rel=1e-9)
    for mass in map(sum, zip(*seen, strict=True)):
        assert 1 - 1e-12 < float(mass) <= 1


def test_slots_that_remain_jump_as_often_as_those_of_two_among_five_buckets() -> None:
    slots = noise.Slots(
        SLOTS | {"slots": 10_000}, {"buckets": 5, "most": 1}, fmpq(4, 5)
    )
    single = [1.5 * 0.5**j / j / 10_000 for j in (1, 2, 3)]
    into = 2 * sum(single) + 2.0 / 10_000
    elsewhere = 3 * into

    # Half of the remaining slots choose a bucket: it gets its jumps from these.
    for chosen, mean in zip(slots.single, single, strict=True):
        assert float(chosen) / 2 * (1 - elsewhere) == pytest.approx(mean, rel=1e-13)
    assert float(slots.none) == pytest.approx(1 - 2 * into / (1 - elsewhere))
    mean = 8_000 * (1 - elsewhere) / 2
    assert slots.slots == math.floor(mean - math.sqrt(68 * mean))
    assert slots.changing == 2


def test_a_bucket_has_fewer_slots_as_rarely_as_is_charged() -> None:
    # Of 4,000 slots that choose one of two buckets.
    slots = noise.Slots(SLOTS | {"slots": 4_000}, {"buckets": 2, "most": 1}, fmpq(1))

    below = sum(math.comb(4_000, k) for k in range(slots.slots))

    assert Fraction(below, 2**4_000) <= Fraction(math.exp(-34))


@pytest.mark.parametrize(
    "changes", [{"slots": 7}, {"slots": 100, "pairs": 90.0}, {"pairs": 390.0}]
)
def test_too_few_slots_are_not_told(changes: dict[str, Any]) -> None:
    group = {"buckets": 2, "most": 1}

    with pytest.raises(ValueError, match="slots"):
        noise.Slots(SLOTS | changes, group, fmpq(1)).outcomes(arb(1), arb(1e-20))


def test_the_file_is_short_and_imports_neither_the_library_nor_numpy() -> None:
    text = Path(noise.__file__).read_text("utf-8")

    assert len(text.splitlines()) <= 500
    assert imported_packages(text) == {"flint", "shuffledp_check"}
