import json

import numpy as np
import pytest

from shuffledp import CertificationError, Frequency, InvalidInputError, Population
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.statistics.frequency import compared_protocols
from shuffledp.statistics.frequency import frequency_plan as planning
from shuffledp.statistics.frequency.frequency_plan import plan_frequency
from shuffledp.types import Mode

LEVELS = {0.5: 60, 2.0: 140}


def names(plan: ProtocolPlan, mode: Mode) -> list[str]:
    return [o.name.split(",")[0] for o in plan.options if o.mode == mode]


def errors(plan: ProtocolPlan) -> dict[str, float]:
    return {y.name: y.standard_error for y in plan.yardsticks}


def test_two_categories_have_one_randomizer() -> None:
    plan = plan_frequency(Wish(LEVELS, None, 1e-4), num_categories=2)

    assert [o.name for o in plan.options] == ["kary-response"] * 2
    assert plan.recommended.mode == "agnostic"
    found = errors(plan)
    assert found["trusted curator"] <= plan.recommended.error
    assert plan.recommended.error <= found["local model, no shuffler"]
    assert plan.recommended.error <= found["all people at the strictest choice"]
    assert plan.to_dict()["assumed"] == {"share": 0.5, "meaning": plan.assumed}
    assert "a category with a share of 0.5; --share (in Python share)" in plan.assumed
    assert plan.to_dict()["options"][0]["largest_error"] is None


@pytest.mark.slow
def test_options_hold_the_protocols_of_their_guarantees() -> None:
    plan = plan_frequency(Wish({1.0: 100}, None, 1e-3), num_categories=3)

    for option in plan.options:
        assert option.protocol.identity == option.guarantee.protocol
        assert option.protocol.mode == option.mode


@pytest.mark.slow
def test_many_categories_compare_all_randomizers() -> None:
    plan = plan_frequency(Wish({4.0: 100}, None, 1e-4), num_categories=1000)

    assert sorted(names(plan, "agnostic")) == [
        "hadamard-response",
        "kary-response",
        "local-hashing",
        "subset-selection",
        "unary-encoding",
        "unary-encoding",
    ]
    # k-ary response is the worst at this size.
    assert plan.recommended.error < 0.5 * max(o.error for o in plan.options)
    found = errors(plan)
    assert found["trusted curator"] <= plan.recommended.error
    # One level: the strictest is everybody's.
    assert found["all people at the strictest choice"] == pytest.approx(
        plan.recommended.error, rel=1e-12
    )


@pytest.mark.slow
def test_local_yardstick_takes_the_best_randomizer() -> None:
    plan = plan_frequency(Wish({6.0: 40}, None, 1e-4), num_categories=100)

    locally = Population.from_counts(
        {level.epsilon_central: 40 for level in plan.recommended.guarantee.levels}
    )
    oracles: list[FrequencyOracle] = [
        SubsetSelection(100, size) for size in (2, 10, 50)
    ]
    for oracle in [KRandomizedResponse(100), *oracles]:
        protocol = Frequency(100, plan.recommended.mode, oracle)
        # One of the sizes in between may be a hair better than what is tried.
        assert errors(plan)["local model, no shuffler"] <= 1.001 * (
            protocol.predicted_error(locally, share=0.01)
        )


# The last two have more categories than unary encoding has bits, and in the last one a
# message of kary-response at level 1 is noise as far as doubles can tell.
@pytest.mark.parametrize("num_categories", [1_000_000, 5_000_000, 2**31])
def test_yardsticks_pass_over_messages_that_carry_no_information(
    num_categories: int,
) -> None:
    wish = Wish({1.0: 10_000_000}, None, 1e-6)

    plan = plan_frequency(wish, num_categories=num_categories)

    recommended = plan.recommended.standard_error
    assert recommended < errors(plan)["local model, no shuffler"] < 1.0
    assert errors(plan)["all people at the strictest choice"] == recommended


@pytest.mark.slow
def test_error_of_the_recommended_is_that_of_a_simulation() -> None:
    plan = plan_frequency(Wish(LEVELS, None, 1e-4), num_categories=2, share=0.25)
    best, runs, rng = plan.recommended, 4_000, np.random.default_rng(95)
    assert (best.name, best.mode) == ("kary-response", "agnostic")

    people, oracle = Population.from_counts(LEVELS), KRandomizedResponse(2)
    held = np.tile(np.repeat([0, 1, 1, 1], 50), runs)
    levels = rng.permuted(np.tile(people.budgets(), (runs, 1)), axis=1)
    sent = oracle.randomize(held, levels.ravel(), rng=rng).reshape(runs, 200)
    weight = people.counts / 200
    honest = np.exp(people.epsilons) / (np.exp(people.epsilons) + 1.0)
    other = 1.0 - honest
    counts = (sent == 0).mean(axis=1)
    estimates = (counts - weight @ other) / (weight @ (honest - other))

    # 4,000 runs know a deviation to 1.1%.
    assert abs(best.standard_error / estimates.std(ddof=1) - 1.0) < 0.05
    assert abs(estimates.mean() - 0.25) < 4.0 * estimates.std() / np.sqrt(runs)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_targets_are_kept_by_every_option(
    monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    if k == 3:
        # One level hides among the same people in both modes.
        monkeypatch.setattr(planning, "_MODES", ("agnostic",))
    targets = {0.3: 60, 0.6: 140} if k == 2 else {0.5: 60}

    plan = plan_frequency(Wish(None, targets, 1e-3, absent=20), num_categories=k)

    for each in plan.options:
        levels = each.guarantee.levels
        for level, target in zip(levels, targets, strict=True):
            # Certified numbers are rounded upward, in the sixth digit.
            assert level.epsilon_central <= target * (1.0 + 1.1e-5)
        assert each.guarantee.absent == 20
    found = errors(plan)
    assert found["trusted curator"] <= plan.recommended.error
    assert plan.recommended.error <= found["local model, no shuffler"]
    assert (k == 2) == (plan.left_out == ())


def test_people_at_level_zero_leave_the_stratified_mode_out() -> None:
    wish = Wish({0.0: 50, 1.0: 50}, None, 1e-3)

    plan = plan_frequency(wish, num_categories=2)

    assert names(plan, "agnostic")
    assert not names(plan, "stratified")
    record = plan.to_dict()
    json.dumps(record, allow_nan=False)
    assert record["yardsticks"][2]["standard_error"] is None
    assert any("level 0" in line for line in record["left_out"])


def test_deltas_too_small_for_several_messages_leave_their_yardstick_out() -> None:
    plan = plan_frequency(Wish(None, {0.5: 1_000}, 1e-100), num_categories=128)

    assert plan.recommended.error > 0.0
    assert not any("several messages" in name for name in errors(plan))


@pytest.mark.slow
def test_more_categories_than_bits_leave_unary_encoding_out() -> None:
    plan = plan_frequency(Wish({1.0: 50}, None, 1e-3), num_categories=20_000)

    assert "unary-encoding" not in names(plan, "agnostic")
    assert "20,000 bits" in plan.left_out[0]


@pytest.mark.parametrize(
    ("num_categories", "share"),
    [(1, None), (0, None), (2.5, None), (3, -0.1), (3, 1.1), (3, np.nan)],
)
def test_bad_categories_and_shares_are_refused(
    num_categories: int, share: float | None
) -> None:
    with pytest.raises(InvalidInputError):
        plan_frequency(
            Wish(LEVELS, None, 1e-4), num_categories=num_categories, share=share
        )


def test_options_without_a_proof_are_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = Wish.fit

    def fails_for_subsets(wish: Wish, protocol: Frequency) -> object:
        if isinstance(protocol.randomizer, SubsetSelection):
            raise CertificationError("No proof.")
        return fit(wish, protocol)

    monkeypatch.setattr(Wish, "fit", fails_for_subsets)
    monkeypatch.setattr(planning, "_MODES", ("agnostic",))
    compared = (KRandomizedResponse, SubsetSelection)
    monkeypatch.setattr(compared_protocols, "_MECHANISMS", compared)

    plan = plan_frequency(Wish({1.0: 8}, None, 1e-2), num_categories=4)

    (line,) = (line for line in plan.left_out if line.startswith("subset-selection"))
    assert line.endswith("(agnostic): No proof.")
    assert "subset-selection" not in names(plan, "agnostic")
    assert "kary-response" in names(plan, "agnostic")
