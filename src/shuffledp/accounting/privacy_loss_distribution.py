"""Certified privacy losses as a distribution of dp_accounting's.

dp_accounting composes it with the mechanisms that it knows: with noise that a trusted
curator adds to another statistic of the same people, for example.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shuffledp.accounting.account import check_people
from shuffledp.accounting.accounting_query import (
    AccountingQuery,
    check_either,
    check_rounds,
)
from shuffledp.accounting.certificate_guard import check_certifiable
from shuffledp.accounting.exposure import Certifiable, exposures_of
from shuffledp.accounting.joint.composable_exposure import ComposableExposure, Part
from shuffledp.accounting.joint.joint_bounds import JointBounds
from shuffledp.accounting.joint.joint_exposure import JointExposure
from shuffledp.accounting.joint.protocol_composition import one_protocol
from shuffledp.accounting.rounds.loss_distribution import LossDistribution
from shuffledp.accounting.rounds.loss_grid import loss_grid
from shuffledp.accounting.rounds.node_choice import loss_distribution
from shuffledp.arrays import as_number
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.population import Population

# Of the smallest delta: no smaller divergence of a collection is resolved.
_NEGLIGIBLE = 1e-3
# Intervals from which composition is exact enough, and quick enough.
_FINEST, _COARSEST = 1e-9, 1.0


def to_pld(
    protocol: Certifiable | LocalRandomizer | Sequence[Certifiable | LocalRandomizer],
    people: Population,
    level: float,
    *,
    delta: float = 1e-12,
    absent: int = 0,
    rounds: int = 1,
    coordinates: int = 1,
    value_discretization_interval: float = 1e-4,
) -> Any:
    """Returns a distribution of dp_accounting's that dominates the losses of a level.

    It is pessimistic: its divergence is never below the certified one, before and after
    composition. Losses lie on a grid, as dp_accounting's do; those without a bound are
    infinite. Needs the extra dp-accounting.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> round(sdp.account(sdp.OneBit(0, 1), people, delta=1e-6).worst.epsilon_central, 4)
    0.0708
    >>> pld = sdp.to_pld(sdp.OneBit(0, 1), people, 2.0)  # doctest: +SKIP
    >>> round(pld.get_epsilon_for_delta(1e-6), 4)  # doctest: +SKIP
    0.0709

    Args:
        protocol: Of the devices and the shuffler, or a list of several.
        people: Levels and counts of the participants.
        level: The level, or target, of the person whose losses these are.
        delta: About the smallest delta that will be asked for, of all that the result is
            composed with: divergences far below it are not resolved.
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections with the same users.
        coordinates: Reports per user and round, each shuffled apart.
        value_discretization_interval: Distance of losses on the grid; that of the
            distributions it is composed with. It should be a small part of the standard
            deviation of a loss, which is about a fifth of epsilon at delta 1e-6.

    Raises:
        InvalidInputError: If a number is out of range, or the protocol cannot be composed.
        UnknownLevelError: If the level does not occur in the population.
        CertificationError: If no bound can be proven.
        MissingExtraError: If dp_accounting is not installed.
    """
    feature, extra = "to_pld", "dp-accounting"
    pmf = require("dp_accounting.pld.pld_pmf", extra=extra, what=feature)
    library = require(
        "dp_accounting.pld.privacy_loss_distribution", extra=extra, what=feature
    )
    width = as_number(value_discretization_interval, "interval of losses")
    if not _FINEST <= width <= _COARSEST:
        raise InvalidInputError(
            f"Expected an interval of losses from {_FINEST:g} to {_COARSEST:g}, got "
            f"{width:g}."
        )
    delta = as_number(delta, "delta")
    check_either(delta, None)
    check_people(people, absent)
    check_rounds(rounds, coordinates)
    (index,) = people.level_indices([level]).tolist()
    query = AccountingQuery(
        {index: index},
        people.counts,
        delta,
        None,
        int(absent),
        int(rounds),
        int(coordinates),
    )
    bounds = _joint_exposure(protocol, people).bounds(query, delta)[index]
    grid = loss_grid(_dominating_losses(bounds, delta), width)
    return library.PrivacyLossDistribution(
        pmf.DensePLDPmf(width, grid.lowest, grid.masses, grid.infinite, True)
    )


def _joint_exposure(
    protocol: Certifiable | LocalRandomizer | Sequence[Certifiable | LocalRandomizer],
    people: Population,
) -> JointExposure:
    """Returns all messages of a person, also of a single protocol."""
    single = one_protocol(protocol)
    exposures = exposures_of(single, people)
    check_certifiable(single, exposures)
    main = exposures[0]
    if isinstance(main, JointExposure):
        return main
    if not isinstance(main, ComposableExposure):
        raise InvalidInputError(
            "Expected a protocol that can be composed with others, got "
            f"{type(single).__name__}."
        )
    return JointExposure((Part(single, main, "it", 1),))


def _dominating_losses(bounds: JointBounds, delta: float) -> LossDistribution:
    """Returns a pair that dominates all messages."""
    if bounds.profile.is_constant and bounds.with_draws.cut == 0.0:
        return LossDistribution(np.zeros(1), np.ones(1), 0.0)
    first = bounds.profile.choices[0] if bounds.profile.choices else ()
    if bounds.is_exact and len(first) == 1 and first[0][1] == 1:
        # One shuffle: its losses need no second approximation.
        return first[0][0]
    return loss_distribution(
        bounds.upper, ceiling=bounds.ceiling, negligible=_NEGLIGIBLE * delta
    )
