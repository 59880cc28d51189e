"""Errors that plans predict for stated means are those of collections."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp

GROUPS = ("north", "south")


def answers(skips: bool, mean: float) -> Any:
    """Returns numbers of a mean, of two equal groups or with a third of skips."""
    numbers = np.tile([mean - 5.0, mean + 5.0], 1_500)
    if skips:
        return np.where(np.arange(3_000) % 3 == 0, np.nan, numbers)
    return np.stack([np.arange(3_000) // 2 % 2, numbers], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("skips", [False, True])
def test_errors_for_a_stated_mean_are_those_of_a_simulation(skips: bool) -> None:
    question = (
        sdp.NumberQuestion("pay", 0, 100, 6, skippable=True)
        if skips
        else sdp.GroupMeanQuestion("pay", GROUPS, 0, 100, 6)
    )
    wish, rng = sdp.Wish(targets={1.0: 3_000}), np.random.default_rng(5)
    plan = sdp.plan_questionnaire((question,), wish, expected_means={"pay": 8.0})
    asked, people = plan.questionnaire, sdp.Population.from_counts({1.0: 3_000})

    given, targets = {"pay": answers(skips, 8.0)}, np.full(3_000, 1.0)
    # Equal groups have different noise: each is a draw of its own.
    means = [
        asked.estimate(asked.draw_tally(given, targets, rng=rng), people)["pay"].value
        for _ in range(800 if skips else 400)
    ]

    predicted = float(plan.expected["pay"].standard_error[0])
    # Five standard errors of a deviation of 800 means, and rounding, which is bounded.
    assert np.std(means) == pytest.approx(predicted, rel=0.14)
    middle = sdp.plan_questionnaire((question,), wish)
    least = float(middle.expected["pay"].standard_error[0])
    assert least < 0.95 * predicted
    assert plan.assumption is not None
    assert "pay 8)" in plan.assumption.meaning
    assert ("skip" in plan.assumption.meaning) is skips


def test_means_of_other_questions_are_refused() -> None:
    questions = (
        sdp.ChoiceQuestion("way", ("bus", "car")),
        sdp.NumberQuestion("age", 0, 9),
    )
    wish = sdp.Wish(targets={1.0: 3_000})

    for means in ({"way": 1.0}, {"pay": 1.0}, {"age": 10.0}, {"age": float("nan")}):
        with pytest.raises(sdp.InvalidInputError, match="mean"):
            sdp.plan_questionnaire(questions, wish, expected_means=means)
    with pytest.raises(sdp.InvalidInputError):
        sdp.plan_questionnaire(questions, wish, expected_means=[1.0])  # type: ignore[arg-type]


def test_errors_that_depend_on_no_mean_assume_none() -> None:
    questions = (sdp.NumberQuestion("age", 0, 9, digits=2),)

    plan = sdp.plan_questionnaire(
        questions, sdp.Wish(targets={1.0: 3_000}), expected_means={"age": 1.0}
    )

    assert plan.assumption is None
    assert plan.to_dict()["assumed"] is None
