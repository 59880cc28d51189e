"""Audit of an accountant against exact divergences of small collections.

Random collections of two to six participants are drawn: the mechanism, the number of
participants at each level, and an epsilon. The exact divergence of the shuffled messages,
over all data, comes from `shuffledp.testing.exact_divergences`, which knows the mechanisms'
distributions and no accountant. A stated delta below it is wrong, and so is an attack above
it. The counterexample is then simplified for as long as it remains one: fewer participants,
fewer levels, smaller mechanisms, rounder numbers.

An accountant is any callable with the signature of `account`,

    accountant(device, people, epsilon=epsilon).levels

where every level has `epsilon_local` and `delta_central`, and may have
`delta_central_lower`. Collections that it refuses are counted and prove nothing.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.audit.small_collection import (
    SmallCollection,
    random_collection,
    simplifications,
)
from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.extension_loading import expecting
from shuffledp.version import __version__

Accountant: TypeAlias = Callable[..., Any]

# Of sums of doubles, relative and absolute; the truth is one, too.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
# What is found is made smaller only while it is wrong by this much, so that no rounding
# decides.
_CLEAR = 1.01


@dataclass(frozen=True)
class Counterexample:
    """A collection for which an accountant states what is not true.

    Attributes:
        small: The collection.
        level: The victim's.
        wrong: Whether the upper bound is too low, or the lower bound too high.
        stated: The delta that it states.
        exact: The divergence; of an upper bound that is too low, at least.
        trial: Where it came from.
    """

    small: SmallCollection
    level: float
    wrong: Literal["upper", "lower"]
    stated: float
    exact: float
    trial: int

    @property
    def ratio(self) -> float:
        """By how much, as a factor above 1."""
        more, less = self.exact, self.stated
        if self.wrong == "lower":
            more, less = less, more
        return more / less if less > 0.0 else math.inf


@dataclass(frozen=True)
class _Compared:
    stated: bool
    wrong: Counterexample | None
    tightest: float | None


@dataclass(frozen=True)
class AccountantAudit:
    """What became of the trials.

    Attributes:
        name: Of the accountant.
        seed: Of all trials.
        trials: Collections that were compared.
        refused: How many of them the accountant said nothing of.
        wrong: How many it was wrong about.
        tightest: The smallest stated delta over the exact one, where that is above 1e-9;
            None if there was none.
        smallest: The smallest counterexample, made smaller; None if there is none.
    """

    name: str
    seed: int
    trials: int
    refused: int
    wrong: int
    tightest: float | None
    smallest: Counterexample | None

    def to_dict(self) -> dict[str, Any]:
        """Returns everything, for machines."""
        found = self.smallest
        shown = None
        if found is not None:
            device = found.small.device
            shown = {
                "mechanism": device.mechanism,
                "parameters": device.parameters,
                "people": [list(pair) for pair in found.small.people],
                "epsilon": found.small.epsilon,
                "level": found.level,
                "wrong": found.wrong,
                "stated": found.stated,
                "exact": found.exact,
                "trial": found.trial,
            }
        rest = asdict(self)
        del rest["smallest"]
        return {"version": __version__, **rest, "smallest": shown}


def audit_accountant(
    accountant: Accountant,
    name: str,
    *,
    seconds: float,
    seed: int = 1,
    on_share: Callable[[float], None] | None = None,
) -> AccountantAudit:
    """Compares an accountant with the truth until time is up.

    Args:
        accountant: Called with a randomizer, people, and epsilon by name.
        name: What it is called.
        seconds: No trial starts later, but the first. Making a counterexample smaller
            takes up to as much again.
        seed: Trial k of one seed is always the same.
        on_share: Called with the share that is done.

    Raises:
        InvalidInputError: If it answers with something else than it should.
    """
    if not as_number(seconds, "seconds") > 0.0:
        raise InvalidInputError(f"Expected seconds > 0, got {seconds:g}.")
    start, trial, trials, refused, wrong = time.monotonic(), 0, 0, 0, 0
    tightest: float | None = None
    smallest: Counterexample | None = None
    while trials == 0 or time.monotonic() - start < seconds:
        small = random_collection(np.random.default_rng([seed, trial]))
        trial += 1
        compared = _compare(accountant, small, trial - 1)
        if compared is None:
            continue
        trials += 1
        refused += not compared.stated
        ratios = [one for one in (tightest, compared.tightest) if one is not None]
        tightest = min(ratios, default=None)
        found = compared.wrong
        if found is not None:
            wrong += 1
            if smallest is None or found.small.size < smallest.small.size:
                smallest = found
        if on_share is not None:
            on_share(min((time.monotonic() - start) / seconds, 1.0))
    if smallest is not None:
        smallest = shrink(accountant, smallest, seconds=seconds)
    return AccountantAudit(name, seed, trials, refused, wrong, tightest, smallest)


def shrink(
    accountant: Accountant, found: Counterexample, *, seconds: float
) -> Counterexample:
    """Returns the smallest counterexample that steps of one change each lead to."""
    end = time.monotonic() + seconds
    going = True
    while going and time.monotonic() < end:
        going = False
        for tried in sorted(simplifications(found.small), key=lambda small: small.size):
            if tried.size >= found.small.size:
                break
            compared = _compare(accountant, tried, found.trial)
            less = None if compared is None else compared.wrong
            if less is not None and less.ratio > min(_CLEAR, found.ratio):
                found, going = less, True
                break
    return found


def _compare(
    accountant: Accountant, small: SmallCollection, trial: int
) -> _Compared | None:
    """Returns what an accountant states beside the truth; None if that is not known."""
    known = small.truth()
    if known is None:
        return None
    exact, whole = known
    with expecting(
        "an accountant to be called with a randomizer, people and epsilon, and to answer "
        "with levels"
    ):
        try:
            answer = accountant(small.device, small.population, epsilon=small.epsilon)
            stated = [
                (
                    float(level.epsilon_local),
                    float(level.delta_central),
                    float(getattr(level, "delta_central_lower", 0.0)),
                )
                for level in answer.levels
            ]
        except ShuffledpError:
            return _Compared(False, None, None)
    if not {budget for budget, _, _ in stated} <= set(exact):
        raise InvalidInputError(
            "Expected an accountant to answer about people's levels."
        )
    found, ratios = [], []
    for budget, upper, lower in stated:
        truth = exact[budget]
        if whole and truth > _RELATIVE:
            ratios.append(upper / truth)
        # Written this way round, what is no number is wrong, too.
        if not upper >= truth * (1.0 - _RELATIVE) - _ABSOLUTE:
            found.append(Counterexample(small, budget, "upper", upper, truth, trial))
        if whole and not lower <= truth * (1.0 + _RELATIVE) + _ABSOLUTE:
            found.append(Counterexample(small, budget, "lower", lower, truth, trial))
    worst = max(found, key=lambda one: one.ratio, default=None)
    return _Compared(bool(stated), worst, min(ratios, default=None))
