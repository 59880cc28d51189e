"""A plan for the mean of bounded numbers."""

from collections.abc import Callable
from functools import partial

import numpy as np

from shuffledp.errors import CertificationError
from shuffledp.planning.plan import Option, Plan, Wish, recommended
from shuffledp.planning.yardsticks import curator_error, yardsticks
from shuffledp.protocols.mean import Mean, MeanMechanism, check_spread
from shuffledp.types import Mode

_MECHANISMS: tuple[MeanMechanism, ...] = ("one-bit", "laplace", "clip-laplace")
_MODES: tuple[Mode, ...] = ("agnostic", "stratified")
_LEFT_OUT = (
    "gaussian: its levels hold with delta_local only, and cover liberal people's "
    "neighbours badly."
)


def plan_mean(
    wish: Wish,
    *,
    low: float,
    high: float,
    mean: float | None = None,
    spread: float = 0.0,
    on_step: Callable[[str], None] = lambda _step: None,
) -> Plan:
    """Compares all protocols for a mean, at equal local budgets or central targets.

    Args:
        wish: Budgets or targets, people, delta.
        low: Smallest possible value.
        high: Largest possible value.
        mean: What the mean may be; by default the middle of the range, where errors are
            largest.
        spread: What the standard deviation of the values may be; with the default of 0
            errors of one-bit messages are the largest possible.
        on_step: Called with what is computed next.

    Raises:
        InvalidInputError: If range, mean or spread make no sense.
        CertificationError: If no protocol keeps the wish.
    """
    check_spread(spread, low, high)
    options, left_out = [], [_LEFT_OUT]
    protocols: dict[tuple[str, Mode], Mean] = {
        (mechanism, mode): Mean(low, high, mechanism, mode)
        for mode in _MODES
        for mechanism in _MECHANISMS
    }
    for (mechanism, mode), protocol in protocols.items():
        on_step(f"{mechanism}, {mode}")
        try:
            options.append(_option(protocol, wish, mean, spread))
        except CertificationError as error:
            left_out.append(f"{mechanism} ({mode}): {error}")
    if not options:
        raise CertificationError("No protocol keeps what was asked for.")
    on_step("yardsticks")
    best = recommended(options)
    protocol = protocols[best.name, best.mode]
    span = high - low
    compared = yardsticks(
        best,
        wish,
        curator=curator_error(
            best.guarantee, reach_l1=span, reach_l2=span, spread=spread
        ),
        error_of=partial(protocol.predicted_error, mean=mean, spread=spread),
        fit_strictest=lambda strictest: strictest.fit(protocol)[0],
    )
    options.sort(key=lambda option: option.error)
    return Plan("mean", wish, tuple(options), compared, tuple(left_out))


def _option(protocol: Mean, wish: Wish, mean: float | None, spread: float) -> Option:
    people, guarantee = wish.fit(protocol)
    channel = protocol.channel(people)
    middle = protocol.low / 2.0 + protocol.high / 2.0 if mean is None else mean
    expected = float(channel.average(np.array([middle]))[0])
    return Option(
        name=protocol.mechanism,
        mode=protocol.mode,
        people=people,
        guarantee=guarantee,
        standard_error=protocol.predicted_error(people, mean=mean, spread=spread),
        bias_limit=channel.bias_limit(expected),
        bits=protocol.randomizer.bits_per_person(people.epsilons),
    )
