import itertools
import math

import numpy as np
import pytest
from oracles.bit_vectors import largest_divergences, measured_budget, one_hot, unary

from shuffledp import (
    InvalidInputError,
    Population,
    SystemRandom,
    UnaryEncoding,
    account,
)
from shuffledp.accounting.certificate import read_certificate
from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.unary_encoding import VARIANTS
from shuffledp.statistics.single_message import SingleMessage

LEVELS = [0.0, 1e-15, 1e-9, 0.01, 0.3, 1.0, 2.0, 5.0, 37.5, 700.0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("level", LEVELS)
def test_flips_that_are_drawn_keep_the_budget_and_use_it(
    variant: str, level: float
) -> None:
    for k in (2, 3, 4):
        chances = UnaryEncoding(k, variant).drawn(np.array([level]))

        shown = measured_budget(
            one_hot(k), float(chances.lost[0]), float(chances.stray[0])
        )

        assert shown <= level
        # A few roundings of chances.
        assert float(shown) == pytest.approx(level, rel=1e-12, abs=5e-15)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("k", "crowd"),
    [
        (2, {1.0: 5}),
        (2, {0.5: 2, 2.0: 2}),
        (3, {1.0: 3}),
        (3, {0.3: 1, 4.0: 2}),
        (3, {0.2: 1, 1.0: 2, 3.0: 1}),
    ],
)
def test_exact_divergence_lies_between_attack_and_certificate(
    variant: str, k: int, crowd: dict[float, int]
) -> None:
    people = Population.from_counts(crowd)
    device = SingleMessage(UnaryEncoding(k, variant))
    chances = [unary(level, variant) for level in crowd]

    for position, level in enumerate(crowd):
        epsilons = [0.0, 0.1 * level, 0.5 * level, 0.9 * level]
        exact = largest_divergences(
            one_hot(k), chances, list(crowd.values()), position, epsilons
        )
        for epsilon, worst in zip(epsilons, exact, strict=True):
            (answer,) = account(device, people, epsilon=epsilon, levels=[level]).levels
            # Sums of a few hundred doubles.
            assert worst <= answer.delta_central + 1e-14
            assert answer.delta_central_lower <= worst + 1e-14
            # Close to the budget, one score of all messages says little.
            assert epsilon > 0.2 * level or answer.delta_central_lower > 0.7 * worst


@pytest.mark.parametrize("variant", VARIANTS)
def test_exact_divergence_with_levels_beside_messages(variant: str) -> None:
    people = Population.from_counts({0.5: 3, 2.0: 4})
    device = SingleMessage(UnaryEncoding(3, variant), "stratified")

    (answer,) = account(device, people, epsilon=1.0, levels=[2.0]).levels

    (exact,) = largest_divergences(one_hot(3), [unary(2.0, variant)], [4], 0, [1.0])
    assert answer.delta_central_lower <= exact <= answer.delta_central


# Different bits have different chances, and covers that are not counted.
SLOW_OPTIMIZED = ["symmetric", pytest.param("optimized", marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("variant", SLOW_OPTIMIZED)
def test_certificates_never_exceed_the_budgets_of_the_reports(variant: str) -> None:
    device = SingleMessage(UnaryEncoding(4, variant))

    for level, num_users in itertools.product([0.01, 6.0, 700.0], [2, 50]):
        people = Population.from_counts({level: num_users})
        one, two = (
            account(device, people, delta=1e-6, rounds=rounds).levels[0]
            for rounds in (1, 2)
        )

        assert one.epsilon_central_lower <= one.epsilon_central <= level
        assert two.epsilon_central_lower <= two.epsilon_central
        # The total is rounded upward.
        assert two.epsilon_central <= 2.0 * level * (1.0 + 1e-15)
        assert one.epsilon_central <= two.epsilon_central


@pytest.mark.slow
@pytest.mark.parametrize("variant", SLOW_OPTIMIZED)
def test_rounds_and_coordinates_are_counted_alike(variant: str) -> None:
    device, people = SingleMessage(UnaryEncoding(9, variant)), {0.5: 300, 2.0: 500}

    rounds, coordinates = (
        account(
            device,
            Population.from_counts(people),
            delta=1e-6,
            rounds=rounds,
            coordinates=coordinates,
        )
        for rounds, coordinates in ((6, 1), (1, 6))
    )

    assert rounds.levels == coordinates.levels
    assert "6 reports, each shuffled apart," in " ".join(coordinates.assumptions)
    assert "at most 2 of them" in " ".join(rounds.assumptions)
    for level in rounds.levels:
        assert 0.75 * level.epsilon_central <= level.epsilon_central_lower


REFERENCES = [("symmetric", 0.02343, 0.02638), ("optimized", 0.02421, 0.02584)]


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "least", "most"), REFERENCES)
def test_large_crowds_keep_their_reference_values(
    variant: str, least: float, most: float
) -> None:
    people = Population.from_counts({1.0: 10**4})

    guarantee = account(SingleMessage(UnaryEncoding(10, variant)), people, delta=1e-6)

    (level,) = guarantee.levels
    assert least <= level.epsilon_central_lower <= level.epsilon_central <= most
    assert read_certificate(guarantee.to_dict()) == guarantee


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_absent_people_weaken_the_certificate_and_strengthen_the_attack(
    variant: str,
) -> None:
    device, people = SingleMessage(UnaryEncoding(5, variant)), {0.5: 10, 2.0: 60}

    found = [
        account(device, Population.from_counts(people), delta=1e-4, absent=absent)
        for absent in (0, 20)
    ]

    for all_there, fewer in zip(found[0].levels, found[1].levels, strict=True):
        assert all_there.epsilon_central < fewer.epsilon_central
        assert all_there.epsilon_central_lower < fewer.epsilon_central_lower


@pytest.mark.parametrize("variant", VARIANTS)
def test_reports_have_ones_as_often_as_they_say(variant: str) -> None:
    device, n = UnaryEncoding(3, variant), 200_000
    rng = np.random.default_rng(3)
    values, groups = np.arange(n) % 3, np.arange(n) % 2
    epsilons = np.where(groups == 0, 0.5, 3.0)

    reports = device.randomize(values, epsilons, rng=rng)

    keep, other = device.densities(np.array([0.5, 3.0]))
    for value, group, bit in itertools.product(range(3), range(2), range(3)):
        chosen = reports[(values == value) & (groups == group), bit]
        chance = float(keep[group] if bit == value else other[group])
        error = math.sqrt(chance * (1.0 - chance) / chosen.size)
        # Eighteen checks, 5 standard errors: a false alarm in 1e-5 of all seeds.
        assert abs(chosen.mean() - chance) <= 5.0 * error


def test_coordinates_of_a_report_are_independent() -> None:
    device, n = UnaryEncoding(2), 200_000
    epsilons, values = np.full(n, 1.0), np.zeros(n, dtype=np.int64)

    reports = device.randomize(values, epsilons, rng=np.random.default_rng(4))

    keep, other = (float(c[0]) for c in device.densities(np.array([1.0])))
    share, both = float(reports.all(axis=1).mean()), keep * other
    # 5 standard errors: a false alarm in 6e-7 of all seeds.
    assert abs(share - both) <= 5.0 * math.sqrt(both * (1.0 - both) / n)


@pytest.mark.parametrize("variant", VARIANTS)
def test_extreme_budgets_say_everything_or_nothing(variant: str) -> None:
    device, rng = UnaryEncoding(4, variant), SystemRandom()
    values = np.arange(4)

    reports = device.randomize(values, np.full(4, 700.0), rng=rng)
    nothing = device.densities(np.array([0.0]))

    if variant == "symmetric":
        assert np.array_equal(reports, np.eye(4, dtype=bool))
    assert not reports[~np.eye(4, dtype=bool)].any()
    assert [float(chance[0]) for chance in nothing] == [0.5, 0.5]


def test_batches_make_no_difference_to_shapes() -> None:
    device = UnaryEncoding(2**20)

    reports = device.randomize(np.arange(9), np.ones(9), rng=np.random.default_rng(5))

    assert reports.shape == (9, 2**20)
    assert reports.dtype == np.bool_
    assert device.randomize([], [], rng=SystemRandom()).shape == (0, 2**20)  # type: ignore[arg-type]


def test_counts_are_those_of_each_group() -> None:
    device = UnaryEncoding(3)
    reports = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]])

    counts = device.support_counts(reports, np.array([0, 2, 0, 2]), 3)

    assert device.support_counts(reports, None, 1).tolist() == [[3, 1, 2]]
    assert counts.tolist() == [[1, 0, 2], [0, 0, 0], [2, 1, 0]]
    bits = device.check_messages(reports)
    assert bits.dtype == np.bool_
    assert device.bits_per_person(np.ones(1)) == 3


@pytest.mark.parametrize(
    "reports",
    [
        None,
        [1, 0, 1],
        [[1, 0]],
        [[1, 0, 2]],
        [[1, 0, -1]],
        [[1.0, 0.0, 1.0]],
        [["1", "0", "1"]],
        [[1, 0, 1], [1]],
    ],
)
def test_messages_that_are_no_reports_are_refused(reports: object) -> None:
    with pytest.raises(InvalidInputError, match="3 bits each"):
        UnaryEncoding(3).check_messages(reports)


@pytest.mark.parametrize("groups", [[0], [0, 2], [-1, 0], [0.0, 1.0]])
def test_groups_that_make_no_sense_are_refused(groups: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="group"):
        UnaryEncoding(2).support_counts(np.eye(2, dtype=bool), np.array(groups), 2)


@pytest.mark.parametrize(
    ("k", "variant"),
    [
        (1, "symmetric"),
        (2.0, "symmetric"),
        (True, "symmetric"),
        (2**22 + 1, "symmetric"),
        (3, "best"),
        (3, True),
        (3, None),
    ],
)
def test_parameters_that_make_no_sense_are_refused(k: object, variant: object) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        UnaryEncoding(k, variant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([3], [1.0]),
        ([-1], [1.0]),
        ([0.5], [1.0]),
        ([0, 1], [1.0]),
        ([0], [-1.0]),
        ([0], [math.nan]),
        ([0], [701.0]),
    ],
)
def test_values_and_levels_out_of_range_are_refused(
    values: list[float], levels: list[float]
) -> None:
    rng = np.random.default_rng(1)

    with pytest.raises(InvalidInputError, match="Expected"):
        UnaryEncoding(3).randomize(values, levels, rng=rng)  # type: ignore[arg-type]


def test_unknown_sources_of_randomness_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="rng"):
        UnaryEncoding(3).randomize([1], [1.0], rng=7)  # type: ignore[arg-type]


def test_it_is_a_local_randomizer() -> None:
    device: LocalRandomizer = UnaryEncoding(3)

    assert device.changes == 2
    assert device.parameters == {"categories": 3, "variant": "symmetric"}
