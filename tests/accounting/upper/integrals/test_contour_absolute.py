"""A bound of the integrand's size spares the integral where the result is too small."""

import numpy as np
import pytest

from shuffledp.accounting.upper.atoms import atoms
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.integrals import contour_integrand
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse


def bound_for(num_categories: int, level: float, others: float) -> ContourBound:
    device = KRandomizedResponse(num_categories)
    people = Population.from_counts({level: 2})
    ((cover,),) = device.covers([level], people, delta=1e-6)
    return ContourBound(cover, cover.blanket_probabilities, np.array([others]))


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.6])
def test_size_of_the_integrand_bounds_the_integral(epsilon: float) -> None:
    bound = bound_for(17, 1.0, 40_000.0)
    unit = float(np.abs(bound.cover.differences).max())
    loss = atoms(bound.cover, unit, epsilon)
    integrand = ContourIntegrand(loss, LogProduct(bound.probabilities, bound.counts))

    value, error = integrand.integral()

    assert 0.0 < value - error < value + error <= integrand.absolute


def test_no_points_are_added_up_where_the_smallest_number_is_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = bound_for(100_000, 2.0, 100_000.0)
    added: list[float] = []

    def integral(self: ContourIntegrand) -> tuple[float, float]:
        added.append(self.level)
        return 1.0, 0.0

    # Of some three million points.
    monkeypatch.setattr(ContourIntegrand, "integral", integral)

    assert bound.delta(1.0) == 1e-306
    assert not added
    # Nearer, the integral is what is returned.
    assert bound.delta(1e-3) > 1e-306
    assert added


def test_what_is_spared_was_the_smallest_number_before() -> None:
    # So far out the integral takes few points, as there are few people.
    bound = bound_for(17, 1.0, 3_000.0)
    unit = float(np.abs(bound.cover.differences).max())
    spared = 0
    for epsilon in np.linspace(0.1, 0.95, 18).tolist():
        loss = atoms(bound.cover, unit, epsilon)
        integrand = ContourIntegrand(
            loss, LogProduct(bound.probabilities, bound.counts)
        )
        level = integrand.level + np.log(unit)
        value, error = integrand.integral()
        if level + np.log(integrand.absolute) <= np.log(1e-306):
            spared += 1
            assert level + np.log(max(value, 0.0) + error) <= np.log(1e-306)

    assert 0 < spared < 18


def test_tails_are_bounded_as_if_at_all_heights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = bound_for(17, 1.0, 400.0)
    unit = float(np.abs(bound.cover.differences).max())
    loss = atoms(bound.cover, unit, 0.3)
    log_g = LogProduct(bound.probabilities, bound.counts)
    integrand = ContourIntegrand(loss, log_g)
    heights, tails = integrand._tails(integrand.saddle)
    monkeypatch.setattr(contour_integrand, "_FIRST_HEIGHTS", heights.size)

    _, all_tails = integrand._tails(integrand.saddle)

    assert np.all(tails >= all_tails * (1.0 - 1e-12))
    assert tails[0] == pytest.approx(all_tails[0], rel=1e-12)
