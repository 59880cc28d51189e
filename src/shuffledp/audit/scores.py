"""Scores of messages, learned from examples: the larger, the more x is to be suspected.

By Neyman and Pearson, the sets that tell x from x' best are those of all messages whose
ratio R(x)(y) / R(x')(y) is above some threshold. The ratio of a black box is not known. It
is guessed here, in several ways, from messages that are used for nothing else; what a guess
is worth is then measured with other messages, so that a bad one costs power, and no truth.

    values     how often each very message came, where messages repeat
    sizes      numbers themselves: half-lines
    ranges     how often numbers came in each of 64 ranges
    last bits  where a number has its first and its last bit: floating point leaks
    columns    vectors, texts, sets: the sum over columns of the ratio of each entry
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.messages import Messages
from shuffledp.types import Floats, Ints

_RANGES, _ENTRIES = 64, 8
# An entry of a column whose ratio is within so many of its deviations says nothing.
_DOUBT = 2.0
# What a message that nobody sent before counts for: half a time under each value.
_BEFORE = 0.5
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class ByValue:
    """The ratio of each very message, or of the place of its bits; 0 for unseen ones.

    Attributes:
        keys: Codes, ascending, shape (seen,).
        ratios: Logarithms of ratios, shape (seen,).
        examples: A message of each code, for people to read.
        bits: Whether codes are of places of bits, rather than of messages.
    """

    keys: NDArray[np.uint64]
    ratios: Floats
    examples: tuple[str, ...]
    bits: bool = False

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        codes = _bit_places(messages.raw) if self.bits else messages.codes()
        place = np.minimum(np.searchsorted(self.keys, codes), self.keys.size - 1)
        found: Floats = np.where(self.keys[place] == codes, self.ratios[place], 0.0)
        return found

    def words(self, threshold: float, *, above: bool) -> str:
        """Returns which messages the event is made of."""
        kept = self.ratios >= threshold if above else self.ratios <= threshold
        # The most telling ones first.
        order = np.argsort(-np.abs(self.ratios), kind="stable")
        chosen = [self.examples[place] for place in order.tolist() if kept[place]]
        shown, rest = ", ".join(chosen[:_SHOWN]), len(chosen) - _SHOWN
        unseen = threshold <= 0.0 if above else threshold >= 0.0
        more = f", and {rest} more" if rest > 0 else ""
        if self.bits:
            text = f"its first and last bit are as in {shown}{more}"
            return text + (", or new" if unseen else "")
        if len(chosen) == 1 and not unseen:
            return f"it is {shown}"
        parts = f"{shown}{more}" if chosen else "nothing seen before"
        return f"it is one of {parts}" + (", or new" if unseen and chosen else "")


@dataclass(frozen=True, eq=False)
class BySize:
    """A number itself, or its opposite: events are half-lines."""

    sign: float

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        found: Floats = self.sign * messages.raw.astype(np.float64)
        return found

    def words(self, threshold: float, *, above: bool) -> str:
        """Returns where the half-line ends."""
        upward = above == (self.sign > 0.0)
        side = "at least" if upward else "at most"
        return f"it is {side} {self.sign * threshold:.6g}"


@dataclass(frozen=True, eq=False)
class ByRange:
    """The ratio of the range that a number lies in.

    Attributes:
        edges: Between ranges, ascending, shape (ranges - 1,).
        ratios: Logarithms of ratios, shape (ranges,).
    """

    edges: Floats
    ratios: Floats

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        numbers = messages.raw.astype(np.float64)
        found: Floats = self.ratios[np.searchsorted(self.edges, numbers, side="right")]
        return found

    def words(self, threshold: float, *, above: bool) -> str:
        """Returns the ranges of the event, joined where they meet."""
        kept = self.ratios >= threshold if above else self.ratios <= threshold
        ends = np.concatenate([[-math.inf], self.edges, [math.inf]])
        moves = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]])))
        ranges = [
            _range(float(ends[a]), float(ends[b]))
            for a, b in moves.reshape(-1, 2).tolist()
        ]
        text = " or ".join(ranges[:_SHOWN])
        rest = len(ranges) - _SHOWN
        return "it is " + text + (f" or in {rest} more ranges" if rest > 0 else "")


@dataclass(frozen=True, eq=False)
class ByColumn:
    """The sum of what each column says by itself.

    Attributes:
        edges: Of each column, between its entries, shape (columns, entries - 1); unused
            ones are infinite.
        ratios: Logarithms of ratios, shape (columns, entries); 0 where they say nothing.
        names: What columns are called.
    """

    edges: Floats
    ratios: Floats
    names: tuple[str, ...]

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        columns = messages.columns()
        total = np.zeros(len(messages))
        for place in np.flatnonzero(np.any(self.ratios != 0.0, axis=1)).tolist():
            # Texts that are all shorter than those learned from end in zeros, too.
            known = place < columns.shape[1]
            column = columns[:, place] if known else np.zeros(len(messages))
            entries = np.searchsorted(self.edges[place], column, side="right")
            total += self.ratios[place, entries]
        return total

    def words(self, threshold: float, *, above: bool) -> str:
        """Returns the threshold, and which columns say most."""
        side = "at least" if above else "at most"
        most = np.argsort(-np.ptp(self.ratios, axis=1), kind="stable")[:_SHOWN]
        telling = [p for p in most.tolist() if np.ptp(self.ratios[p]) > 0.0]
        named = ", ".join(self.names[place] for place in telling) or "none"
        return f"its score is {side} {threshold:.4g}; what says most: {named}"


Score: TypeAlias = ByValue | BySize | ByRange | ByColumn


def learn(here: Messages, there: Messages) -> list[Score]:
    """Returns scores that suspect x rather than x', from messages about each.

    Args:
        here: Messages of people who hold x.
        there: Messages of people who hold x', of the same kind.
    """
    scores: list[Score] = []
    codes = here.codes(), there.codes()
    if np.unique(np.concatenate(codes)).size <= (len(here) + len(there)) // 2:
        scores.append(_by_value(codes, (here, there), bits=False))
    if here.kind == "numbers":
        scores += [BySize(1.0), BySize(-1.0), _by_range(here, there)]
        if here.real:
            places = _bit_places(here.raw), _bit_places(there.raw)
            scores.append(_by_value(places, (here, there), bits=True))
    else:
        scores.append(_by_column(here, there))
    return scores


def _by_value(
    codes: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    messages: tuple[Messages, Messages],
    *,
    bits: bool,
) -> ByValue:
    both = np.concatenate(codes)
    keys, first, place = np.unique(both, return_index=True, return_inverse=True)
    place = place.ravel()
    size = codes[0].size
    counts = [
        np.bincount(part, minlength=keys.size) for part in (place[:size], place[size:])
    ]
    examples = [
        messages[0].shown(p) if p < size else messages[1].shown(p - size)
        for p in first.tolist()
    ]
    return ByValue(keys, _ratios(counts[0], counts[1]), tuple(examples), bits)


def _by_range(here: Messages, there: Messages) -> ByRange:
    both = np.concatenate([here.raw, there.raw]).astype(np.float64)
    edges = np.unique(np.quantile(both, np.arange(1, _RANGES) / _RANGES))
    counts = [
        np.bincount(
            np.searchsorted(edges, part.raw.astype(np.float64), side="right"),
            minlength=edges.size + 1,
        )
        for part in (here, there)
    ]
    return ByRange(edges, _ratios(counts[0], counts[1]))


def _by_column(here: Messages, there: Messages) -> ByColumn:
    parts = here.columns(), there.columns()
    # Of texts, some may be shorter than all others.
    width = min(parts[0].shape[1], parts[1].shape[1])
    edges = np.full((width, _ENTRIES - 1), math.inf)
    ratios = np.zeros((width, _ENTRIES))
    for place in range(width):
        one, other = parts[0][:, place], parts[1][:, place]
        both = np.concatenate([one, other])
        distinct = np.unique(both)
        if distinct.size == 1:
            continue
        if distinct.size <= _ENTRIES:
            cuts = (distinct[1:] + distinct[:-1]) / 2.0
        else:
            cuts = np.unique(np.quantile(both, np.arange(1, _ENTRIES) / _ENTRIES))
        edges[place, : cuts.size] = cuts
        counts = [
            np.bincount(np.searchsorted(cuts, part, side="right"), minlength=_ENTRIES)
            for part in (one, other)
        ]
        found = _ratios(counts[0], counts[1])
        doubt = np.sqrt(sum(1.0 / (count + _BEFORE) for count in counts))
        ratios[place] = np.where(np.abs(found) > _DOUBT * doubt, found, 0.0)
    if here.kind == "vectors":
        names = [f"entry {place}" for place in range(width)]
    else:
        what = "byte" if here.kind == "texts" else "element"
        names = ["length", *(f"{what} {place}" for place in range(width - 1))]
    return ByColumn(edges, ratios, tuple(names))


def _ratios(here: Ints, there: Ints) -> Floats:
    """Returns logarithms of ratios of shares; rare messages say little."""
    sizes = math.log(max(int(there.sum()), 1)) - math.log(max(int(here.sum()), 1))
    found: Floats = np.log(here + _BEFORE) - np.log(there + _BEFORE) + sizes
    return found


def _bit_places(numbers: Floats) -> NDArray[np.uint64]:
    """Returns sign, place of the first bit and place of the last, as one number.

    A double that is the sum of a value and of noise is a multiple of the unit of whichever
    was larger: its last bits tell how large both were, whatever they add up to.
    """
    fractions, exponents = np.frexp(numbers)
    # 53 bits, as a whole number.
    whole = np.abs(fractions * 2.0**53).astype(np.int64)
    lowest = np.maximum(whole & -whole, 1)
    last = np.round(np.log2(lowest.astype(np.float64))).astype(np.int64)
    first = np.where(whole == 0, 0, exponents.astype(np.int64) + 2048)
    code = (first * 64 + np.where(whole == 0, 63, last)) * 2 + np.signbit(numbers)
    return code.astype(np.uint64)


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return "anything" if math.isinf(high) else f"below {high:.6g}"
    return f"at least {low:.6g}" if math.isinf(high) else f"in [{low:.6g}, {high:.6g})"
