"""No report moves an estimate of a question further than stated; some move it as far.

The oracle is the questionnaire's own estimator, run on the counts of every report there is.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.distribution_estimate import (
    DistributionEstimate,
)
from shuffledp.statistics.questionnaire.question import Question, QuestionEstimate
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints

N, RATE = 40, 0.5
PEOPLE = sdp.Population.from_counts({1.0: N})
# Rounding of estimates, which are about 40.
ROUNDING = 1e-9


def asked_about(question: Question) -> sdp.Questionnaire:
    """A questionnaire with hardly any noise, and reports of two more messages."""
    noise = tuple(sdp.PoissonNoise(1e-6) for _ in question.groups)
    most = sum(group.most for group in question.groups)
    return sdp.Questionnaire((question,), noise, (1.0,), (RATE,), N, most + 2)


def honest_counts(asked: sdp.Questionnaire, answers: Floats, rng_seed: int) -> Ints:
    """Messages of all people but one, whose report is empty."""
    rng = np.random.default_rng(rng_seed)
    tally = asked.draw_tally({"q": answers}, np.full(N, 1.0), rng=rng)
    counts: Ints = tally.counts[0, 0]
    return counts


def estimates_of_all_reports(
    asked: sdp.Questionnaire, honest: Ints
) -> list[QuestionEstimate]:
    devices = asked.counts.randomizer
    size = devices.report_size
    assert size is not None
    estimates = []
    # Sums of coefficients are furthest apart where a report repeats one or two messages.
    for first, second in combinations_with_replacement(range(devices.dummy + 1), 2):
        for times in {0, size // 2, size}:
            added = np.zeros(devices.dummy + 1, np.int64)
            added[first] += times
            added[second] += size - times
            counts = (honest + added[:-1])[None, None, :]
            users = np.array([[N]])
            tally = Tally(asked.identity, np.zeros(0), users, counts)
            estimates.append(asked.estimate(tally, PEOPLE)["q"])
    return estimates


LINEAR = [
    pytest.param(
        sdp.ChoiceQuestion("q", ("a", "b", "c")), np.arange(N) % 3, id="choice"
    ),
    pytest.param(
        sdp.NumberQuestion("q", -10.0, 30.0, digits=3),
        np.linspace(-10.0, 30.0, N),
        id="mean",
    ),
    pytest.param(
        sdp.DistributionQuestion("q", (0.0, 1.0, 2.0, 4.0, 8.0), fan_out=2),
        np.linspace(0.0, 8.0, N),
        id="distribution",
    ),
]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("question", "answers"), LINEAR)
def test_no_report_moves_an_estimate_further_and_one_as_far(
    question: Question, answers: Floats
) -> None:
    asked = asked_about(question)
    estimates = estimates_of_all_reports(asked, honest_counts(asked, answers, 3))

    values = np.array([each.value for each in estimates])
    stated = asked.manipulation({"q": estimates[0]})["q"]

    assert stated.shape == estimates[0].value.shape
    moved = np.ptp(values, axis=0)
    assert np.all(moved <= stated + ROUNDING)
    np.testing.assert_allclose(moved, stated, rtol=1e-9)
    three = asked.manipulation({"q": estimates[0]}, 3)["q"]
    np.testing.assert_allclose(three, 3.0 * stated)


@pytest.mark.slow
def test_no_report_moves_a_quantile_beyond_its_ends() -> None:
    question = sdp.DistributionQuestion("q", (0.0, 1.0, 2.0, 4.0, 8.0), fan_out=2)
    asked = asked_about(question)
    size = asked.counts.randomizer.report_size
    assert size is not None
    shares = [0.1, 0.25, 0.5, 0.75, 0.9]
    estimates = estimates_of_all_reports(
        asked, honest_counts(asked, np.linspace(0.0, 8.0, N), 4)
    )

    found = []
    for each in estimates:
        assert isinstance(each, DistributionEstimate)
        found.append(each.quantiles(shares))
    quantiles = np.array(found)

    for each in estimates[::7]:
        assert isinstance(each, DistributionEstimate)
        low, high = each.quantile_ends(shares, size).T
        assert np.all(low <= quantiles.min(axis=0) + ROUNDING)
        assert np.all(quantiles.max(axis=0) <= high + ROUNDING)
    # The ends say something: they are not those of the range.
    assert isinstance(estimates[-1], DistributionEstimate)
    low, high = estimates[-1].quantile_ends([0.5], 0.5)[0]
    assert 0.0 < low < high < 8.0


@pytest.mark.slow
def test_means_of_groups_are_moved_no_further_than_stated() -> None:
    question = sdp.GroupMeanQuestion("q", ("a", "b"), 0.0, 10.0, digits=1)
    asked = asked_about(question)
    answers = np.column_stack([np.arange(N) % 2, np.linspace(0.0, 10.0, N)])
    honest = honest_counts(asked, answers, 5)
    estimates = estimates_of_all_reports(asked, honest)

    values = np.array([each.value for each in estimates])

    stated = [asked.manipulation({"q": each})["q"] for each in estimates]
    for value, shift in zip(values, stated, strict=True):
        assert np.all(np.abs(values - value) <= shift + ROUNDING)
    # A message counts in one term of a ratio, and the bound lets it count in both; and from
    # the middle it can go half of the way.
    nearest = int(np.argmin(np.abs(values - np.median(values, axis=0)).sum(axis=1)))
    moved = np.abs(values - values[nearest]).max(axis=0)
    assert np.all(np.isfinite(stated[nearest]))
    assert np.all(stated[nearest] <= 4.5 * moved)


@pytest.mark.slow
def test_a_group_that_liars_could_make_up_has_no_bound() -> None:
    question = sdp.GroupMeanQuestion("q", ("a", "b"), 0.0, 10.0, digits=1)
    asked = asked_about(question)
    answers = np.column_stack([np.zeros(N), np.linspace(0.0, 10.0, N)])
    estimate = estimates_of_all_reports(asked, honest_counts(asked, answers, 6))[-1]

    shift = asked.manipulation({"q": estimate})["q"]

    assert shift[1] == math.inf


def test_more_liars_than_people_are_refused() -> None:
    asked = asked_about(sdp.ChoiceQuestion("q", ("a", "b")))
    estimate = estimates_of_all_reports(
        asked, honest_counts(asked, np.zeros(N, int), 7)
    )

    for num_liars in (0, N + 1):
        with pytest.raises(InvalidInputError, match="dishonest people"):
            asked.manipulation({"q": estimate[0]}, num_liars)


def test_what_is_no_number_of_people_is_refused() -> None:
    asked = asked_about(sdp.ChoiceQuestion("q", ("a", "b")))
    honest = honest_counts(asked, np.zeros(N, int), 7)
    estimates = {"q": estimates_of_all_reports(asked, honest)[0]}

    for num_liars in (math.nan, 1.5, None, True, "1"):
        with pytest.raises(InvalidInputError, match=r"whole number of .* from 1 to 40"):
            asked.manipulation(estimates, num_liars)  # type: ignore[arg-type]


def test_what_is_no_estimate_of_a_question_is_refused() -> None:
    asked = asked_about(sdp.ChoiceQuestion("q", ("a", "b")))
    honest = honest_counts(asked, np.zeros(N, int), 7)
    estimate = estimates_of_all_reports(asked, honest)[0]

    with pytest.raises(InvalidInputError, match="estimates of 'q', got one of 'zzz'"):
        asked.manipulation({"q": estimate, "zzz": estimate})
    with pytest.raises(InvalidInputError, match="QuestionEstimate, got int"):
        asked.manipulation({"q": 3})  # type: ignore[dict-item]


def test_reports_of_no_fixed_size_have_no_bound() -> None:
    question = sdp.ChoiceQuestion("q", ("a", "b"))
    asked = sdp.Questionnaire((question,), (sdp.PoissonNoise(9.0),), (1.0,), (1.0,), N)
    rng = np.random.default_rng(8)
    tally = asked.draw_tally({"q": np.zeros(N, int)}, np.full(N, 1.0), rng=rng)

    shift = asked.manipulation(asked.estimate(tally, PEOPLE))["q"]

    assert np.all(np.isinf(shift))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("num_liars", [1, 3])
def test_no_reports_move_shares_of_those_who_answered_further(num_liars: int) -> None:
    edges = (0.0, 1.0, 2.0, 4.0, 8.0)
    question = sdp.DistributionQuestion("q", edges, fan_out=2, skippable=True)
    asked = asked_about(question)
    size = asked.counts.randomizer.report_size
    assert size is not None
    rng = np.random.default_rng(9)
    answers = np.where(np.arange(N) % 4 > 0, np.linspace(0.0, 8.0, N), np.nan)
    honest = honest_counts(asked, answers, 9)
    # The worst reports repeat one message; random ones are in between.
    repeated = size * np.eye(honest.size, dtype=np.int64)
    drawn = rng.multinomial(size, np.full(honest.size, 1.0 / honest.size), size=40)
    reports = np.concatenate([repeated, drawn])

    def estimated(counts: Ints) -> DistributionEstimate:
        tally = Tally(asked.identity, np.zeros(0), np.array([[N]]), counts[None, None])
        estimate = asked.estimate(tally, PEOPLE)["q"]
        assert isinstance(estimate, DistributionEstimate)
        return estimate

    estimates = [estimated(honest + num_liars * report) for report in reports]
    values = np.array([each.distribution().value for each in estimates])
    quantiles = np.array([each.quantiles([0.25, 0.5, 0.75]) for each in estimates])

    told = 0
    for each, value in zip(estimates, values, strict=True):
        stated = each.distribution().manipulation(size, num_liars)
        assert np.all(np.abs(values - value) <= stated + ROUNDING)
        low, high = each.quantile_ends([0.25, 0.5, 0.75], size, num_liars).T
        assert np.all(low <= quantiles.min(axis=0) + ROUNDING)
        assert np.all(quantiles.max(axis=0) <= high + ROUNDING)
        told += bool(np.all(np.isfinite(stated)))
    # A message counts in one term of a ratio, and the bound lets it count in both.
    if num_liars == 1:
        nearest = int(np.argmin(np.abs(values - np.median(values, axis=0)).sum(axis=1)))
        stated = estimates[nearest].distribution().manipulation(size)
        assert told == len(estimates)
        assert np.all(stated <= 8.0 * np.abs(values - values[nearest]).max(axis=0))


def test_shares_that_liars_could_make_up_have_no_bound() -> None:
    edges = (0.0, 4.0, 8.0)
    question = sdp.DistributionQuestion("q", edges, fan_out=2, skippable=True)
    asked = asked_about(question)
    answers = np.where(np.arange(N) == 0, 2.0, np.nan)
    rng = np.random.default_rng(10)
    tally = asked.draw_tally({"q": answers}, np.full(N, 1.0), rng=rng)
    estimate = asked.estimate(tally, PEOPLE)["q"]
    assert isinstance(estimate, DistributionEstimate)

    assert np.all(np.isinf(estimate.distribution().manipulation(4.0)))
    # The median of numbers that are all in the first range, or all in the last.
    np.testing.assert_allclose(estimate.quantile_ends([0.5], 4.0), [[2.0, 6.0]])


def test_reports_without_messages_move_nothing() -> None:
    for skippable in (False, True):
        question = sdp.DistributionQuestion(
            "q", (0.0, 4.0, 8.0), fan_out=2, skippable=skippable
        )
        asked = asked_about(question)
        rng = np.random.default_rng(11)
        tally = asked.draw_tally(
            {"q": np.linspace(0.0, 8.0, N)}, np.full(N, 1.0), rng=rng
        )
        estimate = asked.estimate(tally, PEOPLE)["q"]
        assert isinstance(estimate, DistributionEstimate)
        assert estimate.distribution().manipulation(0.0).tolist() == [0.0]
        low, high = estimate.quantile_ends([0.5], 0.0)[0]
        assert low == pytest.approx(high)
        # What no message moves, no number of them does.
        assert not np.any(np.isnan(estimate.answered.manipulation(math.inf)))
