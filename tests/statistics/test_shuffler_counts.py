"""Collections whose noise the shuffler adds: as accurate as planned, or refused."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.planning.wish import Wish
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.counts.counts_plan import plan_counts
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.statistic_catalog import protocol_of
from shuffledp.tally import Tally

PEOPLE = sdp.Population.from_counts({0.5: 400, 1.0: 600})
NOISE = sdp.ShufflerNoise(0.6, dummies=50)


def counts_of(noise: Any = NOISE, **more: Any) -> sdp.Counts:
    group = sdp.CountGroup(5, 1, noise)
    terms: dict[str, Any] = {"targets": (0.5, 1.0), "rates": (1.0, 1.0), "honest": 1}
    return sdp.Counts((group,), **(terms | more))


def answers_of(seed: int) -> Any:
    return np.random.default_rng(seed).integers(-1, 5, (PEOPLE.num_users, 1))


def test_every_person_sends_one_message_per_answer() -> None:
    counts, answers = counts_of(), answers_of(1)

    reports = counts.randomize(answers, PEOPLE.budgets(), rng=sdp.SystemRandom())

    # Message 2 b is a + of bucket b; no answer is no message.
    expected = np.where(answers >= 0, 2 * answers, -1)
    np.testing.assert_array_equal(reports.messages, expected)
    assert counts.parameters.mean_messages == 1.0


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("rates", [(1.0, 1.0), (0.4, 1.0)])
@pytest.mark.parametrize("drawn", ["messages", "tally"])
def test_simulated_errors_are_the_predicted_ones(
    rates: tuple[float, float], drawn: str
) -> None:
    counts, rng = counts_of(rates=rates), np.random.default_rng(11)
    answers = answers_of(2)
    held = np.bincount(answers[:, 0] + 1, minlength=6)[1:]
    runs = 100 if drawn == "messages" else 400
    errors, covered = np.empty((runs, 5)), np.empty((runs, 5))
    for run in range(runs):
        targets = rng.permutation(PEOPLE.budgets())
        if drawn == "messages":
            reports = counts.randomize(answers, targets, rng=rng)
            dummies = counts.draw_dummies(rng=rng)
            seen: Any = sdp.shuffle(reports, rng=rng, dummies=dummies)
        else:
            inside = [
                np.bincount(answers[targets == target, 0] + 1, minlength=6)[1:]
                for target in (0.5, 1.0)
            ]
            seen = counts.draw_tally([np.array(inside)], PEOPLE, rng=rng)
        estimate = counts.estimate(seen, PEOPLE)
        errors[run] = estimate.value[0] - held
        low, high = estimate.interval()[0].T
        covered[run] = (low <= held) & (held <= high)

    shares = [held / PEOPLE.num_users]
    (predicted,) = counts.predicted_errors(PEOPLE, shares)
    # Five standard errors, of five means and variances each: a false alarm in 100,000
    # seeds. The standard error of a variance is that of a long-tailed one, with a
    # kurtosis of up to 6.
    assert np.all(np.abs(errors.mean(axis=0)) <= 5.0 * predicted / math.sqrt(runs))
    ratio = errors.var(axis=0) / predicted**2
    assert np.all(np.abs(ratio - 1.0) <= 5.0 * math.sqrt(5.0 / runs))
    # Of 500 intervals or more: five standard errors below 95%.
    assert covered.mean() >= 0.90


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("buckets", "epsilon", "limit"), [(8, 1.0, 2.9), (128, 0.1, 29.0)]
)
def test_a_plan_is_as_accurate_as_a_curator(
    buckets: int, epsilon: float, limit: float
) -> None:
    wish = Wish(targets={epsilon: 100_000})

    plan = plan_counts(wish, buckets=buckets, max_messages=3 if buckets == 8 else 16)

    design = plan.shuffler
    assert design is not None
    assert design.standard_error <= min(limit, 1.001 * plan.curator)
    assert design.messages == 1.0
    assert design.guarantee.levels[0].epsilon_central <= epsilon
    # Trusting the shuffler is a choice: it is recommended to nobody.
    assert design not in plan.designs
    record = plan.to_dict()["noise_from_shuffler"]
    assert sdp.Counts.from_record(record["protocol"]) == design.protocol
    assert record["standard_error"] == design.standard_error


def test_a_single_bucket_is_not_planned() -> None:
    plan = plan_counts(Wish(targets={1.0: 10_000}), buckets=1, max_messages=9)

    assert plan.shuffler is None
    assert any("single bucket" in line for line in plan.left_out)


def test_the_smallest_target_decides_for_all() -> None:
    people = sdp.Population.from_counts({0.5: 100, 1.0: 99_900})
    search = CountsSearch(people, 8, 1, 0.125, 1e-6, people.num_users)

    first, second = search.shuffler(absent=7).guarantee.levels

    assert first.epsilon_central == second.epsilon_central <= 0.5


def test_the_certificate_says_who_adds_the_noise() -> None:
    counts = counts_of()

    guarantee = sdp.account(counts, PEOPLE, delta=1e-6)
    alone = sdp.account(counts, PEOPLE, delta=1e-6, absent=PEOPLE.num_users - 1)

    for level in guarantee.levels:
        assert level.rests_on == "shuffler"
        assert level.epsilon_coalition is None
        assert level.epsilon_central_lower <= level.epsilon_central
    text = " ".join(guarantee.assumptions)
    assert "The shuffler adds the noise, and is trusted to" in text
    assert "keeps their numbers secret from the analyst" in text
    assert any("the noise is the shuffler's" in each for each in guarantee.cautions)
    assert sdp.verify(guarantee).holds
    # Nobody else adds noise: who is absent does not matter.
    for level, other in zip(guarantee.levels, alone.levels, strict=True):
        assert other.epsilon_central == level.epsilon_central
    assert not alone.statements[0].local


def test_a_list_of_protocols_says_who_adds_the_noise() -> None:
    poisson = counts_of(sdp.PoissonNoise(200.0), honest=1_000)
    joint = sdp.account([counts_of(), poisson], PEOPLE, delta=1e-6)

    assert any("The shuffler adds the noise" in each for each in joint.assumptions)


def test_a_floor_bounds_what_shuffler_and_analyst_learn() -> None:
    counts = counts_of(local_epsilon=4.0)

    guarantee = sdp.account(counts, PEOPLE, delta=1e-6)

    assert {level.epsilon_coalition for level in guarantee.levels} == {4.0}
    assert {level.rests_on for level in guarantee.levels} == {"shuffler"}
    small = sdp.account(counts_of(local_epsilon=0.01), PEOPLE, delta=1e-6)
    assert {level.rests_on for level in small.levels} == {"device"}


def test_a_liar_moves_one_count_by_one_answer() -> None:
    counts = counts_of()
    several = sdp.Counts(
        (sdp.CountGroup(5, 3, NOISE), sdp.CountGroup(2, 1, NOISE)),
        (1.0,),
        (1.0,),
        honest=1,
    )

    assert counts.manipulation(PEOPLE, 1)[0].tolist() == [1.0] * 5
    assert counts.manipulation(PEOPLE, 20)[0].tolist() == [20.0] * 5
    people = sdp.Population.from_counts({1.0: 100})
    assert several.manipulation(people, 1)[1].tolist() == [4.0] * 2


def test_one_person_is_counted_among_dummies() -> None:
    counts, people = counts_of(), sdp.Population.from_counts({1.0: 1})
    rng = np.random.default_rng(1)
    reports = counts.randomize(np.array([[-1]]), [1.0], rng=rng)

    shuffled = sdp.shuffle(reports, rng=rng, dummies=counts.draw_dummies(rng=rng))
    estimate = counts.estimate(shuffled, people)

    assert np.all(np.abs(estimate.value[0]) <= 50.0)
    assert estimate.standard_error[0] == pytest.approx(math.sqrt(NOISE.variance))


def test_a_tally_without_dummies_or_with_two_sets_is_refused() -> None:
    counts, rng = counts_of(), np.random.default_rng(1)
    reports = counts.randomize(answers_of(3), PEOPLE.budgets(), rng=rng)
    tallies = [
        counts.tally(
            sdp.shuffle(reports, rng=rng, dummies=counts.draw_dummies(rng=rng))
        )
        for _ in range(2)
    ]
    twice = sdp.Population.from_counts({0.5: 800, 1.0: 1_200})
    plain = ShuffledReports(
        counts.identity,
        reports.messages[reports.messages >= 0],
        None,
        "loose",
        senders=PEOPLE.num_users,
    )

    with pytest.raises(InvalidInputError, match="one shuffle"):
        counts.estimate(tallies[0] + tallies[1], twice)
    with pytest.raises(InvalidInputError, match="loose with dummies"):
        counts.tally(plain)


def _changed(tally: Tally, at: int, value: int) -> Tally:
    numbers = tally.counts.copy()
    numbers[0, 0, at] = value
    return replace(tally, counts=numbers)


def test_tallies_that_nobody_can_have_made_are_refused() -> None:
    counts, rng = counts_of(), np.random.default_rng(1)
    holders = np.zeros((2, 5), dtype=np.int64)
    tally = counts.draw_tally([holders], PEOPLE, rng=rng)
    assert counts.estimate(tally, PEOPLE).num_users == PEOPLE.num_users

    # Messages -, no shuffle, a negative one, too many messages, a negative number.
    for at, value in ((1, 1), (10, 0), (10, -1), (0, 10_000), (2, -1)):
        with pytest.raises(InvalidInputError):
            counts.estimate(_changed(tally, at, value), PEOPLE)
    cut = replace(tally, counts=tally.counts[:, :, :-1])
    with pytest.raises(InvalidInputError):
        counts.estimate(cut, PEOPLE)
    minus = ShuffledReports(
        counts.identity, np.array([1]), None, "loose with dummies", senders=1
    )
    with pytest.raises(InvalidInputError, match="no messages -"):
        counts.tally(minus)


def test_identities_tell_the_noise_apart() -> None:
    counts = counts_of()
    devices = counts_of(sdp.GeometricNoise(0.6, pairs=50.0))

    assert protocol_of(counts.identity) == counts
    assert counts.identity != devices.identity
    assert "shuffler" in str(counts.identity)


_GROUP = sdp.CountGroup(5, 1, NOISE)


@pytest.mark.parametrize(
    "terms",
    [
        {"honest": 2},
        {"report_size": 3},
        {"groups": (_GROUP, sdp.CountGroup(5, 1, sdp.PoissonNoise(9.0)))},
        {"groups": (_GROUP, sdp.CountGroup(5, 1, sdp.SlotNoise(16, 0.6, 5, 6.0)))},
    ],
)
def test_noise_of_both_is_refused(terms: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "groups": (_GROUP,),
        "targets": (1.0,),
        "rates": (1.0,),
        "honest": 1,
    }

    with pytest.raises(InvalidInputError, match="ShufflerNoise"):
        sdp.Counts(**(given | terms))


def test_too_many_dummies_are_refused_before_they_are_drawn() -> None:
    group = sdp.CountGroup(2**20, 1, sdp.ShufflerNoise(0.9999, dummies=100_000))
    counts = sdp.Counts((group,), (1.0,), (1.0,), honest=1)

    with pytest.raises(InvalidInputError, match="dummies in the mean"):
        counts.draw_dummies(rng=np.random.default_rng(1))


def test_questionnaires_take_it_too() -> None:
    question = sdp.ChoiceQuestion("way", ("bike", "bus", "walk"))
    asked = sdp.Questionnaire((question,), (NOISE,), (1.0,), (1.0,), honest=1)
    people, rng = sdp.Population.from_counts({1.0: 900}), np.random.default_rng(2)
    answers = {"way": np.repeat([0, 1, 2], 300)[:, None]}

    reports = asked.randomize(answers, np.ones(900), rng=rng)
    dummies = asked.counts.draw_dummies(rng=rng)
    estimates = asked.estimate(sdp.shuffle(reports, rng=rng, dummies=dummies), people)

    # Six standard deviations.
    assert np.all(
        np.abs(estimates["way"].value - 300.0) <= 6.0 * math.sqrt(NOISE.variance)
    )
    assert np.all(np.isfinite(asked.manipulation(estimates)["way"]))
