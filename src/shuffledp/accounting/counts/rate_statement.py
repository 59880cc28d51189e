"""Guarantees of people who send answers among noise, each at the rate of a target.

A certificate depends on a person's rate alone: each rate is answered once. If devices
randomize answers before they are sent, the budget of that bounds what anybody sees, the
analyst, too: the smaller of both bounds is certified.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses
from shuffledp.accounting.rounds.total_budget import (
    divergence_of_budget,
    epsilon_of_budget,
    total_budget,
)
from shuffledp.accounting.statement import LevelGuarantee, RestsOn, Statement
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population

# Windows of wide noise leave out tails of 1e-50 and 1e-45: far less than this.
LEAST_DELTA = 1e-30

# Answers that change in all collections together.
_MOST_CHANGES = 10_000

# Bounds of messages as devices draw them, for a rate.
BoundsOf: TypeAlias = Callable[[float], ReportBounds]
# Certified and attacked epsilon, and certified and attacked delta.
Ends: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


def certify_rates(
    query: AccountingQuery,
    *,
    people: Population,
    rates: Sequence[float],
    changes: int,
    bounds_of: BoundsOf,
    sent: Literal["answers", "items"],
    rests_on: Literal["counts", "shuffler", "items"],
    local_epsilon: float | None = None,
) -> Statement:
    """Answers a query.

    Args:
        query: Delta or epsilon, and the targets that are certified.
        people: Central epsilons that people chose, in the place of levels.
        rates: Probability to send an answer, of each of them, shape (targets,).
        changes: Answers of a person in all collections together.
        bounds_of: Returns both ends for people of a rate.
        sent: A word for answers.
        rests_on: The kind of bound of what is sent.
        local_epsilon: Of a person's answers in one collection, if devices randomize them.

    Raises:
        InvalidInputError: If delta is too small, reports are, or too many answers may
            change.
        CertificationError: If no finite epsilon holds, or none can be proven.
    """
    if query.delta is not None:
        check_delta(query.delta)
    if changes > _MOST_CHANGES:
        raise InvalidInputError(
            f"Expected at most {_MOST_CHANGES:,} {sent} of a person in all rounds "
            f"together, got {changes:,}."
        )
    answers: dict[float, tuple[Ends, RestsOn]] = {}
    levels = []
    # A person's own report may show answers: at rate 1 it holds all of them. If they were
    # randomized before, it says no more than that.
    budget = _budget(query, local_epsilon)
    coalition = None if math.isinf(budget) else budget
    for name, index in query.named.items():
        rate, target = rates[index], float(people.epsilons[index])
        if rate not in answers:
            try:
                ends = bounds_of(rate).answer(query, guess=target)
            except CertificationError:
                if math.isinf(budget):
                    raise
                ends = _trivial_ends(query)
            answers[rate] = _with_device(ends, rests_on, query, budget)
        (epsilons, deltas), decides = answers[rate]
        levels.append(
            LevelGuarantee(
                epsilon_local=None,
                target=target,
                count=int(query.counts[index]),
                # People who surely add noise, the target user included.
                hides_among=people.num_users - query.absent,
                epsilon_central=epsilons[0],
                epsilon_central_lower=epsilons[1],
                delta_central=deltas[0],
                delta_central_lower=deltas[1],
                epsilon_coalition=coalition,
                rests_on=decides,
                quantile=name if isinstance(name, str) else None,
            )
        )
    return Statement("one report", query.delta, query.epsilon, tuple(levels))


def losses_of_rates(
    query: AccountingQuery,
    *,
    delta: float,
    rates: Sequence[float],
    losses_of: Callable[[float, AccountingQuery], tuple[ReportBounds, Kinds]],
    local_epsilon: float | None = None,
) -> dict[int, PartLosses]:
    """Returns the losses of each target's messages: see `ComposableExposure`.

    Args:
        query: Delta or epsilon, and the targets that are certified.
        delta: About the divergence that is asked for.
        rates: Probability to send an answer, of each target, shape (targets,).
        losses_of: Returns both ends for people of a rate, and their losses.
        local_epsilon: Of a person's answers in one collection, if devices randomize them.
    """
    near_query = _query_near(query, delta)
    budget = _budget(query, local_epsilon)
    losses: dict[float, PartLosses] = {}
    for rate in {rates[index] for index in query.positions}:
        bounds, kinds = losses_of(rate, near_query)
        losses[rate] = replace(bounds.part_losses(kinds), budget=budget)
    return {index: losses[rates[index]] for index in query.positions}


def pairs_of_rates(
    query: AccountingQuery,
    *,
    delta: float,
    rates: Sequence[float],
    profile_of: Callable[[float, AccountingQuery], CountsProfile],
) -> dict[int, tuple[AttackedPair, ...]]:
    """Returns the attacked pairs of each target's messages: see `ComposableExposure`.

    Args:
        query: Delta or epsilon, and the targets that are certified.
        delta: About the divergence that is asked for.
        rates: Probability to send an answer, of each target, shape (targets,).
        profile_of: Returns the profile of messages that are drawn exactly, for a rate.
    """
    near_query = _query_near(query, delta)
    pairs = {
        rate: profile_of(rate, near_query).attacked_pairs
        for rate in {rates[index] for index in query.positions}
    }
    return {index: pairs[rates[index]] for index in query.positions}


def _query_near(query: AccountingQuery, delta: float) -> AccountingQuery:
    """Returns the query at a delta that answers can be certified at."""
    return replace(query, delta=max(delta, LEAST_DELTA), epsilon=None)


def _budget(query: AccountingQuery, local_epsilon: float | None) -> float:
    """Returns the pure budget of all answers of a person; infinite if there is none."""
    if local_epsilon is None:
        return math.inf
    return total_budget(query.rounds * query.coordinates, local_epsilon)


def _trivial_ends(query: AccountingQuery) -> Ends:
    """Returns the trivial ends, of messages without a proven bound or an attack."""
    if query.delta is not None:
        return (math.inf, 0.0), (query.delta, query.delta)
    epsilon = query.epsilon or 0.0
    return (epsilon, epsilon), (1.0, 0.0)


def _with_device(
    ends: Ends, rests_on: RestsOn, query: AccountingQuery, budget: float
) -> tuple[Ends, RestsOn]:
    """Returns the ends, from the devices' budget if it decides, and the kind of bound."""
    (epsilon, attacked), (delta, attacked_delta) = ends
    if query.delta is not None:
        device = epsilon_of_budget(budget, query.delta), delta
    else:
        device = epsilon, min(round_up(divergence_of_budget(budget, epsilon)), 1.0)
    # One of both is given, and the same.
    if device < (epsilon, delta):
        return ((device[0], attacked), (device[1], attacked_delta)), "device"
    return ends, rests_on


def check_delta(delta: float) -> None:
    """Raises InvalidInputError unless answers can be certified at this delta."""
    if not LEAST_DELTA <= as_number(delta, "delta") < 1.0:
        raise InvalidInputError(
            f"Expected {LEAST_DELTA:g} <= delta < 1, got {delta:g}."
        )
