import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import broken_devices

import shuffledp as sdp
from shuffledp.audit.audit_messages import as_messages
from shuffledp.audit.audit_plan import plan_audit
from shuffledp.audit.audit_result import AuditVerdict, SideCheckOutcome
from shuffledp.audit.message_dependence import compare_neighbors, dependence
from shuffledp.audit.neighbor_leakage import neighbors
from shuffledp.audit.randomizer import audit_randomizer
from shuffledp.audit.repeated_noise import AGAIN, FORK, RESTART, repeats
from shuffledp.audit.target import CallableTarget, callable_target
from shuffledp.audit.timing_check import permutation_test, timing

PLAN = plan_audit([0, 3], [1.0])
BROKEN, FINE = SideCheckOutcome.BROKEN, SideCheckOutcome.FINE
DEPENDENT = SideCheckOutcome.DEPENDENT
NOT_APPLICABLE = SideCheckOutcome.NOT_APPLICABLE

# None can be pickled; one draws the same in forks, the others leave forks or any other
# process without an answer.
AT_HOME = """
import os
import sys

import numpy as np


def make():
    home, generator = os.getpid(), np.random.default_rng()

    def client(values, levels):
        return generator.integers(2, size=len(values))

    def shy(values, levels):
        return sys.exit(0) if os.getpid() != home else client(values, levels)

    def gone(values, levels):
        return client(values, levels) if "pytest" in sys.modules else os._exit(0)

    fixed = np.random.default_rng(7)

    def seeded(values, levels, rng):
        rng.integers(4, size=len(values))
        return fixed.integers(4, size=len(values))

    return client, shy, gone, seeded


client, shy, gone, seeded = make()
"""


def repeated(box: Any) -> dict[str, SideCheckOutcome]:
    target = box if isinstance(box, CallableTarget) else CallableTarget(box, "a box")
    found = repeats(target, PLAN, alpha=1e-4, rng=np.random.default_rng(1))
    return {behavior.about: behavior.outcome for behavior in found}


@pytest.mark.parametrize(
    ("box", "again", "restart", "fork"),
    [
        (sdp.KRandomizedResponse(4), FINE, FINE, FINE),
        (broken_devices.forked_seed, FINE, FINE, BROKEN),
        pytest.param(
            broken_devices.fixed_seed, BROKEN, BROKEN, BROKEN, marks=pytest.mark.slow
        ),
    ],
)
def test_seeds_that_repeat_are_found_where_they_do(
    box: Any, again: SideCheckOutcome, restart: SideCheckOutcome, fork: SideCheckOutcome
) -> None:
    assert repeated(box) == {AGAIN: again, RESTART: restart, FORK: fork}


@pytest.mark.slow
def test_boxes_that_draw_as_documented_are_asked_in_other_processes() -> None:
    # integers(4, size=n) is a call of NumPy's generators only.
    found = repeated(broken_devices.response)

    assert found == {AGAIN: FINE, RESTART: FINE, FORK: FINE}


def test_messages_that_hardly_vary_say_nothing_of_seeds() -> None:
    found = repeated(lambda values, levels: values)

    assert set(found.values()) == {NOT_APPLICABLE}


def test_what_cannot_be_sent_to_another_process_is_asked_in_this_one_only() -> None:
    rng = np.random.default_rng(3)

    found = repeated(lambda values, levels: rng.random(values.size))

    assert found == {AGAIN: FINE, RESTART: NOT_APPLICABLE, FORK: NOT_APPLICABLE}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("name", "restart", "fork"),
    [
        ("client", FINE, BROKEN),
        ("seeded", BROKEN, BROKEN),
        ("shy", NOT_APPLICABLE, NOT_APPLICABLE),
        ("gone", NOT_APPLICABLE, NOT_APPLICABLE),
    ],
)
def test_what_has_a_name_is_imported_anew_in_another_process(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    restart: SideCheckOutcome,
    fork: SideCheckOutcome,
) -> None:
    (tmp_path / "box_at_home.py").write_text(AT_HOME, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "box_at_home", raising=False)

    found = repeated(callable_target(f"box_at_home:{name}"))

    assert found == {AGAIN: FINE, RESTART: restart, FORK: fork}


@pytest.mark.parametrize(
    ("box", "outcome"),
    [
        (broken_devices.memoized_coin, DEPENDENT),
        (broken_devices.response, FINE),
        (broken_devices.rounded_laplace, FINE),
        (lambda v, e, rng: np.repeat(rng.normal(size=v.size // 2), 2), DEPENDENT),
        (
            lambda v, e, rng: np.convolve(rng.normal(size=v.size + 1), [1, 1], "valid"),
            DEPENDENT,
        ),
    ],
)
def test_messages_that_depend_on_the_one_before_are_found(
    box: Any, outcome: SideCheckOutcome
) -> None:
    # With this seed; of right boxes, one in a thousand seeds is an alarm.
    target, rng = CallableTarget(box, "a box"), np.random.default_rng(2)

    assert dependence(target, PLAN, alpha=1e-3, rng=rng).outcome is outcome


def previous_in_clear(values: Any, levels: Any, rng: Any) -> Any:
    """A right message, and what the person before holds."""
    sent = broken_devices.response(values, levels, rng)
    return np.column_stack([sent, np.roll(values, 1)])


def public_seed(values: Any, levels: Any, rng: Any) -> Any:
    """Right: values are shifted by a public number that changes every 100 messages."""
    seeds = np.repeat(rng.integers(4, size=values.size // 100 + 1), 100)[: values.size]
    sent = broken_devices.response((values + seeds) % 4, levels, rng)
    return np.column_stack([seeds, sent])


@pytest.mark.parametrize(
    ("box", "outcome"),
    [
        (previous_in_clear, BROKEN),
        (broken_devices.memoized_coin, BROKEN),
        (broken_devices.response, FINE),
        (public_seed, FINE),
        (lambda v, e, rng: [f"{'ab'[int(x == 3)]}" for x in np.roll(v, 1)], BROKEN),
        (lambda v, e, rng: [{int(x), 9} for x in np.roll(v, -1)], BROKEN),
    ],
    ids=["previous", "coin", "response", "seed", "texts", "sets"],
)
def test_what_neighbors_messages_tell_breaks_the_promise(
    box: Any, outcome: SideCheckOutcome
) -> None:
    target, rng = CallableTarget(box, "a box"), np.random.default_rng(8)
    few = plan_audit([0, 3], [1.0], samples=4_000)

    found = neighbors(target, few, alpha=1e-4, rng=rng)

    assert found.outcome is outcome


@pytest.mark.slow
def test_a_right_box_whose_messages_depend_is_not_called_broken() -> None:
    few = plan_audit([0, 3], [1.0], samples=8_000)
    target = CallableTarget(public_seed, "a box")

    found = audit_randomizer(target, few, rng=np.random.default_rng(9))

    assert found.verdict is AuditVerdict.NOTHING_FOUND
    assert DEPENDENT in [behavior.outcome for behavior in found.behaviors]


def test_dependence_has_exact_false_alarms() -> None:
    rng = np.random.default_rng(4)
    chances = [
        compare_neighbors(as_messages(rng.integers(3, size=100)))[0] for _ in range(500)
    ]

    for alpha in (0.05, 0.2, 0.5):
        # 4 standard errors: falsely refused once in 10,000 times, for each of the three.
        allowed = alpha + 4.0 * np.sqrt(alpha * (1.0 - alpha) / 500)
        assert np.mean(np.array(chances) <= alpha) <= allowed


def _slower(values: Any, levels: Any) -> Any:
    time.sleep(1e-3 * float(values[0] == 3))
    return values


def test_time_that_depends_on_the_value_is_a_warning_with_its_size() -> None:
    found = timing(CallableTarget(_slower, "a box"), PLAN, rng=np.random.default_rng(5))

    assert found.outcome is SideCheckOutcome.WARNING
    assert "200 messages about 3 take" in found.text
    assert "with probability 0.001" in found.text


def test_times_that_do_not_depend_on_the_value_are_rarely_warned_of() -> None:
    rng = np.random.default_rng(6)
    rounds = rng.lognormal(size=(200, 1))

    chances = [
        permutation_test(rounds[:20] * rng.lognormal(size=(20, 3)), seed=seed)[0]
        for seed in range(20)
    ]

    # Of 20 exact p-values, 6 or more below 0.05 come once in 3,000 times.
    assert sum(chance <= 0.05 for chance in chances) < 6
