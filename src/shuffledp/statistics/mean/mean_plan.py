"""Comparison of protocols for the mean of bounded numbers."""

import math
from collections.abc import Callable, Sequence
from functools import partial

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.arguments import expect_callable, expect_instance
from shuffledp.errors import CertificationError
from shuffledp.format_number import plain
from shuffledp.number_range import half_range
from shuffledp.planning.candidate_ranking import Candidate, left_out_reasons
from shuffledp.planning.collection_design import (
    CollectionDesign,
    ValueAssumption,
    recommended,
)
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import NO_INFORMATION, Wish
from shuffledp.planning.yardsticks import curator_error, yardsticks
from shuffledp.population import Population
from shuffledp.randomizers.catalog import CATALOG, NUMBER_MECHANISMS
from shuffledp.statistics.mean.mean_labels import WORDS
from shuffledp.statistics.mean.mechanism_choice import (
    ErrorOf,
    compared_protocols,
    estimated_size,
    fit_size,
    plan_name,
    predicted_errors,
    sized_at_levels,
)
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.questionnaire.mean_by_digits import mean_by_digits
from shuffledp.types import Mode

# Means at which other errors are predicted, from -1 to 1 in units of half the range.
_PARTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
_BEYOND_NUMBERS = (
    "messages are nearly nothing but noise, or errors exceed the largest number: expected "
    "larger levels, or values and range divided by a constant."
)
_MODES: tuple[Mode, ...] = ("agnostic", "stratified")
_LEFT_OUT = tuple(
    f"{name}: {CATALOG[name].left_out}"
    for name in NUMBER_MECHANISMS
    if CATALOG[name].left_out
)


def plan_mean(
    wish: Wish,
    *,
    low: float,
    high: float,
    mean: float | None = None,
    spread: float = 0.0,
    on_step: Callable[[str], None] = lambda _step: None,
) -> ProtocolPlan:
    """Compares all protocols for a mean, at equal levels or equal central targets.

    >>> wish = Wish(levels={0.5: 60, 1.0: 140}, delta=1e-4)
    >>> plan = plan_mean(wish, low=20, high=80, spread=10)
    >>> best = plan.recommended
    >>> print(f"{best.name}, {best.mode}: +- {best.standard_error:.1f}")
    grid-response(values=3), agnostic: +- 5.2
    >>> best.protocol
    Mean(low=20, high=80, mode='agnostic', randomizer=GridResponse(low=20, high=80, \
num_values=3))

    Args:
        wish: Levels or targets, people, delta.
        low: Smallest possible value.
        high: Largest possible value.
        mean: Assumed mean; by default the middle of the range.
        spread: Assumed standard deviation of the values. With both defaults, errors of
            one-bit messages are the largest possible, those of Laplace messages as for
            any values, and those of others may be larger: see
            `CollectionDesign.largest_error`.
        on_step: Called with the name of each step before it is computed.

    Raises:
        InvalidInputError: If range, mean or spread is out of range.
        CertificationError: If no protocol meets the wish.
    """
    expect_instance(wish, Wish)
    expect_callable(on_step, "on_step")
    # Checks all parameters before the long computations.
    Mean(low, high).predicted_error(
        Population.from_counts({1.0: 1}), mean=mean, spread=spread
    )
    error_of = predicted_errors(mean, spread)
    options: list[CollectionDesign] = []
    left_out = list(_LEFT_OUT)
    for mode in _MODES:
        designs, reasons = _designs_of(
            compared_protocols(low, high, mode),
            wish,
            error_of,
            mean,
            smallest_error=min((design.error for design in options), default=math.inf),
            on_step=on_step,
        )
        options += designs
        left_out += reasons
    if not options:
        raise CertificationError(f"No protocol will do. {left_out[-1]}")
    on_step("yardsticks")
    # Yardsticks are computed at the guarantees of the recommended design.
    first_choice = recommended(options)
    protocol: Mean = first_choice.protocol

    def local_error(people: Population) -> float:
        # The bias of others has no place in a standard error.
        return min(
            error_of(sized_at_levels(other, people, error_of), people)
            for other in compared_protocols(low, high, first_choice.mode)
            if other.randomizer.unbiased
        )

    # In units of half the range, which may be longer than the largest number.
    half = half_range(low, high)
    several = mean_by_digits(first_choice.guarantee, low=low, high=high)
    beside = yardsticks(
        first_choice,
        wish,
        # One number from -1 to 1 is published, which moves by at most 2 in either norm.
        curator=half
        * curator_error(
            first_choice.guarantee,
            reach_l1=2.0,
            reach_l2=2.0,
            spread=spread / half,
        ),
        error_of=partial(protocol.predicted_error, mean=mean, spread=spread),
        local_error=local_error,
        fit_strictest=lambda strictest: strictest.fit(protocol).people,
        others=() if several is None else (several,),
    )
    options.sort(key=lambda design: design.error)
    return ProtocolPlan(
        WORDS.name,
        wish,
        tuple(options),
        beside,
        _assumption(low, high, mean, spread),
        tuple(left_out),
    )


def _assumption(
    low: float, high: float, mean: float | None, spread: float
) -> ValueAssumption:
    middle = low + half_range(low, high)
    center = middle if mean is None else mean
    alike = " (all alike)" if spread == 0.0 else ""
    usual = ", the middle of the range," if mean is None else ""
    return ValueAssumption(
        {"mean": center, "spread": spread},
        f"Predicted errors assume values with a mean of {plain(center)}{usual} and a "
        f"standard deviation of {plain(spread)}{alike}; --mean and --spread (in Python "
        "mean and spread) change that.",
    )


def _designs_of(
    compared: Sequence[Mean],
    wish: Wish,
    error_of: ErrorOf,
    mean: float | None,
    *,
    smallest_error: float,
    on_step: Callable[[str], None],
) -> tuple[list[CollectionDesign], list[str]]:
    """Returns certified designs of one mode, and why others are left out."""
    designs: list[CollectionDesign] = []
    left_out: list[str] = []
    sized, passed_over = _ranked(compared, wish, error_of, mean, smallest_error)
    # Those that are passed over come last, for the case that no other will do.
    for position in sorted(range(len(compared)), key=passed_over.__contains__):
        if position in passed_over and any(not d.bias_limit for d in designs):
            left_out.append(passed_over[position])
            continue
        protocol = compared[position]
        mechanism = protocol.randomizer.mechanism
        on_step(f"{mechanism}, {protocol.mode}")
        try:
            if position in sized:
                fitted = sized[position], wish.fit(sized[position])
            else:
                fitted = fit_size(protocol, wish, error_of)
            designs.append(_mean_design(*fitted, error_of, mean))
        except CertificationError as error:
            left_out.append(f"{mechanism} ({protocol.mode}): {error}")
    return designs, left_out


def _ranked(
    protocols: Sequence[Mean],
    wish: Wish,
    error_of: ErrorOf,
    mean: float | None,
    smallest_error: float,
) -> tuple[dict[int, Mean], dict[int, str]]:
    """Returns best sizes, as estimated, and why protocols of one mode are not certified.

    Both are by positions; sizes are missing where nothing is estimated.
    """
    sized: dict[int, Mean] = {}
    # At given levels certificates are quick, and with one target both modes are.
    if wish.targets is None or len(wish.targets) == 1:
        return sized, {}

    def estimate(targets: Wish, *, position: int) -> float:
        protocol, people = estimated_size(protocols[position], targets, error_of)
        if targets is wish:
            sized[position] = protocol
        bias = protocol.predicted_bias(people, mean=mean)
        return math.hypot(error_of(protocol, people), bias)

    candidates = [
        Candidate.for_targets(
            protocol.randomizer.mechanism,
            wish,
            partial(estimate, position=position),
            unbiased=protocol.randomizer.unbiased,
        )
        for position, protocol in enumerate(protocols)
    ]
    reasons = left_out_reasons(candidates, protocols[0].mode, least=smallest_error)
    return sized, reasons


def _mean_design(
    protocol: Mean, fitted: Calibration, error_of: ErrorOf, mean: float | None
) -> CollectionDesign:
    """Returns the design of a protocol with its levels.

    Raises:
        CertificationError: If the error is infinite.
    """
    people = fitted.people
    error = error_of(protocol, people)
    if math.isinf(error):
        has_zero = people.epsilons[0] == 0.0
        raise CertificationError(NO_INFORMATION if has_zero else _BEYOND_NUMBERS)
    bias = protocol.predicted_bias(people, mean=mean)
    return CollectionDesign(
        name=plan_name(protocol),
        mode=protocol.mode,
        people=people,
        targets=fitted.targets,
        guarantee=fitted.guarantee,
        standard_error=error,
        bias_limit=bias,
        bits=protocol.randomizer.bits_per_person(people.epsilons),
        protocol=protocol,
        largest_error=max(math.hypot(error, bias), _largest_error(protocol, people)),
    )


def _largest_error(protocol: Mean, people: Population) -> float:
    """Returns the largest predicted error of values at several means and spreads."""
    prediction, errors = protocol.unit_prediction(people), []
    for part in _PARTS:
        bias = prediction.bias(part)
        # The largest deviation that values of this mean can have.
        largest_spread = math.sqrt((1.0 - part) * (1.0 + part))
        errors += [
            math.hypot(prediction.error(part, spread), bias)
            for spread in {0.0, 0.5 * largest_spread, largest_spread}
        ]
    return half_range(protocol.low, protocol.high) * max(errors)
