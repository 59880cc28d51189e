"""Exact distribution of one message, as stated by the randomizer.

A distribution is a list of messages and the probability of each. A third-party randomizer
states it with two members, which every `FiniteChannel` has:

* `law_values`: the values whose distributions determine all others;
* `law(epsilon, value)`: all messages, shape (messages,) or (messages, width), and the
  probability of each.

Randomizers that favor a set of messages, vectors of bits and noise on a grid need neither.
Of a vector of bits, the distribution is that of one coordinate, and the value is its bit.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.bit_channel import BitChannel
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.randomizers.set_response import SetResponse
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.types import Floats, Ints

# More messages than this take too long to enumerate.
_MAX_MESSAGES = 1 << 21
# On grids with at most this many cells, all points are tried.
_FEW_CELLS = 8
# Beyond this exponent, or number of deviations, less than 1e-15 of the noise is left.
_MAX_EXPONENT, _MAX_DEVIATIONS = 36.0, 8.5
Distribution = tuple[NDArray[Any], Floats]


def has_distribution(randomizer: Any) -> bool:
    """Returns whether the exact distribution of a message is known."""
    if hasattr(randomizer, "law") and hasattr(randomizer, "law_values"):
        return True
    if isinstance(randomizer, SetResponse):
        return isinstance(randomizer, (OneBit, *_MESSAGE_LISTS))
    noise = (Laplace, ClipLaplace, SampledClipLaplace, SparsifiedClipLaplace, Gaussian)
    return isinstance(randomizer, (UnaryEncoding, Rappor, *noise))


def values_to_check(randomizer: Any) -> tuple[float, ...]:
    """Returns the values to try; the first and the last are the ends of a range."""
    if hasattr(randomizer, "law_values"):
        return tuple(randomizer.law_values)
    if isinstance(randomizer, BitChannel):
        return (1, 0)
    if isinstance(randomizer, OneBit | AddedNoise):
        low, high = randomizer.low, randomizer.high
        if isinstance(randomizer, AddedNoise) and randomizer.cells <= _FEW_CELLS:
            # Any other value sends a mixture of the messages of two grid points.
            points = np.arange(randomizer.cells) / randomizer.cells
            return (*(low + (high - low) * points).tolist(), high)
        return (low, 0.65 * low + 0.35 * high, high)
    return tuple(range(randomizer.num_categories))


def message_distribution(randomizer: Any, epsilon: float, value: float) -> Distribution:
    """Returns every message and its probability, for a user who holds a value.

    >>> response = KRandomizedResponse(3)
    >>> messages, probabilities = message_distribution(response, math.log(2.0), 1)
    >>> probabilities.round(4)
    array([0.25, 0.5 , 0.25])

    Args:
        randomizer: The mechanism on the device.
        epsilon: Local budget of the user, in nats.
        value: Value of the user, one of `values_to_check`.

    Returns:
        Messages, shape (messages,) or (messages, width), and probabilities, shape
        (messages,).

    Raises:
        InvalidInputError: If the distribution is unknown, or has too many messages.
    """
    if not has_distribution(randomizer):
        raise InvalidInputError(
            "Expected a randomizer with members law and law_values, which state the law "
            f"of a message, got {type(randomizer).__name__}."
        )
    if hasattr(randomizer, "law"):
        messages, probabilities = randomizer.law(epsilon, value)
        return np.asarray(messages), np.asarray(probabilities, dtype=np.float64)
    level = np.array([epsilon])
    if isinstance(randomizer, BitChannel):
        bit = randomizer.drawn(level)
        probability_of_one = float(1.0 - bit.lost[0] if value else bit.stray[0])
        probability_of_zero = float(bit.lost[0] if value else 1.0 - bit.stray[0])
        return np.arange(2), np.array([probability_of_zero, probability_of_one])
    if isinstance(randomizer, SetResponse):
        return _set_response_distribution(randomizer, level, value)
    return _grid_distribution(randomizer, epsilon, value)


def _set_response_distribution(
    randomizer: SetResponse, level: Floats, value: float
) -> Distribution:
    low, gap = (float(part[0]) for part in randomizer.drawn(level))
    if isinstance(randomizer, OneBit):
        share = (value - randomizer.low) / (randomizer.high - randomizer.low)
        probability_of_one = (low + gap * share) / 2.0
        return np.arange(2), np.array(
            [(low + gap * (1.0 - share)) / 2.0, probability_of_one]
        )
    (messages,) = (
        messages_of(randomizer)
        for kind, messages_of in _MESSAGE_LISTS.items()
        if isinstance(randomizer, kind)
    )
    size = len(messages)
    counts = randomizer.support_counts(messages, np.arange(size), size)  # type: ignore[attr-defined]
    # Density low + gap on the value's own set of messages, low elsewhere.
    inside = counts[:, int(value)] > 0
    return messages, (low + gap * inside) / size


def _products(base: int, width: int) -> Ints:
    if base**width > _MAX_MESSAGES:
        raise _too_many()
    return np.array(list(itertools.product(range(base), repeat=width)))


def _subsets(device: Any) -> Ints:
    k, w = device.num_categories, device.subset_size
    if math.comb(k, w) > _MAX_MESSAGES:
        raise _too_many()
    return np.array(list(itertools.combinations(range(k), w)))


_MESSAGE_LISTS: dict[type, Callable[[Any], Ints]] = {
    KRandomizedResponse: lambda device: np.arange(device.num_categories),
    SubsetSelection: _subsets,
    HadamardResponse: lambda device: np.arange(device.order),
    LocalHashing: lambda device: _products(device.num_buckets, device.num_digits + 2),
}


def _grid_distribution(device: Any, epsilon: float, value: float) -> Distribution:
    """Returns the distribution of a cell: that of a grid point, or a mixture of two."""
    size = int(device.cells)
    position = (
        min(max((value - device.low) / (device.high - device.low), 0.0), 1.0) * size
    )
    below = math.floor(position)
    share = position - below
    cells, probabilities = _grid_point_distribution(device, epsilon, below, size)
    if share > 0.0:
        _, above = _grid_point_distribution(device, epsilon, below + 1, size)
        probabilities = (1.0 - share) * probabilities + share * above
    return cells, probabilities


def _grid_point_distribution(
    device: Any, epsilon: float, point: int, size: int
) -> Distribution:
    if isinstance(device, Gaussian):
        # A cell in deviations, which are on the scale of [-1, 1].
        length = 2.0 / float(device.deviations(np.array([epsilon]))[0]) / size
        edges = np.arange(
            -_reach(_MAX_DEVIATIONS / length),
            size + _reach(_MAX_DEVIATIONS / length) + 1,
        )
        distance = (edges - point) * length
        # Differences of the nearer tail, so that far cells keep their significant digits.
        below, above = ndtr(np.minimum(distance, 0.0)), ndtr(np.minimum(-distance, 0.0))
        probabilities = np.diff(below) - np.diff(above)
        # Truncated noise: the outermost messages carry the mass of the tails.
        probabilities[0] += below[0]
        probabilities[-1] += above[-1]
        return edges[:-1], probabilities
    rate = epsilon / size
    if isinstance(device, Laplace):
        reach = _reach(_MAX_EXPONENT / rate)
        cells = np.arange(-reach, size + reach)
        distance = np.where(cells >= point, cells - point, point - 1 - cells)
        probabilities = -math.expm1(-rate) / 2.0 * np.exp(-rate * distance)
        # The tails, too: from distance d on, a side has mass exp(-rate d) / 2.
        probabilities[0], probabilities[-1] = np.exp(-rate * distance[[0, -1]]) / 2.0
        return cells, probabilities
    cells = np.arange(size)
    weights = _clipped_laplace(cells, point, rate)
    if isinstance(device, SampledClipLaplace):
        share = float(device.share)
        # An unsampled value is replaced by 0, the point in the middle.
        weights = share * weights + (1.0 - share) * _clipped_laplace(
            cells, size // 2, rate
        )
    if isinstance(device, SparsifiedClipLaplace):
        is_kept = device.keeps(cells)
        # Messages that are not kept become freshly perturbed zeros.
        dummies = _clipped_laplace(cells, size // 2, rate)
        weights = np.where(is_kept, weights, 0.0) + weights[~is_kept].sum() * dummies
    return cells, weights


def _clipped_laplace(cells: Ints, point: int, rate: float) -> Floats:
    distance = np.where(cells >= point, cells - point, point - 1 - cells)
    weights = np.exp(-rate * distance)
    probabilities: Floats = weights / weights.sum()
    return probabilities


def _reach(cells: float) -> int:
    if not cells <= _MAX_MESSAGES / 2:
        raise _too_many()
    return math.ceil(cells)


def _too_many() -> InvalidInputError:
    return InvalidInputError(
        f"Expected a randomizer with at most {_MAX_MESSAGES} messages that matter: choose "
        "smaller parameters, or larger levels."
    )
