"""Cells of noise against the distributions of scipy, and attacks against the accountant."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import shuffledp as sdp
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp_papers.court.attacks import (
    clip_laplace_attack,
    laplace_attack,
    response_attack,
)
from shuffledp_papers.court.case import certificate_of
from shuffledp_papers.court.noise_cases import (
    attack_on,
    deviations_of,
)
from shuffledp_papers.court.noise_cells import (
    cell_probabilities,
    clip_laplace_tails,
    clipped_edges,
    gaussian_tails,
    laplace_tails,
    unbounded_edges,
)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_cells_have_the_chances_of_their_noise(value: float) -> None:
    edges = np.array([-30.0, -0.5, 0.2, 0.7, 5.0, 20.0])
    scale = 0.8

    laplace = cell_probabilities(laplace_tails(np.array([1 / scale])), edges, value)[0]
    normal = cell_probabilities(gaussian_tails(np.array([scale])), edges, value)[0]

    for found, law in (
        (laplace, stats.laplace(value, scale)),
        (normal, stats.norm(value, scale)),
    ):
        assert found.sum() == pytest.approx(1.0, abs=1e-14)
        assert found[0] == pytest.approx(law.cdf(edges[0]), rel=1e-10)
        # The far tail keeps its digits.
        assert found[-1] == pytest.approx(law.sf(edges[-1]), rel=1e-10)
        assert found[-2] == pytest.approx(law.sf(5.0) - law.sf(20.0), rel=1e-10)
        assert found[2] == pytest.approx(law.cdf(0.2) - law.cdf(-0.5), rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 200.0])
@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_clipped_cells_have_the_chances_of_their_noise(
    epsilon: float, value: float
) -> None:
    edges = np.array([-0.9, -0.01, 0.4, 0.98])

    found = cell_probabilities(clip_laplace_tails(np.array([epsilon])), edges, value)[0]

    def mass(low: float, high: float) -> float:
        points = [value] if low < value < high else None
        return integrate.quad(
            lambda y: math.exp(-epsilon / 2 * abs(y - value)), low, high, points=points
        )[0]

    whole = mass(-1.0, 1.0)
    ends = [-1.0, *edges.tolist(), 1.0]
    expected = [mass(*pair) / whole for pair in itertools.pairwise(ends)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    assert found.sum() == pytest.approx(1.0, abs=1e-13)


def test_edges_ascend_and_reach_far_enough() -> None:
    wide = unbounded_edges(np.array([0.5, 2.0]), reach=60.0)
    narrow = clipped_edges(np.array([0.05, 200.0]))

    assert np.all(np.diff(wide) > 0)
    assert wide[0] == -120.0
    assert wide[-1] == 121.0
    assert np.all(np.diff(narrow) > 0)
    assert -1.0 < narrow[0] < -0.9999
    assert 0.9999 < narrow[-1] < 1.0


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("budget", [0.5, 2.0])
@pytest.mark.parametrize("num_users", [2, 30, 1000])
def test_attacks_lie_between_the_accountants_two_bounds(
    budget: float, num_users: int
) -> None:
    people = sdp.Population.from_counts({budget: num_users})
    others, counts = np.array([budget]), np.array([num_users - 1])
    epsilon = 0.3 * budget / math.sqrt(num_users)

    for device, attack in (
        (sdp.Laplace(), laplace_attack),
        (sdp.ClipLaplace(), clip_laplace_attack),
    ):
        found = attack(others, counts, budget, epsilon)
        certificate = certificate_of(device, people, budget)(epsilon)

        # Not all attacks of the accountant are made here.
        assert 0.5 * certificate.lower <= found <= certificate.upper


def test_all_others_of_one_value_reveal_most_where_they_are_few() -> None:
    found = response_attack(
        3, np.array([1.0]), np.array([4]), 1.0, 0.3, enumerated=True
    )

    people = sdp.Population.from_counts({1.0: 5})
    certificate = certificate_of(sdp.KRandomizedResponse(3), people, 1.0)(0.3)
    assert 0.9 * certificate.lower <= found <= certificate.upper


@pytest.mark.parametrize("calibration", ["exact", "classical"])
def test_attacks_know_the_noise_that_runs(calibration: Any) -> None:
    device = Gaussian(delta_local=1e-10, calibration=calibration)
    levels = np.array([0.05, 0.5, 2.0])

    found = deviations_of(device, levels)

    # Its own scale is that of values 2 apart; bisections leave some twelve digits.
    assert found == pytest.approx(device.deviations(levels) / 2.0, rel=1e-9)


def test_an_attack_knows_its_victim_and_what_is_attacked() -> None:
    people = sdp.Population.from_counts({0.5: 3, 2.0: 4})

    attack = attack_on(Gaussian(), people, 0.5)

    assert attack.ran.target_user == 0.5
    assert attack.ran.people is people
    assert attack.ran.mechanism_name == "gaussian"
    with pytest.raises(TypeError, match="known randomizer"):
        attack_on(sdp.OneBit(), people, 0.5)
