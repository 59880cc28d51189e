"""Mechanisms of the library as black boxes, and the values a device is audited with."""

from typing import Any

from shuffledp.audit.target import CallableTarget
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.extension_loading import expecting


def device_target(device: LocalRandomizer) -> CallableTarget:
    """Wraps a mechanism as a black box.

    Raises:
        InvalidInputError: If it draws no message from a value alone.
    """
    if not hasattr(device, "randomize"):
        raise InvalidInputError(
            "Expected a mechanism that draws a message from a value, got "
            f"{device.mechanism}."
        )
    parameter_texts = ", ".join(
        f"{name} {value}" for name, value in device.parameters.items()
    )
    name = (
        f"{device.mechanism}, {parameter_texts}"
        if parameter_texts
        else device.mechanism
    )
    return CallableTarget(device, name)


@expecting("a box to say which values it takes, if it says that")
def usual_values(box: Any) -> list[Any] | None:
    """Returns the values to audit a device with; None if it states no domain.

    Of categories the first two and the last; of an interval both ends, and a number off
    the middle.
    """
    k = getattr(box, "num_categories", None)
    if isinstance(k, int):
        return sorted({0, 1, k - 1})
    low, high = getattr(box, "low", None), getattr(box, "high", None)
    if isinstance(low, int | float) and isinstance(high, int | float):
        off = 0.65 * low + 0.35 * high
        # Six digits are easier to read in a report, unless they leave the interval.
        short = float(f"{off:.6g}")
        return [float(low), short if low < short < high else off, float(high)]
    return None


@expecting("a box to promise a number as delta_local, if it has one")
def guaranteed_delta(box: Any) -> float:
    """Returns the delta that a device promises with every level; 0 without one."""
    return float(getattr(box, "delta_local", 0.0))
