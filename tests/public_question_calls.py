"""Valid, quick calls of questions and questionnaires, and of all that is public."""

from functools import partial
from typing import Any

import numpy as np
from public_calls import (
    Call,
    again,
    call,
    functions,
    people_and_reports,
    planners,
    randomizers,
    rng,
)
from public_protocol_calls import (
    ASKERS,
    TARGETS,
    ZEROS,
    constructor,
    counts,
    frequencies_and_sums,
    items,
    means_and_strings,
    shared,
)

import shuffledp as sdp
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts
from shuffledp.statistics.questionnaire.texts.discovery_search import DiscoveryDesign
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout


def all_calls() -> dict[str, Call]:
    """Returns all calls, by names such as "Frequency.estimate"."""
    return {
        name: known
        for made in (
            functions(),
            planners(),
            people_and_reports(),
            randomizers(),
            frequencies_and_sums(),
            means_and_strings(),
            items(),
            counts(),
            questions(),
            questionnaires(),
        )
        for name, known in made.items()
    }


def asked() -> list[tuple[Any, Any]]:
    """Returns a question of each kind, with answers of ten people."""
    table = {"sex": ("f", "m"), "age": ("young", "old")}
    rows = np.zeros((10, 2), dtype=np.int64)
    return [
        (sdp.ChoiceQuestion("color", ("red", "green"), 1), ZEROS),
        (sdp.NumberQuestion("pay", 0.0, 1.0, 2), np.full(10, 0.5)),
        (sdp.DistributionQuestion("age", (0.0, 1.0, 2.0, 3.0, 4.0), 2), TARGETS),
        (sdp.GroupMeanQuestion("mean", ("east", "west"), 0.0, 1.0, 1), rows),
        (sdp.TableQuestion("table", table), rows),
        (sdp.PairsQuestion("pairs", table), rows),
    ]


def questions() -> dict[str, Call]:
    calls: dict[str, Call] = {}
    design = DiscoveryDesign(PrefixLayout(16, 8, 3, 8, 2), 0.5, 100.0)
    word = sdp.UnlistedStringsQuestion("word", 2, messages=64, design=design)
    rows = HashedRows(100, num_rows=2, bits=6)
    page = sdp.HashedChoiceQuestion("page", 100, rows=rows)
    for question, answers in [*asked(), (word, ["ab"] * 10), (page, ZEROS)]:
        name = type(question).__name__
        adapted = question.adapted(100_000, noise=4.0)
        groups = tuple(
            GroupCounts(np.full(group.buckets, 1.0), 1.0, 0.0, group.most)
            for group in adapted.groups
        )
        found = QuestionCounts(groups, 10, 0.0, 0.0)
        calls |= constructor(question) | {
            f"{name}.adapted": call(question.adapted, num_users=100_000, noise=4.0),
            f"{name}.encode": call(adapted.encode, answers=answers, rng=rng()),
            f"{name}.estimate": call(adapted.estimate, counts=found),
        }
        estimate = adapted.estimate(found)
        calls |= estimates(estimate)
        if isinstance(
            estimate,
            sdp.ChoiceEstimate
            | sdp.HashedChoiceEstimate
            | sdp.TableEstimate
            | sdp.PairsEstimate,
        ):
            calls[f"{type(estimate).__name__}.consistent"] = call(
                estimate.consistent, complete=False
            )
        if "consistent" in dir(estimate):
            calls |= estimates(estimate.consistent())
    return calls


def estimates(estimate: Any) -> dict[str, Call]:
    """Returns the calls of an estimate of a question, raw or consistent."""
    kind = type(estimate).__name__
    calls = {
        **again(kind, estimate),
        f"{kind}.interval": call(estimate.interval, confidence=0.9),
    }
    if "manipulation" in dir(estimate):
        calls[f"{kind}.manipulation"] = call(
            estimate.manipulation, report_size=9, num_liars=2
        )
    if "margin" in dir(estimate):
        calls[f"{kind}.margin"] = call(partial(margin, estimate), name="sex")
    for method, terms in ESTIMATES.items():
        if method in dir(estimate):
            calls[f"{kind}.{method}"] = Call(getattr(estimate, method), terms)
    return calls


def margin(estimate: Any, name: Any) -> object:
    return estimate.margin(name)


ESTIMATES: dict[str, dict[str, Any]] = {
    "between": {"low": 0.0, "high": 2.0},
    "quantiles": {"shares": [0.5]},
    "quantile_intervals": {"shares": [0.5], "confidence": 0.9},
    "quantile_ends": {"shares": [0.5], "report_size": 9, "num_liars": 2},
    "false_probability": {"num_people": 5.0},
}


def questionnaires() -> dict[str, Call]:
    question, answers = asked()[0]
    protocol = sdp.Questionnaire(
        (question,), (sdp.PoissonNoise(50.0),), (1.0,), (1.0,), 10
    )
    answered = {"color": answers}
    calls = shared(protocol, ASKERS, answers=answered, targets=TARGETS)
    seen = calls["Questionnaire.estimate"].arguments["seen"]
    found = protocol.counts.estimate(seen, ASKERS)
    return {
        **calls,
        "Questionnaire.encode": call(protocol.encode, answers=answered, rng=rng()),
        "Questionnaire.draw_tally": call(
            protocol.draw_tally, answers=answered, targets=TARGETS, rng=rng()
        ),
        "Questionnaire.estimates_of": call(
            protocol.estimates_of, counts_estimate=found, people=ASKERS
        ),
        "Questionnaire.manipulation": call(
            protocol.manipulation,
            estimates=protocol.estimates_of(found, ASKERS),
            num_liars=2,
        ),
    }
