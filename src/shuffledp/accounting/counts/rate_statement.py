"""Guarantees of people who send answers among noise, each at the rate of a target.

What is certified depends on a person's rate alone: each rate is answered once.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population

LEAST_DELTA = 1e-30

# Answers that change in all collections together.
_MOST_CHANGES = 10_000

# Bounds of messages as devices draw them, for a rate.
BoundsOf: TypeAlias = Callable[[float], ReportBounds]


def certify_rates(
    query: AccountingQuery,
    *,
    people: Population,
    rates: Sequence[float],
    changes: int,
    bounds_of: BoundsOf,
    sent: Literal["answers", "items"],
    rests_on: Literal["counts", "items"],
    local_epsilon: float | None = None,
) -> Statement:
    """Answers a query.

    Args:
        query: What is asked.
        people: Central epsilons that people chose, in the place of levels.
        rates: Probability to send an answer, of each of them, shape (targets,).
        changes: Answers of a person in all collections together.
        bounds_of: Returns both ends for people of a rate.
        sent: A word for answers.
        rests_on: The kind of bound.
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
    answers: dict[float, tuple[tuple[float, float], tuple[float, float]]] = {}
    levels = []
    times = query.rounds * query.coordinates
    # A person's own report may show answers: at rate 1 it holds all of them. If they were
    # randomized before, it says no more than that.
    coalition = None if local_epsilon is None else round_up(times * local_epsilon)
    for name, index in query.named.items():
        rate, target = rates[index], float(people.epsilons[index])
        if rate not in answers:
            answers[rate] = bounds_of(rate).answer(query, guess=target)
        epsilons, deltas = answers[rate]
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
                rests_on=rests_on,
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
) -> dict[int, PartLosses]:
    """Returns the losses of each target's messages: see `ComposableExposure`.

    Args:
        query: What is asked.
        delta: About the divergence that is asked for.
        rates: Probability to send an answer, of each target, shape (targets,).
        losses_of: Returns both ends for people of a rate, and their losses.
    """
    near = replace(query, delta=max(delta, LEAST_DELTA), epsilon=None)
    losses: dict[float, PartLosses] = {}
    for rate in {rates[index] for index in query.positions}:
        bounds, kinds = losses_of(rate, near)
        losses[rate] = bounds.part_losses(kinds)
    return {index: losses[rates[index]] for index in query.positions}


def check_delta(delta: float) -> None:
    """Raises InvalidInputError unless answers can be certified at this delta."""
    if not LEAST_DELTA <= as_number(delta, "delta") < 1.0:
        raise InvalidInputError(
            f"Expected {LEAST_DELTA:g} <= delta < 1, got {delta:g}."
        )
