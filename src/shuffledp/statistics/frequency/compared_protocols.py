"""Protocols for frequencies that a plan compares, in their best sizes, certified."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.errors import CertificationError
from shuffledp.planning.candidate_ranking import (
    Candidate,
    left_out_reasons,
    people_estimate,
)
from shuffledp.planning.collection_design import CollectionDesign
from shuffledp.planning.wish import NO_INFORMATION, Wish, predictable
from shuffledp.population import Population
from shuffledp.randomizers.catalog import mechanism_class, mechanisms_for
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.planned_oracle import PlannedOracle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.types import Mode

# The first is the default of `Frequency`; one that declares no sizes is not compared.
_MECHANISMS: tuple[type[PlannedOracle], ...] = tuple(
    kind
    for kind in map(mechanism_class, mechanisms_for("categories"))
    if hasattr(kind, "families")
)


def compared_protocols(
    wish: Wish,
    *,
    num_categories: int,
    share: float,
    modes: Sequence[Mode],
    on_step: Callable[[str], None] = lambda _step: None,
) -> tuple[list[CollectionDesign], list[str]]:
    """Returns designs in any order, and why others were left out.

    Args:
        wish: Levels or targets, people, delta.
        num_categories: k, at least 2.
        share: Of the category whose error is predicted.
        modes: That are compared.
        on_step: Called with the name of each step before it is computed.
    """
    simplest = Frequency(num_categories)
    options: list[CollectionDesign] = []
    left_out: list[str] = []
    all_kinds = mechanisms_of(num_categories)
    compared_kinds = []
    for kind in all_kinds:
        reason = kind.left_out(num_categories, for_targets=wish.targets is not None)
        if reason:
            left_out.append(reason)
        else:
            compared_kinds.append(kind)
    if len(wish.asked) == 1 and len(modes) > 1:
        modes = modes[:1]
        left_out.append(f"Other modes: with one level they are the same as {modes[0]}.")
    for mode in modes:
        # Levels of the default randomizer size the others.
        on_step(f"{simplest.randomizer.mechanism}, {mode}")
        simple = Frequency(num_categories, mode)
        try:
            people, fitted = _usual_people(simple, wish)
        except CertificationError as error:
            left_out.append(f"{mode}: {error}")
            continue
        oracles = list(
            best_oracles(compared_kinds, num_categories, people, mode, share)
        )
        passed_over: dict[int, str] = {}
        if len(wish.asked) > 1:
            least_error = min((design.error for design in options), default=math.inf)
            passed_over = _passed_over(
                oracles, wish, people, fitted is None, mode, share, least_error
            )
        designs: list[CollectionDesign] = []
        # Those that are passed over come last, for the case that no other will do.
        for position in sorted(range(len(oracles)), key=passed_over.__contains__):
            if position in passed_over and designs:
                left_out.append(passed_over[position])
                continue
            name, oracle = oracles[position]
            on_step(f"{name}, {mode}")
            protocol = Frequency(num_categories, mode, oracle)
            try:
                fit = (fitted if protocol == simple else None) or wish.fit(protocol)
            except CertificationError as error:
                left_out.append(f"{name} ({mode}): {error}")
                continue
            design = _design(name, protocol, fit, share)
            if design is None:
                left_out.append(f"{name} ({mode}): {NO_INFORMATION}")
                continue
            designs.append(design)
        options += designs
    return options, left_out


def _usual_people(
    simple: Frequency, wish: Wish
) -> tuple[Population, Calibration | None]:
    """Returns about the levels for the default randomizer, and what is certified of them.

    Raises:
        CertificationError: If no levels meet the targets.
    """
    if wish.targets is not None and len(wish.targets) > 1:
        with suppress(CertificationError):
            return people_estimate(wish, simple), None
    fitted = wish.fit(simple)
    return fitted.people, fitted


def _passed_over(
    oracles: Sequence[tuple[str, FrequencyOracle]],
    wish: Wish,
    people: Population,
    is_estimate: bool,
    mode: Mode,
    share: float,
    least_error: float,
) -> dict[int, str]:
    """Returns why candidates are not certified, by their positions.

    Args:
        oracles: Candidates and their names.
        wish: Levels or targets, people, delta.
        people: Levels of the default randomizer.
        is_estimate: Whether these are not certified.
        mode: Of the collection.
        share: Of the category whose error is predicted.
        least_error: The least error of any other mode.
    """
    usual = Frequency(oracles[0][1].num_categories, mode)

    def estimate(targets: Wish, *, protocol: Frequency) -> float:
        if targets is wish and protocol == usual:
            return _error(protocol, people, share)
        return _error(protocol, people_estimate(targets, protocol), share)

    candidates = []
    for name, oracle in oracles:
        protocol = Frequency(oracle.num_categories, mode, oracle)
        if wish.targets is None or (protocol == usual and not is_estimate):
            candidates.append(Candidate.certain(name, _error(protocol, people, share)))
        else:
            of_targets = partial(estimate, protocol=protocol)
            candidates.append(Candidate.for_targets(name, wish, of_targets))
    reasons = left_out_reasons(candidates, mode, least=least_error)
    # At given levels, certificates take long where reports are shuffled in parts. Levels
    # of the default randomizer that are no estimate were certified before.
    return {
        position: reason
        for position, reason in reasons.items()
        if not candidates[position].known or oracles[position][1].changes > 1
    }


def mechanisms_of(num_categories: int) -> tuple[type[PlannedOracle], ...]:
    """Returns the mechanisms that may be best for this number of categories."""
    # With two categories all others are equal to the first, or worse.
    return _MECHANISMS if num_categories > 2 else _MECHANISMS[:1]


def _design(
    name: str, protocol: Frequency, fitted: Calibration, share: float
) -> CollectionDesign | None:
    people = fitted.people
    error = _error(protocol, people, share)
    # Infinite: messages carry no information.
    if math.isinf(error):
        return None
    return CollectionDesign(
        name=name,
        mode=protocol.mode,
        people=people,
        targets=fitted.targets,
        guarantee=fitted.guarantee,
        standard_error=error,
        bias_limit=0.0,
        bits=protocol.randomizer.bits_per_person(people.epsilons),
        protocol=protocol,
    )


def _error(protocol: Frequency, people: Population, share: float) -> float:
    return predictable(partial(protocol.predicted_error, share=share), people)


def best_oracles(
    kinds: Sequence[type[PlannedOracle]],
    k: int,
    people: Population,
    mode: Mode,
    share: float,
) -> Iterator[tuple[str, FrequencyOracle]]:
    """Yields the candidate randomizers, with the best sizes at these levels.

    Args:
        kinds: Mechanisms, each with its families of sizes.
        k: Number of categories.
        people: Levels at which errors are predicted.
        mode: Of the collection.
        share: Of the category whose error is predicted.

    Yields:
        Names for plans, and randomizers.
    """

    def error(oracle: FrequencyOracle) -> float:
        return _error(Frequency(k, mode, oracle), people, share)

    for kind in kinds:
        for family in kind.families(k):
            best_of_family = family[0] if len(family) == 1 else min(family, key=error)
            yield best_of_family.plan_name, best_of_family
