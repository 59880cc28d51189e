"""Certified values of whole collections, for every family of mechanisms.

Upper limits are those of a slower calculation of the same bounds, rounded up; lower ones
are what attacks reach.
"""

import numpy as np
import pytest
from scipy import stats

from shuffledp import Frequency, Population, account
from shuffledp.accounting.statement import LevelGuarantee
from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.statistics.single_message import SingleMessage


def at_delta(
    device: LocalRandomizer, people: Population, level: float, delta: float
) -> LevelGuarantee:
    (answer,) = account(
        SingleMessage(device), people, delta=delta, levels=[level]
    ).levels
    return answer


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("level", "num_users", "most"),
    [(1.0, 10**4, 0.0379), (1.0, 10**5, 0.0109), (2.0, 10**4, 0.0947)],
)
def test_laplace_keeps_its_reference_values(
    level: float, num_users: int, most: float
) -> None:
    people = Population.from_counts({level: num_users})

    answer = at_delta(Laplace(), people, level, 1e-6)

    assert 0.6 * most <= answer.epsilon_central_lower <= answer.epsilon_central <= most


UNIFORM = 0.05 + 0.95 * (np.arange(9999) + 0.5) / 9999


def test_clip_laplace_keeps_its_reference_values_with_a_budget_for_everybody() -> None:
    people = Population.from_budgets(np.append(UNIFORM, 1.0))

    guarantee = account(
        SingleMessage(ClipLaplace()), people, delta=4.6e-9, levels=[UNIFORM[0], 1.0]
    )

    least, most = guarantee.levels
    assert 0.026 <= most.epsilon_central_lower <= most.epsilon_central <= 0.0293
    assert least.epsilon_central <= 0.0014


@pytest.mark.slow
@pytest.mark.parametrize(("coordinates", "most"), [(7850, 2.2), (3140, 1.32)])
def test_many_coordinates_keep_their_reference_values(
    coordinates: int, most: float
) -> None:
    # Fifty people at each of 200 budgets, a little more generous than one by one.
    budgets = 0.05 + 0.95 * (np.arange(200) + 1.0) / 200
    people = Population.from_budgets(np.repeat(budgets, 50))

    (answer,) = account(
        SingleMessage(ClipLaplace()),
        people,
        delta=3.6e-5,
        levels=[1.0],
        coordinates=coordinates,
    ).levels

    # Certificate and attack are not far apart.
    assert 0.8 * answer.epsilon_central <= answer.epsilon_central_lower
    assert answer.epsilon_central <= most


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "device", [Laplace(), Gaussian(delta_local=1e-5)], ids=["laplace", "gauss"]
)
def test_one_cautious_person_among_liberal_ones_is_exposed(
    device: LocalRandomizer,
) -> None:
    people = Population.from_counts({0.5: 1, 2.0: 9_999})

    (answer,) = account(
        SingleMessage(device), people, epsilon=0.06, levels=[0.5]
    ).levels

    assert 1e-2 <= answer.delta_central_lower <= answer.delta_central
    if device.delta_local == 0.0:
        alone = at_delta(device, people, 0.5, 1e-6)
        assert 0.45 <= alone.epsilon_central <= 0.5


def test_cautious_person_is_exposed_in_a_simulation() -> None:
    # Counting messages beyond a point on her own side, with everybody else at 1.
    rng, rounds, level, epsilon = np.random.default_rng(7), 400_000, 0.5, 0.06
    point = -10.0
    others = stats.laplace(1.0, 1.0).cdf(point)
    own = [stats.laplace(value, 2.0 / level).cdf(point) for value in (-1.0, 1.0)]

    counts = rng.binomial(9_999, others, rounds)
    hits = [(counts + (rng.random(rounds) < chance) >= 1).mean() for chance in own]

    people = Population.from_counts({0.5: 1, 2.0: 9_999})
    (answer,) = account(
        SingleMessage(Laplace()), people, epsilon=epsilon, levels=[level]
    ).levels
    # Five standard errors: a false alarm in 3e-7 of all seeds.
    error = 5.0 * np.sqrt(hits[0] / rounds) * (1.0 + np.exp(epsilon))
    assert hits[0] - np.exp(epsilon) * hits[1] - error <= answer.delta_central
    assert hits[0] - np.exp(epsilon) * hits[1] + error >= answer.delta_central_lower / 2


def composed_among_people_who_agree(
    level: float, num_users: int, rounds: int, epsilon: float
) -> float:
    """The divergence after so many rounds, losses rounded down to a fine grid."""
    flip = 1.0 / (1.0 + np.exp(level))
    ones = np.arange(num_users + 1)
    before = np.append(stats.binom.pmf(ones[:-1], num_users - 1, 1.0 - flip), 0.0)
    after = np.append(0.0, before[:-1])
    here = (1.0 - flip) * after + flip * before
    there = flip * after + (1.0 - flip) * before
    seen = here > 1e-30
    losses = np.log(here[seen] / there[seen])
    step, size = 2e-4, 2**19
    cells = np.floor(losses / step).astype(int) % size
    law = np.bincount(cells, weights=here[seen], minlength=size)
    total = np.fft.irfft(np.fft.rfft(law) ** rounds, size)
    grid = step * np.arange(size // 2)
    beyond = grid > epsilon
    return float(total[: size // 2][beyond] @ -np.expm1(epsilon - grid[beyond]))


@pytest.mark.slow
@pytest.mark.parametrize(("level", "rounds"), [(4.0, 10), (4.0, 100), (1.0, 100)])
def test_binary_response_in_many_rounds_is_close_to_people_who_agree(
    level: float, rounds: int
) -> None:
    people = Population.from_counts({level: 10**4})

    (answer,) = account(Frequency(2), people, delta=1e-6, rounds=rounds).levels

    # Rounded down, the grid takes off 1e-4 per round in the mean.
    certified = answer.epsilon_central
    shown = composed_among_people_who_agree(
        level, 10**4, rounds, 0.985 * certified - rounds * 1e-4
    )
    assert shown > 1e-6
    assert composed_among_people_who_agree(level, 10**4, rounds, certified) <= 1e-6
    assert answer.epsilon_central_lower <= certified


@pytest.mark.parametrize("device", [KRandomizedResponse(17), Laplace()], ids=str)
def test_tiny_deltas_get_a_certificate(device: LocalRandomizer) -> None:
    people = Population.from_counts({1.0: 10**4})

    answer = at_delta(device, people, 1.0, 1e-300)

    assert 0.0 < answer.epsilon_central_lower <= answer.epsilon_central <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "device",
    [
        OneBit(),
        KRandomizedResponse(9),
        SubsetSelection(9, 3),
        HadamardResponse(9),
        LocalHashing(9, 3),
        ClipLaplace(),
        Laplace(),
        Gaussian(delta_local=1e-9),
    ],
    ids=repr,
)
def test_more_people_and_larger_deltas_protect_better(device: LocalRandomizer) -> None:
    found = [
        at_delta(device, Population.from_counts({1.0: num_users}), 1.0, delta)
        for num_users, delta in [(1000, 1e-6), (10_000, 1e-6), (10_000, 1e-4)]
    ]

    epsilons = [answer.epsilon_central for answer in found]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[1] < 0.5 * epsilons[0]
    for answer in found:
        assert 0.3 * answer.epsilon_central <= answer.epsilon_central_lower
        assert answer.epsilon_central_lower <= answer.epsilon_central
