"""Answers of a form as buckets: what devices do, in Python and on the page.

Every question has a position for a person: of a choice its option, of a number see
`asked_number`. A bucket of a group is made of coordinates (question, width, buckets), in
mixed radix; the last varies fastest:

    place = floor(position / width) mod buckets

People who skip a number lie in the last bucket of each of its groups, and in no bucket of
groups that combine it with another question.

The encoding is stated in the task. A device follows any: noise hides every bucket of every
group, whatever the buckets stand for.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import unmasked
from shuffledp.asked_combination import AskedCombination, Cells
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, FormQuestion
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, bernoulli_draws
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class FormGroup:
    """Buckets of a group, and the answers that they stand for.

    Attributes:
        cells: Coordinates (question, width, buckets).
        most: Of its buckets, those that an answer may lie in.
        skipped: The bucket of those who skipped a number, the last one; None if there is
            none: then they lie in no bucket.
    """

    cells: Cells
    most: int
    skipped: int | None = None

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        stated = math.prod(buckets for _, _, buckets in self.cells)
        return stated if self.skipped is None else self.skipped + 1


@dataclass(frozen=True)
class FormEncoding:
    """The encoding of a form.

    Attributes:
        questions: Of the form, in their order.
    """

    questions: tuple[FormQuestion, ...]

    @cached_property
    def entries(self) -> tuple[tuple[FormGroup, ...], ...]:
        """The groups of each question."""
        return tuple(
            _groups_of(asked, index) for index, asked in enumerate(self.questions)
        )

    @cached_property
    def groups(self) -> tuple[FormGroup, ...]:
        """All groups, question by question."""
        return tuple(group for groups in self.entries for group in groups)

    def check(self) -> None:
        """Raises InvalidInputError unless combinations are of questions of the form."""
        for asked in self.questions:
            if isinstance(asked, AskedCombination):
                stated = AskedCombination.among(self.questions, *asked.of)
                if asked != stated:
                    raise InvalidInputError(
                        "Expected cells of the questions that are combined."
                    )

    @property
    def _choices(self) -> tuple[AskedQuestion, ...]:
        return tuple(each for each in self.questions if isinstance(each, AskedQuestion))

    @property
    def _num_numbers(self) -> int:
        return sum(isinstance(each, AskedNumber) for each in self.questions)

    def encode(self, values: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the buckets of people's answers, group by group.

        Args:
            values: A row for each person: positions of the picked options, counted over
                all choices, filled up with the number of these options; then the number
                that answers each question for one, in their order; NaN for a skip. Devices
                remember these rows, which is why they do not end in -1.
            rng: For numbers that are rounded at random.

        Returns:
            Buckets, or -1 for no answer, shape (n, sum of `most`).

        Raises:
            InvalidInputError: If a person picked more options than a question allows, or a
                number is out of range.
        """
        picked_options, numbers = self._divided(values)
        positions = self._positions(picked_options, numbers, rng)
        return np.concatenate(
            [_buckets(group, positions) for group in self.groups], axis=1
        )

    def _divided(self, values: ArrayLike) -> tuple[Ints, Floats]:
        answers, count = unmasked(values, "answers"), self._num_numbers
        kinds = "iuf" if count else "iu"
        if (
            answers.ndim != 2
            or answers.dtype.kind not in kinds
            or answers.shape[1] < count
        ):
            raise InvalidInputError(
                "Expected rows of whole numbers for options, and of numbers, one per "
                "person."
            )
        first = answers.shape[1] - count
        picked_options, numbers = (
            answers[:, :first],
            answers[:, first:].astype(np.float64),
        )
        total = sum(len(asked.options) for asked in self._choices)
        # Written this way round, it refuses NaN, too.
        if not np.all(
            (picked_options >= 0)
            & (picked_options <= total)
            & (picked_options == np.floor(picked_options))
        ):
            raise InvalidInputError(f"Expected positions of options from 0 to {total}.")
        return picked_options.astype(np.int64), numbers

    def _positions(self, picked: Ints, numbers: Floats, rng: Rng) -> dict[int, Ints]:
        """Returns all people's positions by question, -1 for none, each (n, most)."""
        positions, first, column = {}, 0, 0
        for index, asked in enumerate(self.questions):
            if isinstance(asked, AskedQuestion):
                last = first + len(asked.options)
                positions[index] = _options(picked, first, last, asked.most)
                first = last
            elif isinstance(asked, AskedNumber):
                number = numbers[:, column]
                positions[index] = _on_scale(asked, number, rng)[:, None]
                column += 1
        return positions


def _groups_of(asked: FormQuestion, index: int) -> tuple[FormGroup, ...]:
    if isinstance(asked, AskedQuestion):
        return (FormGroup(((index, 1, len(asked.options)),), asked.most),)
    if isinstance(asked, AskedNumber):
        return tuple(_level_of(asked, index, *level) for level in asked.levels)
    return tuple(FormGroup(cells, 1) for cells in asked.groups)


def _level_of(asked: AskedNumber, index: int, width: int, buckets: int) -> FormGroup:
    if not asked.skippable:
        return FormGroup(((index, width, buckets),), 1)
    # Of digits the last bucket holds skips alone, of intervals perhaps numbers, too.
    own = buckets if asked.steps is None else buckets - 1
    return FormGroup(((index, width, own),), 1, buckets - 1)


def _options(picked: Ints, first: int, last: int, most: int) -> Ints:
    """Returns positions of a choice's options, from 0, in columns; -1 for none."""
    is_own: NDArray[np.bool_] = (picked >= first) & (picked < last)
    if picked.size and is_own.sum(axis=1).max() > most:
        raise InvalidInputError(f"Expected at most {most} answers to a question.")
    options = np.full((picked.shape[0], most), -1, dtype=np.int64)
    column = np.cumsum(is_own, axis=1) - 1
    rows, _ = np.nonzero(is_own)
    options[rows, column[is_own]] = picked[is_own] - first
    return options


def _on_scale(asked: AskedNumber, numbers: Floats, rng: Rng) -> Ints:
    """Returns positions of numbers, -1 for a skip, shape (n,)."""
    skipped = np.isnan(numbers) & asked.skippable
    numbers = np.where(skipped, asked.low, numbers)
    # Written this way round, it refuses NaN, too.
    if not np.all((numbers >= asked.low) & (numbers <= asked.high)):
        raise InvalidInputError(f"Expected numbers in [{asked.low:g}, {asked.high:g}].")
    if asked.edges is not None:
        inner = np.array(asked.edges[1:-1])
        bin_index = np.searchsorted(inner, numbers, side="right").astype(np.int64)
        return np.where(skipped, -1, bin_index)
    assert asked.steps is not None
    # In halves and in this order, as the page computes it: to the same bits.
    low, half = asked.low / 2.0, asked.high / 2.0 - asked.low / 2.0
    share = np.clip((numbers / 2.0 - low) / half, 0.0, 1.0)
    scaled = share * asked.steps
    below = np.floor(scaled)
    above = bernoulli_draws(scaled - below, rng=rng)
    # A skip uses up as many draws as a number.
    return np.where(skipped, -1, below.astype(np.int64) + above)


def _buckets(group: FormGroup, positions: dict[int, Ints]) -> Ints:
    """Returns the buckets of a group, shape (n, most)."""
    buckets: Ints | None = None
    is_answered: NDArray[np.bool_] | None = None
    for index, width, count in group.cells:
        position = positions[index]
        own_bucket = position // width % count
        buckets = own_bucket if buckets is None else buckets * count + own_bucket
        is_given = position >= 0
        is_answered = is_given if is_answered is None else is_answered & is_given
    assert buckets is not None
    assert is_answered is not None
    skipped_bucket = -1 if group.skipped is None else group.skipped
    return np.where(is_answered, buckets, skipped_bucket)
