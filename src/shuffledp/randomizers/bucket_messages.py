"""Messages into buckets: a user's answers, and noise in jumps of several at once.

A report holds, for every group of buckets, one message + for each answer that is sent, and
jumps: j messages + , j messages -, or j pairs of both, all in one bucket, each bucket
equally likely. Either every report has the same number of slots, each a jump with some
probability, filled up with dummies; or the number of jumps is Poisson. Then reports have no
dummies; or they are filled up to one size, and noise that does not fit is cut.

Messages of bucket b, counted over all groups, are 2 b (+) and 2 b + 1 (-), and 2 d is the
dummy.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.jump_table import JumpTable
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, bernoulli_draws, check_rng, stream_of
from shuffledp.types import Floats, Ints

# The most jumps of a report without slots.
MOST_JUMPS = 4096
MAX_BUCKETS = 2**31 - 2


@dataclass(frozen=True, eq=False)
class BucketGroup:
    """Buckets of one question, as devices know them.

    Attributes:
        buckets: d, at least 1.
        most: s, answers of a person, from 1 to d.
        jumps: How a person draws the group's noise.
    """

    buckets: int
    most: int
    jumps: JumpTable

    def __post_init__(self) -> None:
        d = whole_number(self.buckets, "buckets", least=1, most=MAX_BUCKETS)
        whole_number(self.most, "answers", least=1, most=d)


@dataclass(frozen=True, eq=False)
class BucketMessages:
    """Public parameters only; answers, rates and rng are arguments of `randomize`.

    Attributes:
        groups: Of buckets, in the order of answers.
        cap: Maximum of noise messages of a report without slots; None if sizes
            vary, or slots fix them.
    """

    groups: tuple[BucketGroup, ...]
    cap: int | None = None

    @property
    def num_buckets(self) -> int:
        """The number of buckets of all groups."""
        return sum(group.buckets for group in self.groups)

    @property
    def dummy(self) -> int:
        """The message that fills up a report."""
        return 2 * self.num_buckets

    @property
    def filler(self) -> int:
        """What stands in a report for a message that is not sent.

        Where sizes vary it is -1, no message: dummies would tell how many answers, and how
        much noise, a person sent.
        """
        return self.dummy if self.report_size is not None else -1

    @property
    def most(self) -> int:
        """Answers of a person, in all groups."""
        return sum(group.most for group in self.groups)

    @property
    def report_size(self) -> int | None:
        """Messages of a report with dummies; None if sizes vary."""
        if self.cap is not None:
            return self.most + self.cap
        if not all(group.jumps.slots for group in self.groups):
            return None
        slots = sum(group.jumps.slots * group.jumps.width for group in self.groups)
        return self.most + slots

    def check_answers(self, answers: Ints) -> Ints:
        """Returns answers as an array; raises InvalidInputError unless they are valid.

        Args:
            answers: Buckets of each group in turn, counted from 0 within the group and
                different in a row, or -1 for no answer, shape (n, most).
        """
        answer_array = unmasked(answers, "answers")
        if (
            answer_array.ndim != 2
            or answer_array.shape[1] != self.most
            or answer_array.dtype.kind not in "iu"
        ):
            raise InvalidInputError(
                f"Expected answers as rows of {self.most} whole numbers."
            )
        if not answer_array.shape[0]:
            raise InvalidInputError("Expected answers of at least one person.")
        first = 0
        for group in self.groups:
            # Sorted, equal buckets are neighbors; no answer, -1, may be repeated.
            rows = np.sort(answer_array[:, first : first + group.most], axis=1)
            first += group.most
            if rows[:, 0].min() < -1 or rows[:, -1].max() >= group.buckets:
                raise InvalidInputError(
                    f"Expected buckets from 0 to {group.buckets - 1}, or -1 for no answer; "
                    f"{group.buckets}, their number, is not one of them."
                )
            if np.any((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)):
                raise InvalidInputError("Expected different buckets in a group.")
        return answer_array

    def randomize(self, answers: Ints, rates: Floats, *, rng: Rng) -> Ints:
        """Draws one report per person, in the order of `answers`.

        Args:
            answers: As `check_answers` wants them, shape (n, most).
            rates: Probability to send an answer, in [0, 1], shape (n,).
            rng: The only source of randomness.

        Returns:
            Messages, shape (n, report_size), or as wide as the largest report where sizes
            vary; rows are filled up with `filler`.
        """
        check_rng(rng)
        answer_array = self.check_answers(answers)
        n = answer_array.shape[0]
        if rates.shape != (n,) or not np.all((rates >= 0.0) & (rates <= 1.0)):
            raise InvalidInputError(f"Expected {n} sampling rates from 0 to 1.")
        # Draws take more memory than reports: they are made for some people at a time.
        parts = [
            self._randomize(
                answer_array[people], rates[people], rng=stream_of(rng, people)
            )
            for people in batches(n, width=self.most + sum(self._drawn))
        ]
        return parts[0] if len(parts) == 1 else self._stacked(parts)

    @property
    def _drawn(self) -> list[int]:
        """About the jumps of a person in each group."""
        tables = [group.jumps for group in self.groups]
        return [each.slots or math.ceil(each.mean) for each in tables]

    def _stacked(self, parts: list[Ints]) -> Ints:
        width = max(part.shape[1] for part in parts)
        stacked = np.full(
            (sum(map(len, parts)), width), self.filler, dtype=parts[0].dtype
        )
        first = 0
        for part in parts:
            stacked[first : first + len(part), : part.shape[1]] = part
            first += len(part)
        return stacked

    def _randomize(self, answer_array: Ints, rates: Floats, *, rng: Rng) -> Ints:
        n, first, offset = answer_array.shape[0], 0, 0
        # Every jump sends a message: those beyond the cap would not fit.
        most_jumps = MOST_JUMPS if self.cap is None else self.cap
        sent, rows, codes = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for group in self.groups:
            own_buckets = answer_array[:, first : first + group.most].astype(np.int64)
            first += group.most
            sending = np.broadcast_to(rates[:, None], own_buckets.shape)
            sends = bernoulli_draws(sending, rng=rng) & (own_buckets >= 0)
            sent.append(np.where(sends, 2 * (offset + own_buckets), self.filler))
            # Each person has at most one jump of a round: streams are not repeated.
            for people in group.jumps.jumpers(n, most=most_jumps, rng=rng):
                stream = stream_of(rng, people)
                kinds = group.jumps.kinds(people.size, rng=stream)
                buckets = offset + stream.integers(0, group.buckets, size=people.size)
                for sign, sizes in ((0, group.jumps.plus), (1, group.jumps.minus)):
                    times = sizes[kinds]
                    rows.append(np.repeat(people, times))
                    codes.append(np.repeat(2 * buckets + sign, times))
            offset += group.buckets
        messages, noise = np.concatenate(sent, axis=1), np.concatenate(rows)
        return _filled(messages, noise, np.concatenate(codes), self)


def _filled(sent: Ints, rows: Ints, codes: Ints, messages: BucketMessages) -> Ints:
    """Returns reports with these noise messages behind the answers."""
    # Stable: messages that do not fit are those drawn last, not those of some sign or
    # bucket.
    order = np.argsort(rows, kind="stable")
    rows, codes = rows[order], codes[order]
    counts = np.bincount(rows, minlength=sent.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    columns = messages.most + np.arange(rows.size) - starts[rows]
    width = messages.report_size
    if width is None:
        width = messages.most + int(counts.max(initial=0))
    # One type for a protocol, whatever was drawn: reports of parts fit together.
    kind = np.int32 if messages.dummy < 2**31 else np.int64
    reports = np.full((sent.shape[0], width), messages.filler, dtype=kind)
    reports[:, : messages.most] = sent
    fits = columns < width
    reports[rows[fits], columns[fits]] = codes[fits]
    return reports
