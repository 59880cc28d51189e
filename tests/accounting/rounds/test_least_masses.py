"""Floors of atoms of a composed profile: room for rounding, small against delta."""

from types import SimpleNamespace
from typing import Any

import pytest

from shuffledp.accounting.rounds import composed_profile as module
from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.rounds.loss_distribution import connect_directions
from shuffledp.accounting.rounds.total_budget import divergence_of_budget

LEVEL, TIMES = 1.0, 3
# Two messages change with a value: one shuffle each.
SHUFFLES = 2 * TIMES


def binary_response() -> Any:
    """Returns the profile of a randomizer whose pair is that of binary response."""
    exact = SimpleNamespace(delta=lambda epsilon: divergence_of_budget(LEVEL, epsilon))
    return SimpleNamespace(
        randomizer=SimpleNamespace(changes=2, delta_local=0.0),
        level=LEVEL,
        evaluations=200,
        delta=exact.delta,
        directions=(exact, exact),
    )


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        (1e-6, [1e-290]),
        # A thousandth of delta over all shuffles, where that is less.
        (1e-295, [1e-3 * 1e-295 / SHUFFLES, 1e-290]),
        # No bound of one shuffle is smaller than 1e-306.
        (1e-304, [1e-306, 1e-290]),
    ],
)
def test_atoms_have_room_for_rounding_that_is_small_against_delta(
    delta: float, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    floors = set[float]()

    def recorded(*bounds: Any, least_mass: float) -> Any:
        floors.add(least_mass)
        return connect_directions(*bounds, least_mass=least_mass)

    monkeypatch.setattr(module, "connect_directions", recorded)
    profile = composed_profile(binary_response(), TIMES, delta)

    assert sorted(floors) == pytest.approx(expected, rel=1e-12, abs=0.0)
    # All reports together have no larger budget.
    assert profile(TIMES * LEVEL) <= 1e-12
