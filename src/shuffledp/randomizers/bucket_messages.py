"""Messages into buckets: a user's answers, and noise in jumps of several at once.

A report holds, for every group of buckets, one message + for each answer that is sent, and
jumps: j messages + , j messages -, or j pairs of both, all in one bucket, each bucket
equally likely. Either every report has the same number of slots, each a jump with some
probability, filled up with dummies; or the number of jumps is Poisson. Then reports have no
dummies; or they are filled up to one size, and noise that does not fit is cut.

Messages of bucket b, counted over all groups, are 2 b (+) and 2 b + 1 (-), and 2 d is the
dummy.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.items import stop_and_go
from shuffledp.randomness import Rng, bernoulli_draws, check_rng, stream_of
from shuffledp.types import Floats, Ints

# The most jumps of a report without slots.
MOST_JUMPS = 4096


@dataclass(frozen=True, eq=False)
class JumpTable:
    """How one person draws the noise of a group of buckets.

    Attributes:
        plus: Messages + of a jump of each kind, shape (kinds,).
        minus: Messages - of each, shape (kinds,).
        weights: Relative probabilities of the kinds, above 0, shape (kinds,).
        mean: Jumps of a person in the mean where there are no slots, at least 0;
            otherwise the probability that a slot is a jump.
        slots: Per person; 0 if the number of jumps is Poisson.
        width: Messages of a slot.
    """

    plus: Ints
    minus: Ints
    weights: Floats
    mean: float
    slots: int = 0
    width: int = 0

    def kinds(self, size: int, *, rng: Rng) -> NDArray[np.int64]:
        """Draws the kinds of jumps, shape (size,)."""
        # Whether a jump is of this kind or of a later one, from the rarer side.
        later = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        kinds = np.full(size, self.weights.size - 1, dtype=np.int64)
        remaining = np.arange(size)
        for kind in range(self.weights.size - 1):
            if not remaining.size:
                break
            stop = self.weights[kind] / later[kind]
            own = stream_of(rng, remaining)
            if stop <= 0.5:
                is_of_kind = bernoulli_draws(np.full(remaining.size, stop), rng=own)
            else:
                go = later[kind + 1] / later[kind]
                is_of_kind = ~bernoulli_draws(np.full(remaining.size, go), rng=own)
            kinds[remaining[is_of_kind]] = kind
            remaining = remaining[~is_of_kind]
        return kinds

    def jumpers(self, num_people: int, *, rng: Rng) -> Iterator[NDArray[np.int64]]:
        """Yields who has a first jump, a second one, and so on, in ascending order."""
        everyone = np.arange(num_people)
        if self.slots:
            for _ in range(self.slots):
                jumps = bernoulli_draws(np.full(num_people, self.mean), rng=rng)
                yield everyone[jumps]
            return
        # Beyond the most and the mean, what is left is below 1e-20 of what is before.
        last = MOST_JUMPS + int(self.mean) + 80
        stop, go = stop_and_go(self.mean / np.arange(1.0, last + 1.0))
        more = everyone
        for j in range(MOST_JUMPS):
            own = stream_of(rng, more)
            if go[j] <= 0.5:
                goes = bernoulli_draws(np.full(more.size, go[j]), rng=own)
            else:
                goes = ~bernoulli_draws(np.full(more.size, stop[j]), rng=own)
            more = more[goes]
            if not more.size:
                return
            yield more


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
        d = whole_number(self.buckets, "buckets", least=1, most=2**24)
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
                different in a row, or the group's d for no answer, shape (n, most).
        """
        array = np.asarray(answers)
        if (
            array.ndim != 2
            or array.shape[1] != self.most
            or array.dtype.kind not in "iu"
        ):
            raise InvalidInputError(
                f"Expected answers as rows of {self.most} whole numbers."
            )
        if not array.shape[0]:
            raise InvalidInputError("Expected answers of at least one person.")
        first = 0
        for group in self.groups:
            rows = np.sort(array[:, first : first + group.most], axis=1)
            first += group.most
            if rows[:, 0].min() < 0 or rows[:, -1].max() > group.buckets:
                raise InvalidInputError(
                    f"Expected buckets in [0, {group.buckets}), or {group.buckets} for no "
                    "answer."
                )
            if np.any((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] < group.buckets)):
                raise InvalidInputError("Expected different buckets in a group.")
        return array

    def randomize(self, answers: Ints, rates: Floats, *, rng: Rng) -> NDArray[np.int32]:
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
        array = self.check_answers(answers)
        n, first, offset = array.shape[0], 0, 0
        if rates.shape != (n,) or not np.all((rates >= 0.0) & (rates <= 1.0)):
            raise InvalidInputError(f"Expected {n} sampling rates from 0 to 1.")
        sent, rows, codes = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for group in self.groups:
            own = array[:, first : first + group.most].astype(np.int64)
            first += group.most
            sending = np.broadcast_to(rates[:, None], own.shape)
            sends = bernoulli_draws(sending, rng=rng) & (own < group.buckets)
            sent.append(np.where(sends, 2 * (offset + own), self.filler))
            # Each person has at most one jump of a round: streams are not repeated.
            for people in group.jumps.jumpers(n, rng=rng):
                theirs = stream_of(rng, people)
                kinds = group.jumps.kinds(people.size, rng=theirs)
                buckets = offset + theirs.integers(0, group.buckets, size=people.size)
                for sign, sizes in ((0, group.jumps.plus), (1, group.jumps.minus)):
                    times = sizes[kinds]
                    rows.append(np.repeat(people, times))
                    codes.append(np.repeat(2 * buckets + sign, times))
            offset += group.buckets
        messages, noise = np.concatenate(sent, axis=1), np.concatenate(rows)
        return _filled(messages, noise, np.concatenate(codes), self)


def _filled(
    sent: Ints, rows: Ints, codes: Ints, messages: BucketMessages
) -> NDArray[np.int32]:
    """Returns reports with these noise messages behind the answers."""
    order = np.argsort(rows, kind="stable")
    rows, codes = rows[order], codes[order]
    counts = np.bincount(rows, minlength=sent.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    columns = messages.most + np.arange(rows.size) - starts[rows]
    width = messages.report_size
    if width is None:
        width = messages.most + int(counts.max(initial=0))
    reports = np.full((sent.shape[0], width), messages.filler, dtype=np.int32)
    reports[:, : messages.most] = sent
    fits = columns < width
    reports[rows[fits], columns[fits]] = codes[fits]
    return reports
