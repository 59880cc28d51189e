"""Few people with small targets, and what that costs all."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.planning.strict_targets import strict_targets, without_strict_targets


@pytest.mark.parametrize(
    ("targets", "eased"),
    [
        ({0.3: 4, 1.0: 96}, {1.0: 100}),
        ({0.3: 5, 1.0: 95}, None),
        ({1.0: 100}, None),
        ({0.1: 2, 0.3: 2, 1.0: 50, 2.0: 46}, {1.0: 54, 2.0: 46}),
        ({2.0: 45, 1.0: 50, 0.3: 3, 0.1: 2}, {0.3: 5, 1.0: 50, 2.0: 45}),
    ],
)
def test_few_people_get_the_smallest_target_of_others(
    targets: dict[float, int], eased: dict[float, int] | None
) -> None:
    wish = sdp.Wish(targets=targets, absent=1)

    other = without_strict_targets(wish)

    if eased is None:
        assert other is None
    else:
        assert other == sdp.Wish(targets=eased, absent=1)


def test_a_small_cost_is_not_spoken_of() -> None:
    wish = sdp.Wish(targets={0.3: 1, 0.9: 1, 1.0: 2_998})
    eased = sdp.Wish(targets={1.0: 3_000})

    for factor in (1.5, 1.0, 0.0, float("nan")):
        assert strict_targets(wish, eased, factor) is None
    strict = strict_targets(wish, eased, 3.0117)
    assert strict is not None
    assert strict.meaning == (
        "2 of 3,000 people ask for a target below 1, which makes predicted errors about "
        "3.01 times as large as if they asked for 1."
    )
    assert strict.to_dict()["factor"] == 3.0117


@pytest.mark.slow
def test_the_factor_is_that_of_a_plan_without_these_people() -> None:
    questions = (
        sdp.ChoiceQuestion("way", ("bus", "car", "bike")),
        sdp.NumberQuestion("age", 0, 100),
    )

    plan = sdp.plan_questionnaire(questions, sdp.Wish(targets={0.3: 1, 1.0: 2_999}))
    without = sdp.plan_questionnaire(questions, sdp.Wish(targets={1.0: 2_999}))

    assert plan.strict is not None
    assert without.strict is None
    factors = [
        float(np.min(plan.expected[name].standard_error / estimate.standard_error))
        for name, estimate in without.expected.items()
    ]
    # One person more or less.
    assert plan.strict.factor == pytest.approx(min(factors), rel=5e-3)
    assert min(factors) > 2.0
    assert plan.to_dict()["strict_targets"]["people"] == 1
