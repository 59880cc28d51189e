"""Ends of an integral that is negligible, or that rounding makes useless."""

import math

import numpy as np
import pytest
from oracles.lattice_sums import exact_bound, lattice_loss

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.integrals.contour_ends import ends_of
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.log_product import LogProduct

OTHERS, PROBABILITY = 60, 0.7
LOG_G = LogProduct(np.array([PROBABILITY]), np.array([float(OTHERS)]))


def scaled(loss: Atoms, unit: float) -> Atoms:
    return Atoms(loss.losses / unit, loss.masses, loss.telling / unit**2, 182)


@pytest.mark.parametrize("rare", [1e-6, 1e-8])
@pytest.mark.parametrize("times", [0.5, 3.0, 1e3, 1e9])
def test_what_is_negligible_is_bounded_without_points(
    rare: float, times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = lattice_loss(10, rare)
    unit = float(loss.losses.max())
    with np.errstate(all="ignore"):
        integrand = ContourIntegrand(scaled(loss, unit), LOG_G)
    absolute = unit * math.exp(integrand.level) * integrand.absolute
    exact = exact_bound(loss, PROBABILITY, OTHERS)
    if times > 2.0:
        monkeypatch.delattr(ContourIntegrand, "integral")

    with np.errstate(all="ignore"):
        upper, lower = ends_of(integrand, unit, negligible=times * absolute)

    assert exact <= upper
    if times > 2.0:
        assert lower == 0.0
        assert upper <= times * absolute * (1.0 + 1e-9)
    else:
        with np.errstate(all="ignore"):
            assert upper == ends_of(integrand, unit)[0]


def test_more_rounding_than_may_be_is_refused_before_points_are_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss = lattice_loss(10, 1e-8)
    with np.errstate(all="ignore"):
        integrand = ContourIntegrand(scaled(loss, 1.0), LOG_G)
    rounding = math.exp(integrand.level) * integrand.rounding
    with np.errstate(all="ignore"):
        upper, _ = ends_of(integrand, 1.0, most_rounding=1.01 * rounding)
    monkeypatch.delattr(ContourIntegrand, "integral")

    assert exact_bound(loss, PROBABILITY, OTHERS) <= upper
    with pytest.raises(OverflowError):
        ends_of(integrand, 1.0, most_rounding=0.99 * rounding)
