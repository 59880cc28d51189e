"""Learns scores from messages about two values, in several ways."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.messages import Messages
from shuffledp.audit.scores import (
    ColumnScore,
    EntryScore,
    RangeScore,
    Score,
    SizeScore,
    ValueScore,
    bit_places,
)
from shuffledp.types import Floats, Ints

_RANGES, _ENTRIES = 64, 8
# Vectors with more entries have their last bits left alone.
_MOST_ENTRIES = 64
# An entry of a column whose ratio is within so many of its deviations says nothing.
_DOUBT = 2.0
# What a message that nobody sent before counts for: half a time under each value.
_BEFORE = 0.5


def fit_scores(here: Messages, there: Messages) -> list[Score]:
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
        scores += [SizeScore(1.0), SizeScore(-1.0), _by_range(here, there)]
        if here.real:
            places = bit_places(here.raw), bit_places(there.raw)
            scores.append(_by_value(places, (here, there), bits=True))
    else:
        scores.append(_by_column(here, there))
        if here.real and here.num_columns <= _MOST_ENTRIES:
            scores.append(_by_entry(here, there))
    return scores


def _by_value(
    codes: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    messages: tuple[Messages, Messages],
    *,
    bits: bool,
) -> ValueScore:
    both = np.concatenate(codes)
    keys, first = np.unique(both, return_index=True)
    size = codes[0].size
    counts = _counts(codes, keys)
    examples = [
        messages[0].shown(p) if p < size else messages[1].shown(p - size)
        for p in first.tolist()
    ]
    return ValueScore(keys, _ratios(counts[0], counts[1]), tuple(examples), bits)


def _by_entry(here: Messages, there: Messages) -> EntryScore:
    entries = []
    for place in range(here.num_columns):
        parts = [Messages("numbers", part.raw[:, place]) for part in (here, there)]
        codes = bit_places(parts[0].raw), bit_places(parts[1].raw)
        entry = _by_value(codes, (parts[0], parts[1]), bits=True)
        counts = _counts(codes, entry.keys)
        entries.append(replace(entry, ratios=_certain(entry.ratios, counts)))
    return EntryScore(tuple(entries))


def _by_range(here: Messages, there: Messages) -> RangeScore:
    both = np.concatenate([here.raw, there.raw]).astype(np.float64)
    edges = np.unique(np.quantile(both, np.arange(1, _RANGES) / _RANGES))
    counts = [
        np.bincount(
            np.searchsorted(edges, part.raw.astype(np.float64), side="right"),
            minlength=edges.size + 1,
        )
        for part in (here, there)
    ]
    return RangeScore(edges, _ratios(counts[0], counts[1]))


def _by_column(here: Messages, there: Messages) -> ColumnScore:
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
        ratios[place] = _certain(_ratios(counts[0], counts[1]), counts)
    if here.kind == "vectors":
        names = [f"entry {place}" for place in range(width)]
    else:
        what = "byte" if here.kind == "texts" else "element"
        names = ["length", *(f"{what} {place}" for place in range(width - 1))]
    return ColumnScore(edges, ratios, tuple(names))


def _ratios(here: Ints, there: Ints) -> Floats:
    """Returns logarithms of ratios of shares; rare messages say little."""
    sizes = math.log(max(int(there.sum()), 1)) - math.log(max(int(here.sum()), 1))
    found: Floats = np.log(here + _BEFORE) - np.log(there + _BEFORE) + sizes
    return found


def _counts(
    codes: tuple[NDArray[np.uint64], NDArray[np.uint64]], keys: NDArray[np.uint64]
) -> list[Ints]:
    """Returns how often each key is among the codes of x, and of x', shape (keys,)."""
    return [
        np.bincount(np.searchsorted(keys, part), minlength=keys.size) for part in codes
    ]


def _certain(ratios: Floats, counts: Sequence[Ints]) -> Floats:
    """Returns ratios of entries that are added up, without those that may be chance."""
    doubt = np.sqrt(sum(1.0 / (count + _BEFORE) for count in counts))
    found: Floats = np.where(np.abs(ratios) > _DOUBT * doubt, ratios, 0.0)
    return found
