"""Certified profile of one user after all shuffles that a changed value affects.

Reports that are shuffled in parts show no more than the composition of all these shuffles,
and no more than the reports themselves, in whose budgets the parts may be counted with
less loss.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.rounds.basic_composition import basic_composition
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import (
    MOST_SHUFFLES,
    LossDistribution,
    connect_directions,
)
from shuffledp.accounting.rounds.node_choice import (
    EVALUATIONS,
    Aim,
    loss_distribution,
)
from shuffledp.accounting.rounds.part_losses import (
    Kinds,
    PartLosses,
    budget_losses,
)
from shuffledp.accounting.rounds.total_budget import (
    divergence_of_budget,
    total_budget,
)
from shuffledp.accounting.upper_profile import Profile, UpperProfile
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError

# A composed loss beyond which probability is charged whole: this part of delta in all.
_NEGLIGIBLE = 1e-3
_SMALLEST = 1e-290
# For deltas below that: no bound of one shuffle is smaller.
_LEAST = 1e-306
# No ceiling is looked for beyond: e^epsilon is infinite from 710 on.
_MOST_EPSILON = 1e6
# Nor beyond this multiple of the reports' own budgets, which small deltas exceed a little.
_MOST_BUDGETS = 4.0


@dataclass(frozen=True, eq=False)
class ComposedProfile:
    """Shuffles of one kind, and the reports that they are parts of.

    Attributes:
        losses: Loss distribution of one shuffle.
        shuffles: Number of shuffles.
        budget: Pure local budget of all reports together; infinite if it is not to be
            used, because every message is a report of its own.
    """

    losses: LossDistribution
    shuffles: int
    budget: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        device_delta = divergence_of_budget(self.budget, epsilon)
        if device_delta == 0.0:
            return 0.0
        try:
            return min(
                composed([(self.losses, self.shuffles)]).delta(epsilon), device_delta
            )
        except CertificationError:
            if math.isinf(self.budget):
                raise
            return device_delta


def losses_of(
    upper: UpperProfile,
    shuffles: int,
    delta: float,
    *,
    smallest: float = _SMALLEST,
    most_evaluations: int = EVALUATIONS,
    aim: Aim | None = None,
) -> LossDistribution:
    """Returns the loss distribution of one shuffle, to compose near this delta.

    Args:
        upper: The certified profile of one shuffle.
        shuffles: Number of shuffles.
        delta: About the divergence that is asked for.
        smallest: No smaller divergence of one shuffle is resolved.
        most_evaluations: Of the profile; fewer make bounds a little larger.
        aim: Where the composition is asked for; by default anywhere.
    """
    pure = upper.randomizer.delta_local == 0.0
    return loss_distribution(
        upper.delta,
        ceiling=upper.level if pure else float("inf"),
        negligible=max(_NEGLIGIBLE * delta / shuffles, smallest),
        evaluations=min(upper.evaluations, most_evaluations),
        aim=aim,
    )


def after_times(
    randomizer: LocalRandomizer,
    epsilon_local: float,
    losses: LossDistribution,
    times: int,
) -> Profile:
    """Returns the certified profile of a level after `times` collections.

    Args:
        randomizer: Randomizer that the devices run.
        epsilon_local: The local budget of one report.
        losses: Loss distribution of one shuffle.
        times: Number of collections: rounds times coordinates.
    """
    parts = randomizer.changes > 1 and randomizer.delta_local == 0.0
    budget = total_budget(times, epsilon_local) if parts else math.inf
    return ComposedProfile(losses, times * randomizer.changes, budget).delta


def composed_profile(
    upper: UpperProfile,
    times: int,
    delta: float,
    *,
    at_epsilon: float = 0.0,
    is_anywhere: bool = False,
) -> Profile:
    """Returns the certified profile after `times` collections, right down to delta.

    Args:
        upper: The certified profile of one shuffle.
        times: Number of collections.
        delta: About the divergence that is asked for.
        at_epsilon: The only epsilon at which it is accurate, if above 0.
        is_anywhere: Whether it is accurate at all deltas from `delta` on, and not there
            only.
    """
    shuffles = times * upper.randomizer.changes
    if shuffles == 1:
        return upper.delta
    smallest_masses = [_SMALLEST]
    if _NEGLIGIBLE * delta / shuffles < _SMALLEST:
        # Either may be the better one: finer losses reach farther, with longer chords.
        smallest_masses.append(_LEAST)
    profiles: list[Profile] = []
    for smallest_mass in smallest_masses:
        losses = losses_of(
            upper,
            shuffles,
            delta,
            smallest=smallest_mass,
            aim=None if is_anywhere else Aim(shuffles, delta, at_epsilon),
        )
        profiles.append(after_times(upper.randomizer, upper.level, losses, times))
        least_mass = min(_SMALLEST, max(_NEGLIGIBLE * delta / shuffles, smallest_mass))
        kinds_apart = _directions_apart(upper, losses, shuffles, least_mass)
        profiles += [composed(kinds).delta for kinds in kinds_apart]
        # Losses beyond e^600 count as infinite, more often than delta allows where a large
        # level holds with a delta of its own; pure budgets add up in any case.
        is_cut = losses.infinite > 2.0 * max(
            _NEGLIGIBLE * delta / shuffles, smallest_mass
        )
        if is_cut and upper.randomizer.delta_local > 0.0:
            profiles.append(basic_composition(upper.delta, shuffles))
    return profiles[0] if len(profiles) == 1 else _least_of(profiles)


def part_losses(upper: UpperProfile, times: int, delta: float) -> PartLosses:
    """Returns the losses of `times` collections, to compose with others near this delta."""
    randomizer = upper.randomizer
    pure = randomizer.delta_local == 0.0
    budget = total_budget(times, upper.level) if pure else math.inf
    shuffles = times * randomizer.changes
    smallest_masses = [_SMALLEST]
    if _NEGLIGIBLE * delta / shuffles < _SMALLEST:
        smallest_masses.append(_LEAST)
    alternatives: list[Kinds] = []
    for smallest_mass in smallest_masses:
        losses = losses_of(upper, shuffles, delta, smallest=smallest_mass)
        alternatives.append(((losses, shuffles),))
        least_mass = min(_SMALLEST, max(_NEGLIGIBLE * delta / shuffles, smallest_mass))
        if shuffles > 1:
            alternatives += _directions_apart(upper, losses, shuffles, least_mass)
    if pure and randomizer.changes > 1:
        alternatives += budget_losses(budget, divergence_of_budget(budget, 0.0))
    return PartLosses(tuple(alternatives), budget)


def _directions_apart(
    upper: UpperProfile, losses: LossDistribution, shuffles: int, least_mass: float
) -> list[Kinds]:
    """Returns the kinds where half of the shuffles show a pair, and half its reverse.

    Args:
        upper: The certified profile of one shuffle.
        losses: The loss distribution of any one shuffle; its nodes are used again.
        shuffles: Number of shuffles.
        least_mass: Of every atom: room for rounding.
    """
    if not upper.directions or shuffles > MOST_SHUFFLES:
        return []
    nodes = losses.losses[losses.losses.size // 2 :]
    forward, backward = (
        np.array([direction.delta(node) for node in nodes.tolist()])
        for direction in upper.directions
    )
    pairs = [
        connect_directions(nodes, *bounds, least_mass=least_mass)
        for bounds in ((forward, backward), (backward, forward))
    ]
    parts = [(pair, shuffles // 2) for pair in pairs if pair is not None]
    return [tuple(parts)] if len(parts) == len(pairs) else []


def _least_of(profiles: Sequence[Profile]) -> Profile:
    """Returns the least of several proven bounds."""

    def least(epsilon: float) -> float:
        values = []
        for profile in profiles:
            with suppress(CertificationError):
                values.append(profile(epsilon))
        if not values:
            raise CertificationError(f"No proven bound at epsilon {epsilon:g}.")
        return min(values)

    return least


def composed_ceiling(
    profile: Profile, start: float, delta: float, *, budget: float = 0.0
) -> float:
    """Returns an epsilon at which a composed profile is certified, by doubling.

    Args:
        profile: The composed profile.
        start: The first epsilon.
        delta: Of the certificate.
        budget: Local budgets of all reports together, if they hold with a delta.

    Raises:
        CertificationError: If there is none, since delta is too small.
    """
    ceiling, farthest = max(start, 1e-6), max(_MOST_EPSILON, _MOST_BUDGETS * budget)
    while profile(ceiling) > delta:
        ceiling *= 2.0
        if not math.isfinite(ceiling) or ceiling > farthest:
            raise CertificationError(
                f"Nothing can be certified at delta {delta:g}: ask for a larger one."
            )
    return ceiling
