import math
from typing import Any

import numpy as np
import pytest
from oracles import broken_devices
from oracles.broken_devices import rounded_laplace, rounding_leak
from scipy.stats import binomtest

import shuffledp as sdp
from shuffledp.audit.audit_plan import plan_audit
from shuffledp.audit.audit_result import PairBounds, breaks
from shuffledp.audit.pairs import audited_pairs
from shuffledp.audit.target import CallableTarget
from shuffledp.errors import InvalidInputError

# All bounds of a test hold but once in a million; with seeds, always or never.
SURE = 1.0 - 1e-6


def audited(
    box: Any,
    values: list[Any],
    level: float = 1.0,
    *,
    samples: int = 60_000,
    **more: Any,
) -> tuple[PairBounds, ...]:
    plan = plan_audit(values, [level], samples=samples, **({"confidence": SURE} | more))
    target = CallableTarget(box, "a box")
    return audited_pairs(target, plan, rng=np.random.default_rng(17))


@pytest.mark.few_cases(5)
@pytest.mark.parametrize(
    ("box", "values", "level"),
    [
        (sdp.KRandomizedResponse(3), [0, 1, 2], 0.7),
        (sdp.KRandomizedResponse(5), [0, 1, 4], 2.0),
        (sdp.SubsetSelection(7, 2), [0, 6], 1.0),
        (sdp.HadamardResponse(6), [0, 5], 1.0),
        (sdp.LocalHashing(6, 3), [0, 5], 1.0),
        (sdp.UnaryEncoding(20), [0, 19], 1.0),
        (sdp.Laplace(), [0.0, 1.0], 1.0),
        (rounded_laplace, [0.0, 1.0], 1.0),
    ],
    ids=["kary", "kary-2", "subset", "hadamard", "hash", "unary", "laplace", "rounded"],
)
def test_what_is_proven_is_near_the_exact_epsilon_and_never_above(
    box: Any, values: list[Any], level: float
) -> None:
    # The exact epsilon of all of these, between any two of these values, is the level.
    pairs = audited(box, values, level)

    assert len(pairs) == len(values) * (len(values) - 1)
    for pair in pairs:
        # At 60,000 messages and one error in a million, noise of 5 standard errors.
        assert 0.7 * level < pair.epsilon.bound <= level
        assert pair.delta.bound == 0.0
        assert not breaks(pair, 0.0)


def test_no_rare_event_is_chosen_that_only_looked_telling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Where far more is counted than learned from, what was seen no time may come often.
    monkeypatch.setattr("shuffledp.audit.audit_plan.MOST_LEARNED", 4_000)

    pairs = audited(rounded_laplace, [0.0, 1.0], 2.0)

    assert all(pair.epsilon.bound > 1.6 for pair in pairs)


def test_values_nearer_to_each_other_show_less() -> None:
    box = sdp.Laplace()

    pairs = {
        (p.value, p.other): p.epsilon.bound for p in audited(box, [0.0, 0.25, 1.0])
    }

    # Exactly: the level times the distance.
    assert 0.1 < pairs["0.0", "0.25"] <= 0.25
    assert 0.55 < pairs["0.25", "1.0"] <= 0.75
    assert 0.8 < pairs["0.0", "1.0"] <= 1.0


def test_delta_is_part_of_the_promise() -> None:
    box, values = sdp.Gaussian(delta_local=0.1), [0.0, 1.0]

    kept = audited(box, values, delta=0.1, samples=40_000)
    # Nobody may call it pure.
    pure = audited(box, values, delta=0.0, samples=40_000)

    assert all(not breaks(pair, 0.1) for pair in kept)
    assert max(pair.epsilon.bound for pair in kept) > 0.7
    assert max(pair.epsilon.bound for pair in pure) > 1.2
    assert 0.03 < max(pair.delta.bound for pair in pure) <= 0.1


@pytest.mark.parametrize(
    ("name", "values", "true"),
    [
        ("doubled_epsilon", [0, 3], 2.0),
        ("biased_sampler", [0, 2], math.log(1 + (math.e - 1) / 3 / 0.25)),
        ("wrong_count", [0, 3], math.log(2 * math.e - 1)),
        ("wrong_clip", [0.0, 1.0], 1.5),
    ],
)
def test_broken_devices_show_more_than_promised_and_no_more_than_is_true(
    name: str, values: list[Any], true: float
) -> None:
    pairs = audited(getattr(broken_devices, name), values, samples=100_000)

    assert 1.0 < max(pair.epsilon.bound for pair in pairs) <= true


def test_a_value_that_leaks_once_in_a_thousand_is_found_and_named() -> None:
    pairs = audited(broken_devices.rare_leak, [0, 3], samples=200_000)

    assert all(pair.epsilon.bound > 1.0 for pair in pairs)
    assert {pair.epsilon.event for pair in pairs} == {"it is 4", "it is 7"}


def _histogram(values: Any, levels: Any, rng: np.random.Generator) -> Any:
    noise = rng.laplace(size=(values.size, 3)) * 2.0 / levels[:, None]
    return np.eye(3)[values] + noise


def test_floating_point_gaps_are_found_in_plain_noise_and_not_in_ours() -> None:
    plain = audited(rounding_leak, [0.0, 1.0])
    numpys = audited(lambda v, e, rng: v + rng.laplace(size=v.size) / e, [0.0, 1.0])
    entries = audited(_histogram, [0, 2], 0.5)
    around_zero = audited(rounding_leak, [-0.5, 0.5])
    ours = audited(sdp.Laplace(), [0.0, 1.0], samples=20_000)

    for pairs in (plain, numpys, around_zero, entries):
        worst = max(pairs, key=lambda pair: pair.epsilon.bound)
        assert worst.epsilon.bound > 3.0
        assert "first and last bit" in worst.epsilon.event
    assert all(pair.epsilon.bound <= 1.0 for pair in ours)


def _texts(values: list[str], levels: Any, rng: np.random.Generator) -> list[str]:
    keep = rng.random(len(values)) < 0.9
    salt = rng.integers(10**9, size=len(values)).tolist()
    return [
        f"{v if k else '??'}:{s:09d}"
        for v, k, s in zip(values, keep, salt, strict=True)
    ]


def _sets(values: Any, levels: Any, rng: np.random.Generator) -> list[set[int]]:
    drawn = rng.random((len(values), 30)) < 0.3
    drawn[np.arange(len(values)), values] |= rng.random(len(values)) < 0.9
    return [set(np.flatnonzero(row).tolist()) for row in drawn]


@pytest.mark.parametrize(
    ("box", "values", "true"),
    [(_texts, ["us", "at"], 30.0), (_sets, [0, 29], math.log(0.93 / 0.3 * 0.7 / 0.07))],
)
def test_messages_that_never_repeat_are_told_apart_by_their_parts(
    box: Any, values: list[Any], true: float
) -> None:
    pairs = audited(box, values, samples=4_000)

    for pair in pairs:
        assert 1.0 < pair.epsilon.bound <= true


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_stated() -> None:
    # At the limit of what may be promised, with bounds that fail once in five.
    plan = plan_audit([0, 1], [1.0], samples=400, confidence=0.8)
    box = CallableTarget(sdp.KRandomizedResponse(2), "exact")
    rng = np.random.default_rng(3)

    alarms = sum(
        any(breaks(pair, 0.0) for pair in audited_pairs(box, plan, rng=rng))
        for _ in range(100)
    )

    # Falsely refused once in a thousand times.
    assert binomtest(alarms, 100, 0.2, alternative="greater").pvalue > 1e-3


def test_every_batch_has_all_values_and_levels() -> None:
    seen = []

    def box(values: Any, levels: Any) -> Any:
        seen.append(set(zip(values.tolist(), levels.tolist(), strict=True)))
        return values

    plan = plan_audit([0, 1, 2], [0.5, 1.0], samples=300)
    audited_pairs(CallableTarget(box, "a box"), plan, rng=np.random.default_rng(1))

    assert all(len(cells) == 6 for cells in seen)


def _refusing(values: Any, levels: Any) -> Any:
    raise RuntimeError("no more")


@pytest.mark.parametrize(
    ("box", "said"),
    [
        (lambda values, levels: values[1:], "Expected .* messages"),
        (_refusing, "got RuntimeError: no more"),
        (lambda values, levels: ["a", *values.tolist()][:-1], "of one kind"),
        (3, "a function or an object with randomize"),
    ],
)
def test_boxes_that_do_not_answer_are_refused(box: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        audited(box, [0, 1], samples=200)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"values": [0]}, "two or more different values, got 0"),
        ({"values": [0, 0]}, "different values"),
        ({"levels": []}, "levels > 0"),
        ({"levels": [0.0]}, "levels > 0"),
        ({"delta": 1.0}, "0 <= delta < 1"),
        ({"delta": float("nan")}, "0 <= delta < 1"),
        ({"samples": 10}, "samples, got 10"),
        ({"samples": True}, "samples, got True"),
        ({"confidence": 1.0}, "confidence < 1"),
    ],
)
def test_senseless_plans_are_refused(given: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"values": [0, 1], "levels": [1.0]} | given

    with pytest.raises(InvalidInputError, match=said):
        plan_audit(**asked)
