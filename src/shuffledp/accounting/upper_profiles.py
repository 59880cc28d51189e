"""Certified profiles of target users of a population: which bounds apply to each."""

import functools
import math
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.message_alone import check_level
from shuffledp.accounting.rounds.node_choice import EVALUATIONS
from shuffledp.accounting.statement import RestsOn
from shuffledp.accounting.two_messages.two_message_bound import (
    TwoMessageBound,
    two_message_bound,
)
from shuffledp.accounting.upper.blanket import (
    UpperBound,
    WorstBound,
    blanket_bounds,
)
from shuffledp.accounting.upper.chernoff import chernoff_bounds
from shuffledp.accounting.upper.noise_blanket import noise_blanket
from shuffledp.accounting.upper.smaller_bound import SmallerByEstimate
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.cover import Cover, LocalRandomizer
from shuffledp.population import Population

# Probability that may be dropped from the tails, as a share of delta.
_TAIL = 1e-12
# Evaluations of slow profiles in compositions, as many as an account of a few seconds may
# take: the more bands there are, the fewer, which raises an epsilon by less than 1%. They
# do not depend on how many levels are asked for, as searches for budgets ask for one and
# certify all.
_SLOW_EVALUATIONS, _MOST_BANDS, _LEAST_EVALUATIONS = 60, 5, 36


def upper_profiles(
    randomizer: LocalRandomizer,
    population: Population,
    targets: Sequence[int],
    *,
    delta: float,
    absent: int = 0,
    quick: bool = False,
    is_composed: bool = False,
    in_steps: bool = True,
) -> list[UpperProfile]:
    """Returns the certified profile of a target user at each of these levels.

    Args:
        randomizer: Randomizer that the devices run.
        population: Users among whom the targets hide, themselves included.
        targets: Positions of the target users' levels in the population, distinct.
        delta: Smallest divergence that must still be accurate.
        absent: Number of other users who may be absent or collude.
        quick: Whether the bound in closed form will do.
        is_composed: Whether the profile is composed with others or with itself.
        in_steps: Whether noise of several levels is tried with blankets in steps, each of
            which is searched for.

    Raises:
        CertificationError: If a device's densities exceed the ratio that its level permits.
    """
    levels = population.epsilons[list(targets)].tolist()
    tail = max(_TAIL * delta, 1e-320)
    for level in levels:
        check_level(randomizer, level)
    is_composed = is_composed or randomizer.changes > 1
    covers = randomizer.covers(levels, population, delta=delta)
    if quick:
        bounds = chernoff_bounds(covers, population.counts, targets, absent=absent)
    else:
        bounds = blanket_bounds(
            covers,
            population.counts,
            targets,
            absent=absent,
            tail=tail,
            is_composed=is_composed,
        )
    counts = population.counts.astype(np.float64)
    messages: dict[int, float] = {}
    shared: dict[tuple[object, ...], TwoMessageBound] = {}
    profiles = []
    for bound, target, level, pairs in zip(
        bounds, targets, levels, covers, strict=True
    ):
        gammas = pairs[0].blanket_probabilities
        if id(gammas) not in messages:
            messages[id(gammas)] = float(gammas @ counts)
        spread = _spread(pairs[0], max(messages[id(gammas)], 1.0))
        by_theorem: dict[RestsOn, UpperBound] = {}
        two_messages = None
        if not quick:
            two_messages = two_message_bound(
                pairs,
                population.counts,
                target,
                absent=absent,
                is_composed=is_composed,
            )
        if two_messages is not None:
            two_messages = shared.setdefault(two_messages.key, two_messages)
            by_theorem["two messages"] = two_messages
        noise = pairs[0].noise
        if noise is not None and in_steps and not quick:
            stepped = functools.partial(
                noise_blanket,
                noise,
                population,
                target,
                bound,
                delta=delta,
                absent=absent,
                tail=tail,
                is_composed=is_composed,
            )
            bound = SmallerByEstimate(bound, stepped, is_composed=is_composed)
        by_theorem["blanket"] = bound
        evaluations = EVALUATIONS
        if two_messages is not None and two_messages.is_slow:
            evaluations = _slow_evaluations(two_messages.num_bands)
        profiles_by_pair: list[UpperProfile] = []
        if _show_apart(pairs, randomizer) and isinstance(bound, WorstBound):
            for pair, blanket_bound in enumerate(bound.bounds):
                parts: dict[RestsOn, UpperBound] = {
                    **by_theorem,
                    "blanket": blanket_bound,
                }
                if two_messages is not None:
                    parts["two messages"] = two_messages.of_pair(pair)
                profiles_by_pair.append(UpperProfile(parts, randomizer, level, spread))
        profiles.append(
            UpperProfile(
                by_theorem,
                randomizer,
                level,
                spread,
                tuple(profiles_by_pair),
                evaluations,
            )
        )
    return profiles


def _slow_evaluations(num_bands: int) -> int:
    """Returns at how many epsilons a composition may evaluate a bound of many bands."""
    fewer = _MOST_BANDS * _SLOW_EVALUATIONS // num_bands
    return min(max(fewer, _LEAST_EVALUATIONS), _SLOW_EVALUATIONS)


def _show_apart(pairs: tuple[Cover, ...], randomizer: LocalRandomizer) -> bool:
    """Returns whether at most half of the shuffles show each direction of the pair."""
    half = [cover.shuffles for cover in pairs]
    return len(half) == 2 and all(2 * (n or 0) == randomizer.changes for n in half)


def _spread(cover: Cover, messages: float) -> float:
    largest = float(np.abs(cover.differences).max())
    if largest == 0.0:
        return 0.0
    # In units of the largest, whose square might overflow.
    part = float(cover.masses @ (cover.differences / largest) ** 2)
    return largest * math.sqrt(part / messages)
