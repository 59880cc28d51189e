"""Valid, quick calls of public functions, randomizers and results, by their names."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import shuffledp as sdp

PEOPLE = sdp.Population.from_counts({0.5: 5, 1.0: 5})
LEVELS = PEOPLE.budgets()
TARGETS = np.full(10, 1.0)
ASKERS = sdp.Population.from_counts({1.0: 10})
ZEROS = np.zeros(10, dtype=np.int64)


class Call(NamedTuple):
    """A callable, and all of its arguments by name."""

    function: Callable[..., object]
    arguments: dict[str, Any]


def call(function: Callable[..., object], **arguments: Any) -> Call:
    return Call(function, arguments)


class AcceptedError(Exception):
    """Raised by the first step of a planner, which has checked its arguments by then."""


def stop(step: str) -> None:
    raise AcceptedError(step)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def again(name: str, result: Any) -> dict[str, Call]:
    """Returns the call that makes the same result, field by field."""
    terms = {f.name: getattr(result, f.name) for f in fields(result) if f.init}
    return {name: Call(type(result), terms)}


def functions() -> dict[str, Call]:
    frequency = sdp.Frequency(3)
    promise, targets = sdp.Promise(frequency, 1e-3), [0.5, 0.9]
    guarantee = sdp.account(frequency, PEOPLE, delta=1e-3)
    asked = partial(
        call, protocol=frequency, people=PEOPLE, absent=0, rounds=1, coordinates=1
    )
    wanted = partial(call, promise=promise, people=PEOPLE)
    profile = sdp.privacy_profile(frequency, PEOPLE, 1.0, num_points=2)
    largest = sdp.largest_budget(promise, PEOPLE, 1.0, 0.9)
    return {
        "account": asked(
            sdp.account, delta=1e-3, epsilon=None, levels=[1.0], quantiles=None
        ),
        "draw_budgets": call(
            sdp.draw_budgets, name="f-dp/gauss1", num_users=3, rng=rng()
        ),
        "largest_budget": wanted(sdp.largest_budget, level=1.0, target=0.9),
        "largest_budgets": call(
            sdp.largest_budgets, promise=promise, targets={0.9: 10}
        ),
        "largest_scale": wanted(sdp.largest_scale, targets=targets),
        "most_rounds": wanted(sdp.most_rounds, targets=targets),
        "smallest_crowd": wanted(sdp.smallest_crowd, targets=targets),
        "privacy_profile": asked(sdp.privacy_profile, level=1.0, num_points=2),
        "to_pld": asked(
            sdp.to_pld, level=1.0, delta=1e-3, value_discretization_interval=1e-2
        ),
        "rehearse": call(
            sdp.rehearse,
            frame=pl.DataFrame({"color": ["red", "blue"] * 5, "epsilon": [1.0] * 10}),
            value="color",
            level="epsilon",
            statistic="frequency",
            levels=None,
            missing="refuse",
            mode="agnostic",
            delta=1e-3,
            confidence=0.9,
            seed=1,
        ),
        "verify": call(
            sdp.verify,
            certificate=guarantee,
            people=PEOPLE,
            protocol=frequency,
            mechanism=None,
        ),
        "Promise": call(
            sdp.Promise,
            protocol=frequency,
            delta=1e-3,
            absent=0,
            rounds=1,
            coordinates=1,
        ),
        "Promise.kept": call(promise.kept, people=PEOPLE, targets=targets),
        "Guarantee.level": call(guarantee.level, chosen=1.0),
        "ProtocolComposition": call(
            sdp.ProtocolComposition, parts=(frequency, frequency)
        ),
        "ProtocolComposition.exposures": call(
            sdp.ProtocolComposition((frequency, frequency)).exposures, people=PEOPLE
        ),
        **again("Guarantee", guarantee),
        **again("LevelGuarantee", guarantee.levels[0]),
        **again("Statement", guarantee.statements[0]),
        **again("Verification", sdp.verify(guarantee)),
        **again("PrivacyProfile", profile),
        **again("Calibration", largest),
    }


def planners() -> dict[str, Call]:
    wish = sdp.Wish(targets={2.0: 400}, delta=1e-3)
    planned = partial(call, wish=wish, on_step=stop)
    question = sdp.ChoiceQuestion("color", ("red", "green"))
    return {
        "Wish": call(sdp.Wish, levels=None, targets={2.0: 400}, delta=1e-3, absent=0),
        "Wish.fit": call(wish.fit, protocol=sdp.Frequency(2)),
        "plan_frequency": planned(sdp.plan_frequency, num_categories=2, share=None),
        "plan_mean": planned(sdp.plan_mean, low=0.0, high=1.0, mean=None, spread=0.0),
        "plan_questionnaire": planned(
            sdp.plan_questionnaire,
            questions=[question],
            interest={"color": 1.0},
            max_messages=None,
        ),
        "plan_unlisted_strings": call(
            sdp.plan_unlisted_strings,
            wish=wish,
            longest=2,
            alphabet=None,
            expected=10,
            max_messages=128,
            false_texts=0.05,
            key=0,
        ),
    }


def people_and_reports() -> dict[str, Call]:
    frequency = sdp.Frequency(3)
    reports = frequency.randomize(ZEROS, LEVELS, rng=rng())
    shuffled = sdp.shuffle(reports, rng=rng())
    tally = frequency.tally(shuffled)
    record, secret = frequency.identity.record, np.zeros((2, 16), dtype=np.uint8)
    keyed = sdp.KeyedRandom(bytes(32), secret)
    system = sdp.SystemRandom()
    return {
        "Population.from_counts": call(sdp.Population.from_counts, counts={1.0: 2}),
        "Population.from_budgets": call(sdp.Population.from_budgets, budgets=LEVELS),
        "Population.level_indices": call(PEOPLE.level_indices, levels=[1.0]),
        "shuffle": call(sdp.shuffle, reports=reports, rng=rng()),
        "Identity.of": call(sdp.Identity.of, **record),
        "Identity.from_record": call(sdp.Identity.from_record, record=record),
        "Tally.from_dict": call(sdp.Tally.from_dict, record=tally.to_dict()),
        "Tally.from_bytes": call(sdp.Tally.from_bytes, content=tally.to_bytes()),
        "KeyedRandom": call(sdp.KeyedRandom, secret=bytes(32), people=secret),
        "KeyedRandom.of": call(keyed.of, people=slice(1)),
        "KeyedRandom.integers": call(keyed.integers, low=0, high=3, size=2),
        "KeyedRandom.random": call(keyed.random, size=2),
        "SystemRandom": call(sdp.SystemRandom),
        "SystemRandom.integers": call(system.integers, low=0, high=3, size=2),
        "SystemRandom.permutation": call(system.permutation, x=2),
        "SystemRandom.random": call(system.random, size=2),
        **again("Identity", frequency.identity),
        **again("Population", PEOPLE),
        **again("Reports", reports),
        **again("ShuffledReports", shuffled),
        **again("Tally", tally),
    }


def randomizers() -> dict[str, Call]:
    def uniform(messages: Any, value: float, epsilon: float) -> Any:
        return np.full_like(messages, 1.0)

    density = sdp.DensityRandomizer(uniform, (0.0, 1.0), 0.0, 1.0, 0.0, 0.0)
    made = [
        sdp.ClipLaplace(),
        sdp.DeclaredRatios(1.0),
        density,
        sdp.Gaussian(),
        sdp.GridResponse(),
        sdp.HadamardResponse(3),
        sdp.KRandomizedResponse(3),
        sdp.Laplace(),
        sdp.LocalHashing(3, 2),
        sdp.OneBit(),
        sdp.Rappor(8, 2),
        sdp.SubsetSelection(3, 1),
        sdp.UnaryEncoding(3),
    ]
    calls: dict[str, Call] = {}
    for device in made:
        name = type(device).__name__
        terms = inspect.signature(type(device)).parameters
        calls[name] = Call(type(device), {key: getattr(device, key) for key in terms})
        if hasattr(device, "randomize"):
            calls[f"{name}.randomize"] = call(
                device.randomize, values=ZEROS, epsilons=LEVELS, rng=rng()
            )
    rappor, bits = sdp.Rappor(8, 2), np.zeros((10, 8), dtype=bool)
    calls["Rappor.permanent_response"] = call(
        rappor.permanent_response, bloom=bits, epsilons=LEVELS, rng=rng()
    )
    calls["Rappor.instantaneous_response"] = call(
        rappor.instantaneous_response, permanent=bits, rng=rng()
    )
    return calls
