from typing import Any

import pytest

from shuffledp import (
    Gaussian,
    GridResponse,
    InvalidInputError,
    Laplace,
    OneBit,
    Rappor,
)
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace

EXAMPLES: dict[str, dict[str, int | float | str]] = {
    "kary-response": {"categories": 17},
    "one-bit": {"low": -2.0, "high": 5.5},
    "subset-selection": {"categories": 10, "subset_size": 3},
    "hadamard-response": {"categories": 12},
    "local-hashing": {"categories": 100, "buckets": 7},
    "unary-encoding": {"categories": 20, "variant": "optimized"},
    "rappor": {
        "bits": 128,
        "hashes": 2,
        "one_given_one": 0.5,
        "one_given_zero": 0.25,
    },
    "clip-laplace": {"clip": 0.25, "cells": 64},
    "sparsified-clip-laplace": {"clip": 0.25, "share": 0.1},
    "laplace": {"low": 0.0, "high": 10.0, "cells": 7},
    "grid-response": {"low": -2.0, "high": 5.5, "values": 21},
    "gaussian": {"low": -1.0, "high": 1.0, "delta_local": 1e-7, "cells": 100},
    "declared-ratios": {"q": 2.5, "beta": 0.25},
}


def test_every_mechanism_has_an_example() -> None:
    assert set(EXAMPLES) == set(MECHANISMS)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_parameters_build_the_same_randomizer_again(mechanism: str) -> None:
    device = build(mechanism, EXAMPLES[mechanism])

    again = build(device.mechanism, device.parameters)

    assert device.mechanism == mechanism
    assert device.parameters == EXAMPLES[mechanism]
    assert again == device


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_unknown_parameters_are_refused_with_those_that_are_known(
    mechanism: str,
) -> None:
    with pytest.raises(InvalidInputError, match=f"Expected {mechanism} with") as caught:
        build(mechanism, {**EXAMPLES[mechanism], "color": 3})

    for name in EXAMPLES[mechanism]:
        assert name in str(caught.value)
    assert "color" in str(caught.value)


@pytest.mark.parametrize(
    "mechanism",
    [
        "kary-response",
        "subset-selection",
        "hadamard-response",
        "local-hashing",
        "declared-ratios",
        "unary-encoding",
        "rappor",
    ],
)
def test_missing_parameters_are_refused(mechanism: str) -> None:
    with pytest.raises(InvalidInputError, match="got no parameter"):
        build(mechanism, {})


@pytest.mark.parametrize(
    "mechanism", ["one-bit", "clip-laplace", "laplace", "grid-response", "gaussian"]
)
def test_defaults_are_written_down(mechanism: str) -> None:
    device = build(mechanism, {})

    assert set(device.parameters) == set(EXAMPLES[mechanism])
    assert build(mechanism, device.parameters) == device


@pytest.mark.parametrize(
    ("mechanism", "parameters"),
    [
        ("kary-response", {"categories": 1}),
        ("kary-response", {"categories": "ten"}),
        ("one-bit", {"low": 1.0, "high": 0.0}),
        ("one-bit", {"low": "x"}),
        ("subset-selection", {"categories": 5, "subset_size": 5}),
        ("hadamard-response", {"categories": 2.5}),
        ("local-hashing", {"categories": 5, "buckets": 4}),
        ("clip-laplace", {"clip": "wide"}),
        ("laplace", {"low": 3.0, "high": 3.0}),
        ("grid-response", {"values": 1}),
        ("grid-response", {"values": 2.5}),
        ("grid-response", {"num_values": 3}),
        ("gaussian", {"delta_local": 0.0}),
        ("unary-encoding", {"categories": 3, "variant": "short"}),
        ("rappor", {"bits": 2, "hashes": 1}),
        ("declared-ratios", {"q": 0.5}),
        ("declared-ratios", {"q": 2.0, "beta": "far"}),
        ("Laplace", {}),
        ("user-density", {}),
        ("", {}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    mechanism: str, parameters: dict[str, int | float | str]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        build(mechanism, parameters)


@pytest.mark.parametrize("kind", [OneBit, Laplace, GridResponse, Gaussian])
def test_two_numbers_are_the_range_of_values(kind: Any) -> None:
    device = kind(0, 10)

    assert (device.low, device.high) == (0, 10)
    with pytest.raises(TypeError):
        kind(0, 10, 1e-6)


@pytest.mark.parametrize(
    ("kind", "positional"), [(SparsifiedClipLaplace, 1), (Rappor, 2)]
)
def test_other_numbers_are_passed_by_name(kind: Any, positional: int) -> None:
    with pytest.raises(TypeError):
        kind(*[5] * positional, 0.5)
