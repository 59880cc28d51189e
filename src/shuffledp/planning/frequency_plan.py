"""Comparison of protocols for the frequencies of k categories."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError
from shuffledp.planning.collection_design import CollectionDesign, recommended
from shuffledp.planning.protocol_plan import (
    NO_INFORMATION,
    ProtocolPlan,
    Wish,
    check_wish,
    predictable,
)
from shuffledp.planning.yardsticks import curator_error, yardsticks
from shuffledp.population import Population
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.types import Mode

_MODES: tuple[Mode, ...] = ("agnostic", "stratified")
# Unary encoding sends one bit per category.
_MOST_BITS = 10_000
_MOST_BUCKETS = 1000


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
    check_wish(wish)
    # Checks all parameters before the long computations.
    simplest = Frequency(num_categories)
    share = 1.0 / num_categories if share is None else share
    simplest.predicted_error(Population.from_counts({1.0: 1}), share=share)
    options: list[CollectionDesign] = []
    left_out: list[str] = []
    protocols: dict[tuple[str, Mode], Frequency] = {}
    if num_categories > _MOST_BITS:
        left_out.append(f"unary-encoding: {num_categories:,} bits per person.")
    elif wish.targets is not None and num_categories > 2:
        left_out.append(
            "unary-encoding: its levels for central targets take minutes to find, and "
            "subset selection does what it does with a smaller error."
        )
    for mode in _MODES:
        # k-ary response comes first: its levels size the other randomizers.
        on_step(f"kary-response, {mode}")
        try:
            simple = Frequency(num_categories, mode)
            fitted = wish.fit(simple)
        except CertificationError as error:
            left_out.append(f"{mode}: {error}")
            continue
        bits = wish.targets is None and num_categories <= _MOST_BITS
        for name, oracle in _oracles(num_categories, fitted[0], mode, share, bits=bits):
            on_step(f"{name}, {mode}")
            protocol = Frequency(num_categories, mode, oracle)
            try:
                # The levels of k-ary response were fitted above.
                fit = fitted if name == "kary-response" else wish.fit(protocol)
            except CertificationError as error:
                left_out.append(f"{name} ({mode}): {error}")
                continue
            design = _design(name, protocol, fit, share)
            if design is None:
                left_out.append(f"{name} ({mode}): {NO_INFORMATION}")
                continue
            options.append(design)
            protocols[name, mode] = protocol
    if not options:
        raise CertificationError(f"No protocol will do. {' '.join(left_out[-1:])}")
    on_step("yardsticks")
    # Yardsticks are computed at the guarantees of the recommended design.
    best = recommended(options)
    protocol = protocols[best.name, best.mode]
    # A curator publishes one count of two categories, and a changed value moves it by 1.
    # With more categories, it moves two counts.
    moved = 1.0 if num_categories == 2 else 2.0

    def local_error(people: Population) -> float:
        oracles = _oracles(num_categories, people, best.mode, share, bits=True)
        return min(
            Frequency(num_categories, best.mode, oracle).predicted_error(
                people, share=share
            )
            for _, oracle in oracles
        )

    compared = yardsticks(
        best,
        wish,
        curator=curator_error(
            best.guarantee,
            reach_l1=moved,
            reach_l2=math.sqrt(moved),
            # The standard deviation of a 0 or 1 with this mean.
            spread=math.sqrt(share * (1.0 - share)),
        ),
        error_of=partial(protocol.predicted_error, share=share),
        local_error=local_error,
        fit_strictest=lambda strictest: strictest.fit(protocol)[0],
    )
    options.sort(key=lambda design: design.error)
    return ProtocolPlan("frequency", wish, tuple(options), compared, tuple(left_out))


def _design(
    name: str,
    protocol: Frequency,
    fitted: tuple[Population, Guarantee],
    share: float,
) -> CollectionDesign | None:
    people, guarantee = fitted
    error = predictable(partial(protocol.predicted_error, share=share), people)
    # Infinite: messages carry no information.
    if math.isinf(error):
        return None
    return CollectionDesign(
        name=name,
        mode=protocol.mode,
        people=people,
        guarantee=guarantee,
        standard_error=error,
        bias_limit=0.0,
        bits=protocol.randomizer.bits_per_person(people.epsilons),
    )


def _oracles(
    k: int, people: Population, mode: Mode, share: float, *, bits: bool
) -> Iterator[tuple[str, FrequencyOracle]]:
    """Yields the candidate randomizers, with the best sizes at these levels."""
    yield "kary-response", KRandomizedResponse(k)
    if k == 2:
        # With two categories all others are equal to this one, or worse.
        return

    def error(oracle: FrequencyOracle) -> float:
        protocol = Frequency(k, mode, oracle)
        return predictable(partial(protocol.predicted_error, share=share), people)

    sizes = _geometric(2, k // 2)
    if sizes:
        best = min((SubsetSelection(k, size) for size in sizes), key=error)
        yield f"subset-selection, {best.subset_size} of {k}", best
    yield "hadamard-response", HadamardResponse(k)
    # Hash functions of `LocalHashing` need a prime number of buckets.
    primes = sorted({_prime_from(g) for g in _geometric(2, min(k, _MOST_BUCKETS))})
    hashing = min((LocalHashing(k, g) for g in primes), key=error)
    yield f"local-hashing, {hashing.num_buckets} buckets", hashing
    if bits:
        yield "unary-encoding, symmetric", UnaryEncoding(k, "symmetric")
        yield "unary-encoding, optimized", UnaryEncoding(k, "optimized")


def _geometric(least: int, most: int) -> list[int]:
    """Returns about 20 whole numbers per factor of 10, both ends included."""
    if most < least:
        return []
    steps = int(20 * math.log10(most / least)) + 2
    return sorted({round(x) for x in np.geomspace(least, most, steps).tolist()})


def _prime_from(least: int) -> int:
    number = least
    while any(number % divisor == 0 for divisor in range(2, math.isqrt(number) + 1)):
        number += 1
    return number
