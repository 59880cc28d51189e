"""Covers, attacks and certificates of finite message sets, against every message."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from oracles.finite_messages import Senders, finite_devices
from oracles.shuffled import divergence, largest_shuffled_divergences

from shuffledp import Population, account
from shuffledp.cover import (
    Cover,
    LocalRandomizer,
    ScoreAttack,
    TwoCountAttack,
    TwoMessages,
)
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats, Ints

LEVELS = [1e-6, 0.3, 1.0, 4.0, 30.0]
DEVICES = [pytest.param(*case, id=repr(case[0])) for case in finite_devices()]
# Quotients of a few doubles.
ROUNDING = 1e-13


def cover_of(device: LocalRandomizer, level: float, crowd: Population) -> Cover:
    ((cover,),) = device.covers([level], crowd, delta=1e-6)
    return cover


@pytest.mark.parametrize(("device", "sends"), DEVICES)
@pytest.mark.parametrize("level", LEVELS)
def test_largest_ratio_of_two_messages_is_the_promised_budget(
    device: LocalRandomizer, sends: Senders, level: float
) -> None:
    logs = np.log(sends(level))

    measured = float((logs.max(axis=0) - logs.min(axis=0)).max())

    assert measured == pytest.approx(level, rel=1e-9, abs=1e-14)  # logs of doubles
    assert device.local_delta(level, measured * (1.0 + 1e-9)) == 0.0


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_blanket_weight_is_the_smallest_chance_of_any_message(
    device: LocalRandomizer, sends: Senders
) -> None:
    crowd = Population.from_counts(dict.fromkeys(LEVELS, 2))

    weights = cover_of(device, 1.0, crowd).blanket_probabilities

    for weight, level in zip(weights, LEVELS, strict=True):
        chances = sends(level)
        # omega is uniform.
        assert weight == pytest.approx(chances.shape[1] * chances.min(), rel=ROUNDING)
    assert device.delta_local == 0.0
    assert device.assumptions == ()


@pytest.mark.few_cases(85)
@pytest.mark.parametrize(("device", "sends"), DEVICES)
@pytest.mark.parametrize("level", LEVELS)
def test_kinds_of_messages_are_right_for_every_pair_of_values(
    device: LocalRandomizer, sends: Senders, level: float
) -> None:
    chances = sends(level)
    omega = 1.0 / chances.shape[1]

    cover = cover_of(device, level, Population.from_counts({level: 3}))

    assert cover.cells is None
    assert cover.uncovered is None
    # Tiny differences keep their digits in the cover, not in the chances.
    near = {"rel": 1e-12, "abs": 1e-14 * math.exp(min(level, 5.0))}
    for here, there in itertools.permutations(chances, 2):
        left = np.ones(here.size, dtype=bool)
        kinds = zip(cover.masses, cover.differences, cover.bases, strict=True)
        for mass, difference, base in kinds:
            of_kind = np.isclose(
                (here - there) / omega, difference, rtol=near["rel"], atol=near["abs"]
            ) & np.isclose(there / omega, base, rtol=near["rel"], atol=near["abs"])
            assert omega * of_kind.sum() == pytest.approx(mass, abs=1e-14)
            left &= ~of_kind
        assert not left.any()
    # The victim's difference is not lost in rounding.
    assert cover.differences.max() == pytest.approx(
        -math.expm1(-level) * chances.max() / omega, rel=ROUNDING
    )


@pytest.mark.few_cases(193)
@pytest.mark.parametrize(("device", "sends"), DEVICES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999, 1.0, 1.1])
def test_local_delta_is_the_divergence_of_one_message(
    device: LocalRandomizer, sends: Senders, level: float, share: float
) -> None:
    chances = sends(level)
    exact = max(
        divergence(here, there, share * level)
        for here, there in itertools.permutations(chances, 2)
    )

    local = device.local_delta(level, share * level)

    # The oracle's own differences of doubles are good to a few units of 1.
    assert exact - 1e-14 <= local <= exact * (1.0 + 1e-9) + 1e-14
    assert (local > 0.0) == (share < 1.0)


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_attacks_expect_what_people_really_send(
    device: LocalRandomizer, sends: Senders
) -> None:
    levels, victim = [0.4, 1.0, 3.0], 1.0
    crowd = Population.from_counts(dict.fromkeys(levels, 2))
    by_level = np.array([sends(level) for level in levels])

    (attacks,) = device.attacks([victim], crowd)

    assert attacks
    chances = sends(victim)
    favored = chances > chances.mean()
    for attack in attacks:
        if isinstance(attack, TwoMessages):
            ones = by_level[:, :, favored[0]].sum(axis=2)
            ends = np.stack([ones.min(axis=1), 1.0 - ones.max(axis=1)])
            first, second = chances[:, favored[0]].sum(axis=1)
            assert attack.least == pytest.approx(ends, rel=1e-12)
            assert attack.gap == pytest.approx(first - second, rel=1e-12)
            assert attack.stray == pytest.approx(second, rel=1e-12)
            continue
        # One pair of values, and one value of the others, are an attack.
        assert any(
            explains(attack, scores, by_level[:, held], chances[[x, other]])
            for x, other in itertools.permutations(range(len(chances)), 2)
            for held in range(len(chances))
            for scores in scorings(attack, favored[[x, other, held]])
        )


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_strays_are_messages_that_nobody_favors(
    device: LocalRandomizer, sends: Senders
) -> None:
    levels, victim = [0.4, 1.0, 3.0], 1.0
    crowd = Population.from_counts(dict.fromkeys(levels, 2))
    (attacks,) = device.attacks([victim], crowd)
    counted = [attack for attack in attacks if isinstance(attack, TwoCountAttack)]

    chances = sends(victim)
    favored = chances > chances.mean()
    # Messages that none of three values favors, where no message is favored twice.
    there_are_some = (
        favored.sum(axis=0).max() == 1 and favored[:3].sum() < favored.shape[1]
    )
    # Two values leave nothing to count beside the difference.
    assert bool(counted) == (len(chances) > 2)
    for attack in counted:
        assert (attack.stray_probabilities is not None) == there_are_some
    for attack in counted if there_are_some else []:
        for x, other, held in itertools.permutations(range(len(chances)), 3):
            none = ~(favored[x] | favored[other] | favored[held])
            by_level = [sends(level)[held][none].sum() for level in levels]
            assert attack.stray_probabilities == pytest.approx(by_level, rel=1e-12)
            for value in (x, other):
                assert attack.stray == pytest.approx(chances[value][none].sum())


def scorings(
    attack: TwoCountAttack | ScoreAttack, favored: np.typing.NDArray[np.bool_]
) -> Iterator[Ints]:
    """Scores of all messages that an attack may give, by who favors them: x, x', z."""
    x, other, held = favored
    speaks = x.astype(np.int64) - other
    if isinstance(attack, TwoCountAttack):
        yield 1 + speaks
        yield 1 + speaks * ~held
        return
    sent = np.flatnonzero(attack.others.max(axis=0) + attack.second)
    for middle in sent.tolist():
        for rare, frequent in itertools.product(
            np.abs(sent - middle).tolist(), repeat=2
        ):
            yield middle + speaks * np.where(held, frequent, rare)


def explains(
    attack: TwoCountAttack | ScoreAttack, scores: Ints, others: Floats, victim: Floats
) -> bool:
    """Is this what the attack takes for the chances of these scores?"""
    if isinstance(attack, TwoCountAttack):
        hits, flip, both = (
            attack.hit_probabilities,
            attack.flip,
            attack.flip + attack.gap,
        )
        rows = np.stack([hits, 1.0 - 2.0 * hits, hits], axis=1)
        second = np.array([both, 1.0 - flip - both, flip])
        difference = second[::-1] - second
    else:
        rows, second, difference = attack.others, attack.second, attack.difference
    if scores.min() < 0 or scores.max() >= second.size:
        return False
    sent = np.zeros((len(others) + 2, second.size))
    np.add.at(sent.T, scores, np.vstack([others, victim]).T)
    here, there = sent[-2:]
    return (
        np.allclose(rows, sent[:-2], rtol=1e-12, atol=1e-15)
        and np.allclose(second, there, rtol=1e-12, atol=1e-15)
        and np.allclose(difference, here - there, rtol=1e-12, atol=1e-15)
    )


CROWDS = [{0.5: 1, 2.0: 1}, {0.5: 2, 2.0: 1}, {1.5: 3}, {0.3: 1, 1.0: 1, 3.0: 2}]


def small_cases() -> list[object]:
    """Those of which all datasets take a moment."""
    found: list[object] = []
    for (device, sends), crowd in itertools.product(finite_devices(), CROWDS):
        values, messages = sends(1.0).shape
        people = sum(crowd.values())
        if messages**people * values ** (people + 1) <= 4 * 10**6:
            found.append(pytest.param(device, sends, crowd, id=f"{device!r} {crowd}"))
    return found


@pytest.mark.few_cases(8)
@pytest.mark.parametrize(("device", "sends", "crowd"), small_cases())
def test_exact_divergence_of_all_datasets_is_between_attack_and_certificate(
    device: LocalRandomizer, sends: Senders, crowd: dict[float, int]
) -> None:
    senders = [sends(level) for level in crowd]
    people, protocol = Population.from_counts(crowd), SingleMessage(device)

    for position, level in enumerate(crowd):
        epsilons = [0.0, 0.2 * level, 0.7 * level]
        exact = largest_shuffled_divergences(
            senders, list(crowd.values()), position, epsilons
        )
        for epsilon, worst in zip(epsilons, exact, strict=True):
            (answer,) = account(
                protocol, people, epsilon=epsilon, levels=[level]
            ).levels
            # The oracle's sums of up to 10^5 doubles are good to 1e-13.
            assert worst <= answer.delta_central * (1.0 + 1e-12) + 1e-13
            assert answer.delta_central_lower <= worst * (1.0 + 1e-12) + 1e-13
