"""Guarantees of counts: targets, absent people, rounds, and what never lowers epsilon."""

import json
import math
from dataclasses import replace

import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import (
    CountGroup,
    CountsParameters,
    Noise,
)
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.accounting.verification import recompute
from shuffledp.errors import (
    CertificationError,
    InvalidInputError,
    PopulationError,
    UnknownLevelError,
)
from shuffledp.population import Population

PEOPLE = Population.from_counts({0.5: 1000, 1.0: 1500, 2.0: 2500})
RATES = (0.3, 0.6, 1.0)
DELTA = 1e-6
GEOMETRIC = GeometricNoise(0.64, 800.0, 8.0)
NOISES: list[Noise] = [GEOMETRIC, PoissonNoise(60.0), SlotNoise(10_000, 0.6, 8, 60.0)]


def parameters(
    noise: Noise, *, most: int = 1, buckets: int = 8, honest: int = 5000
) -> CountsParameters:
    group = CountGroup(buckets, most, noise)
    return CountsParameters((group,), (0.5, 1.0, 2.0), RATES, honest)


def epsilons(
    noise: Noise,
    people: Population = PEOPLE,
    *,
    most: int = 1,
    buckets: int = 8,
    absent: int = 0,
    rounds: int = 1,
) -> list[float]:
    known = parameters(noise, most=most, buckets=buckets)
    guarantee = account(known, people, delta=DELTA, absent=absent, rounds=rounds)
    for level in guarantee.levels:
        assert 0.0 < level.epsilon_central_lower <= level.epsilon_central
    return [level.epsilon_central for level in guarantee.levels]


@pytest.mark.parametrize("noise", NOISES)
def test_smaller_targets_that_send_less_get_less(noise: Noise) -> None:
    guarantee = account(parameters(noise), PEOPLE, delta=DELTA)

    found = [level.epsilon_central for level in guarantee.levels]
    assert found == sorted(set(found))
    assert [level.target for level in guarantee.levels] == [0.5, 1.0, 2.0]
    assert {level.hides_among for level in guarantee.levels} == {5000}
    assert {level.epsilon_local for level in guarantee.levels} == {None}
    # Only the differences of slots are attacked; else the ends meet.
    for level in guarantee.levels:
        near = 0.7 if isinstance(noise, SlotNoise) else 0.9999
        assert level.epsilon_central_lower >= near * level.epsilon_central


def test_geometric_noise_gets_the_known_epsilon() -> None:
    known = CountsParameters(
        (CountGroup(8, 1, GeometricNoise(math.exp(-0.45), 800.0, 4.0)),),
        (1.0,),
        (1.0,),
        100_000,
    )

    (level,) = account(known, Population.from_counts({1.0: 100_000}), delta=1e-6).levels

    # Real draws of 10^5 people cost some 1e-6.
    assert level.epsilon_central == pytest.approx(0.956327, rel=3e-5)
    assert level.epsilon_central >= 0.956326
    assert level.epsilon_central_lower <= 0.956327


def test_only_the_number_of_people_matters() -> None:
    others = Population.from_counts({0.5: 4000, 2.0: 1000})

    some = account(parameters(GEOMETRIC), others, delta=DELTA)

    whole = account(parameters(GEOMETRIC), PEOPLE, delta=DELTA)
    for level in some.levels:
        same = whole.level(level.target or 0.0)
        assert level == replace(same, count=level.count)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (GEOMETRIC, replace(GEOMETRIC, decay=0.68)),
        (GEOMETRIC, replace(GEOMETRIC, pairs=1200.0)),
        (PoissonNoise(60.0), PoissonNoise(80.0)),
        (NOISES[2], SlotNoise(10_000, 0.66, 8, 60.0)),
        (NOISES[2], SlotNoise(10_000, 0.6, 8, 90.0)),
        (NOISES[2], SlotNoise(10_000, 0.6, 8, 60.0, 1.3)),
    ],
)
def test_more_noise_or_pairs_never_raise_epsilon(less: Noise, more: Noise) -> None:
    for one, other in zip(epsilons(more), epsilons(less), strict=True):
        assert one < other


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
def test_more_rounds_answers_or_absent_people_never_lower_epsilon(noise: Noise) -> None:
    once = epsilons(noise)

    twice = epsilons(noise, rounds=2)
    for one, other in zip(once, twice, strict=True):
        # Better than adding up, if little for noise that is nearly Laplace's.
        assert one < other < 2.0 * one
    for one, other in zip(once, epsilons(noise, most=2), strict=True):
        assert one < other
    if noise is not GEOMETRIC:
        for one, other in zip(once, epsilons(noise, absent=1000), strict=True):
            assert one < other


def test_rounds_and_answers_compose_alike_where_buckets_are_independent() -> None:
    assert epsilons(GEOMETRIC, rounds=2) == pytest.approx(
        epsilons(GEOMETRIC, most=2), rel=1e-5
    )


def test_one_bucket_tells_less_than_two() -> None:
    for one, two in zip(
        epsilons(GEOMETRIC, buckets=1), epsilons(GEOMETRIC), strict=True
    ):
        assert one < two


def test_groups_are_composed() -> None:
    first, second = CountGroup(8, 1, GEOMETRIC), CountGroup(1, 1, PoissonNoise(100.0))
    alone = parameters(GEOMETRIC)

    both = account(replace(alone, groups=(first, second)), PEOPLE, delta=DELTA)

    for one, level in zip(epsilons(GEOMETRIC), both.levels, strict=True):
        assert one < level.epsilon_central_lower <= level.epsilon_central


@pytest.mark.parametrize("noise", NOISES)
def test_absent_people_take_their_noise_along(noise: Noise) -> None:
    if isinstance(noise, GeometricNoise):
        with pytest.raises(CertificationError, match="at least as many honest people"):
            epsilons(noise, absent=1)
        return
    fewer = Population.from_counts({0.5: 1000, 1.0: 1500, 2.0: 1500})

    assert epsilons(noise, absent=1000) == epsilons(noise, fewer)
    guarantee = account(parameters(noise), PEOPLE, delta=DELTA, absent=1000)
    assert {level.hides_among for level in guarantee.levels} == {4000}
    assert "1,000 of the other" in guarantee.assumptions[0]


def test_more_people_than_needed_may_be_absent() -> None:
    more = Population.from_counts({0.5: 1000, 1.0: 1500, 2.0: 3500})

    found = account(parameters(GEOMETRIC), more, delta=DELTA, absent=1000)

    whole = account(parameters(GEOMETRIC), PEOPLE, delta=DELTA)
    surplus = account(parameters(GEOMETRIC), more, delta=DELTA)
    for level, same, less in zip(
        found.levels, whole.levels, surplus.levels, strict=True
    ):
        assert level.epsilon_central == same.epsilon_central
        # With a surplus, the certificate has more pairs, and the attack sees differences.
        assert less.epsilon_central < same.epsilon_central
        assert 0.0 < less.epsilon_central_lower < less.epsilon_central
    with pytest.raises(CertificationError):
        account(parameters(GEOMETRIC), more, delta=DELTA, absent=1001)


def test_who_sends_nothing_loses_nothing() -> None:
    silent = replace(parameters(GEOMETRIC), rates=(0.0, 0.5, 1.0))

    level = account(silent, PEOPLE, delta=DELTA).level(0.5)

    assert level.epsilon_central == level.epsilon_central_lower == 0.0
    at = account(silent, PEOPLE, epsilon=0.0).level(0.5)
    assert at.delta_central == at.delta_central_lower == 0.0


@pytest.mark.parametrize("noise", NOISES)
def test_deltas_at_an_epsilon_agree_with_epsilons_at_a_delta(noise: Noise) -> None:
    level = account(parameters(noise), PEOPLE, delta=DELTA).level(1.0)

    at = account(parameters(noise), PEOPLE, epsilon=level.epsilon_central).level(1.0)

    # Rounded up in the sixth digit, of a profile that falls by some 1e-4 in it.
    assert 0.999 * DELTA <= at.delta_central <= DELTA * (1.0 + 1e-4)
    assert at.delta_central_lower <= at.delta_central
    beyond = account(parameters(noise), PEOPLE, epsilon=500.0).level(1.0)
    assert 0.0 <= beyond.delta_central_lower <= beyond.delta_central < at.delta_central


def test_a_certificate_is_written_read_and_recomputed() -> None:
    guarantee = account(parameters(GEOMETRIC), PEOPLE, delta=DELTA)

    again = read_certificate(json.loads(json.dumps(guarantee.to_dict())))

    assert again == guarantee
    assert recompute(again, parameters(GEOMETRIC), PEOPLE).holds
    better = replace(again.levels[0], epsilon_central=0.1)
    forged = replace(again, levels=(better, *again.levels[1:]))
    assert (
        "0.1 is not proven"
        in recompute(forged, parameters(GEOMETRIC), PEOPLE).problems[0]
    )


@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -1e-6, math.nan, 1e-31])
def test_deltas_out_of_range_are_refused(delta: float) -> None:
    with pytest.raises(InvalidInputError):
        account(parameters(GEOMETRIC), PEOPLE, delta=delta)


def test_unknown_targets_and_too_many_absent_are_refused() -> None:
    with pytest.raises(UnknownLevelError):
        account(parameters(GEOMETRIC), Population.from_counts({3.0: 5000}), delta=DELTA)
    with pytest.raises(UnknownLevelError):
        account(parameters(GEOMETRIC), PEOPLE, delta=DELTA, levels=[0.7])
    with pytest.raises(PopulationError):
        account(parameters(PoissonNoise(50.0)), PEOPLE, delta=DELTA, absent=5000)
    with pytest.raises(InvalidInputError, match="10,000 answers"):
        account(parameters(GEOMETRIC), PEOPLE, delta=DELTA, rounds=10_001)


@pytest.mark.parametrize("noise", [PoissonNoise(1e-6), GeometricNoise(1e-9, 1e-9, 8.0)])
def test_no_finite_epsilon_is_an_error(noise: Noise) -> None:
    with pytest.raises(CertificationError):
        account(parameters(noise), PEOPLE, delta=DELTA)


def test_noise_of_slots_that_are_full_is_an_error() -> None:
    with pytest.raises((CertificationError, InvalidInputError)):
        account(parameters(SlotNoise(5000, 0.6, 8, 3000.0)), PEOPLE, delta=DELTA)
