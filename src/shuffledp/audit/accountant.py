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

# Rounding errors of sums of doubles; the exact divergence is such a sum, too.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
# A counterexample is simplified only while it is wrong by this factor, so that rounding
# errors decide nothing.
_CLEAR = 1.01


@dataclass(frozen=True)
class WrongBound:
    """A collection for which an accountant states a wrong bound.

    Attributes:
        small: The collection.
        level: The target user's.
        wrong: Whether the upper bound is too low, or the lower bound too high.
        stated: The delta that it states.
        exact: The divergence; of an upper bound that is too low, at least.
        trial: The number of the trial that drew it.
    """

    small: SmallCollection
    level: float
    wrong: Literal["upper", "lower"]
    stated: float
    exact: float
    trial: int

    @property
    def ratio(self) -> float:
        """The factor, above 1, by which the statement is wrong."""
        larger, smaller = self.exact, self.stated
        if self.wrong == "lower":
            larger, smaller = smaller, larger
        return larger / smaller if smaller > 0.0 else math.inf


@dataclass(frozen=True)
class _Comparison:
    stated: bool
    wrong: WrongBound | None
    tightest: float | None


@dataclass(frozen=True)
class AccountantAudit:
    """Result of all trials of one accountant.

    Attributes:
        name: Of the accountant.
        seed: Of all trials.
        trials: Collections that were compared.
        refused: The number of them that the accountant refused.
        wrong: The number of them with a wrong bound.
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
    smallest: WrongBound | None

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as values that JSON can represent."""
        example = self.smallest
        example_terms = None
        if example is not None:
            device = example.small.device
            example_terms = {
                "mechanism": device.mechanism,
                "parameters": device.parameters,
                "people": [list(pair) for pair in example.small.people],
                "epsilon": example.small.epsilon,
                "level": example.level,
                "wrong": example.wrong,
                "stated": example.stated,
                "exact": example.exact,
                "trial": example.trial,
            }
        fields = asdict(self)
        del fields["smallest"]
        return {"version": __version__, **fields, "smallest": example_terms}


def audit_accountant(
    accountant: Accountant,
    name: str,
    *,
    seconds: float,
    seed: int = 1,
    on_share: Callable[[float], None] | None = None,
) -> AccountantAudit:
    """Compares an accountant with exact divergences until the time is up.

    Args:
        accountant: Called with a randomizer, people, and epsilon by name.
        name: The accountant's name in the report.
        seconds: Time limit of the trials; at least one is made. Simplifying a
            counterexample takes up to the same time again.
        seed: Trial k of one seed is always the same.
        on_share: Called with the share that is done.

    Raises:
        InvalidInputError: If an answer has no levels, or a level that was not asked for.
    """
    if not as_number(seconds, "seconds") > 0.0:
        raise InvalidInputError(f"Expected seconds > 0, got {seconds:g}.")
    start, trial, trials, refused, wrong = time.monotonic(), 0, 0, 0, 0
    tightest: float | None = None
    smallest_example: WrongBound | None = None
    while trials == 0 or time.monotonic() - start < seconds:
        # A generator per trial: trial k is the same however many come before it.
        small = random_collection(np.random.default_rng([seed, trial]))
        trial += 1
        comparison = _compare(accountant, small, trial - 1)
        if comparison is None:
            continue
        trials += 1
        refused += not comparison.stated
        ratios = [
            ratio for ratio in (tightest, comparison.tightest) if ratio is not None
        ]
        tightest = min(ratios, default=None)
        example = comparison.wrong
        if example is not None:
            wrong += 1
            if (
                smallest_example is None
                or example.small.size < smallest_example.small.size
            ):
                smallest_example = example
        if on_share is not None:
            on_share(min((time.monotonic() - start) / seconds, 1.0))
    if smallest_example is not None:
        smallest_example = shrink(accountant, smallest_example, seconds=seconds)
    return AccountantAudit(
        name, seed, trials, refused, wrong, tightest, smallest_example
    )


def shrink(
    accountant: Accountant, example: WrongBound, *, seconds: float
) -> WrongBound:
    """Simplifies a counterexample one change at a time, for as long as it stays one."""
    end = time.monotonic() + seconds
    going = True
    while going and time.monotonic() < end:
        going = False
        for simpler in sorted(
            simplifications(example.small), key=lambda small: small.size
        ):
            # Those after it are as large, as they are sorted.
            if simpler.size >= example.small.size:
                break
            comparison = _compare(accountant, simpler, example.trial)
            smaller_example = None if comparison is None else comparison.wrong
            # One that is not clear must become clearer.
            if smaller_example is not None and smaller_example.ratio > min(
                _CLEAR, example.ratio
            ):
                example, going = smaller_example, True
                break
    return example


def _compare(
    accountant: Accountant, small: SmallCollection, trial: int
) -> _Comparison | None:
    """Compares stated with exact deltas; None if there are too many outcomes."""
    truth_known = small.truth()
    if truth_known is None:
        return None
    exact_deltas, is_complete = truth_known
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
            # A refusal states no bound that could be wrong.
            return _Comparison(False, None, None)
    if not {epsilon_local for epsilon_local, _, _ in stated} <= set(exact_deltas):
        raise InvalidInputError(
            "Expected an accountant to answer about people's levels."
        )
    examples, ratios = [], []
    for epsilon_local, upper, lower in stated:
        truth = exact_deltas[epsilon_local]
        # A table with merged outcomes gives a lower bound of the divergence only.
        if is_complete and truth > _RELATIVE:
            ratios.append(upper / truth)
        # Written this way round, the comparison counts NaN as wrong, too.
        if not upper >= truth * (1.0 - _RELATIVE) - _ABSOLUTE:
            examples.append(
                WrongBound(small, epsilon_local, "upper", upper, truth, trial)
            )
        if is_complete and not lower <= truth * (1.0 + _RELATIVE) + _ABSOLUTE:
            examples.append(
                WrongBound(small, epsilon_local, "lower", lower, truth, trial)
            )
    worst_example = max(examples, key=lambda example: example.ratio, default=None)
    return _Comparison(bool(stated), worst_example, min(ratios, default=None))
