"""Bounds of several rounds, bounds from outside, and what an evaluation costs."""

import itertools
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from command_line import Command

import shuffledp as sdp
from shuffledp_papers.bounds.bound import PublishedBound, Setting, Status
from shuffledp_papers.bounds.girgis2021 import Girgis2021Sum, sum_log_moment
from shuffledp_papers.leaderboard.composed_bound import ComposedBound
from shuffledp_papers.leaderboard.outside_bound import OutsideBound
from shuffledp_papers.outside_preconditions import OutsidePreconditions

EXAMPLES = Path(sdp.__file__).parents[2] / "examples"
PEOPLE = sdp.Population.from_counts({1.0: 100})
SETTING = Setting(PEOPLE)


class MessageAlone(PublishedBound):
    """The divergence of binary response, which is the profile of a known pair."""

    name: ClassVar[str] = "message-alone"
    proven: ClassVar[Status] = Status.PROVEN

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        return max(-math.expm1(epsilon - 1.0), 0.0) / (1.0 + math.exp(-1.0))


@pytest.mark.parametrize("rounds", [2, 3])
def test_a_composed_profile_is_that_of_independent_pairs(rounds: int) -> None:
    delta = 0.01

    epsilon = ComposedBound(MessageAlone(), rounds).epsilon(SETTING, delta)

    # All outcomes of `rounds` independent responses, enumerated.
    lie = 1.0 / (1.0 + math.e)

    def divergence(at: float) -> float:
        total = 0.0
        for sent in itertools.product((0, 1), repeat=rounds):
            ones = sum(sent)
            first = (1.0 - lie) ** (rounds - ones) * lie**ones
            second = (1.0 - lie) ** ones * lie ** (rounds - ones)
            total += max(first - math.exp(at) * second, 0.0)
        return total

    # A proven bound, and tight: a little less epsilon would not do.
    assert divergence(epsilon) <= delta
    assert divergence(0.99 * epsilon) > delta


def test_nothing_stated_of_one_round_is_nothing_stated_of_several() -> None:
    class Nothing(MessageAlone):
        def stated_delta(self, setting: Setting, epsilon: float) -> float:
            raise OutsidePreconditions("Expected other people.")

    with pytest.raises(OutsidePreconditions):
        ComposedBound(Nothing(), 2).epsilon(SETTING, 0.01)


def test_renyi_divergences_of_rounds_add_up() -> None:
    setting = Setting(sdp.Population.from_counts({1.0: 10_000}))
    bound = Girgis2021Sum()

    epsilon = bound.over(10).epsilon(setting, 1e-6)

    # Every order up to 400, by the conversion as the module states it.
    least = min(
        (10 * sum_log_moment(setting, order) - math.log(1e-6 * order)) / (order - 1)
        + math.log1p(-1.0 / order)
        for order in range(2, 400)
    )
    assert least <= epsilon <= least * (1.0 + 1e-6)
    assert bound.over(1) == bound


def test_a_bound_from_outside_is_the_worst_of_its_levels() -> None:
    class Level:
        def __init__(self, delta: float) -> None:
            self.delta_central = delta

    def account(device: Any, people: Any, *, epsilon: float) -> Any:
        answer = type("Answer", (), {})()
        answer.levels = [Level(math.exp(-epsilon)), Level(math.exp(-2.0 * epsilon))]
        return answer

    bound = OutsideBound(account, "mine:account")

    assert bound.epsilon(SETTING, 1e-3) == pytest.approx(math.log(1e3), rel=1e-9)


def test_refusals_of_outside_bounds_state_nothing_and_failures_are_errors() -> None:
    def refuses(device: Any, people: Any, *, epsilon: float) -> Any:
        raise sdp.InvalidInputError("Expected fewer people.")

    def fails(device: Any, people: Any, *, epsilon: float) -> Any:
        raise ZeroDivisionError

    with pytest.raises(OutsidePreconditions, match="fewer people"):
        OutsideBound(refuses, "mine:refuses").epsilon(SETTING, 1e-3)
    with pytest.raises(sdp.InvalidInputError, match="mine:fails to answer"):
        OutsideBound(fails, "mine:fails").epsilon(SETTING, 1e-3)


def test_the_template_of_a_bound_from_outside_passes_the_audit(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)

    outcome = command(
        *("audit", "accountant", "outside_bound:account", "--seconds", "0.3", "--json")
    )

    assert outcome.code == 0, outcome.err
    audit = outcome.json()
    assert audit["trials"] > audit["refused"]
    assert audit["wrong"] == 0
    # The message alone is never less than what the shuffle shows.
    assert audit["tightest"] >= 1.0 - 1e-9


def test_a_computation_comes_with_its_memory_where_the_system_tells() -> None:
    # In a process of its own: in one that ran many tests the peak may not rise at all.
    program = (
        "import numpy as np\n"
        "from shuffledp_papers.leaderboard.measured_work import measured\n"
        "print(*measured(lambda: np.ones(6_000_000).size))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    size, cost = outcome.stdout.split(maxsplit=1)
    seconds, megabytes = re.findall(r"=([^,)]+)", cost)

    assert int(size) == 6_000_000
    assert float(seconds) > 0.0
    # 48 MB; 1 % less, as pages may have been in use before.
    assert megabytes == "None" or 47.5 <= float(megabytes) <= 100.0
