"""The exact law of one message, as the randomizers state it themselves.

A message's law is a list of messages and the chance of each. Randomizers of one's own state
theirs with two members, which every `FiniteChannel` has:

* `law_values`: the values whose laws are all there is to know;
* `law(epsilon, value)`: all messages, shape (messages,) or (messages, width), and the
  chance of each.

Randomizers that favor a set of messages, vectors of bits and noise on a grid need neither.
Where coordinates are shuffled apart, the law is that of one coordinate, and values are
what its bit is. Noise without bounds is cut off where less than 1e-15 is left; the
outermost messages have the chance of all beyond.
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

# More messages than this take too long to go through.
_MOST = 1 << 21
# Of a grid of so many cells or fewer, all points are tried.
_FEW_CELLS = 8
# Beyond so many exponents, or deviations, less than 1e-15 of noise is left.
_EXPONENTS, _DEVIATIONS = 36.0, 8.5
Distribution = tuple[NDArray[Any], Floats]


def has_distribution(randomizer: Any) -> bool:
    """Returns whether the law of its messages can be had."""
    if hasattr(randomizer, "law") and hasattr(randomizer, "law_values"):
        return True
    if isinstance(randomizer, SetResponse):
        return isinstance(randomizer, (OneBit, *_MESSAGES))
    noise = (Laplace, ClipLaplace, SampledClipLaplace, SparsifiedClipLaplace, Gaussian)
    return isinstance(randomizer, (UnaryEncoding, Rappor, *noise))


def values_to_check(randomizer: Any) -> tuple[float, ...]:
    """Returns values to try, the first and the last of which are the ends of a range."""
    if hasattr(randomizer, "law_values"):
        return tuple(randomizer.law_values)
    if isinstance(randomizer, BitChannel):
        return (1, 0)
    if isinstance(randomizer, OneBit | AddedNoise):
        low, high = randomizer.low, randomizer.high
        if isinstance(randomizer, AddedNoise) and randomizer.cells <= _FEW_CELLS:
            # Every other value sends a mixture of what the points of the grid send.
            points = np.arange(randomizer.cells) / randomizer.cells
            return (*(low + (high - low) * points).tolist(), high)
        return (low, 0.65 * low + 0.35 * high, high)
    return tuple(range(randomizer.num_categories))


def message_distribution(randomizer: Any, epsilon: float, value: float) -> Distribution:
    """Returns every message and its chance, of a person who holds a value.

    >>> messages, chances = message_distribution(KRandomizedResponse(3), math.log(2.0), 1)
    >>> chances.round(4)
    array([0.25, 0.5 , 0.25])

    Args:
        randomizer: What runs on the device.
        epsilon: Her local budget.
        value: What she holds, one of `values_to_check`.

    Returns:
        Messages, shape (messages,) or (messages, width), and chances, shape (messages,).

    Raises:
        InvalidInputError: If the randomizer states no law, or has too many messages.
    """
    if not has_distribution(randomizer):
        raise InvalidInputError(
            "Expected a randomizer with members law and law_values, which state the law "
            f"of a message, got {type(randomizer).__name__}."
        )
    if hasattr(randomizer, "law"):
        messages, chances = randomizer.law(epsilon, value)
        return np.asarray(messages), np.asarray(chances, dtype=np.float64)
    level = np.array([epsilon])
    if isinstance(randomizer, BitChannel):
        bit = randomizer.drawn(level)
        one = float(1.0 - bit.lost[0] if value else bit.stray[0])
        zero = float(bit.lost[0] if value else 1.0 - bit.stray[0])
        return np.arange(2), np.array([zero, one])
    if isinstance(randomizer, SetResponse):
        return _favored(randomizer, level, value)
    return _on_grid(randomizer, epsilon, value)


def _favored(randomizer: SetResponse, level: Floats, value: float) -> Distribution:
    low, gap = (float(part[0]) for part in randomizer.drawn(level))
    if isinstance(randomizer, OneBit):
        share = (value - randomizer.low) / (randomizer.high - randomizer.low)
        one = (low + gap * share) / 2.0
        return np.arange(2), np.array([(low + gap * (1.0 - share)) / 2.0, one])
    (messages,) = (
        found(randomizer)
        for kind, found in _MESSAGES.items()
        if isinstance(randomizer, kind)
    )
    size = len(messages)
    counts = randomizer.support_counts(messages, np.arange(size), size)  # type: ignore[attr-defined]
    inside = counts[:, int(value)] > 0
    return messages, (low + gap * inside) / size


def _products(base: int, width: int) -> Ints:
    if base**width > _MOST:
        raise _too_many()
    return np.array(list(itertools.product(range(base), repeat=width)))


def _subsets(device: Any) -> Ints:
    k, w = device.num_categories, device.subset_size
    if math.comb(k, w) > _MOST:
        raise _too_many()
    return np.array(list(itertools.combinations(range(k), w)))


_MESSAGES: dict[type, Callable[[Any], Ints]] = {
    KRandomizedResponse: lambda device: np.arange(device.num_categories),
    SubsetSelection: _subsets,
    HadamardResponse: lambda device: np.arange(device.order),
    LocalHashing: lambda device: _products(device.num_buckets, device.num_digits + 2),
}


def _on_grid(device: Any, epsilon: float, value: float) -> Distribution:
    """Returns the law of a cell: that of one grid point, or a mixture of two."""
    size = int(device.cells)
    place = min(max((value - device.low) / (device.high - device.low), 0.0), 1.0) * size
    below = math.floor(place)
    share = place - below
    cells, chances = _from_point(device, epsilon, below, size)
    if share > 0.0:
        _, other = _from_point(device, epsilon, below + 1, size)
        chances = (1.0 - share) * chances + share * other
    return cells, chances


def _from_point(device: Any, epsilon: float, point: int, size: int) -> Distribution:
    if isinstance(device, Gaussian):
        length = 2.0 / float(device.deviations(np.array([epsilon]))[0]) / size
        edges = np.arange(
            -_reach(_DEVIATIONS / length), size + _reach(_DEVIATIONS / length) + 1
        )
        away = (edges - point) * length
        # Differences of the nearer tail, so that far cells keep their digits.
        below, above = ndtr(np.minimum(away, 0.0)), ndtr(np.minimum(-away, 0.0))
        chances = np.diff(below) - np.diff(above)
        chances[0] += below[0]
        chances[-1] += above[-1]
        return edges[:-1], chances
    rate = epsilon / size
    if isinstance(device, Laplace):
        reach = _reach(_EXPONENTS / rate)
        cells = np.arange(-reach, size + reach)
        distance = np.where(cells >= point, cells - point, point - 1 - cells)
        chances = -math.expm1(-rate) / 2.0 * np.exp(-rate * distance)
        chances[0], chances[-1] = np.exp(-rate * distance[[0, -1]]) / 2.0
        return cells, chances
    cells = np.arange(size)
    weights = _within(cells, point, rate)
    if isinstance(device, SampledClipLaplace):
        share = float(device.share)
        weights = share * weights + (1.0 - share) * _within(cells, size // 2, rate)
    if isinstance(device, SparsifiedClipLaplace):
        kept = device.keeps(cells)
        dummies = _within(cells, size // 2, rate)
        weights = np.where(kept, weights, 0.0) + weights[~kept].sum() * dummies
    return cells, weights


def _within(cells: Ints, point: int, rate: float) -> Floats:
    distance = np.where(cells >= point, cells - point, point - 1 - cells)
    weights = np.exp(-rate * distance)
    chances: Floats = weights / weights.sum()
    return chances


def _reach(cells: float) -> int:
    if not cells <= _MOST / 2:
        raise _too_many()
    return math.ceil(cells)


def _too_many() -> InvalidInputError:
    return InvalidInputError(
        f"Expected a randomizer with at most {_MOST} messages that matter: choose smaller "
        "parameters, or larger levels."
    )
