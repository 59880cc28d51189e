"""The library follows a plan if, and only if, the conditions in plan.md hold."""

import json
import math
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import check_plan, read_plan
from shuffledp_services.wire.task_reading import read_task
from stored_vectors import VECTORS

CASES = {
    case["name"]: case
    for case in json.loads((VECTORS / "messages.json").read_text(encoding="utf-8"))[
        "cases"
    ]
    if case["canonical_plan"] is not None
}


def bound_of_cuts(honest: int, mean: float, cap: int) -> Any:
    """Returns condition 3 of the text, with 50 digits."""
    with mpmath.workdps(50):
        if cap + 2 <= mean:
            return mpmath.mpf(1)
        log = (cap + 1) * mpmath.log(mean) - mean - mpmath.loggamma(cap + 2)
        return honest * mpmath.exp(log) / (1 - mpmath.mpf(mean) / (cap + 2))


def conditions(plan: dict[str, Any], minimum: int, task: dict[str, Any]) -> list[bool]:
    """Returns whether each of the four conditions in the text holds."""
    rule, parameters = task["plan_rule"], plan["parameters"]
    honest = minimum - task["absent"]
    if plan["mechanism"] == "poisson-items":
        mean = parameters["blanket"]
        rows = [j for j, least in enumerate(rule["noise"]) if least <= honest * mean]
        cap = parameters["report_size"] - parameters["set_size"]
        draws, enough = cap, True
    else:
        groups = parameters["groups"]
        means = [group["noise"]["poisson"]["mean"] for group in groups]
        rows = [
            j
            for j, least in enumerate(rule["noise"])
            if all(
                least * math.sqrt(group["most"]) <= mean
                for mean, group in zip(means, groups, strict=True)
            )
        ]
        total = sum(
            mean * group["buckets"] for mean, group in zip(means, groups, strict=True)
        )
        mean = total / parameters["honest"]
        cap = parameters["report_size"] - sum(group["most"] for group in groups)
        draws, enough = 2 * (cap + len(groups)), parameters["honest"] <= honest
    allowed = rule["rates"][rows[-1]] if rows else [-1.0] * len(task["choices"])
    rates_fit = all(
        rate <= most for rate, most in zip(parameters["rates"], allowed, strict=True)
    )
    coins = honest * draws * 7e-16 * (mean + 1) * (1 + 1e-9)
    return [
        minimum >= task["minimum"][0] and honest >= 1,
        enough and rates_fit,
        bound_of_cuts(honest, mean, cap) <= rule["cut"],
        coins <= rule["coin_error"],
    ]


def changed(plan: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Returns a plan with other noise, rates and sizes, in most of which some are wrong."""
    plan = json.loads(json.dumps(plan))
    parameters = plan["parameters"]
    factor = float(rng.choice([1.0, 0.3, 0.9, 1.1, 3.0]))
    if "blanket" in parameters:
        parameters["blanket"] *= factor
    for group in parameters.get("groups", []):
        group["noise"]["poisson"]["mean"] *= factor
    scale = rng.choice([1.0, 0.99, 0.5, 1.5])
    parameters["rates"] = [min(float(scale * r), 1.0) for r in parameters["rates"]]
    parameters["report_size"] += int(rng.choice([0, 0, -1, -3, 5, 60]))
    if "honest" in parameters:
        parameters["honest"] += int(rng.choice([0, 0, -1, 1]))
    return plan


@pytest.mark.parametrize("name", CASES)
def test_plans_are_followed_if_the_conditions_hold_and_else_refused(name: str) -> None:
    text = CASES[name]["canonical_task"]
    task, stated = read_task(text), json.loads(text)
    published = json.loads(CASES[name]["served"])["plan"]
    rng = np.random.default_rng(1)
    reasons = set()

    for _ in range(40):
        plan = changed(published["protocol"], rng)
        minimum = published["minimum"] + int(rng.choice([0, 0, 0, -1, 100]))
        held = conditions(plan, minimum, stated)
        reasons.add(tuple(held))

        if all(held):
            check_plan(read_plan(plan, task), minimum, task)
            continue
        with pytest.raises(Refusal) as refusal:
            check_plan(read_plan(plan, task), minimum, task)
        # Noise that does not fit makes it no plan at all.
        kinds = {Reason.PLAN_REFUSED} | ({Reason.MALFORMED} if not held[2] else set())
        assert refusal.value.reason in kinds

    # Plans that are followed, and plans that break one condition alone.
    assert (True, True, True, True) in reasons
    assert {(True, False, True, True), (True, True, False, True)} <= reasons
