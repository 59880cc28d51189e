"""A question with hashed buckets: its rows, its certificate, its plan, its refusals."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.statistics.counts.hashed_counts import hashed_counts
from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
    HashedChoiceEstimate,
)
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows, best_rows

WISH = sdp.Wish(targets={1.0: 10_000})


def test_buckets_are_uniform_and_unrelated_between_rows_keys_and_sizes() -> None:
    rows = HashedRows(60_000, num_rows=3, bits=6)
    every = np.arange(60_000)

    places = rows.buckets(every)

    others = [
        places[:, 0],
        places[:, 1],
        replace(rows, key=1).buckets(every)[:, 2],
        replace(rows, num_rows=4).buckets(every)[:, 2],
        replace(rows, num_categories=60_001).buckets(every)[:, 2],
    ]
    for other in others:
        cells = np.bincount(64 * places[:, 2] + other, minlength=4_096)
        mean = 60_000 / 4_096
        # Chi square of 4,095 degrees of freedom, to five standard deviations.
        assert abs(((cells - mean) ** 2 / mean).sum() - 4_095) < 5 * math.sqrt(8_190)
    assert rows.buckets(np.array([-1])).tolist() == [[-1, -1, -1]]


@pytest.mark.slow
def test_the_certificate_is_that_of_counts_of_the_hashed_buckets() -> None:
    rows = HashedRows(5_000, num_rows=3, bits=7)
    question = sdp.HashedChoiceQuestion("page", 5_000, rows=rows)
    noise, people = (
        (sdp.PoissonNoise(140.0),) * 3,
        sdp.Population.from_counts({1.0: 900}),
    )
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=900)
    plain = sdp.Counts(
        tuple(sdp.CountGroup(128, 1, each) for each in noise),
        (1.0,),
        (1.0,),
        honest=900,
    )

    certified = sdp.account(asked, people, delta=1e-6)
    of_counts = sdp.account(plain, people, delta=1e-6)

    own, other = certified.levels[0], of_counts.levels[0]
    assert own.epsilon_central == other.epsilon_central
    assert own.epsilon_central_lower == other.epsilon_central_lower
    assert sdp.verify(certified.to_dict()).holds
    # The hash functions are part of what is asked: reports under others are refused.
    changed = replace(question, key=1, rows=replace(rows, key=1))
    assert replace(asked, questions=(changed,)).identity != asked.identity


def test_a_collection_counts_those_who_answer() -> None:
    rows = HashedRows(5_000, num_rows=3, bits=7)
    question = sdp.HashedChoiceQuestion("page", 5_000, rows=rows)
    noise, n = (sdp.PoissonNoise(100.0),) * 3, 3_000
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=n)
    answers = np.repeat([4_321, 77, -1], [1_500, 500, 1_000])
    rng = np.random.default_rng(8)

    reports = asked.randomize({"page": answers}, np.full(n, 1.0), rng=rng)
    found = asked.estimate(
        sdp.shuffle(reports, rng=rng), sdp.Population.from_counts({1.0: n})
    )["page"]

    assert isinstance(found, HashedChoiceEstimate)
    assert found.frequent.tolist() == [77, 4_321]
    for category, people in ((4_321, 1_500), (77, 500)):
        error = found.standard_error[category]
        assert abs(found.value[category] - people) < 5.0 * error
        assert error < 8.0
    assert found.labels[77] == "77"
    assert math.isinf(found.manipulation(9)[0])


def test_rows_have_the_smallest_error_of_all_that_are_small_enough() -> None:
    terms: dict[str, Any] = {
        "num_users": 20_000,
        "false_categories": 0.05,
    }
    chosen = best_rows(30_000, variance=36.0, messages=30.0, key=0, **terms)

    assert chosen is not None
    error = chosen.ranked_error(36.0 * chosen.num_rows, **terms)
    for num_rows, bits in itertools.product(range(1, 9), range(6, 15)):
        rows, noise = HashedRows(30_000, num_rows, bits), 36.0 * num_rows
        messages = num_rows + num_rows * rows.row_size * noise / 20_000 / 0.95
        if messages <= 30.0:
            assert rows.ranked_error(noise, **terms) >= error
    assert best_rows(30_000, variance=36.0, messages=1.1, key=0, **terms) is None


@pytest.mark.slow
def test_a_plan_keeps_targets_and_its_limit_of_messages() -> None:
    wish = sdp.Wish(targets={0.5: 2_000, 1.0: 8_000}, absent=1_000)

    design = hashed_counts(wish, buckets=20_000, max_messages=60)

    assert design.hashed is not None
    assert design.messages <= 60.0
    for level in design.guarantee.levels:
        assert level.epsilon_central <= (level.target or 0.0)
    assert design.even_error is not None
    assert design.even_error < design.standard_error
    people = sdp.Population.from_counts(dict(wish.targets or {}))
    again = sdp.account(design.hashed, people, delta=1e-6, absent=1_000)
    assert [level.epsilon_central for level in again.levels] == [
        level.epsilon_central for level in design.guarantee.levels
    ]


def test_what_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(CertificationError, match="not hashed"):
        hashed_counts(WISH, buckets=64, max_messages=16)
    with pytest.raises(CertificationError, match="messages per person"):
        hashed_counts(sdp.Wish(targets={1.0: 100}), buckets=10**6, max_messages=2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: HashedRows(64, 1, 6),
        lambda: HashedRows(2**22 + 1, 1, 6),
        lambda: HashedRows(1_000, 0, 6),
        lambda: HashedRows(1_000, 9, 6),
        lambda: HashedRows(1_000, 2, 5),
        lambda: HashedRows(2**22, 2, 21),
        lambda: HashedRows(1_000, 2, 6, key=-1),
        lambda: HashedRows(1_000, 2, 10),
        lambda: sdp.HashedChoiceQuestion("", 1_000),
        lambda: sdp.HashedChoiceQuestion("page", 64),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, messages=0.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, messages=math.nan),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, false_categories=0.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, false_categories=1.5),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, key=1.5),  # type: ignore[arg-type]
        lambda: sdp.HashedChoiceQuestion("page", 1_000, rows=7),  # type: ignore[arg-type]
        lambda: sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(999, 2, 6)),
        lambda: sdp.HashedChoiceQuestion(
            "page", 1_000, rows=HashedRows(1_000, 2, 6, 1)
        ),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).groups,
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(0, noise=4.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(10, noise=math.inf),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(10, noise=-1.0),
    ],
)
def test_terms_of_no_sense_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize(
    "answers", [[0.5], [-2], [1_000], [1_001], [[1, 2]], ["3"], [None]]
)
def test_answers_that_are_no_categories_are_refused(answers: Any) -> None:
    question = sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(1_000, 2, 6))

    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=np.random.default_rng(1))


def test_a_position_beyond_the_last_is_refused_in_one_line_without_the_position() -> (
    None
):
    question = sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(1_000, 2, 6))

    with pytest.raises(InvalidInputError) as refused:
        question.encode([3, 54_321], rng=np.random.default_rng(1))

    text = "Expected positions of categories from 0 to 999, or -1 for no answer."
    assert str(refused.value) == text


def test_tallies_of_parts_of_the_people_add_up() -> None:
    rows, n = HashedRows(5_000, num_rows=3, bits=7), 2_000
    question = sdp.HashedChoiceQuestion("page", 5_000, rows=rows)
    noise = (sdp.PoissonNoise(100.0),) * 3
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=n)
    rng, people = np.random.default_rng(2), sdp.Population.from_counts({1.0: n})
    pages, targets = np.repeat([9, 4_000], [1_500, 500]), np.full(n, 1.0)

    parts = [
        asked.tally(sdp.shuffle(reports, rng=rng))
        for reports in (
            asked.randomize({"page": pages[:700]}, targets[:700], rng=rng),
            asked.randomize({"page": pages[700:]}, targets[700:], rng=rng),
        )
    ]
    found = asked.estimate(parts[0] + parts[1], people)["page"]

    assert isinstance(found, HashedChoiceEstimate)
    assert found.frequent.tolist() == [9, 4_000]
    off = found.value[found.frequent] - [1_500, 500]
    # Two nearly normal numbers: a false alarm in a million.
    assert np.all(np.abs(off) < 5.0 * found.standard_error[found.frequent])


@pytest.mark.slow
def test_a_plan_states_one_error_of_all_categories() -> None:
    page = sdp.HashedChoiceQuestion("page", 20_000, messages=60)
    way = sdp.ChoiceQuestion("way", ("bus", "car"))

    plan = sdp.plan_questionnaire((page, way), sdp.Wish(targets={1.0: 5_000}))

    stated = plan.to_dict()["questions"]
    assert list(stated["page"]) == ["each category, if all are as frequent"]
    assert list(stated["way"]) == ["bus", "car"]
    errors = plan.expected["page"].standard_error
    assert set(stated["page"].values()) == {errors.max()} == {errors.min()}


@pytest.mark.parametrize("messages", [np.inf, np.nan, 0.0])
def test_messages_per_person_are_a_finite_number_above_0(messages: float) -> None:
    with pytest.raises(sdp.InvalidInputError, match="finitely many messages"):
        sdp.HashedChoiceQuestion("page", 1_000, messages=messages)
