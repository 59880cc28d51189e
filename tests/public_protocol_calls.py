"""Valid, quick calls of protocols and their estimates, by their names."""

import inspect
from typing import Any

import numpy as np
from public_calls import (
    LEVELS,
    PEOPLE,
    Call,
    again,
    call,
    rng,
)

import shuffledp as sdp
from shuffledp.accounting.counts.counts_parameters import Noise

ASKERS = sdp.Population.from_counts({1.0: 10})
TARGETS = np.full(10, 1.0)
ZEROS = np.zeros(10, dtype=np.int64)


def constructor(made: Any) -> dict[str, Call]:
    """Returns the call that makes the same object, argument by argument."""
    kind = type(made)
    terms = inspect.signature(kind).parameters
    return {kind.__name__: Call(kind, {key: getattr(made, key) for key in terms})}


def shared(protocol: Any, people: sdp.Population, **sent: Any) -> dict[str, Call]:
    """Returns the calls that protocols have in common.

    Args:
        protocol: The protocol.
        people: Ten people.
        sent: Values and levels, by the names of arguments.
    """
    name = type(protocol).__name__
    shuffled = sdp.shuffle(protocol.randomize(*sent.values(), rng=rng()), rng=rng())
    known: dict[str, dict[str, Any]] = {
        "exposures": {"people": people},
        "randomize": {**sent, "rng": rng()},
        "from_record": {"record": protocol.identity.record},
        "tally": {"shuffled": shuffled},
        "estimate": {"seen": shuffled, "people": people},
        "manipulation": {"people": people, "num_liars": 1},
    }
    # A questionnaire has some of these alone.
    calls = {
        f"{name}.{key}": Call(getattr(protocol, key), terms)
        for key, terms in known.items()
        if key in dir(protocol)
    }
    return constructor(protocol) | calls


def estimate_of(calls: dict[str, Call], name: str) -> Any:
    """Returns what the call of a protocol's `estimate` returns."""
    known = calls[f"{name}.estimate"]
    return known.function(**known.arguments)


def frequencies_and_sums() -> dict[str, Call]:
    frequency, total = sdp.Frequency(3), sdp.BinarySum()
    single = sdp.SingleMessage(sdp.OneBit())
    calls = shared(frequency, PEOPLE, values=ZEROS, levels=LEVELS)
    calls |= shared(total, PEOPLE, bits=ZEROS, levels=LEVELS)
    shares, added = estimate_of(calls, "Frequency"), estimate_of(calls, "BinarySum")
    holders = np.array([[5, 0, 0], [5, 0, 0]])
    return {
        **calls,
        **constructor(single),
        "SingleMessage.from_record": call(
            single.from_record, record=single.identity.record, mechanism=None
        ),
        "SingleMessage.exposures": call(single.exposures, people=PEOPLE),
        "SingleMessage.randomize": call(
            single.randomize, values=ZEROS, levels=LEVELS, rng=rng()
        ),
        "Frequency.predicted_error": call(
            frequency.predicted_error, people=PEOPLE, share=0.1
        ),
        "Frequency.draw_tally": call(
            frequency.draw_tally, holders=holders, people=PEOPLE, rng=rng()
        ),
        "BinarySum.draw_tally": call(
            total.draw_tally, holders=holders[:, :2], people=PEOPLE, rng=rng()
        ),
        "BinarySum.noise_share": call(total.noise_share, levels=LEVELS),
        "BinarySum.calibrate": call(
            total.calibrate, targets={0.9: 10}, delta=1e-3, absent=0
        ),
        "FrequencyEstimate.interval": call(
            shares.interval, confidence=0.9, about="participants"
        ),
        "SumEstimate.interval": call(added.interval, confidence=0.9),
        **again("FrequencyEstimate", shares),
        **again("SumEstimate", added),
    }


def means_and_strings() -> dict[str, Call]:
    mean, strings = sdp.Mean(0, 1), sdp.Strings(8, 2, 1)
    texts, holders = ["fox"] * 10, np.array([[5], [5]])
    calls = shared(mean, PEOPLE, values=ZEROS, levels=LEVELS)
    calls["Mean.estimate"].arguments["spread"] = None
    calls |= shared(strings, PEOPLE, strings=texts, levels=LEVELS)
    calls["Strings.estimate"].arguments.update(
        candidates=["fox", "owl"], false_discovery_rate=0.05
    )
    average, listed = estimate_of(calls, "Mean"), estimate_of(calls, "Strings")
    calls["Strings.manipulation"].arguments["estimate"] = listed
    return {
        **calls,
        "Mean.predicted_error": call(
            mean.predicted_error, people=PEOPLE, mean=0.5, spread=0.1
        ),
        "Mean.predicted_bias": call(mean.predicted_bias, people=PEOPLE, mean=0.5),
        "Mean.channel": call(mean.channel, people=PEOPLE),
        "Mean.unit_prediction": call(mean.unit_prediction, people=PEOPLE),
        "Mean.draw_tally": call(
            mean.draw_tally, values=[0.5], holders=holders, people=PEOPLE, rng=rng()
        ),
        "MeanEstimate.interval": call(
            average.interval, confidence=0.9, about="participants"
        ),
        "Strings.draw_tally": call(
            strings.draw_tally,
            strings=["fox"],
            holders=holders,
            people=PEOPLE,
            rng=rng(),
        ),
        "Strings.memoize": call(
            strings.memoize, strings=texts, levels=LEVELS, rng=rng()
        ),
        "Strings.report": call(
            strings.report,
            memoized=strings.memoize(texts, LEVELS, rng=rng()),
            rng=rng(),
        ),
        "StringEstimate.interval": call(listed.interval, confidence=0.9),
        "StringEstimate.unexplained_interval": call(
            listed.unexplained_interval, confidence=0.9
        ),
        **again("MeanEstimate", average),
        **again("StringEstimate", listed),
    }


def items() -> dict[str, Call]:
    protocol = sdp.Items(3, 1, (1.0,), (1.0,), 5.0)
    sets, shares = ZEROS[:, None], np.array([1.0, 0.0, 0.0])
    calls = shared(protocol, ASKERS, sets=sets, targets=TARGETS)
    shares_found = estimate_of(calls, "Items")
    framework = sdp.ItemsFramework(3, 1, (2.0,), 1e-2, blanket=5.0)
    chosen = framework.report_choices(np.full(400, 2.0), rng=rng())
    choices = framework.count_choices(sdp.shuffle(chosen, rng=rng()))
    plan = framework.plan(choices)
    reports = plan.protocol.randomize(
        np.zeros((400, 1), dtype=np.int64), np.full(400, 2.0), rng=rng()
    )
    return {
        **calls,
        **constructor(framework),
        "Items.draw_tally": call(
            protocol.draw_tally, holders=[[10, 0, 0]], people=ASKERS, rng=rng()
        ),
        "Items.holders": call(protocol.holders, sets=sets, targets=TARGETS),
        "Items.predicted_errors": call(
            protocol.predicted_errors, people=ASKERS, shares=shares
        ),
        "Items.predicted_mse": call(
            protocol.predicted_mse, people=ASKERS, shares=shares, about="participants"
        ),
        "Items.target_indices": call(protocol.target_indices, targets=TARGETS),
        "ItemsEstimate.interval": call(
            shares_found.interval, confidence=0.9, about="participants"
        ),
        "ItemsFramework.report_choices": call(
            framework.report_choices, targets=[2.0], rng=rng()
        ),
        "ItemsFramework.count_choices": call(
            framework.count_choices, seen=sdp.shuffle(chosen, rng=rng())
        ),
        "ItemsFramework.plan": call(framework.plan, choices=choices, optimize=None),
        "ItemsFramework.plan_from": call(
            framework.plan_from, choices=choices, guarantee=plan.guarantee
        ),
        "ItemsFramework.estimate": call(
            framework.estimate, plan=plan, seen=sdp.shuffle(reports, rng=rng())
        ),
        **again("ItemsEstimate", shares_found),
    }


def counts() -> dict[str, Call]:
    noises: list[Noise] = [
        sdp.PoissonNoise(50.0),
        sdp.GeometricNoise(0.64, pairs=10.0, shape=8.0),
        sdp.SlotNoise(20, 0.5, 2, 1.0),
        sdp.ShufflerNoise(0.6, dummies=20),
    ]
    group = sdp.CountGroup(3, 1, noises[0])
    protocol = sdp.Counts((group,), (1.0,), (1.0,), 10)
    # Its shuffler adds the noise.
    dummies = sdp.CountGroup(3, 1, noises[-1])
    trusting = sdp.Counts((dummies,), (1.0,), (1.0,), honest=1)
    calls = shared(protocol, ASKERS, answers=ZEROS[:, None], targets=TARGETS)
    found = estimate_of(calls, "Counts")
    for noise in noises:
        calls |= constructor(noise)
    return {
        **calls,
        **constructor(group),
        "Counts.channel": call(protocol.channel, group=group, people=ASKERS),
        "Counts.draw_dummies": call(trusting.draw_dummies, rng=rng()),
        "Counts.draw_tally": call(
            protocol.draw_tally,
            holders=[np.array([[10, 0, 0]])],
            people=ASKERS,
            rng=rng(),
        ),
        "Counts.predicted_errors": call(
            protocol.predicted_errors, people=ASKERS, shares=[np.array([1.0, 0.0, 0.0])]
        ),
        "CountsEstimate.interval": call(found.interval, confidence=0.9),
        **again("CountsEstimate", found),
    }
