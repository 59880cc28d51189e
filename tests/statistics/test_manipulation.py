"""No report of a dishonest person moves an estimate further than stated, and one does.

The oracle is the estimator itself, run on the counts of every report there is.
"""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.manipulation import largest_shift
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.reports import ShuffledReports
from shuffledp.types import Mode

PEOPLE = sdp.Population.from_counts({0.5: 3, 1.0: 4, 2.0: 2})
# Rounding of the estimators, whose numbers are about 1.
ROUNDING = 1e-12
MODES: tuple[Mode, ...] = ("agnostic", "stratified")


def oracle_reports(oracle: Any) -> np.ndarray[Any, Any]:
    """Returns every report that the analyst accepts of one person."""
    k = oracle.num_categories
    if isinstance(oracle, UnaryEncoding):
        return np.array(list(product([False, True], repeat=k)))
    if isinstance(oracle, SubsetSelection):
        return np.array(list(combinations(range(k), oracle.subset_size)))
    if isinstance(oracle, HadamardResponse):
        rows = []
        for message in range(64):
            try:
                oracle.check_messages(np.array([message]))
            except InvalidInputError:
                break
            rows.append(message)
        return np.array(rows)
    return np.arange(k)


def largest_moves(
    protocol: Any, honest: np.ndarray[Any, Any], reports: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Returns the largest shift of each number by one report of any of the people."""
    levels = PEOPLE.budgets()
    largest: np.ndarray[Any, Any] = np.zeros(1)
    # One person of each level: those of a level count alike.
    for person in np.cumsum(PEOPLE.counts) - 1:
        values = []
        for report in reports:
            sent = honest.copy()
            sent[person] = report
            arrangement: Any = getattr(protocol, "arrangement", "rows")
            seen = ShuffledReports(protocol.identity, sent, levels, arrangement)
            values.append(np.atleast_1d(protocol.estimate(seen, PEOPLE).value))
        moved = np.ptp(np.array(values), axis=0)
        largest = np.maximum(largest, moved)
    return largest


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "oracle",
    [
        sdp.KRandomizedResponse(3),
        UnaryEncoding(3),
        SubsetSelection(4, 2),
        HadamardResponse(3),
    ],
    ids=lambda oracle: oracle.mechanism,
)
def test_no_report_moves_a_share_further_and_one_moves_it_as_far(
    oracle: Any, mode: Mode
) -> None:
    protocol = sdp.Frequency(oracle.num_categories, mode, oracle)
    reports = oracle_reports(oracle)
    rng = np.random.default_rng(1)
    honest = reports[rng.integers(len(reports), size=PEOPLE.num_users)]

    bound = protocol.manipulation(PEOPLE)

    moved = largest_moves(protocol, honest, reports)
    assert np.all(moved <= bound + ROUNDING)
    assert np.all(moved >= bound - ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("randomizer", "tight"),
    [
        (sdp.OneBit(0.0, 10.0), True),
        (sdp.GridResponse(0.0, 10.0, num_values=8), True),
        (sdp.ClipLaplace(5.0, cells=8), False),
    ],
    ids=lambda value: getattr(value, "mechanism", str(value)),
)
def test_no_message_moves_a_mean_further(
    randomizer: Any, tight: bool, mode: Mode
) -> None:
    protocol = sdp.Mean(0.0, 10.0, mode, randomizer)
    messages = np.arange(2 if isinstance(randomizer, sdp.OneBit) else 8)
    bound = protocol.manipulation(PEOPLE)

    moved = 0.0
    # From honest people who are all alike, at either end, to a mixture of both.
    for others in range(0, PEOPLE.num_users + 1, 3):
        honest = np.where(np.arange(PEOPLE.num_users) < others, messages[-1], 0)
        moved = max(moved, *largest_moves(protocol, honest, messages))

    assert moved <= bound * (1.0 + ROUNDING)
    # The bound of a curved channel is for the steepest part of it, wherever reports lie.
    assert moved >= bound * (1.0 - ROUNDING) if tight else moved >= 0.3 * bound


def test_a_message_of_laplace_is_far_out() -> None:
    protocol = sdp.Mean(0.0, 10.0, randomizer=sdp.Laplace(0.0, 10.0))
    cells = np.array([-(2**40), 2**40 + 4095])

    low, high = sdp.Laplace(0.0, 10.0).decode(cells)

    # At slope 1 every message counts 1 / n; decoding rounds in the last digits.
    assert protocol.manipulation(PEOPLE) == pytest.approx((high - low) / 9, rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_no_bit_moves_a_sum_further_and_one_moves_it_as_far(mode: Mode) -> None:
    protocol = sdp.BinarySum(mode)
    honest = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0], dtype=np.uint8)

    (moved,) = largest_moves(protocol, honest, np.arange(2))

    assert moved == pytest.approx(protocol.manipulation(PEOPLE), rel=1e-12)


def test_no_report_moves_a_share_of_items_further_and_one_moves_it_as_far() -> None:
    protocol = sdp.Items(2, 1, (0.5, 1.0, 2.0), (0.4, 0.7, 1.0), 0.5, report_size=3)
    reports = list(product(range(3), repeat=3))
    honest = np.random.default_rng(1).integers(0, 3, (PEOPLE.num_users, 3))

    values = []
    for report in reports:
        sent = honest.copy()
        sent[0] = report
        seen = ShuffledReports(protocol.identity, sent, None, "pool")
        values.append(protocol.estimate(seen, PEOPLE).value)

    moved = np.ptp(np.array(values), axis=0)
    bound = protocol.manipulation(PEOPLE)
    assert np.all(moved <= bound + ROUNDING)
    assert np.all(moved >= bound - ROUNDING)
    assert np.array_equal(bound, protocol.manipulation(ChoiceCounts.of(PEOPLE)))


def test_reports_without_a_fixed_size_move_a_count_without_bound() -> None:
    people = sdp.Population.from_counts({1.0: 500})
    group = sdp.CountGroup(3, 1, sdp.GeometricNoise(0.64, pairs=800.0, shape=8.0))
    protocol = sdp.Counts((group,), (1.0,), (0.8,), honest=500)

    (bound,) = protocol.manipulation(people)

    assert protocol.randomizer.report_size is None
    assert np.isinf(bound).tolist() == [True] * 3


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_cohorts", [1, 2])
def test_no_bits_move_a_share_of_strings_further(num_cohorts: int, mode: Mode) -> None:
    people = sdp.Population.from_counts({2.0: 40, 4.0: 20})
    protocol = sdp.Strings(4, 1, num_cohorts, mode=mode)
    rng = np.random.default_rng(3)
    names = np.array(["a", "b"])[rng.integers(2, size=60)]
    sent = protocol.randomize(names, people.budgets(), rng=rng)
    known = ("a", "b")

    def estimated(bits: np.ndarray[Any, Any]) -> Any:
        levels = people.budgets()
        seen = ShuffledReports(protocol.identity, bits, levels, "columns", sent.cohorts)
        return protocol.estimate(seen, people, candidates=known)

    bound = protocol.manipulation(people, estimate=estimated(sent.messages))
    moved = np.zeros(3)
    # One person of each level and cohort.
    for person in (0, 1, 40, 41):
        values = []
        for report in product([False, True], repeat=4):
            bits = sent.messages.copy()
            bits[person] = report
            estimate = estimated(bits)
            values.append([*estimate.value, estimate.unexplained])
        moved = np.maximum(moved, np.ptp(np.array(values), axis=0))

    # Weights of several cohorts move with the report, by little; one cohort has none.
    slack = ROUNDING if num_cohorts == 1 else 0.05
    assert np.all(moved <= bound * (1.0 + slack))
    assert np.all(moved >= bound * (1.0 - slack))


def test_strings_that_were_not_decoded_have_no_bound() -> None:
    people = sdp.Population.from_counts({2.0: 40})
    one = np.array([0.5])
    estimate = sdp.StringEstimate(
        ("a",), one, one, one, one > 0.0, 0.05, 0.5, 0.1, 1.0, 40, "agnostic"
    )
    with pytest.raises(InvalidInputError, match="decoded from reports"):
        sdp.Strings(4, 1, 1).manipulation(people, estimate=estimate)


@pytest.mark.parametrize("mode", MODES)
def test_more_people_move_as_much_as_the_most_influential_of_them(mode: Mode) -> None:
    protocol = sdp.Frequency(2, mode)
    keep, flip = protocol.randomizer.densities(PEOPLE.epsilons)
    gaps = np.repeat(keep - flip, PEOPLE.counts)

    each = 1.0 / gaps if mode == "stratified" else np.full(9, 1.0 / gaps.mean())
    for number in range(1, 10):
        expected = np.sort(each)[-number:].sum() / 9
        bound = protocol.manipulation(PEOPLE, number)
        assert bound == pytest.approx(np.full(2, expected), rel=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_many_may_move_a_curved_mean_by_less_than_each_alone(mode: Mode) -> None:
    protocol = sdp.Mean(0.0, 10.0, mode, sdp.ClipLaplace(5.0, cells=64))
    alone = protocol.manipulation(PEOPLE)

    bounds = [protocol.manipulation(PEOPLE, number) for number in range(1, 10)]

    assert bounds == sorted(bounds)
    assert all(b <= m * alone * 1.01 for m, b in enumerate(bounds, start=1))


@pytest.mark.parametrize("number", [0, -1, 10])
def test_numbers_of_people_are_refused(number: int) -> None:
    for protocol in (
        sdp.Frequency(2),
        sdp.Frequency(2, "stratified"),
        sdp.Mean(0, 1),
        sdp.Mean(0, 1, "stratified"),
        sdp.BinarySum(),
        sdp.Items(2, 1, (0.5, 1.0, 2.0), (0.4, 0.7, 1.0), 0.5),
    ):
        with pytest.raises(InvalidInputError, match="dishonest people from 1 to 9"):
            protocol.manipulation(PEOPLE, number)


def test_groups_without_a_bound_count_where_a_liar_is_in_them() -> None:
    shifts = np.array([[1.0, np.inf], [2.0, 1.0]])

    assert largest_shift(shifts, np.array([5, 1]), 1).tolist() == [2.0, np.inf]
    assert largest_shift(shifts, np.array([5, 1]), 2).tolist() == [3.0, np.inf]
