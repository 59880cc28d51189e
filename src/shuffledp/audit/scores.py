"""Scores of messages: the larger, the more likely is x rather than x'.

By Neyman and Pearson, the sets that tell x from x' best are those of all messages whose
ratio R(x)(y) / R(x')(y) is above some threshold. The ratio of a black box is not known. It
is estimated, in several ways, from messages that are used for nothing else; the events are
then counted among other messages, so that a bad estimate costs power, not validity.

    values     counts of each distinct message, where messages repeat
    sizes      numbers themselves: half-lines
    ranges     counts of numbers in each of 64 ranges
    last bits  positions of the first and last bit of numbers, or of entries of vectors:
               floating point leaks
    columns    vectors, texts, sets: the sum over columns of the ratio of each entry
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.audit_messages import Messages
from shuffledp.types import Floats

_MAX_LISTED = 5


@dataclass(frozen=True, eq=False)
class ValueScore:
    """The ratio of each distinct message, or of its bit positions; 0 for new ones.

    Attributes:
        keys: Codes, ascending, shape (values,).
        log_ratios: Logarithms of ratios, shape (values,).
        examples: The text of a message of each code.
        bits: Whether codes are of bit positions, rather than of messages.
    """

    keys: NDArray[np.uint64]
    log_ratios: Floats
    examples: tuple[str, ...]
    bits: bool = False

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        codes = bit_positions(messages.raw) if self.bits else messages.codes()
        index = np.minimum(np.searchsorted(self.keys, codes), self.keys.size - 1)
        # Messages that were not learned from count for neither value.
        scores: Floats = np.where(
            self.keys[index] == codes, self.log_ratios[index], 0.0
        )
        return scores

    def words(self, threshold: float, *, above: bool) -> str:
        """Describes the messages of the event."""
        inside = self.log_ratios >= threshold if above else self.log_ratios <= threshold
        # The largest ratios first.
        by_size = np.argsort(-np.abs(self.log_ratios), kind="stable")
        examples = [self.examples[index] for index in by_size.tolist() if inside[index]]
        listed_values, num_more = (
            ", ".join(examples[:_MAX_LISTED]),
            len(examples) - _MAX_LISTED,
        )
        includes_new = threshold <= 0.0 if above else threshold >= 0.0
        more_text = f", and {num_more} more" if num_more > 0 else ""
        if self.bits:
            description = f"its first and last bit are as in {listed_values}{more_text}"
            return description + (", or new" if includes_new else "")
        if len(examples) == 1 and not includes_new:
            return f"it is {listed_values}"
        parts = f"{listed_values}{more_text}" if examples else "nothing seen before"
        return f"it is one of {parts}" + (
            ", or new" if includes_new and examples else ""
        )


@dataclass(frozen=True, eq=False)
class SizeScore:
    """A number itself, or its opposite: events are half-lines."""

    sign: float

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        scores: Floats = self.sign * messages.raw.astype(np.float64)
        return scores

    def words(self, threshold: float, *, above: bool) -> str:
        """Describes the half-line."""
        # A threshold on the opposite of a number bounds the number from the other side.
        upward = above == (self.sign > 0.0)
        side = "at least" if upward else "at most"
        return f"it is {side} {self.sign * threshold:.6g}"


@dataclass(frozen=True, eq=False)
class RangeScore:
    """The ratio of the range that a number lies in.

    Attributes:
        edges: Between ranges, ascending, shape (ranges - 1,).
        log_ratios: Logarithms of ratios, shape (ranges,).
    """

    edges: Floats
    log_ratios: Floats

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        numbers = messages.raw.astype(np.float64)
        scores: Floats = self.log_ratios[
            np.searchsorted(self.edges, numbers, side="right")
        ]
        return scores

    def words(self, threshold: float, *, above: bool) -> str:
        """Describes the ranges of the event, joined where they meet."""
        inside = self.log_ratios >= threshold if above else self.log_ratios <= threshold
        ends = np.concatenate([[-math.inf], self.edges, [math.inf]])
        # Steps into the event and out of it alternate: a pair bounds a run.
        run_ends = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
        ranges = [
            _range_as_text(float(ends[a]), float(ends[b]))
            for a, b in run_ends.reshape(-1, 2).tolist()
        ]
        text = " or ".join(ranges[:_MAX_LISTED])
        num_more = len(ranges) - _MAX_LISTED
        return (
            "it is " + text + (f" or in {num_more} more ranges" if num_more > 0 else "")
        )


@dataclass(frozen=True, eq=False)
class ColumnScore:
    """The sum of the ratios of each column's entry.

    Attributes:
        edges: Of each column, between its entries, shape (columns, entries - 1); unused
            ones are infinite.
        log_ratios: Logarithms of ratios, shape (columns, entries); 0 if not significant.
        names: Names of the columns.
    """

    edges: Floats
    log_ratios: Floats
    names: tuple[str, ...]

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        columns = messages.columns()
        scores = np.zeros(len(messages))
        for index in np.flatnonzero(np.any(self.log_ratios != 0.0, axis=1)).tolist():
            # Texts shorter than all those learned from are padded with zeros.
            is_known = index < columns.shape[1]
            column = columns[:, index] if is_known else np.zeros(len(messages))
            entries = np.searchsorted(self.edges[index], column, side="right")
            scores += self.log_ratios[index, entries]
        return scores

    def words(self, threshold: float, *, above: bool) -> str:
        """Describes the threshold, and the columns with the largest ratios."""
        side = "at least" if above else "at most"
        by_spread = np.argsort(-np.ptp(self.log_ratios, axis=1), kind="stable")[
            :_MAX_LISTED
        ]
        informative = [
            p for p in by_spread.tolist() if np.ptp(self.log_ratios[p]) > 0.0
        ]
        column_names = ", ".join(self.names[index] for index in informative) or "none"
        return f"its score is {side} {threshold:.4g}; what says most: {column_names}"


@dataclass(frozen=True, eq=False)
class EntryScore:
    """The sum of the ratios of the bit positions of each entry of a vector."""

    entries: tuple[ValueScore, ...]

    def __call__(self, messages: Messages) -> Floats:
        """Returns the score of each message, shape (n,)."""
        parts = (
            entry(Messages("numbers", messages.raw[:, index]))
            for index, entry in enumerate(self.entries)
        )
        scores: Floats = np.sum(np.array(list(parts)), axis=0)
        return scores

    def words(self, threshold: float, *, above: bool) -> str:
        """Describes the threshold."""
        side = "at least" if above else "at most"
        return (
            f"the score of its entries' first and last bits is {side} {threshold:.4g}"
        )


Score: TypeAlias = ValueScore | SizeScore | RangeScore | ColumnScore | EntryScore


def bit_positions(numbers: Floats) -> NDArray[np.uint64]:
    """Returns sign, position of the first bit and of the last, as one number."""
    # A double that is the sum of a value and noise is a multiple of the unit in the last
    # place of the larger one: its last bit tells their sizes.
    fractions, exponents = np.frexp(numbers)
    # 53 bits, as a whole number.
    mantissas = np.abs(fractions * 2.0**53).astype(np.int64)
    lowest_bits = np.maximum(mantissas & -mantissas, 1)
    last = np.round(np.log2(lowest_bits.astype(np.float64))).astype(np.int64)
    # Exponents of doubles are above -2048, so that 0 is left for the number 0.
    first = np.where(mantissas == 0, 0, exponents.astype(np.int64) + 2048)
    # `last` is below 64 and the sign is one bit: different triples differ in code.
    code = (first * 64 + np.where(mantissas == 0, 63, last)) * 2 + np.signbit(numbers)
    return code.astype(np.uint64)


def _range_as_text(low: float, high: float) -> str:
    if math.isinf(low):
        return "anything" if math.isinf(high) else f"below {high:.6g}"
    return f"at least {low:.6g}" if math.isinf(high) else f"in [{low:.6g}, {high:.6g})"
