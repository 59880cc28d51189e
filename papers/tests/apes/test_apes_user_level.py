import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp_papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp_papers.apes.local import (
    clip_laplace_loss,
    report_budget,
    selection_loss,
)
from shuffledp_papers.apes.user_level import SparsifiedApes, composed_epsilon
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.court.statements import coordinates_loss
from shuffledp_papers.outside_preconditions import OutsidePreconditions

SETTING = Setting(sdp.Population.from_counts({0.5: 6000, 1.0: 4000}), sdp.ClipLaplace())


def test_table_3_is_advanced_composition() -> None:
    # Table 3 prints 57.6 and 25.6, from an unrounded 0.057.
    assert composed_epsilon(0.057, times=7850, slack=1e-8) == pytest.approx(
        56.9, abs=0.05
    )
    assert composed_epsilon(0.057, times=3140, slack=2.15e-5) == pytest.approx(
        25.3, abs=0.05
    )


@pytest.mark.parametrize("as_printed", [True, False])
def test_proposition_1_in_plain_arithmetic(as_printed: bool) -> None:
    delta = 3.6e-5
    inner = ApesNumerical().epsilon(SETTING, 0.4 * delta / 3140)
    log = math.log(1.0 / (delta if as_printed else 0.6 * delta))
    expected = inner * math.sqrt(4 * 1570 * log) + 3140 * inner * (math.exp(inner) - 1)

    bound = SparsifiedApes(1570, 7850, as_printed=as_printed)

    assert bound.epsilon(SETTING, delta) == pytest.approx(expected, rel=1e-10)


def test_proposition_1_inverts() -> None:
    bound = SparsifiedApes(20, 100, per_coordinate=ApesClosed())

    epsilon = bound.epsilon(SETTING, 1e-4)

    assert bound.delta(SETTING, epsilon) == pytest.approx(1e-4, rel=1e-6)
    assert bound.epsilon(SETTING, 1e-5) > epsilon


def test_what_is_stated_before_the_shuffle() -> None:
    # Stated: 1 and 1570; reached: 1.438 by one pair, and 2205 (0.281 for each of 7850).
    assert report_budget(1.0, coordinates=1570) == 1570
    assert clip_laplace_loss(1.0, coordinates=2) == pytest.approx(1.438, abs=5e-4)
    assert clip_laplace_loss(1.0, coordinates=100) == pytest.approx(1.984, abs=5e-4)


def test_the_loss_is_that_of_two_densities() -> None:
    # Clip = 1, sensitivity 2 in the sum: scale 2, and every coordinate moves by 1.
    def log_density(message: float, value: float) -> float:
        grid = np.linspace(-1.0, 1.0, 200_001)
        mass = float(np.trapezoid(np.exp(-np.abs(grid - value) / 2.0), grid))
        return -abs(message - value) / 2.0 - math.log(mass)

    loss = 2.0 * (log_density(-1.0, -1.0) - log_density(-1.0, 0.0))

    # The trapezoid rule is good to 1e-10.
    assert clip_laplace_loss(1.0, coordinates=2) == pytest.approx(loss, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_the_loss_of_a_selection_is_that_of_two_densities(epsilon: float) -> None:
    loss = coordinates_loss(epsilon, 0.0, np.zeros(7), np.ones(7))

    assert selection_loss(epsilon, coordinates=7) == pytest.approx(loss, rel=1e-12)
    # A quarter to half of what all coordinates together may lose.
    assert 7 * epsilon / 4 < loss < 7 * epsilon / 2


@pytest.mark.parametrize(("selected", "coordinates"), [(0, 5), (5, 5), (6, 5)])
def test_selections_that_make_no_sense(selected: int, coordinates: int) -> None:
    with pytest.raises(sdp.InvalidInputError, match="0 < b < d"):
        SparsifiedApes(selected, coordinates)


def test_a_share_outside_of_the_unit_interval() -> None:
    with pytest.raises(sdp.InvalidInputError, match="share"):
        SparsifiedApes(1, 5, share=1.0)
    with pytest.raises(OutsidePreconditions, match="clip-laplace"):
        SparsifiedApes(1, 5).epsilon(Setting(SETTING.people), 1e-6)
