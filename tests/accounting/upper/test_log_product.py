"""Logarithms of many factors, by a series where they are alike: against 50 digits."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.types import Complexes, Floats

CASES = {
    "alike": (0.9, 0.95, 1e3),
    "of all sizes": (0.01, 1.0, 10.0),
    "hardly apart": (0.99995, 0.99999, 1e7),
    "few groups": (0.2, 0.6, 1e4),
}


def groups(name: str) -> tuple[Floats, Floats]:
    low, high, people = CASES[name]
    rng = np.random.default_rng(7)
    number = 4 if name == "few groups" else 64
    counts = rng.integers(1, int(people), size=number).astype(np.float64)
    return np.sort(rng.uniform(low, high, number)), counts


def exact(probabilities: Floats, counts: Floats, x: complex) -> complex:
    with mp.workdps(50):
        return complex(
            mp.fsum(
                mp.mpf(count) * mp.log(1 + mp.mpf(p) * mp.mpc(x))
                for p, count in zip(
                    probabilities.tolist(), counts.tolist(), strict=True
                )
            )
        )


@pytest.mark.parametrize("size", [1e-9, 1e-4, 0.03, 0.5])
@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_fifty_digits(name: str, size: float) -> None:
    probabilities, counts = groups(name)
    product = LogProduct(probabilities, counts)
    points = size * np.exp(2j * np.pi * np.arange(9) / 9.0)

    for x, value in zip(points.tolist(), product(points).tolist(), strict=True):
        # A few 1e-16 of |x| per person are rounding.
        allowed = product.remainder + 4e-15 * abs(x) * counts.sum()
        assert abs(np.expm1(value - exact(probabilities, counts, x))) <= allowed


@pytest.mark.parametrize("people", [1.0, 7.0, 12.0])
def test_factors_of_few_people_are_multiplied(
    people: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogProduct, "_direct", None)
    probabilities = np.linspace(0.1, 1.0, 64)
    counts = np.floor(np.linspace(1.0, people + 0.5, 64))
    product = LogProduct(probabilities, counts)
    points = 0.9 * np.exp(1j * np.linspace(-2.5, 2.5, 40))

    for x, value in zip(points.tolist(), product(points).tolist(), strict=True):
        ratio = np.exp(value - exact(probabilities, counts, x))
        assert abs(ratio - 1.0) <= 1e-10


def test_only_points_far_out_are_added_up_group_by_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = LogProduct(*groups("alike"))
    near, far = np.array([0.01 + 0.02j]), np.array([-0.99 + 0.0j])
    directly: list[Complexes] = []
    plain = LogProduct._direct

    def recorded(self: LogProduct, x: Complexes) -> Complexes:
        directly.append(x)
        return plain(self, x)

    monkeypatch.setattr(LogProduct, "_direct", recorded)
    product(np.concatenate([near, far]))
    assert [x.tolist() for x in directly] == [far.tolist()]


def test_a_factor_of_0_is_none() -> None:
    product = LogProduct(np.linspace(0.5, 1.0, 65), np.ones(65))
    with np.errstate(all="ignore"):
        (value,) = product(np.array([-1.0 + 0.0j])).real
        (middle,) = product(np.array([-1.0 / 0.75 + 1e-300j])).real
    assert value == -np.inf
    assert np.isfinite(middle)


@pytest.mark.parametrize("people", [1.0, 13.0, 200.0])
def test_few_people_in_few_groups_need_no_logarithms(
    people: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    probabilities, counts = np.array([0.1, 0.4, 0.55]), np.full(3, people)
    points = 0.9 * np.exp(1j * np.linspace(-2.9, 2.9, 40))
    level = float(LogProduct(probabilities, counts)(points).real.max())
    monkeypatch.setattr(LogProduct, "_direct", None)

    values = LogProduct(probabilities, counts).scaled(points, level)

    for x, value in zip(points.tolist(), values.tolist(), strict=True):
        ratio = value / np.exp(exact(probabilities, counts, x) - level)
        assert abs(ratio - 1.0) <= 1e-10


def test_factors_that_lose_digits_or_overflow_are_added_up() -> None:
    probabilities, counts = np.array([1.0]), np.array([900.0])
    product = LogProduct(probabilities, counts)
    near_0, large = np.array([-1.0 + 1e-7j]), np.array([4.0 + 0.0j])

    (small,) = product.scaled(near_0, 900.0 * np.log(1e-7))
    (usual,) = product.scaled(large, 900.0 * np.log(5.0))

    assert abs(small - np.exp(900.0j * np.pi / 2.0)) <= 1e-6
    assert abs(usual - 1.0) <= 1e-10
