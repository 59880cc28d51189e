"""Comparison of protocols for the frequencies of k categories."""

from collections.abc import Callable
from functools import partial

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arguments import expect_callable, expect_instance
from shuffledp.errors import CertificationError
from shuffledp.planning.collection_design import (
    ValueAssumption,
    recommended,
)
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish, predictable
from shuffledp.planning.yardsticks import yardsticks
from shuffledp.population import Population
from shuffledp.statistics.counts.several_messages import (
    curator_of_counts,
    several_messages,
)
from shuffledp.statistics.frequency.compared_protocols import (
    best_oracles,
    compared_protocols,
    mechanisms_of,
)
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.types import Mode

_MODES: tuple[Mode, ...] = ("agnostic", "stratified")


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
    # At this level messages are informative, however many categories there are.
    simplest.predicted_error(Population.from_counts({30.0: 1}), share=share)
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
        # No levels are looked for here, and no kind is left out for that.
        kinds = [
            kind
            for kind in mechanisms_of(num_categories)
            if not kind.left_out(num_categories, for_targets=False)
        ]
        oracles = best_oracles(kinds, num_categories, people, design.mode, share)
        protocols = [
            Frequency(num_categories, design.mode, oracle) for _, oracle in oracles
        ]
        # Of many categories, messages of some carry no information where others' do.
        return min(
            predictable(partial(protocol.predicted_error, share=share), people)
            for protocol in protocols
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


def _central(guarantee: Guarantee) -> dict[float, int]:
    """Returns people at each certified central epsilon."""
    people: dict[float, int] = {}
    for level in guarantee.levels:
        epsilon = level.epsilon_central
        people[epsilon] = people.get(epsilon, 0) + level.count
    return people
