"""Tables of several attributes and means by group: buckets, margins and intervals."""

import itertools
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.pairs_question import PairsQuestion
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts
from shuffledp.statistics.questionnaire.table_question import TableQuestion

RNG = np.random.default_rng(3)
ATTRIBUTES = {"a": ("x", "y"), "b": ("x", "y", "z"), "c": ("p", "q", "r", "s")}
SIZES = (2, 3, 4)


def _counts(question: Any, answers: Any, variances: Any) -> QuestionCounts:
    """Returns exact counts that state noise of the given variances."""
    encoded = question.encode(answers, rng=np.random.default_rng(1))
    groups, first = [], 0
    for group, variance in zip(question.groups, variances, strict=True):
        here = encoded[:, first : first + group.most].ravel()
        first += group.most
        held = np.bincount(here + 1, minlength=group.buckets + 1)[1:]
        groups.append(GroupCounts(held.astype(float), variance, 0.0, group.most))
    return QuestionCounts(tuple(groups), len(encoded), 0.0, 0.0)


def _answers(n: int) -> Any:
    return np.random.default_rng(7).integers(0, SIZES, (n, 3))


def test_cells_and_margins_of_a_table_count_people() -> None:
    question, rows = TableQuestion("t", ATTRIBUTES), _answers(200)
    estimate = question.estimate(_counts(question, rows, [5.0]))
    places = itertools.product(*(range(size) for size in SIZES))
    expected = [np.sum(np.all(rows == place, axis=1)) for place in places]
    np.testing.assert_array_equal(estimate.value, expected)
    np.testing.assert_allclose(estimate.standard_error**2, 5.0)
    assert estimate.labels[5] == "a=x, b=y, c=q"

    margin = estimate.margin("c", "a")
    expected = [
        np.sum((rows[:, 2] == c) & (rows[:, 0] == a))
        for c in range(4)
        for a in range(2)
    ]
    np.testing.assert_array_equal(margin.value, expected)
    # Three cells of b are added up.
    np.testing.assert_allclose(margin.standard_error**2, 15.0)
    assert margin.labels[1] == "c=p, a=y"


@pytest.mark.parametrize("names", [(), ("d",), ("a", "a"), ("a", "d"), (["a"],)])
def test_other_margins_are_refused(names: tuple[Any, ...]) -> None:
    question = TableQuestion("t", ATTRIBUTES)
    estimate = question.estimate(_counts(question, _answers(10), [1.0]))
    with pytest.raises(InvalidInputError, match="names among a, b, c"):
        estimate.margin(*names)


def test_all_pairs_count_people() -> None:
    question, rows = PairsQuestion("t", ATTRIBUTES), _answers(200)
    estimate = question.estimate(_counts(question, rows, [5.0]))
    expected = [
        np.sum((rows[:, i] == one) & (rows[:, j] == other))
        for i, j in ((0, 1), (0, 2), (1, 2))
        for one in range(SIZES[i])
        for other in range(SIZES[j])
    ]
    np.testing.assert_array_equal(estimate.value, expected)
    np.testing.assert_allclose(estimate.standard_error**2, 5.0)
    assert estimate.labels[6] == "a=x, c=p"
    (group,) = question.groups
    assert (group.buckets, group.most) == (26, 3)


def test_people_without_an_answer_lie_in_no_cell() -> None:
    rows = [[1, -1, 0]]
    assert TableQuestion("t", ATTRIBUTES).encode(rows, rng=RNG).tolist() == [[-1]]
    assert PairsQuestion("t", ATTRIBUTES).encode(rows, rng=RNG).tolist() == [
        [-1, 10, -1]
    ]


@pytest.mark.parametrize("kind", [TableQuestion, PairsQuestion])
@pytest.mark.parametrize(
    "rows",
    [
        [[0, 0]],
        [0, 0, 0],
        [[0, 0, 4]],
        [[3, 0, 0]],
        [[2, 0, 0]],
        [[-2, 0, 0]],
        [[0.0, 0.0, 0.0]],
        [[np.nan, 0, 0]],
        [["x", "x", "p"]],
    ],
)
def test_other_answers_are_refused(kind: Any, rows: Any) -> None:
    with pytest.raises(InvalidInputError):
        kind("t", ATTRIBUTES).encode(rows, rng=RNG)


@pytest.mark.parametrize("kind", [TableQuestion, PairsQuestion])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"a": ("x", "y")},
        {"a": ("x", "y"), "b": ("x",)},
        {"a": ("x", "y"), "b": ("x", "x")},
        {"a": ("x", "y"), "b": "xy"},
        {"a": ("x", "y"), "": ("x", "y")},
        {"a": ("x", "y"), "b": (1, 2)},
        {str(index): ("x", "y") for index in range(17)},
        (("a", ("x", "y")), ("b", ("x", "y"))),
    ],
)
def test_other_attributes_are_refused(kind: Any, attributes: Any) -> None:
    with pytest.raises(InvalidInputError):
        kind("t", attributes)


def test_means_by_group_are_ratios_of_rounded_sums() -> None:
    question = GroupMeanQuestion("m", ("a", "b"), -1.0, 6.0, digits=3)
    rng = np.random.default_rng(4)
    group, number = rng.integers(-1, 2, 300), rng.integers(-1, 7, 300)
    variances = np.array([2.0, 5.0, 3.0])
    rows = np.stack([group, number], axis=1)
    estimate = question.estimate(_counts(question, rows, variances))
    weights = np.array([4.0, 2.0, 1.0]) / 7.0
    for place in range(2):
        held = number[group == place]
        # Whole numbers are whole steps, up to rounding errors of one division.
        assert estimate.value[place] == pytest.approx(held.mean(), abs=0.1)
        assert estimate.people.value[place] == pytest.approx(len(held))
        count_variance = 2.0 / np.sum(1.0 / variances)
        assert estimate.people.standard_error[place] ** 2 == pytest.approx(
            count_variance
        )
        ratio = (estimate.value[place] - 2.5) / 3.5
        noise = 2.0 * weights**2 @ variances + ratio**2 * count_variance
        total = 3.5**2 * (noise + len(held) / 49.0) / len(held) ** 2
        assert estimate.standard_error[place] ** 2 == pytest.approx(total)


def test_ends_of_fieller_intervals_solve_the_quadratic_equation() -> None:
    question = GroupMeanQuestion("m", ("a", "b"), 0.0, 1.0, digits=4)
    rows = np.stack([np.repeat([0, 1], [40, 70]), np.linspace(0, 1, 110)], axis=1)
    counts = _counts(question, rows, [30.0] * 4)
    estimate = question.estimate(counts)
    weights = np.array([8.0, 4.0, 2.0, 1.0]) / 15.0
    for place, ends in enumerate(estimate.interval(0.95)):
        n = estimate.people.value[place]
        mean = 2.0 * estimate.value[place] - 1.0
        total = n * mean
        # One message moves T - mean N by the largest weight, and a fourth of the mean.
        variance = 60.0 * weights @ weights + n / 225.0 + mean**2 * 15.0
        step = (8.0 / 15.0 + abs(mean) / 4.0) / np.sqrt(variance)
        for theta in 2.0 * ends - 1.0:
            variance = 60.0 * weights @ weights + n / 225.0 + theta**2 * 15.0
            reached = abs(total - theta * n) / np.sqrt(variance)
            assert reached == pytest.approx(1.959964 + 0.576219 * step, rel=1e-6)
        assert ends[0] < estimate.value[place] < ends[1]


def test_tiny_groups_have_unbounded_intervals() -> None:
    question = GroupMeanQuestion("m", ("many", "few", "none"), 0.0, 1.0, digits=2)
    rows = [[0, 0.5]] * 500 + [[1, 0.5]] * 5
    estimate = question.estimate(_counts(question, rows, [50.0, 50.0]))
    intervals = estimate.interval()
    assert np.all(np.isfinite(intervals[0]))
    np.testing.assert_array_equal(intervals[1:], [[-np.inf, np.inf]] * 2)
    assert np.isfinite(estimate.value[1])
    assert np.isnan(estimate.value[2])
    assert estimate.standard_error[2] == np.inf


@pytest.mark.parametrize(
    "rows",
    [
        [0.5],
        [[0, 0.5, 1.0]],
        [[2, 0.5]],
        [[-2, 0.5]],
        [[0.5, 0.5]],
        [[np.nan, 0.5]],
        [[0, np.nan]],
        [[-1, np.nan]],
        [[0, 1.1]],
        [["a", 0.5]],
    ],
)
def test_other_groups_and_numbers_are_refused(rows: Any) -> None:
    question = GroupMeanQuestion("m", ("a", "b"), 0.0, 1.0, digits=3)
    with pytest.raises(InvalidInputError):
        question.encode(rows, rng=RNG)


@pytest.mark.parametrize(
    "terms",
    [
        ("m", ("a",), 0.0, 1.0),
        ("m", ("a", "a"), 0.0, 1.0),
        ("m", ("a", 1), 0.0, 1.0),
        ("m", ("a", "b"), 0.0, np.nan),
        ("m", ("a", "b"), 1.0, 1.0),
        ("m", ("a", "b"), 0.0, 1.0, 25),
        ("", ("a", "b"), 0.0, 1.0),
    ],
)
def test_other_terms_of_means_by_group_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidInputError):
        GroupMeanQuestion(*terms)


@pytest.mark.slow
def test_intervals_of_joint_questions_cover_the_truth() -> None:
    """False alarms: about 1e-4 of a coverage, below 1e-8 of a mean error."""
    n, rng = 20_000, np.random.default_rng(11)
    questions = (
        TableQuestion("table", ATTRIBUTES),
        PairsQuestion("pairs", ATTRIBUTES),
        GroupMeanQuestion("means", tuple("abcdefghijklmnop"), 0.0, 1.0),
    )
    plan = sdp.plan_questionnaire(questions, sdp.Wish(targets={1.0: n}))
    asked, people = plan.questionnaire, sdp.Population.from_counts({1.0: n})
    rows, group, number = _answers(n), rng.integers(0, 16, n), rng.beta(2.0, 5.0, n)
    answers = {
        "table": rows,
        "pairs": rows,
        "means": np.stack([group, number], axis=1),
    }
    means = np.bincount(group, weights=number) / np.bincount(group)
    truth: dict[str, Any] = {"means": means}
    for question in questions[:2]:
        held = question.encode(rows, rng=rng).ravel()
        truth[question.name] = np.bincount(held, minlength=question.groups[0].buckets)
    errors: dict[str, list[Any]] = {name: [] for name in truth}
    covered: dict[str, list[Any]] = {name: [] for name in truth}
    for _ in range(150):
        tally = asked.draw_tally(answers, np.full(n, 1.0), rng=rng)
        for name, estimate in asked.estimate(tally, people).items():
            low, high = estimate.interval().T
            errors[name].append(
                (estimate.value - truth[name]) / estimate.standard_error
            )
            covered[name].append((low <= truth[name]) & (truth[name] <= high))
    for name, scaled in errors.items():
        # Labels of one tally are about independent: at least 2,400 intervals each, with a
        # standard error of 0.45% or less around 95%.
        assert 0.93 <= np.mean(covered[name]) <= 0.97
        assert abs(np.mean(scaled)) <= 6.0 / np.sqrt(np.size(scaled))
