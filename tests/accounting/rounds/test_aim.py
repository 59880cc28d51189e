"""Nodes that are chosen for one delta: fewer, and as good there."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import LossDistribution, connect_dots
from shuffledp.accounting.rounds.node_choice import Aim, loss_distribution
from shuffledp.cover import LocalRandomizer


def losses_of(
    device: LocalRandomizer,
    people: sdp.Population,
    shuffles: int,
    delta: float,
    aim: Aim | None,
    *,
    evaluations: int = 200,
) -> tuple[LossDistribution, int]:
    """Returns the loss of the last level, and how often its bound was evaluated."""
    promise, asked = Promise(device, delta, rounds=shuffles), list[float]()
    once = promise.profile(people, people.num_levels - 1, 1)

    def counted(epsilon: float) -> float:
        asked.append(epsilon)
        return once(epsilon)

    losses = loss_distribution(
        counted,
        ceiling=float(people.epsilons[-1]),
        negligible=1e-3 * delta / shuffles,
        evaluations=evaluations,
        aim=aim,
    )
    return losses, len(asked)


def epsilon_at(losses: LossDistribution, shuffles: int, delta: float) -> float:
    low, high = 0.0, shuffles * float(losses.losses[-1])
    for _ in range(40):
        middle = 0.5 * (low + high)
        is_kept = composed([(losses, shuffles)]).delta(middle) <= delta
        low, high = (low, middle) if is_kept else (middle, high)
    return high


@pytest.mark.parametrize(
    ("device", "shuffles", "delta", "part"),
    [
        (sdp.KRandomizedResponse(17), 12, 1e-6, 0.9),
        (sdp.KRandomizedResponse(17), 365, 1e-6, 0.7),
        pytest.param(sdp.Laplace(), 365, 1e-12, 0.8, marks=pytest.mark.slow),
    ],
)
def test_a_third_fewer_nodes_tell_the_same_epsilon(
    device: LocalRandomizer, shuffles: int, delta: float, part: float
) -> None:
    people, aim = sdp.Population.from_counts({1.0: 1_000}), Aim(shuffles, delta)

    aimed, number = losses_of(device, people, shuffles, delta, aim)

    usual, most = losses_of(device, people, shuffles, delta, None)
    finest, _ = losses_of(device, people, shuffles, delta, None, evaluations=2_000)
    assert number < part * most
    found, before, least = (
        epsilon_at(losses, shuffles, delta) for losses in (aimed, usual, finest)
    )
    assert least * (1.0 - 1e-6) <= found <= before * (1.0 + 3e-4)


def test_deltas_at_an_epsilon_are_those_of_many_nodes() -> None:
    device, people = (
        sdp.KRandomizedResponse(4),
        sdp.Population.from_counts({0.5: 2_000}),
    )
    finest, _ = losses_of(device, people, 5, 1e-12, None, evaluations=2_000)
    epsilon = 3.0 * epsilon_at(finest, 5, 1e-3)

    aimed, _ = losses_of(device, people, 5, 1e-12, Aim(5, 1e-12, epsilon))

    exact = composed([(finest, 5)]).delta(epsilon)
    assert 0.0 < exact < 1e-6
    assert exact * (1.0 - 1e-6) <= composed([(aimed, 5)]).delta(epsilon) <= 1.01 * exact


def test_where_few_losses_make_up_the_tail_no_tilt_is_known() -> None:
    rough = connect_dots(np.array([0.0, 0.1, 0.2]), np.array([0.1, 0.01, 1e-12]))

    assert Aim(2, 1e-9).tilts(rough) is None


def test_far_losses_that_begin_to_matter_are_no_normal_ones() -> None:
    # Many small losses, and a far one: five that make 5.15 are one of these and four small.
    device, delta = sdp.SubsetSelection(17, 4), 4e-147
    people = sdp.Population.from_counts(dict.fromkeys((0.1181, 2.5176, 5.8479), 1_000))

    aimed, _ = losses_of(device, people, 5, delta, Aim(5, delta))

    usual, _ = losses_of(device, people, 5, delta, None)
    assert epsilon_at(aimed, 5, delta) <= 1.001 * epsilon_at(usual, 5, delta)
