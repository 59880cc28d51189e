"""Comparison of protocols for the frequencies of k categories."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arguments import expect_callable, expect_instance
from shuffledp.errors import CertificationError
from shuffledp.planning.candidate_ranking import (
    Candidate,
    left_out_reasons,
    people_estimate,
)
from shuffledp.planning.collection_design import (
    CollectionDesign,
    ValueAssumption,
    recommended,
)
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import NO_INFORMATION, Wish, predictable
from shuffledp.planning.yardsticks import yardsticks
from shuffledp.population import Population
from shuffledp.randomizers.catalog import mechanism_class, mechanisms_for
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.planned_oracle import PlannedOracle
from shuffledp.statistics.counts.several_messages import (
    curator_of_counts,
    several_messages,
)
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.types import Mode

_MODES: tuple[Mode, ...] = ("agnostic", "stratified")
# The first is the default of `Frequency`; one that declares no sizes is not compared.
_MECHANISMS: tuple[type[PlannedOracle], ...] = tuple(
    kind
    for kind in map(mechanism_class, mechanisms_for("categories"))
    if hasattr(kind, "families")
)


def plan_frequency(
    wish: Wish,
    *,
    num_categories: int,
    share: float | None = None,
    on_step: Callable[[str], None] = lambda _step: None,
) -> ProtocolPlan:
    """Compares all protocols for frequencies, at equal levels or equal central targets.

    >>> wish = Wish(levels={0.5: 60, 1.0: 140}, delta=1e-4)
    >>> plan = plan_frequency(wish, num_categories=2)
    >>> best = plan.recommended
    >>> print(f"{best.name}, {best.mode}: +- {best.standard_error:.3f}")
    kary-response, agnostic: +- 0.082

    Args:
        wish: Levels or targets, people, delta.
        num_categories: k, at least 2.
        share: Of the category whose error is predicted; by default 1 / k.
        on_step: Called with the name of each step before it is computed.

    Raises:
        InvalidInputError: If k or the share is out of range.
        CertificationError: If no protocol meets the wish.
    """
    expect_instance(wish, Wish)
    expect_callable(on_step, "on_step")
    # Checks all parameters before the long computations.
    simplest = Frequency(num_categories)
    share = 1.0 / num_categories if share is None else share
    simplest.predicted_error(Population.from_counts({1.0: 1}), share=share)
    options, left_out = compared_protocols(
        wish,
        num_categories=num_categories,
        share=share,
        modes=_MODES,
        on_step=on_step,
    )
    if not options:
        raise CertificationError(f"No protocol will do. {' '.join(left_out[-1:])}")
    on_step("yardsticks")
    # Yardsticks are computed at the guarantees of the recommended design.
    design = recommended(options)
    protocol: Frequency = design.protocol
    # A curator publishes one count of two categories, and a changed value moves it by 1.
    # With more categories, it moves two counts.
    published = 1 if num_categories == 2 else num_categories

    def local_error(people: Population) -> float:
        # No levels are looked for here: none is left out.
        oracles = _oracles(
            _mechanisms(num_categories), num_categories, people, design.mode, share
        )
        return min(
            Frequency(num_categories, design.mode, oracle).predicted_error(
                people, share=share
            )
            for _, oracle in oracles
        )

    # The targets themselves, if there are any: `plan counts` then states the same numbers.
    # Otherwise noise for the smallest epsilon is nearly the best for all.
    targets = wish.targets or _central(design.guarantee)
    several = several_messages(
        wish.targets or {min(targets): wish.num_users},
        delta=wish.delta,
        absent=wish.absent,
        buckets=num_categories,
        share=share,
    )
    beside = yardsticks(
        design,
        wish,
        curator=curator_of_counts(
            targets, delta=wish.delta, buckets=published, share=share
        ),
        error_of=partial(protocol.predicted_error, share=share),
        local_error=local_error,
        fit_strictest=lambda strictest: strictest.fit(protocol).people,
        others=() if several is None else (several,),
    )
    options.sort(key=lambda design: design.error)
    assumption = ValueAssumption(
        {"share": share},
        f"Predicted errors are those of a category with a share of {share:.3g}; --share "
        "(in Python share) changes that.",
    )
    return ProtocolPlan(
        WORDS.name, wish, tuple(options), beside, assumption, tuple(left_out)
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
    all_kinds = _mechanisms(num_categories)
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
        try:
            simple = Frequency(num_categories, mode)
            fitted = wish.fit(simple)
        except CertificationError as error:
            left_out.append(f"{mode}: {error}")
            continue
        people = fitted.people
        oracles = list(_oracles(compared_kinds, num_categories, people, mode, share))
        passed_over: dict[int, str] = {}
        if len(wish.asked) > 1:
            least_error = min((design.error for design in options), default=math.inf)
            passed_over = _passed_over(oracles, wish, people, mode, share, least_error)
            left_out += passed_over.values()
        for position, (name, oracle) in enumerate(oracles):
            if position in passed_over:
                continue
            on_step(f"{name}, {mode}")
            protocol = Frequency(num_categories, mode, oracle)
            try:
                # The levels of the default randomizer were fitted above.
                fit = fitted if protocol == simple else wish.fit(protocol)
            except CertificationError as error:
                left_out.append(f"{name} ({mode}): {error}")
                continue
            design = _frequency_design(name, protocol, fit, share)
            if design is None:
                left_out.append(f"{name} ({mode}): {NO_INFORMATION}")
                continue
            options.append(design)
    return options, left_out


def _passed_over(
    oracles: Sequence[tuple[str, FrequencyOracle]],
    wish: Wish,
    fitted: Population,
    mode: Mode,
    share: float,
    least_error: float,
) -> dict[int, str]:
    """Returns why candidates are not certified, by their positions.

    Args:
        oracles: Candidates and their names.
        wish: Levels or targets, people, delta.
        fitted: Certified levels of the default randomizer.
        mode: Of the collection.
        share: Of the category whose error is predicted.
        least_error: The least error of any other mode.
    """
    usual = Frequency(oracles[0][1].num_categories, mode)

    def estimate(targets: Wish, *, protocol: Frequency) -> float:
        return _error(protocol, people_estimate(targets, protocol), share)

    candidates = []
    for name, oracle in oracles:
        protocol = Frequency(oracle.num_categories, mode, oracle)
        if wish.targets is None or protocol == usual:
            candidates.append(Candidate.certain(name, _error(protocol, fitted, share)))
        else:
            of_targets = partial(estimate, protocol=protocol)
            candidates.append(Candidate.for_targets(name, wish, of_targets))
    reasons = left_out_reasons(candidates, mode, least=least_error)
    # At given levels, certificates take long where reports are shuffled in parts. The
    # default randomizer's levels were certified before.
    return {
        position: reason
        for position, reason in reasons.items()
        if not candidates[position].known or oracles[position][1].changes > 1
    }


def _mechanisms(num_categories: int) -> tuple[type[PlannedOracle], ...]:
    # With two categories all others are equal to the first, or worse.
    return _MECHANISMS if num_categories > 2 else _MECHANISMS[:1]


def _central(guarantee: Guarantee) -> dict[float, int]:
    """Returns people at each certified central epsilon."""
    people: dict[float, int] = {}
    for level in guarantee.levels:
        epsilon = level.epsilon_central
        people[epsilon] = people.get(epsilon, 0) + level.count
    return people


def _frequency_design(
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


def _oracles(
    kinds: Sequence[type[PlannedOracle]],
    k: int,
    people: Population,
    mode: Mode,
    share: float,
) -> Iterator[tuple[str, FrequencyOracle]]:
    """Yields the candidate randomizers, with the best sizes at these levels."""

    def error(oracle: FrequencyOracle) -> float:
        return _error(Frequency(k, mode, oracle), people, share)

    for kind in kinds:
        for family in kind.families(k):
            best_of_family = family[0] if len(family) == 1 else min(family, key=error)
            yield best_of_family.plan_name, best_of_family
