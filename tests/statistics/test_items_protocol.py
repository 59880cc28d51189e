"""Collections of sets: unbiased, with honest errors, and strict about their inputs."""

from dataclasses import replace

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.analyzer.choice_counts import ChoiceCounts, count_choices
from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.population import Population
from shuffledp.randomizers.items import Noise
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import SystemRandom
from shuffledp.reports import ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.statistic_catalog import protocol_of
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints

TARGETS = (0.5, 1.0, 2.0)
PEOPLE = Population.from_counts({0.5: 500, 1.0: 1000, 2.0: 500})
RUNS = 1200


def skewed_sets(num_users: int, num_items: int, set_size: int) -> Ints:
    """Sets in which some items are in most, and some in few."""
    rng = np.random.default_rng(8)
    keys = rng.random((num_users, num_items)) ** np.geomspace(0.05, 4.0, num_items)
    return np.argsort(-keys, axis=1)[:, :set_size]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "rates", "epsilon_choice"),
    [
        ("poisson", (0.3, 0.6, 1.0), None),
        ("poisson", (0.05, 0.3, 0.9), 1.0),
        pytest.param("poisson", (1.0, 1.0, 1.0), 0.5, marks=pytest.mark.slow),
        pytest.param("bernoulli", (0.3, 0.6, 1.0), None, marks=pytest.mark.slow),
        ("bernoulli", (0.2, 0.3, 0.9), 1.0),
    ],
)
def test_estimates_are_unbiased_and_their_errors_honest(
    noise: Noise, rates: tuple[float, ...], epsilon_choice: float | None
) -> None:
    rng, d, s, n = np.random.default_rng(15), 12, 3, PEOPLE.num_users
    protocol = Items(d, s, TARGETS, rates, 1.5, noise=noise)
    sets = skewed_sets(n, d, s)
    truth = np.bincount(sets.ravel(), minlength=d) / n
    responses = KRandomizedResponse(3)

    errors, standard, covered = np.empty((RUNS, d)), np.empty((RUNS, d)), 0.0
    for run in range(RUNS):
        indices = rng.permutation(np.repeat(np.arange(3), PEOPLE.counts))
        people = ChoiceCounts.of(PEOPLE)
        if epsilon_choice is not None:
            budgets = np.full(n, epsilon_choice)
            reports = responses.randomize(indices, budgets, rng=rng)
            named = np.bincount(reports, minlength=3)
            people = count_choices(named, np.array(TARGETS), epsilon=epsilon_choice)
        holders = protocol.holders(sets, np.array(TARGETS)[indices])
        tally = protocol.draw_tally(holders, PEOPLE, rng=rng)
        estimate = protocol.estimate(tally, people)
        errors[run] = estimate.value - truth
        standard[run] = estimate.standard_error
        low, high = estimate.interval().T
        covered += np.mean((low <= truth) & (truth <= high)) / RUNS

    spread = np.sqrt(np.mean(errors**2, axis=0))
    # Twelve items in five settings: a false alarm in 200 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 4.0 * spread / np.sqrt(RUNS))
    assert 0.94 < covered < 0.96
    rms = np.sqrt(np.mean(standard**2, axis=0))
    # One standard error of a spread over 1200 runs is 2%; on all items, below 1%.
    assert np.all(np.abs(rms / spread - 1.0) < 0.09)
    assert np.mean(rms / spread) == pytest.approx(1.0, abs=0.025)
    if epsilon_choice is None:
        predicted = protocol.predicted_mse(PEOPLE, truth)
        simulated = float(np.mean(np.sum(errors**2, axis=1)))
        assert predicted == pytest.approx(simulated, rel=0.05)


def test_noisy_numbers_of_people_are_part_of_the_error() -> None:
    protocol = Items(12, 3, TARGETS, (0.05, 0.3, 0.9), 0.1)
    exact = ChoiceCounts.of(PEOPLE)
    noisy = count_choices(PEOPLE.counts, np.array(TARGETS), epsilon=0.5)
    same = ChoiceCounts(exact.choices, exact.value, noisy.covariance, exact.num_users)
    shares = np.full(12, 0.25)

    certain = protocol.predicted_errors(exact, shares)
    uncertain = protocol.predicted_errors(same, shares)

    assert noisy.covariance is not None
    rates = np.array(protocol.rates)
    by_hand = rates @ noisy.covariance @ rates / (exact.value @ rates) ** 2 * 0.25**2
    assert np.all(uncertain > 1.5 * certain)
    np.testing.assert_allclose(uncertain**2 - certain**2, by_hand, rtol=1e-9)


@pytest.mark.slow
def test_population_errors_include_who_took_part() -> None:
    rng, d, s, n = np.random.default_rng(6), 8, 2, 400
    protocol = Items(d, s, (1.0,), (0.7,), 0.5)
    people = Population.from_counts({1.0: n})

    errors, predicted = [], []
    for _ in range(RUNS):
        sets = draw_uniform_sets(n, num_items=d, set_size=s, rng=rng).sets
        holders = protocol.holders(sets, np.ones(n))
        estimate = protocol.estimate(
            protocol.draw_tally(holders, people, rng=rng), people
        )
        errors.append(float(np.sum((estimate.value - s / d) ** 2)))
        predicted.append(float(np.sum(estimate.population_error**2)))

    expected = protocol.predicted_mse(people, np.full(d, s / d), about="population")
    assert np.mean(errors) == pytest.approx(expected, rel=0.05)
    assert np.mean(predicted) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("system", [False, True])
def test_messages_give_the_same_estimates_as_their_tally(system: bool) -> None:
    rng = SystemRandom() if system else np.random.default_rng(9)
    d, s, n = 12, 3, PEOPLE.num_users
    protocol = Items(d, s, TARGETS, (0.3, 0.6, 1.0), 0.8)
    sets, targets = skewed_sets(n, d, s), PEOPLE.budgets()

    order = rng.permutation(n)
    reports = protocol.randomize(sets[order], targets, rng=rng)
    shuffled = shuffle(reports, rng=rng)
    estimate = protocol.estimate(shuffled, PEOPLE)

    assert reports.messages.dtype == shuffled.messages.dtype == np.int32
    assert shuffled.messages.shape == (n, protocol.randomizer.report_size)
    assert (reports.arrangement, reports.levels) == ("pool", None)
    truth = np.bincount(sets.ravel(), minlength=d) / n
    # Twelve times five standard errors: a false alarm in 100,000 seeds.
    assert np.all(np.abs(estimate.value - truth) < 5.0 * estimate.standard_error)
    assert estimate.identity == protocol.identity
    tally = protocol.tally(shuffled)
    flat = shuffled.messages.ravel()
    assert np.array_equal(tally.counts[0, 0], [np.sum(flat == x) for x in range(d)])
    again = protocol.estimate(Tally.from_bytes(tally.to_bytes()), PEOPLE)
    assert np.array_equal(again.value, estimate.value)
    parts = [
        ShuffledReports(protocol.identity, part, None, "pool")
        for part in np.split(shuffled.messages, [0, 700])
    ]
    assert sum(map(protocol.tally, parts[1:]), protocol.tally(parts[0])) == tally
    assert np.all(np.diff(estimate.interval(0.9, about="population")) > 0)


def test_sets_may_hold_fewer_items_where_noise_is_poisson() -> None:
    rng, d, n = np.random.default_rng(4), 5, 2000
    protocol = Items(d, 2, (1.0,), (0.8,), 0.4)
    sets = np.tile([[2, -1]], (n, 1))

    shuffled = shuffle(protocol.randomize(sets, np.ones(n), rng=rng), rng=rng)
    estimate = protocol.estimate(shuffled, Population.from_counts({1.0: n}))

    truth = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    assert np.all(np.abs(estimate.value - truth) < 5.0 * estimate.standard_error)
    with pytest.raises(InvalidInputError):
        Items(d, 2, (1.0,), (0.8,), 0.4, noise="bernoulli").randomize(
            sets, np.ones(n), rng=rng
        )


@pytest.mark.slow
def test_a_cap_is_no_bias() -> None:
    rng, d, n = np.random.default_rng(4), 4, 3000
    protocol = Items(d, 1, (1.0,), (1.0,), 2.0, report_size=3)
    people = Population.from_counts({1.0: n})
    sets = np.zeros((n, 1), dtype=np.int64)

    values = np.array(
        [
            protocol.estimate(
                protocol.draw_tally(
                    protocol.holders(sets, np.ones(n)), people, rng=rng
                ),
                people,
            ).value
            for _ in range(1000)
        ]
    )

    error = protocol.predicted_errors(people, [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(values.std(axis=0), error, rtol=0.1)
    off = values.mean(axis=0) - [1.0, 0.0, 0.0, 0.0]
    assert np.all(np.abs(off) < 4.0 * error / np.sqrt(1000))


def test_reports_of_other_protocols_are_refused() -> None:
    rng, protocol = np.random.default_rng(1), Items(6, 2, (1.0, 2.0), (0.5, 1.0), 0.5)
    people = Population.from_counts({1.0: 2, 2.0: 1})
    sets = np.array([[0, 3], [4, 1], [2, 3]])
    reports = protocol.randomize(sets, [1.0, 1.0, 2.0], rng=rng)
    shuffled = shuffle(reports, rng=rng)
    size = protocol.randomizer.report_size

    def handed_on(
        messages: Ints | Floats, protocol: Items = protocol
    ) -> ShuffledReports:
        return ShuffledReports(
            protocol.identity, messages.astype(np.int32), None, "pool"
        )

    protocol.estimate(shuffled, people)
    other = replace(protocol, rates=(0.5, 0.9))
    for bad in (
        reports,
        handed_on(shuffled.messages, other),
        other.tally(handed_on(shuffled.messages, other)),
        replace(shuffled, arrangement="rows"),
        handed_on(np.zeros((3, size - 1))),
        handed_on(np.zeros(3)),
        handed_on(np.full((3, size), 7)),
        handed_on(np.full((3, size), -1)),
        handed_on(np.zeros((2, size))),
    ):
        with pytest.raises(InvalidInputError):
            protocol.estimate(bad, people)  # type: ignore[arg-type]
    with pytest.raises(UnknownLevelError):
        protocol.estimate(shuffled, Population.from_counts({1.0: 2, 3.0: 1}))
    with pytest.raises(UnknownLevelError):
        protocol.randomize(sets, [1.0, 1.5, 2.0], rng=rng)
    with pytest.raises(UnknownLevelError):
        protocol.randomize(sets, [1.0, float("nan"), 2.0], rng=rng)
    with pytest.raises(InvalidInputError):
        protocol.randomize(sets, [1.0, 2.0], rng=rng)
    with pytest.raises(InvalidInputError):
        protocol.randomize(np.zeros((0, 2), dtype=np.int64), [], rng=rng)
    for counts in ([1, 2, 3], [1, 2, 3, 4, 5, -6], [1, 2, 3, 4, 5, 3 * size]):
        tally = Tally(
            protocol.identity, np.zeros(0), np.array([[3]]), np.array([[counts]])
        )
        with pytest.raises(InvalidInputError):
            protocol.estimate(tally, people)
    for shares in ([0.5] * 5, [0.5] * 5 + [1.5], [0.5] * 5 + [float("nan")]):
        with pytest.raises(InvalidInputError):
            protocol.predicted_mse(people, shares)


@pytest.mark.parametrize(
    "change",
    [
        {"targets": ()},
        {"targets": (2.0, 1.0)},
        {"targets": (1.0, 1.0)},
        {"targets": (1.0, float("nan"))},
        {"targets": (1.0,)},
        {"rates": (0.5, 1.5)},
        {"rates": (0.5, float("nan"))},
        {"blanket": -1.0},
        {"blanket": float("nan")},
        {"set_size": 7},
        {"report_size": 1},
        {"noise": "gaussian"},
    ],
)
def test_parameters_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    arguments: dict[str, object] = {
        "num_items": 6,
        "set_size": 2,
        "targets": (1.0, 2.0),
        "rates": (0.5, 1.0),
        "blanket": 0.5,
    }

    with pytest.raises(InvalidInputError):
        Items(**(arguments | change))  # type: ignore[arg-type]


def test_targets_at_which_nothing_is_sent_are_refused() -> None:
    protocol = Items(6, 2, (1.0, 2.0), (0.0, 1.0), 0.5)
    people = Population.from_counts({1.0: 100})
    tally = protocol.draw_tally(
        np.ones((1, 6), dtype=np.int64), people, rng=np.random.default_rng(1)
    )

    with pytest.raises(InvalidInputError, match="nothing but noise"):
        protocol.estimate(tally, people)


def test_holders_must_be_those_of_the_people() -> None:
    protocol, rng = Items(6, 2, (1.0, 2.0), (0.5, 1.0), 0.5), np.random.default_rng(1)
    people = Population.from_counts({1.0: 2, 2.0: 3})
    held = np.full((2, 6), 2)

    assert protocol.draw_tally(held, people, rng=rng).num_users == 5
    for holders in (held[:1], held[:, :5], held + 1, -held, held * 1.0):
        with pytest.raises(InvalidInputError):
            protocol.draw_tally(holders, people, rng=rng)  # type: ignore[arg-type]
    with pytest.raises(UnknownLevelError):
        protocol.draw_tally(held, Population.from_counts({1.0: 2, 3.0: 3}), rng=rng)
    with pytest.raises(InvalidInputError):
        protocol.draw_tally(held, people, rng=SystemRandom())  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", ["poisson", "bernoulli"])
def test_a_protocol_is_what_its_identity_says(noise: Noise) -> None:
    protocol = Items(6, 2, (1, 2), (0.5, 1), 0.5, noise=noise)

    again = protocol_of(protocol.identity)

    size = protocol.randomizer.report_size
    assert again == Items(6, 2, (1.0, 2.0), (0.5, 1.0), 0.5, size, noise)
    assert again.identity == protocol.identity == protocol.parameters.identity
    assert protocol.identity.record["parameters"] == {
        "items": 6,
        "set_size": 2,
        "targets": [1.0, 2.0],
        "rates": [0.5, 1.0],
        "blanket": 0.5,
        "report_size": size,
    }
    # What a default chose is part of it.
    assert replace(protocol, report_size=size + 1).identity != protocol.identity


@pytest.mark.slow
def test_certified_is_what_runs() -> None:
    protocol = Items(128, 4, TARGETS, (0.3, 0.6, 1.0), 2.0)
    few = replace(protocol, report_size=4 + 17)

    guarantee = account(few, PEOPLE, delta=1e-6)

    assert guarantee.protocol == few.identity
    # Larger reports cut less off.
    more = account(protocol, PEOPLE, delta=1e-6)
    assert protocol.randomizer.report_size > 4 + 17
    assert more.worst.epsilon_central <= guarantee.worst.epsilon_central
    with pytest.raises(InvalidInputError, match="Poisson"):
        account(replace(protocol, noise="bernoulli", report_size=9), PEOPLE, delta=1e-6)
