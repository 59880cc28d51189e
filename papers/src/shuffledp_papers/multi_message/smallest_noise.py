"""The least noise of one shape that keeps a guarantee: searched, and verified."""

from collections.abc import Callable
from typing import TypeVar

from shuffledp.errors import CertificationError
from shuffledp_papers.multi_message.count_design import CountDesign
from shuffledp_papers.multi_message.count_setting import CountSetting

Design = TypeVar("Design", bound=CountDesign)

# Sizes that are tried differ by this factor.
_STEP = 1.0 + 1e-4
_MOST_STEPS = 2**18


def smallest_size(
    design: Callable[[float], Design], setting: CountSetting, *, enough: float
) -> Design:
    """Returns the design of about the smallest size that keeps the guarantee.

    Args:
        design: From a size above 0 to a design, more private the larger it is.
        setting: The guarantee.
        enough: The largest size, where the search starts.

    Raises:
        CertificationError: If that size does not provably keep it.
    """
    smaller = _largest(
        lambda steps: keeps(design(enough * _STEP**-steps), setting), _MOST_STEPS
    )
    return design(enough * _STEP**-smaller)


def smallest_whole(
    design: Callable[[int], Design], setting: CountSetting, *, enough: int
) -> Design:
    """Returns the design of the smallest whole size, from 1 on; as `smallest_size`."""
    fewer = _largest(lambda less: keeps(design(enough - less), setting), enough - 1)
    return design(enough - fewer)


def keeps(design: CountDesign, setting: CountSetting) -> bool:
    """Returns whether the design provably has the guarantee."""
    return design.certified_delta(setting.epsilon) <= setting.delta


def _largest(holds: Callable[[int], bool], maximum: int) -> int:
    """Returns a number up to `maximum` that holds where the next one does not."""
    if not holds(0):
        raise CertificationError(
            "Expected noise that provably keeps the guarantee; the most that is tried "
            "does not."
        )
    low, high = 0, 1
    while high <= maximum and holds(high):
        low, high = high, 2 * high
    high = min(high, maximum + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
