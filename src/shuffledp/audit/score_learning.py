"""Learns scores from messages about two values, in several ways."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.audit_messages import Messages
from shuffledp.audit.scores import (
    ColumnScore,
    EntryScore,
    RangeScore,
    Score,
    SizeScore,
    ValueScore,
    bit_positions,
)
from shuffledp.types import Floats, Ints

_RANGES, _ENTRIES = 64, 8
# Vectors with more entries have their last bits left alone.
_MOST_ENTRIES = 64
# Ratios within this many standard deviations of 0 are treated as chance.
_DOUBT = 2.0
# Pseudo-count of every message under each value, so that no ratio is infinite.
_BEFORE = 0.5


def fit_scores(messages: Messages, other_messages: Messages) -> list[Score]:
    """Learns scores that favor x over x', from messages about each.

    Args:
        messages: Messages about x.
        other_messages: Messages about x', of the same kind.
    """
    scores: list[Score] = []
    codes = messages.codes(), other_messages.codes()
    # Counts tell something only where messages repeat, each twice on average.
    if (
        np.unique(np.concatenate(codes)).size
        <= (len(messages) + len(other_messages)) // 2
    ):
        scores.append(_by_value(codes, (messages, other_messages), bits=False))
    if messages.kind == "numbers":
        scores += [SizeScore(1.0), SizeScore(-1.0), _by_range(messages, other_messages)]
        if messages.real:
            positions = bit_positions(messages.raw), bit_positions(other_messages.raw)
            scores.append(_by_value(positions, (messages, other_messages), bits=True))
    else:
        scores.append(_by_column(messages, other_messages))
        if messages.real and messages.num_columns <= _MOST_ENTRIES:
            scores.append(_by_entry(messages, other_messages))
    return scores


def _by_value(
    codes: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    messages: tuple[Messages, Messages],
    *,
    bits: bool,
) -> ValueScore:
    all_codes = np.concatenate(codes)
    keys, first = np.unique(all_codes, return_index=True)
    size = codes[0].size
    counts = _key_counts(codes, keys)
    examples = [
        messages[0].text_of(p) if p < size else messages[1].text_of(p - size)
        for p in first.tolist()
    ]
    return ValueScore(keys, _ratios(counts[0], counts[1]), tuple(examples), bits)


def _by_entry(messages: Messages, other_messages: Messages) -> EntryScore:
    entries = []
    for index in range(messages.num_columns):
        parts = [
            Messages("numbers", part.raw[:, index])
            for part in (messages, other_messages)
        ]
        codes = bit_positions(parts[0].raw), bit_positions(parts[1].raw)
        entry = _by_value(codes, (parts[0], parts[1]), bits=True)
        counts = _key_counts(codes, entry.keys)
        entries.append(replace(entry, log_ratios=_certain(entry.log_ratios, counts)))
    return EntryScore(tuple(entries))


def _by_range(messages: Messages, other_messages: Messages) -> RangeScore:
    all_numbers = np.concatenate([messages.raw, other_messages.raw]).astype(np.float64)
    edges = np.unique(np.quantile(all_numbers, np.arange(1, _RANGES) / _RANGES))
    counts = [
        np.bincount(
            np.searchsorted(edges, part.raw.astype(np.float64), side="right"),
            minlength=edges.size + 1,
        )
        for part in (messages, other_messages)
    ]
    return RangeScore(edges, _ratios(counts[0], counts[1]))


def _by_column(messages: Messages, other_messages: Messages) -> ColumnScore:
    parts = messages.columns(), other_messages.columns()
    # The width of texts is that of the longest, which may differ between the values.
    width = min(parts[0].shape[1], parts[1].shape[1])
    # Infinite edges are beyond all numbers, so that unused entries stay empty.
    edges = np.full((width, _ENTRIES - 1), math.inf)
    ratios = np.zeros((width, _ENTRIES))
    for index in range(width):
        column_values, other_values = parts[0][:, index], parts[1][:, index]
        pooled = np.concatenate([column_values, other_values])
        distinct = np.unique(pooled)
        if distinct.size == 1:
            continue
        if distinct.size <= _ENTRIES:
            cuts = (distinct[1:] + distinct[:-1]) / 2.0
        else:
            cuts = np.unique(np.quantile(pooled, np.arange(1, _ENTRIES) / _ENTRIES))
        edges[index, : cuts.size] = cuts
        counts = [
            np.bincount(np.searchsorted(cuts, sample, side="right"), minlength=_ENTRIES)
            for sample in (column_values, other_values)
        ]
        ratios[index] = _certain(_ratios(counts[0], counts[1]), counts)
    if messages.kind == "vectors":
        names = [f"entry {index}" for index in range(width)]
    else:
        what = "byte" if messages.kind == "texts" else "element"
        names = ["length", *(f"{what} {index}" for index in range(width - 1))]
    return ColumnScore(edges, ratios, tuple(names))


def _ratios(counts: Ints, other_counts: Ints) -> Floats:
    """Returns logarithms of ratios of smoothed shares."""
    # Shares, as there may be more messages about one value than about the other.
    sizes = math.log(max(int(other_counts.sum()), 1)) - math.log(
        max(int(counts.sum()), 1)
    )
    ratios: Floats = np.log(counts + _BEFORE) - np.log(other_counts + _BEFORE) + sizes
    return ratios


def _key_counts(
    codes: tuple[NDArray[np.uint64], NDArray[np.uint64]], keys: NDArray[np.uint64]
) -> list[Ints]:
    """Counts each key among the codes of x, and of x', shape (keys,)."""
    return [
        np.bincount(np.searchsorted(keys, part), minlength=keys.size) for part in codes
    ]


def _certain(ratios: Floats, counts: Sequence[Ints]) -> Floats:
    """Sets ratios to 0 that are within two standard deviations of 0."""
    # The variance of the log of a count is about the inverse of the count.
    doubt = np.sqrt(sum(1.0 / (count + _BEFORE) for count in counts))
    certain: Floats = np.where(np.abs(ratios) > _DOUBT * doubt, ratios, 0.0)
    return certain
