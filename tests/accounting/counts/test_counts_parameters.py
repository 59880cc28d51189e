"""Public parameters of counts: what is refused, and equal ones that are equal."""

import math
from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import (
    CountGroup,
    CountsParameters,
    read_group,
    read_groups,
)
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import InvalidInputError

GEOMETRIC: dict[str, Any] = {"decay": 0.5, "pairs": 100.0, "shape": 8.0}
SLOTS: dict[str, Any] = {"slots": 100, "decay": 0.5, "longest": 4, "pairs": 10.0}
GROUP: dict[str, Any] = {"buckets": 8, "most": 2, "noise": PoissonNoise(40.0)}
KNOWN: dict[str, Any] = {
    "groups": (CountGroup(**GROUP),),
    "targets": (0.5, 1.0),
    "rates": (0.5, 1.0),
    "honest": 50,
}
NO_NUMBERS = (math.nan, "1", None, True)


@pytest.mark.parametrize("mean", [*NO_NUMBERS, 0.0, -1.0, math.inf, 1e-10, 1e10])
def test_poisson_noise_of_no_mean_is_refused(mean: Any) -> None:
    with pytest.raises(InvalidInputError, match="noise messages per bucket"):
        PoissonNoise(mean)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("decay", [*NO_NUMBERS, 0.0, 1.0, -0.5, 1.5]),
        ("pairs", [*NO_NUMBERS, 0.0, -1.0, math.inf, 2e5]),
        ("shape", [*NO_NUMBERS, 1.0, 0.5, 0.0, -1.0, 2e4, -math.inf]),
        ("surplus", [*NO_NUMBERS, 0.5, 0.0, -1.0, math.inf, 2e4]),
    ],
)
def test_geometric_noise_of_no_sense_is_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidInputError):
            GeometricNoise(**(GEOMETRIC | {name: value}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("slots", [*NO_NUMBERS, 0, -1, 1.5, 10.0]),
        ("decay", [*NO_NUMBERS, 0.0, 1.0, -0.5, 1.5]),
        ("longest", [*NO_NUMBERS, 0, 1, 65, 4.0]),
        ("pairs", [*NO_NUMBERS, 0.0, -1.0, math.inf, 2e6]),
        ("strength", [*NO_NUMBERS, 0.0, -1.0, math.inf, 2e6]),
    ],
)
def test_slots_of_no_sense_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidInputError):
            SlotNoise(**(SLOTS | {name: value}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("buckets", [*NO_NUMBERS, 0, -1, 2**24 + 1, 1, 8.0]),
        ("most", [*NO_NUMBERS, 0, -1, 9, 2.0]),
        ("noise", [*NO_NUMBERS, "poisson", 40.0]),
    ],
)
def test_groups_of_no_sense_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidInputError):
            CountGroup(**(GROUP | {name: value}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("groups", [(), (CountGroup(**GROUP),) * 257]),
        (
            "targets",
            [
                (),
                (1.0,),
                (1.0, 0.5),
                (1.0, 1.0),
                (0.5, math.nan),
                (-0.5, 1.0),
                (0.5, math.inf),
                ("a", "b"),
                ("0.5", "1"),
                (0.5, 1.0, 2.0),
            ],
        ),
        (
            "rates",
            [
                (),
                (0.5,),
                (0.5, 1.5),
                (-0.1, 1.0),
                (math.nan, 1.0),
                ("0.5", 1.0),
                (0.1,) * 3,
            ],
        ),
        ("honest", [*NO_NUMBERS, 0, -1, 50.0]),
    ],
)
def test_parameters_of_no_sense_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidInputError):
            CountsParameters(**(KNOWN | {name: value}))


def test_minus_zero_is_the_same_target_and_rate_as_zero() -> None:
    parameters, same = (
        CountsParameters(**(KNOWN | {"targets": (zero, 1.0), "rates": (zero, 1.0)}))
        for zero in (0.0, -0.0)
    )

    assert parameters.identity.text == same.identity.text


def test_slots_are_equally_many_for_everybody() -> None:
    group = CountGroup(8, 1, SlotNoise(**SLOTS))

    with pytest.raises(InvalidInputError, match="100 for 30"):
        CountsParameters((group,), (1.0,), (1.0,), 30)
    assert CountsParameters((group,), (1.0,), (1.0,), 50).report_size == 1 + 2 * 4


def test_equal_parameters_have_equal_identities() -> None:
    eight: Any = np.int64(8)
    noises: list[tuple[Any, Any]] = [
        (PoissonNoise(40), PoissonNoise(np.float64(40.0))),
        (GeometricNoise(0.5, 100, 8), GeometricNoise(np.float64(0.5), 100.0, 8.0)),
        (GeometricNoise(0.5, 100), GeometricNoise(0.5, 100.0, math.inf, 1)),
        (SlotNoise(100, 0.5, 4, 10), SlotNoise(12 * eight + 4, 0.5, eight // 2, 10.0)),
    ]
    for one, other in noises:
        first = CountsParameters((CountGroup(8, 2, one),), (1, 2), (1, 1), 50)
        again = CountsParameters(
            (CountGroup(eight, eight // 4, other),),
            (1.0, 2.0),
            (1.0, 1.0),
            6 * eight + 2,
        )
        assert first == again
        assert first.identity == again.identity
        assert read_groups([group.record for group in first.groups]) == first.groups


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"buckets": 8, "most": 1},
        {"buckets": 8, "most": 1, "noise": {"gaussian": {"mean": 1.0}}},
        {"buckets": 8, "most": 1, "noise": {"poisson": {"mean": -1.0}}},
        {"buckets": 8, "most": 1, "noise": {"poisson": {"size": 1.0}}},
        {"buckets": 8, "most": 9, "noise": {"poisson": {"mean": 1.0}}},
        {"buckets": 8, "most": 1, "noise": {}},
    ],
)
def test_records_of_no_group_are_refused(record: object) -> None:
    with pytest.raises(InvalidInputError):
        read_group(record)
    with pytest.raises(InvalidInputError):
        read_groups(7)


def test_messages_in_the_mean_and_sizes() -> None:
    slots = CountGroup(8, 2, SlotNoise(**SLOTS))
    poisson = CountGroup(4, 1, PoissonNoise(25.0))

    constant = CountsParameters((slots, slots), (1.0,), (1.0,), 50)
    varying = CountsParameters((slots, poisson), (1.0,), (1.0,), 50)

    assert constant.report_size == constant.mean_messages == 2 * (2 + 8)
    assert varying.report_size is None
    noise = 8 * SlotNoise(**SLOTS).messages / 50 + 4 * 25.0 / 50
    assert varying.mean_messages == pytest.approx(3 + noise)
