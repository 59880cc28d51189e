"""Connected dots dominate what they connect in exact arithmetic, not only nearly."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_directions,
    connect_dots,
)
from shuffledp.types import Floats

NODES = np.array([0.0, 0.02, 0.1, 0.15, 0.4, 1.3, 4.0])


def exact_profile(found: LossDistribution, epsilon: float) -> mp.mpf:
    pairs = zip(found.losses.tolist(), found.masses.tolist(), strict=True)
    growth = mp.exp(mp.mpf(epsilon))
    above = (mp.mpf(mass) * max(mp.exp(mp.mpf(x)) - growth, 0) for x, mass in pairs)
    return mp.fsum(above) + mp.mpf(found.infinite)


def total(found: LossDistribution) -> mp.mpf:
    """The mass under Q; what is infinite one way round is so the other way round, too."""
    return mp.fsum(map(mp.mpf, [*found.masses.tolist(), found.infinite]))


def values(scale: float) -> Floats:
    """Of two normal laws at this distance, which are each other's mirror image."""
    middle = -NODES / scale
    found: Floats = ndtr(middle + scale / 2.0) - np.exp(NODES) * ndtr(
        middle - scale / 2.0
    )
    return found


@pytest.mark.parametrize("scale", [0.1, 0.4, 1.0, 2.0])
def test_the_profile_at_every_node_is_no_smaller(scale: float) -> None:
    given = values(scale)

    found = connect_dots(NODES, given)

    with mp.workdps(60):
        assert 1 <= total(found) <= 1 + mp.mpf(1e-12)
        for node, value in zip(NODES.tolist(), given.tolist(), strict=True):
            assert exact_profile(found, node) >= mp.mpf(value) * (1 - mp.mpf(1e-15))


def test_both_directions_have_all_the_mass() -> None:
    given = values(1.0)

    found = connect_directions(NODES, given, given, least_mass=1e-290)

    assert found is not None
    with mp.workdps(60):
        assert 1 <= total(found) <= 1 + mp.mpf(1e-6)
        under_first = mp.fsum(
            mp.mpf(mass) * mp.exp(mp.mpf(x))
            for x, mass in zip(
                found.losses.tolist(), found.masses.tolist(), strict=True
            )
        )
        assert under_first + mp.mpf(found.infinite) >= 1
        for node, value in zip(NODES.tolist(), given.tolist(), strict=True):
            assert exact_profile(found, node) >= mp.mpf(value) * (1 - mp.mpf(1e-15))
