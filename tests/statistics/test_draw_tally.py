"""Tallies drawn without people follow the law of people who randomize one by one."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import shuffledp as sdp
from shuffledp import InvalidInputError, Population, Tally
from shuffledp.types import Ints, Mode

# Of each comparison, of some 3,000: a false alarm in 3e-6 of all seeds.
FALSE_ALARM, RARE = 1e-9, 20
MODES: list[Mode] = ["agnostic", "stratified"]
PEOPLE = Population.from_counts({0.8: 4, 3.0: 5})
# Values 0, 1, 2 of each level.
HOLDERS = np.array([[3, 0, 1], [1, 2, 2]])
WORDS = ["a", "b", "c"]
ORACLES: list[Any] = [
    sdp.KRandomizedResponse(3),
    sdp.SubsetSelection(3, 2),
    sdp.HadamardResponse(3),
    sdp.LocalHashing(3, 2),
    sdp.UnaryEncoding(3),
]
NUMBERS: list[Any] = [
    sdp.OneBit(0, 2),
    sdp.OneBit(10, 12),
    # Crowds cross the grid cell by cell, which takes sixteen times as long with all cells.
    sdp.Laplace(0, 2, cells=256),
    sdp.ClipLaplace(1, cells=256),
    sdp.Gaussian(0, 2, delta_local=1e-2, cells=256),
]
PROTOCOLS: list[Any] = [
    *(sdp.Frequency(3, mode, oracle) for oracle in ORACLES for mode in MODES),
    *(sdp.Mean(0, 2, mode, number) for number in NUMBERS for mode in MODES),
    *(sdp.BinarySum(mode) for mode in MODES),
    *(sdp.Strings(4, 1, 2, mode=mode) for mode in MODES),
    sdp.Items(3, 1, (0.8, 3.0), (0.3, 0.9), 0.5),
]
# One mode of each mechanism in turn, and what has no mechanism to choose.
ONE_MODE = [
    pytest.param(protocol, marks=pytest.mark.slow)
    if place < 2 * len(ORACLES + NUMBERS) and place % 4 in (1, 2)
    else protocol
    for place, protocol in enumerate(PROTOCOLS)
]


def trials_of(protocol: Any) -> int:
    # Noise takes its time, and has tests of its own.
    slow = isinstance(protocol, sdp.Mean) and protocol.randomizer.mechanism != "one-bit"
    return 600 if slow else 2_000


def holders_of(protocol: Any) -> Ints:
    if isinstance(protocol, sdp.BinarySum):
        return np.stack([HOLDERS[:, 0], HOLDERS[:, 1:].sum(axis=1)], axis=1)
    return HOLDERS


def drawn(protocol: Any, rng: np.random.Generator, people: Population) -> Tally:
    holders = holders_of(protocol)
    if isinstance(protocol, sdp.Mean):
        return protocol.draw_tally([0.0, 1.0, 2.0], holders, people, rng=rng)
    if isinstance(protocol, sdp.Strings):
        return protocol.draw_tally(WORDS, holders, people, rng=rng)
    tally: Tally = protocol.draw_tally(holders, people, rng=rng)
    return tally


def one_by_one(protocol: Any, rng: np.random.Generator) -> Tally:
    """The tally of nine people who come in some order, randomize, and are shuffled."""
    order = rng.permutation(9)
    levels = PEOPLE.budgets()[order]
    values: Any = np.concatenate([np.repeat(np.arange(3), row) for row in HOLDERS])[
        order
    ]
    if isinstance(protocol, sdp.BinarySum):
        values = np.minimum(values, 1)
    if isinstance(protocol, sdp.Strings):
        values = [WORDS[value] for value in values]
    if isinstance(protocol, sdp.Items):
        values = values[:, None]
    reports = protocol.randomize(values, levels, rng=rng)
    tally: Tally = protocol.tally(sdp.shuffle(reports, rng=rng))
    return tally


def flat(tallies: list[Tally]) -> NDArray[np.float64]:
    """All numbers that vary, shape (trials, numbers)."""
    table = np.array([tally.counts.ravel() for tally in tallies]).astype(np.float64)
    return table[:, np.ptp(table, axis=0) > 0]


def bins(column: NDArray[np.float64]) -> Ints:
    """Six bins at most, at quantiles of both samples together, shape (trials,)."""
    edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, 7)[1:-1]))
    places: Ints = np.searchsorted(edges, column, side="right")
    return places


def differ(first: list[Tally], second: list[Tally]) -> tuple[bool, int]:
    """Whether any two numbers together have another law, and how many pairs were tried."""
    table = flat([*first, *second])
    places = [bins(column) for column in table.T]
    pairs = list(itertools.combinations(places, 2)) or [(places[0], places[0])]
    found = [two_samples(7 * one + other) for one, other in pairs]
    return any(found), len(found)


def two_samples(outcomes: Ints) -> bool:
    """Pearson's test for one law behind the first and the second half."""
    table = np.array(
        [np.bincount(half, minlength=49) for half in np.split(outcomes, 2)], dtype=float
    )
    common = table.sum(axis=0) >= RARE
    rare = table[:, ~common].sum(axis=1, keepdims=True)
    table = table[:, common]
    if rare.sum() >= RARE:
        table = np.hstack([table, rare])
    assert table.shape[1] > 1
    expected = table.sum(axis=0) / 2.0
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic > float(chi2.isf(FALSE_ALARM, table.shape[1] - 1))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ONE_MODE, ids=repr)
def test_drawn_tallies_are_as_likely_as_those_of_people(protocol: Any) -> None:
    rng, trials = np.random.default_rng(31), trials_of(protocol)

    simulated = [drawn(protocol, rng, PEOPLE) for _ in range(trials)]
    collected = [one_by_one(protocol, rng) for _ in range(trials)]

    identity = protocol.identity
    for one, other in zip(simulated, collected, strict=True):
        assert one.identity == other.identity == identity
        assert np.array_equal(one.levels, other.levels)
        assert np.array_equal(one.people, other.people)
        assert one.counts.shape == other.counts.shape
    found, pairs = differ(simulated, collected)
    assert pairs <= 120
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize(
    "protocol",
    [
        sdp.Frequency(3),
        sdp.Frequency(3, "stratified", sdp.UnaryEncoding(3)),
        sdp.Mean(0, 2, randomizer=sdp.Laplace(0, 2, cells=256)),
        sdp.BinarySum(),
        sdp.Strings(4, 1, 2, one_given_zero=0.25),
    ],
    ids=repr,
)
def test_another_law_is_noticed(protocol: Any) -> None:
    rng, trials = np.random.default_rng(32), trials_of(protocol)
    others = Population.from_counts({2.0: 4, 8.0: 5})

    simulated = [drawn(protocol, rng, others) for _ in range(trials)]
    collected = [one_by_one(protocol, rng) for _ in range(trials)]

    found, _ = differ(simulated, collected)
    assert found


CROWD = Population.from_counts({0.5: 4 * 10**9, 1.0: 5 * 10**9, 3.0: 10**9})
ZIPF = 1.0 / np.arange(1, 129)


def spread_over(num_values: int, weights: NDArray[np.float64]) -> Ints:
    """Holders of each level in about these shares, whole people."""
    shares = weights[:num_values] / weights[:num_values].sum()
    holders = np.floor(np.outer(CROWD.counts, shares)).astype(np.int64)
    holders[:, 0] += CROWD.counts - holders.sum(axis=1)
    return holders


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "oracle",
    [
        sdp.KRandomizedResponse(128),
        sdp.HadamardResponse(128),
        sdp.UnaryEncoding(128),
        sdp.SubsetSelection(128, 5),
        sdp.LocalHashing(128, 5),
    ],
    ids=repr,
)
def test_ten_billion_people_are_drawn_and_estimated(oracle: Any, mode: Mode) -> None:
    protocol, holders = sdp.Frequency(128, mode, oracle), spread_over(128, ZIPF)

    tally = protocol.draw_tally(holders, CROWD, rng=np.random.default_rng(33))
    estimate = protocol.estimate(Tally.from_bytes(tally.to_bytes()), CROWD)

    truth = holders.sum(axis=0) / CROWD.num_users
    # Six standard errors, of 1,280 shares: a false alarm in 3e-6 of all seeds.
    assert np.all(np.abs(estimate.value - truth) < 6.0 * estimate.standard_error)
    assert estimate.standard_error.max() < 2e-4
    assert estimate.num_users == 10**10


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "number", [sdp.OneBit(0, 4), sdp.Laplace(0, 4), sdp.Gaussian(0, 4)], ids=repr
)
def test_numbers_of_ten_billion_people_are_drawn_and_estimated(
    number: Any, mode: Mode
) -> None:
    protocol, holders = sdp.Mean(0, 4, mode, number), spread_over(5, np.ones(5))
    values = np.arange(5.0)

    tally = protocol.draw_tally(values, holders, CROWD, rng=np.random.default_rng(34))
    estimate = protocol.estimate(Tally.from_bytes(tally.to_bytes()), CROWD)

    truth = float(holders.sum(axis=0) @ values) / CROWD.num_users
    # Six standard errors, of six means: a false alarm in 1e-8 of all seeds.
    assert abs(estimate.value - truth) < 6.0 * estimate.standard_error
    assert estimate.standard_error < 1e-3


@pytest.mark.parametrize("mode", MODES)
def test_sums_and_strings_of_very_many_people_are_drawn_and_estimated(
    mode: Mode,
) -> None:
    rng = np.random.default_rng(35)
    bits = spread_over(2, np.array([0.7, 0.3]))
    total = sdp.BinarySum(mode)

    found = total.estimate(total.draw_tally(bits, CROWD, rng=rng), CROWD)

    # Six standard errors, of two sums: a false alarm in 4e-9 of all seeds.
    assert abs(found.value - bits[:, 1].sum()) < 6.0 * found.standard_error
    people = Population.from_counts({1.0: 4 * 10**8, 3.0: 10**8})
    held = np.array([[300, 100, 0], [75, 25, 0]]) * 10**6
    strings = sdp.Strings(mode=mode)
    tally = strings.draw_tally(WORDS, held, people, rng=rng)
    estimate = strings.estimate(tally, people, candidates=WORDS)
    off = np.abs(estimate.value - held.sum(axis=0) / people.num_users)
    # Six standard errors, of three strings in two modes.
    assert np.all(off < 6.0 * estimate.standard_error)
    assert estimate.found.tolist() == [True, True, False]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_holders_that_are_not_those_people_are_refused(protocol: Any) -> None:
    rng, good = np.random.default_rng(36), holders_of(protocol)
    # For sets of items, holders of different items may be the same people.
    wrong: list[Any] = [good[:1], good[:, :1], good * 1.0, good - 4, good * 10]
    if not isinstance(protocol, sdp.Items):
        more = good.copy()
        more[0, 0] += 1
        wrong += [more, good[::-1]]

    for holders in wrong:
        values: list[Any] = []
        if isinstance(protocol, sdp.Mean):
            values = [[0.0, 1.0, 2.0]]
        if isinstance(protocol, sdp.Strings):
            values = [WORDS]
        with pytest.raises(InvalidInputError):
            protocol.draw_tally(*values, holders, PEOPLE, rng=rng)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@pytest.mark.parametrize("rng", [sdp.SystemRandom(), None, 3])
def test_crowds_are_drawn_in_simulations_only(protocol: Any, rng: Any) -> None:
    with pytest.raises(InvalidInputError, match="rng"):
        drawn(protocol, rng, PEOPLE)


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.1], [0.0, np.nan, 2.0], [0.0, 1.0]])
def test_values_out_of_range_are_refused(values: list[float]) -> None:
    with pytest.raises(InvalidInputError):
        sdp.Mean(0, 2).draw_tally(
            values, HOLDERS, PEOPLE, rng=np.random.default_rng(37)
        )


def test_a_drawn_tally_is_of_its_protocol_only() -> None:
    tally = sdp.Frequency(3).draw_tally(HOLDERS, PEOPLE, rng=np.random.default_rng(38))

    with pytest.raises(InvalidInputError, match="stratified"):
        sdp.Frequency(3, "stratified").estimate(tally, PEOPLE)
    other = replace(tally, identity=sdp.Frequency(3, "agnostic").identity)
    assert sdp.Frequency(3).estimate(other, PEOPLE).num_users == 9
