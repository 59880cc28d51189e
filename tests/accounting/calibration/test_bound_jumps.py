"""A jump is told from a slope by two budgets nearly alike, and the smaller one is kept."""

import numpy as np
import pytest

from shuffledp.accounting.calibration.bound_jumps import BoundJumps
from shuffledp.types import Floats

SLOPES = np.array([[1.0, 0.1], [3.0, 0.5]])


def _seen(*excesses: tuple[Floats, Floats]) -> BoundJumps:
    jumps = BoundJumps(2)
    for log_budgets, excess in excesses:
        jumps.add(log_budgets, excess)
    return jumps


def test_a_jump_between_budgets_nearly_alike_is_seen_at_its_level_only() -> None:
    below, above = np.array([1.0, 2.0]), np.array([1.0002, 2.0004])
    change = SLOPES @ (above - below)
    jumps = _seen(
        (below, np.array([-0.0001, -0.0002])),
        (above, np.array([-0.0001, -0.0002]) + change + [0.0, 0.001]),
    )

    assert jumps.levels(SLOPES).tolist() == [False, True]
    assert jumps.steps(np.array([1.0, 2.5]))[1] == -0.5


def test_slopes_corrected_by_a_jump_do_not_explain_it() -> None:
    jumps = _seen(
        (np.array([1.0, 2.0]), np.array([-0.001, -0.001])),
        (np.array([1.0, 2.0004]), np.array([-0.001, 0.002])),
    )

    assert jumps.levels(np.array([[1.0, 0.0], [0.0, 7.5]])).tolist() == [False, True]


def test_nothing_jumps_before_both_sides_are_seen_or_far_from_each_other() -> None:
    kept = (np.array([1.0, 2.0]), np.array([-0.01, -0.01]))
    broken = (np.array([1.0, 2.002]), np.array([0.5, 0.5]))

    assert not _seen(kept).levels(SLOPES).any()
    assert not _seen(kept, broken).levels(SLOPES).any()


def test_steps_that_leave_both_sides_are_halved_between_them() -> None:
    jumps = _seen(
        (np.array([1.0, 2.0]), np.array([-0.01, -0.01])),
        (np.array([1.0, 2.01]), np.array([-0.01, 0.02])),
    )
    now = np.array([1.0, 2.01])

    for step in (0.5, -0.5, -0.01):
        steps = jumps.enclosed_steps(now, np.array([0.2, step]))
        assert steps == pytest.approx([0.2, -0.005])
    inside = np.array([0.2, -0.004])
    assert jumps.enclosed_steps(now, inside).tolist() == inside.tolist()


@pytest.mark.parametrize(
    ("others_above", "own_above"), [(1.0, 2.03), (1.002, 2.01), (1.0, 1.99)]
)
def test_steps_stay_as_they_are_between_sides_that_tell_nothing(
    others_above: float, own_above: float
) -> None:
    # Far from each other, among others, or a larger budget kept and a smaller one not.
    kept = (np.array([1.0, 2.0]), np.array([-0.01, -0.01]))
    broken = (np.array([others_above, own_above]), np.array([-0.01, 0.02]))
    now, steps = np.array([1.0, 2.01]), np.array([0.2, 0.5])

    for jumps in (_seen(kept), _seen(broken), _seen(kept, broken)):
        assert jumps.enclosed_steps(now, steps).tolist() == steps.tolist()
