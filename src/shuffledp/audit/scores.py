"""Scores of messages: the larger, the more x is to be suspected.

By Neyman and Pearson, the sets that tell x from x' best are those of all messages whose
ratio R(x)(y) / R(x')(y) is above some threshold. The ratio of a black box is not known. It
is guessed here, in several ways, from messages that are used for nothing else; what a guess
is worth is then measured with other messages, so that a bad one costs power, and no truth.

    values     how often each very message came, where messages repeat
    sizes      numbers themselves: half-lines
    ranges     how often numbers came in each of 64 ranges
    last bits  where numbers, or entries of vectors, have their first and last bit:
               floating point leaks
    columns    vectors, texts, sets: the sum over columns of the ratio of each entry
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.messages import Messages
from shuffledp.types import Floats

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class ValueScore:
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
        codes = bit_places(messages.raw) if self.bits else messages.codes()
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
class SizeScore:
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
class RangeScore:
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
class ColumnScore:
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


@dataclass(frozen=True, eq=False)
class EntryScore:
    """The sum of what the places of the bits of each entry of a vector say."""

    entries: tuple[ValueScore, ...]

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        parts = (
            entry(Messages("numbers", messages.raw[:, place]))
            for place, entry in enumerate(self.entries)
        )
        found: Floats = np.sum(np.array(list(parts)), axis=0)
        return found

    def words(self, threshold: float, *, above: bool) -> str:
        """Returns the threshold: what it is made of are bits of many entries."""
        side = "at least" if above else "at most"
        return (
            f"the score of its entries' first and last bits is {side} {threshold:.4g}"
        )


Score: TypeAlias = ValueScore | SizeScore | RangeScore | ColumnScore | EntryScore


def bit_places(numbers: Floats) -> NDArray[np.uint64]:
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
