"""What is certified is what ran: protocols and bare randomizers, and nothing else."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Identity, InvalidInputError, Population
from shuffledp.accounting.calibration.calibration import (
    largest_budget,
    largest_budgets,
    largest_scale,
    most_rounds,
    smallest_crowd,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.exposure import Exposure
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.types import Mode

PEOPLE = Population.from_counts({0.5: 100, 1.0: 200, 2.0: 100})
RANDOMIZERS: list[Any] = [
    sdp.KRandomizedResponse(4),
    sdp.SubsetSelection(5, 2),
    sdp.HadamardResponse(4),
    sdp.LocalHashing(4, 3),
    sdp.UnaryEncoding(4),
    sdp.Rappor(16, 2, one_given_zero=0.25),
    sdp.OneBit(0, 1),
    sdp.Laplace(0, 1),
    sdp.ClipLaplace(1),
    sdp.Gaussian(0, 1, delta_local=1e-4),
    sdp.DeclaredRatios(8.0),
]
PROTOCOLS: list[Any] = [
    sdp.Frequency(4),
    sdp.Frequency(4, "stratified"),
    sdp.Mean(0, 10),
    sdp.BinarySum("stratified"),
    sdp.Strings(16, num_cohorts=4, one_given_zero=0.25),
    sdp.SingleMessage(sdp.OneBit(0, 1)),
]


def numbers(guarantee: Guarantee) -> list[tuple[float, ...]]:
    return [
        (
            level.chosen,
            level.epsilon_central,
            level.epsilon_central_lower,
            level.delta_central,
            level.delta_central_lower,
            level.slack,
        )
        for level in guarantee.levels
    ]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_every_protocol_is_certified_by_name_between_attack_and_level(
    protocol: Any,
) -> None:
    guarantee = sdp.account(protocol, PEOPLE, delta=1e-4)

    assert guarantee.protocol == protocol.identity
    assert guarantee.num_users == 400
    assert [level.count for level in guarantee.levels] == [100, 200, 100]
    for statement in guarantee.statements:
        for level in statement.levels:
            assert 0.0 < level.epsilon_central_lower <= level.epsilon_central
            assert level.epsilon_central < level.chosen


@pytest.mark.slow
@pytest.mark.parametrize(
    "device",
    [
        pytest.param(device, marks=[pytest.mark.slow] * (device.changes > 1))
        for device in RANDOMIZERS
    ],
    ids=repr,
)
def test_a_bare_randomizer_is_single_messages_without_levels(device: Any) -> None:
    bare, named = (
        sdp.account(what, PEOPLE, delta=1e-3, levels=[2.0])
        for what in (device, sdp.SingleMessage(device))
    )

    assert bare == named
    assert bare.protocol == sdp.SingleMessage(device).identity
    assert (bare.mechanism, bare.mode) == (device.mechanism, "agnostic")
    assert bare.about == ("one message" if device.changes == 1 else "one report")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "device"),
    [
        (sdp.Frequency(4), sdp.KRandomizedResponse(4)),
        (sdp.Mean(0, 10), sdp.OneBit(0, 10)),
        (sdp.Mean(0, 2, randomizer=sdp.ClipLaplace(1)), sdp.ClipLaplace(1)),
        (sdp.BinarySum(), sdp.OneBit(0, 1)),
    ],
)
def test_a_statistic_is_worth_what_its_messages_are(protocol: Any, device: Any) -> None:
    of_protocol = sdp.account(protocol, PEOPLE, delta=1e-4)
    of_device = sdp.account(device, PEOPLE, delta=1e-4)

    assert numbers(of_protocol) == numbers(of_device)
    assert of_protocol.protocol != of_device.protocol


class Plain:
    """Sends values as they are: it has no cover to hand over."""

    mechanism, changes = "plain", 1

    def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        del epsilons, rng
        return values


class WithoutExposures:
    """A protocol that shows nothing to the accountant, and so gets nothing."""

    identity = Identity.of("mine", "plain", {}, "agnostic")

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        del people
        return ()


class WithoutIdentity:
    """It could be anything."""

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        return sdp.Frequency(4).exposures(people)


@pytest.mark.parametrize(
    ("what", "named"),
    [
        (Plain(), "Plain"),
        (WithoutExposures(), "WithoutExposures"),
        (WithoutIdentity(), "WithoutIdentity"),
        (None, "NoneType"),
        (3, "int"),
        ("laplace", "str"),
        (PEOPLE, "Population"),
        (lambda values: values, "function"),
        (sdp.Frequency, "class Frequency"),
        (sdp.Laplace, "class Laplace"),
        (Plain, "class Plain"),
    ],
)
def test_what_has_no_cover_gets_no_certificate(what: Any, named: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: sdp.account(what, PEOPLE, delta=1e-4),
        lambda: privacy_profile(what, PEOPLE, 1.0),
        lambda: Promise(what, 1e-4),
    ]

    for call in calls:
        with pytest.raises(InvalidInputError) as caught:
            call()
        text = str(caught.value)
        assert text.startswith("Expected a protocol or a randomizer")
        assert f"got {named}" in text or f"got the {named}" in text


@pytest.mark.parametrize(
    "what", [None, 3, "laplace", Plain(), sdp.Laplace, sdp.Frequency(4)]
)
def test_single_messages_are_of_a_randomizer_with_a_cover(what: Any) -> None:
    with pytest.raises(InvalidInputError, match="hands over its cover"):
        sdp.SingleMessage(what)


@pytest.mark.parametrize("people", [None, {1.0: 5}, [1.0, 2.0], 3])
def test_people_are_a_population(people: Any) -> None:
    with pytest.raises(InvalidInputError, match="Population"):
        sdp.account(sdp.Frequency(4), people, delta=1e-4)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "protocol",
    [
        *(
            pytest.param(one, marks=[pytest.mark.slow] * isinstance(one, sdp.Strings))
            for one in PROTOCOLS
        ),
        sdp.KRandomizedResponse(4),
        pytest.param(sdp.UnaryEncoding(4), marks=pytest.mark.slow),
        pytest.param(sdp.Laplace(0, 1), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_profiles_and_promises_say_what_certificates_do(protocol: Any) -> None:
    guarantee = sdp.account(protocol, PEOPLE, delta=1e-4)
    promise = Promise(protocol, 1e-4)

    for index, level in enumerate(guarantee.levels):
        # Certified epsilons are rounded upward in the sixth digit.
        at, below = level.epsilon_central, level.epsilon_central * (1.0 - 2e-5)
        # The search for the worst data of bits ends a thousandth above them, and where
        # depends on the boxes that were cut at other epsilons before.
        assert promise.delta_of(PEOPLE, index, at) <= 1e-4 * (1.0 + 1e-3)
        assert promise.delta_of(PEOPLE, index, below) > 1e-4
    profile = privacy_profile(protocol, PEOPLE, 1.0, num_points=5)
    assert np.all(profile.attacked <= profile.certified)
    assert np.all(np.diff(profile.certified) <= 0.0)
    (single,) = sdp.account(
        protocol, PEOPLE, epsilon=float(profile.epsilons[1]), levels=[1.0]
    ).levels
    # Six digits, rounded outward; where reports have several messages, delta is composed
    # along chords, between nodes that depend on the smallest delta that matters, or on the
    # one epsilon: of slow bounds there are few.
    slow = isinstance(protocol, sdp.Strings)
    about = pytest.approx(profile.certified[1], rel=2e-2 if slow else 5e-3)
    assert single.delta_central == about


@pytest.mark.slow
@pytest.mark.parametrize(
    "protocol",
    [
        sdp.KRandomizedResponse(4),
        sdp.BinarySum(),
    ],
    ids=repr,
)
def test_calibration_takes_any_protocol(protocol: Any) -> None:
    promise = Promise(protocol, 1e-4)
    worth = [
        level.epsilon_central
        for level in sdp.account(protocol, PEOPLE, delta=1e-4).levels
    ]
    # Two more digits than certificates are rounded to.
    targets = [epsilon * 1.001 for epsilon in worth]

    one = largest_budget(promise, PEOPLE, 2.0, targets[2])
    factor, scaled = largest_scale(promise, PEOPLE, targets)
    crowd = smallest_crowd(promise, PEOPLE, targets)
    rounds, _ = most_rounds(promise, PEOPLE, [10.0 * epsilon for epsilon in worth])
    alone = largest_budgets(promise, {0.3: 400})

    assert 2.0 <= one.people.epsilons[2] < 2.0 * 1.01
    assert 1.0 <= factor < 1.01
    assert (
        scaled.guarantee.protocol == sdp.account(protocol, PEOPLE, delta=1e-4).protocol
    )
    assert 390 <= crowd.people.num_users <= 400
    # Rounds cost at least their square root and at most their number.
    assert 10 <= rounds <= 150
    assert alone.guarantee.worst.epsilon_central <= 0.3 * (1.0 + 1.1e-5)
    assert alone.people.epsilons[0] > 0.3


@pytest.mark.slow
def test_a_budget_of_several_messages_is_calibrated() -> None:
    # Bits are composed anew at every step: other searches take minutes, and this one three
    # times as long in a crowd a quarter as large.
    people = Population.from_counts({0.5: 400, 1.0: 800, 2.0: 400})
    protocol = sdp.Strings(3, 1, 1)
    promise = Promise(protocol, 1e-4)
    certified = sdp.account(protocol, people, delta=1e-4).levels[2].epsilon_central

    one = largest_budget(promise, people, 2.0, 1.001 * certified)

    assert 2.0 <= one.people.epsilons[2] < 2.0 * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_cohorts_hide_each_other_in_no_promise(mode: Mode) -> None:
    protocol = sdp.Strings(16, num_cohorts=4, one_given_zero=0.25, mode=mode)
    part = Population.from_counts({0.5: 25, 1.0: 50, 2.0: 25})

    whole = Promise(protocol, 1e-4).profile(PEOPLE, 1, 1)
    alone = Promise(sdp.SingleMessage(protocol.randomizer, mode), 1e-4)

    for epsilon in (0.0, 0.1, 0.5):
        assert whole(epsilon) == alone.profile(part, 1, 1)(epsilon)


@pytest.mark.slow
def test_quantiles_of_all_statements_are_of_the_same_people() -> None:
    people = Population.from_counts({0.5 + level / 100: 8 for level in range(40)})

    guarantee = sdp.account(
        sdp.Strings(16, num_cohorts=4, one_given_zero=0.25), people, delta=1e-4
    )

    first, second = guarantee.statements
    assert [level.quantile for level in first.levels] == [
        "minimum", "lower quartile", "median", "upper quartile", "maximum",
    ]  # fmt: skip
    for one, other in zip(first.levels, second.levels, strict=True):
        same = ("epsilon_local", "count", "hides_among", "quantile")
        assert all(getattr(one, name) == getattr(other, name) for name in same)
        assert one.epsilon_central <= other.epsilon_central
