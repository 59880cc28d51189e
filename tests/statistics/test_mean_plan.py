import json
import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.means import mean_by

from shuffledp import CertificationError, InvalidInputError, Mean, Population, account
from shuffledp.planning.collection_design import CollectionDesign
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish
from shuffledp.statistics.frequency.frequency_plan import plan_frequency
from shuffledp.statistics.mean import mean_plan as planning
from shuffledp.statistics.mean.mean_plan import plan_mean

SMALL = {0.5: 60, 1.0: 140}


def errors(plan: ProtocolPlan) -> dict[str, float]:
    return {y.name: y.standard_error for y in plan.yardsticks}


def option(plan: ProtocolPlan, name: str, mode: str) -> CollectionDesign:
    (found,) = (o for o in plan.options if (o.name, o.mode) == (name, mode))
    return found


@pytest.fixture(scope="module")
def plan() -> ProtocolPlan:
    return plan_mean(Wish(SMALL, None, 1e-4), low=20.0, high=80.0, spread=10.0)


@pytest.mark.slow
def test_options_hold_the_protocols_of_their_guarantees(plan: ProtocolPlan) -> None:
    for option in plan.options:
        assert option.protocol.identity == option.guarantee.protocol
        assert option.protocol.mode == option.mode
        error = option.protocol.predicted_error(option.people, spread=10.0)
        assert error == option.standard_error


@pytest.mark.slow
def test_grids_and_one_bit_are_recommended_over_laplace(plan: ProtocolPlan) -> None:
    best = plan.recommended

    assert (best.name, best.mode) == ("grid-response(values=3)", "agnostic")
    assert best.bits == pytest.approx(math.log2(3.0), rel=1e-12)
    for mode in ("agnostic", "stratified"):
        laplace = option(plan, "laplace", mode)
        assert option(plan, "one-bit", mode).error < laplace.error
    assert plan.options == tuple(sorted(plan.options, key=lambda o: o.error))
    assert option(plan, "clip-laplace", "agnostic").bias_limit > 0.0


@pytest.mark.slow
def test_errors_of_all_options_are_those_of_a_simulation(plan: ProtocolPlan) -> None:
    rng, runs = np.random.default_rng(91), 4_000
    # Two values of mean 50 and spread 10.
    values = np.tile(np.repeat([40.0, 60.0], 100), (runs, 1))
    people = Population.from_counts(SMALL)
    levels = rng.permuted(np.tile(people.budgets(), (runs, 1)), axis=1)
    names: tuple[str, ...] = ("one-bit", "laplace")

    for name in names:
        protocol = mean_by(name, 20.0, 80.0)
        sent = protocol.randomize(values.ravel(), levels.ravel(), rng=rng)
        messages = protocol.randomizer.decode(sent.messages).reshape(runs, 200)
        slope = 1.0
        if name == "one-bit":
            slope = float(np.tanh(people.epsilons / 2.0) @ people.counts) / 200
        estimates = 50.0 + (messages.mean(axis=1) - 50.0) / slope

        predicted = option(plan, name, "agnostic").standard_error
        # 4,000 runs know a deviation to 1.1%.
        assert abs(predicted / estimates.std(ddof=1) - 1.0) < 0.05


@pytest.mark.slow
def test_errors_of_other_values_are_at_most_the_largest(plan: ProtocolPlan) -> None:
    rng = np.random.default_rng(17)
    for design in plan.options:
        assert design.largest_error is not None
        # Two values, drawn at random, which half of the people hold each.
        errors = [
            math.hypot(
                design.protocol.predicted_error(
                    design.people,
                    mean=mean,
                    spread=min(mean - 20.0, 80.0 - mean) * part,
                ),
                design.protocol.predicted_bias(design.people, mean=mean),
            )
            for mean, part in zip(
                rng.uniform(20.0, 80.0, 30), rng.uniform(size=30), strict=True
            )
        ]
        if design.protocol.randomizer.unbiased:
            # Rounding to a grid may be a little worse between the values that are tried.
            assert max(errors) <= 1.01 * design.largest_error
        assert design.error <= design.largest_error

    one_bit = option(plan, "one-bit", "agnostic")
    alike = one_bit.protocol.predicted_error(one_bit.people)
    assert one_bit.largest_error == pytest.approx(alike, rel=1e-12)


@pytest.mark.slow
def test_what_errors_assume_is_said_with_the_errors_of_other_values() -> None:
    plan = plan_mean(
        Wish({0.5: 1_000, 1.0: 1_000, 2.0: 1_000}), low=0.0, high=500_000.0
    )

    best, rival = plan.recommended, option(plan, "one-bit", "agnostic")
    assert best.name == "grid-response(values=3)"
    assert plan.to_dict()["assumed"] == {
        "mean": 250_000.0,
        "spread": 0.0,
        "meaning": plan.assumed,
    }
    for words in (
        "a mean of 250000, the middle of the range, and a standard deviation of 0",
        "--mean and --spread",
        f"up to about {best.largest_error:.3g}, and that of one-bit (agnostic) only up "
        f"to about {rival.largest_error:.3g}.",
    ):
        assert words in plan.assumed
        assert words in " ".join(str(plan).split())
        assert words in plan._repr_html_()

    stated = replace(plan, options=(rival,))
    assert stated.assumed.endswith(f"is up to about {rival.largest_error:.3g}.")


@pytest.mark.slow
def test_yardsticks_are_in_order(plan: ProtocolPlan) -> None:
    found = errors(plan)

    assert found["trusted curator"] <= plan.recommended.error
    assert plan.recommended.error <= found["all people at the strictest choice"]
    assert plan.recommended.error <= found["local model, no shuffler"]


@pytest.mark.slow
def test_local_yardstick_takes_the_best_mechanism() -> None:
    wish = Wish({12.0: 20}, None, 1e-6)

    plan = plan_mean(wish, low=0.0, high=1.0)

    # At large budgets one bit is worst, where the spread is unknown.
    assert plan.recommended.name.startswith("grid-response")
    assert plan.options[-1].name == "one-bit"
    found = errors(plan)
    assert found["all people at the strictest choice"] == plan.recommended.error


@pytest.mark.slow
def test_targets_are_kept_by_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    # One level hides among the same people in both modes.
    monkeypatch.setattr(planning, "_MODES", ("agnostic",))
    targets = {0.8: 40}

    plan = plan_mean(Wish(None, targets, 1e-2, absent=4), low=0.0, high=1.0)

    assert len(plan.options) == 4
    for each in plan.options:
        levels = each.guarantee.levels
        for level, (target, count) in zip(levels, targets.items(), strict=True):
            # Certified numbers are rounded upward, in the sixth digit.
            assert level.epsilon_central <= target * (1.0 + 1.1e-5)
            assert level.count == count
        assert each.guarantee.absent == 4


@pytest.mark.slow
def test_one_bit_has_a_fifth_of_the_variance_of_algorithm_2_at_its_guarantee() -> None:
    people = Population.from_counts({0.1: 5400, 0.5: 3700, 1.0: 900})
    laplace = mean_by("laplace", 20.0, 80.0)
    levels = account(laplace, people, delta=1e-6).levels
    targets = {level.epsilon_central: level.count for level in levels}

    fitted = Wish(None, targets, 1e-6).fit(Mean(20.0, 80.0)).people

    error = Mean(20.0, 80.0).predicted_error(fitted, mean=50.0, spread=10.0)
    assert error**2 <= 0.2 * laplace.predicted_error(people) ** 2


@pytest.mark.slow
def test_people_at_level_zero_leave_some_options_out() -> None:
    plan = plan_mean(Wish({0.0: 50, 1.0: 50}, None, 1e-3), low=0.0, high=1.0)

    assert plan.recommended.name == "grid-response(values=3)"
    assert {o.mode for o in plan.options} == {"agnostic"}
    assert any("level 0" in line for line in plan.left_out)
    record = plan.to_dict()
    # The local model: messages of budgets next to 0; JSON has no infinity.
    json.dumps(record, allow_nan=False)
    assert errors(plan)["all people at the strictest choice"] == math.inf
    assert record["yardsticks"][2]["standard_error"] is None


def test_nobody_with_a_budget_is_refused() -> None:
    with pytest.raises(CertificationError, match="no information"):
        plan_mean(Wish({0.0: 50}, None, 1e-3), low=0.0, high=1.0)


def test_errors_beyond_the_largest_number_are_refused_as_such() -> None:
    wish = Wish({0.01: 20}, None, 1e-4)

    with pytest.raises(CertificationError, match="divided by a constant") as refusal:
        plan_mean(wish, low=-1.7e308, high=1.7e308)

    assert "level 0" not in str(refusal.value)


@pytest.mark.slow
def test_no_error_at_all_is_no_division_by_zero(plan: ProtocolPlan) -> None:
    perfect = replace(plan.recommended, standard_error=0.0)

    better = replace(plan, options=(perfect, *plan.options[1:]))

    assert better.recommended is perfect
    assert "grid-response" in better.reason


@pytest.mark.slow
def test_units_do_not_matter(
    plan: ProtocolPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "_MODES", ("agnostic",))

    half = 1e308
    wide = plan_mean(Wish(SMALL, None, 1e-4), low=-half, high=half, spread=half / 3)

    # The width is beyond the largest number, and errors are not.
    factor = half / 30.0
    for name, error in errors(wide).items():
        # Rounding.
        assert error / factor == pytest.approx(errors(plan)[name], rel=1e-9)


def test_record_holds_what_was_asked_and_found(plan: ProtocolPlan) -> None:
    record = json.loads(json.dumps(plan.to_dict(), allow_nan=False))

    assert record["levels"] == {"0.5": 60, "1.0": 140}
    assert (record["targets"], record["delta"]) == (None, 1e-4)
    assert record["recommended"]["name"] == "grid-response(values=3)"
    assert len(record["options"]) == 8
    assert {"name", "mode", "standard_error", "guarantee"} <= set(record["options"][0])


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    wish = Wish({np.float64(0.5): np.int64(50)}, None, 1e-3)  # type: ignore[dict-item]

    record = plan_frequency(wish, num_categories=2).to_dict()

    assert json.loads(json.dumps(record))["levels"] == {"0.5": 50}


@pytest.mark.parametrize(
    ("low", "high", "mean", "spread"),
    [
        (1.0, 0.0, None, 0.0),
        (0.0, np.inf, None, 0.0),
        (0.0, 1.0, 2.0, 0.0),
        (0.0, 1.0, np.nan, 0.0),
        (0.0, 1.0, None, 0.6),
        (0.0, 1.0, 0.1, 0.5),
    ],
)
def test_bad_ranges_means_and_spreads_are_refused(
    low: float, high: float, mean: float | None, spread: float
) -> None:
    with pytest.raises(InvalidInputError):
        plan_mean(Wish(SMALL, None, 1e-4), low=low, high=high, mean=mean, spread=spread)


@pytest.mark.parametrize(
    ("levels", "targets", "delta", "absent"),
    [
        (None, None, 1e-6, 0),
        (SMALL, SMALL, 1e-6, 0),
        ({}, None, 1e-6, 0),
        ({-1.0: 5}, None, 1e-6, 0),
        ({1.0: 0}, None, 1e-6, 0),
        (SMALL, None, 0.0, 0),
        (SMALL, None, 1.0, 0),
        (SMALL, None, np.nan, 0),
        (None, SMALL, 1.0, 0),
        (None, {0.0: 5}, 1e-6, 0),
        (SMALL, None, 1e-6, -1),
    ],
)
def test_bad_wishes_are_refused(
    levels: dict[float, int] | None,
    targets: dict[float, int] | None,
    delta: float,
    absent: int,
) -> None:
    with pytest.raises(InvalidInputError):
        plan_mean(Wish(levels, targets, delta, absent), low=0.0, high=1.0)


def test_something_else_than_a_wish_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="Expected a Wish"):
        plan_mean({1.0: 50}, low=0.0, high=1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="got list"):
        Wish(levels=[1, 2])  # type: ignore[arg-type]
