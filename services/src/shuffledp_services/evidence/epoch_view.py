"""Auditor's view of one epoch: the published result, the batch and the counts."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shuffledp.arrays import float_array, int_array
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints
from shuffledp_services.evidence.canaries import checked_digest
from shuffledp_services.evidence.message_hashes import Hashes, checked_hashes


@dataclass(frozen=True, eq=False)
class MessageBatch:
    """Sealed messages in the order in which they were handed to the analyst.

    Attributes:
        hashes: SHA-256 of each, pile by pile, shape (n,).
        piles: The pile of each, from 0, shape (n,).
        sizes: Bytes of each, shape (n,).
    """

    hashes: Hashes
    piles: Ints
    sizes: Ints

    def __post_init__(self) -> None:
        hashes = checked_hashes(self.hashes, "messages of a batch", dimensions=1)
        for name in ("piles", "sizes"):
            numbers = int_array(getattr(self, name), f"{name} of a batch")
            if numbers.size != hashes.size or (numbers < 0).any():
                raise InvalidInputError(f"Expected {name} from 0 for each message.")


class SupportDependence(StrEnum):
    """Dependence between the categories that one message supports."""

    ONE = "every message supports exactly one category"
    INDEPENDENT = "independent of each other, given the value"
    UNKNOWN = "anything"


@dataclass(frozen=True, eq=False)
class SupportCounts:
    """Number of messages that support each category, published with the estimate.

    Attributes:
        counts: Counts of all levels together, shape (k,).
        keep: The probability that a message supports the value held, shape of `people`.
        flip: The probability that it supports a given other value, of the same shape.
        columns: The dependence between categories.
    """

    counts: Floats
    keep: Floats
    flip: Floats
    columns: SupportDependence

    def __post_init__(self) -> None:
        counts = float_array(self.counts, "counts of categories")
        if not counts.size or not (np.isfinite(counts).all() and (counts >= 0.0).all()):
            raise InvalidInputError("Expected counts of categories from 0.")
        keep, flip = (
            float_array(probabilities, "probabilities")
            for probabilities in (self.keep, self.flip)
        )
        if keep.shape != flip.shape or not ((flip >= 0.0) & (keep <= 1.0)).all():
            raise InvalidInputError("Expected probabilities in [0, 1] of each level.")
        if not (flip <= keep).all():
            raise InvalidInputError("Expected that the value held is supported most.")


@dataclass(frozen=True, eq=False)
class EpochView:
    """Published result of an epoch, with the batch and counts shown to the auditor.

    Attributes:
        task: SHA-256 of the task, 64 hexadecimal digits.
        epoch: From 1.
        levels: The levels or targets of the task, strictly increasing, shape (levels,).
        people: The published number of users at each level, shape (levels,); or of all
            together, shape (1,), where levels are not counted.
        minimum: The task's minimum number of users, of the shape of `people`.
        absent: The number of reports that the task allows to get lost.
        hides_levels: Whether the batch must not tell levels of messages (agnostic mode).
        sorted_by_hash: Whether the order of the batch is by SHA-256, as this
            library's services promise; otherwise uniformly random.
        estimate: The published estimate of each category, in any unit, shape (k,), or the
            mean of numbers, shape (1,); None if no estimate depends on single values.
        center: The number that the mean is compared with, fixed beforehand; not used for
            categories.
        support: The counts that the estimate was computed from; None for other statistics.
        included: SHA-256 of all messages that were counted, in any order, shape (n,), as
            published or as in the batch; None if that is not known.
        batch: The batch, if it was shown.
        earlier: SHA-256 of messages of canaries of earlier epochs, shape (h,).
        gives_receipts: Whether the shuffler signs receipts of the reports it keeps.
    """

    task: str
    epoch: int
    levels: Floats
    people: Ints
    minimum: Ints
    absent: int
    hides_levels: bool
    sorted_by_hash: bool
    estimate: Floats | None
    center: float
    support: SupportCounts | None
    included: Hashes | None
    batch: MessageBatch | None
    earlier: Hashes
    gives_receipts: bool = True

    def __post_init__(self) -> None:
        checked_digest(self.task)
        if type(self.epoch) is not int or self.epoch < 1:
            raise InvalidInputError(f"Expected an epoch from 1, got {self.epoch!r}.")
        levels = float_array(self.levels, "levels")
        if not levels.size or not (np.diff(levels) > 0.0).all() or levels[0] <= 0.0:
            raise InvalidInputError("Expected levels above 0, strictly increasing.")
        people, minimum = (
            int_array(getattr(self, name), name) for name in ("people", "minimum")
        )
        if people.size not in (1, levels.size) or people.size != minimum.size:
            raise InvalidInputError(
                "Expected people and minimum of each level, or all."
            )
        if (people < 0).any() or (minimum < 0).any() or self.absent < 0:
            raise InvalidInputError("Expected numbers of people from 0.")
        if self.estimate is not None:
            estimate = float_array(self.estimate, "an estimate")
            if not estimate.size or not np.isfinite(estimate).all():
                raise InvalidInputError("Expected finite estimates.")
        if not np.isfinite(self.center):
            raise InvalidInputError("Expected a finite center.")
        if self.support is not None and self.support.keep.size != people.size:
            raise InvalidInputError("Expected probabilities for each number of people.")
        if self.included is not None:
            checked_hashes(self.included, "counted messages", dimensions=1)
        checked_hashes(self.earlier, "earlier messages", dimensions=1)
