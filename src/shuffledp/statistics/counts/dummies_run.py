"""The stage of answers among dummies of the shuffler: see `AnswerRun`.

A device sends one message for each answer that a person may give, always equally many: in
a group of d buckets and at most s answers, a person with k answers sends these, and one
message each to the buckets d + k, ..., d + s - 1, which stand for no answer. The shuffler
adds dummies to these buckets, too: the number of people who leave a question out is an
answer like the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.asked_question import FormQuestion
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomizers.message_counts import count_kinds
from shuffledp.randomness import Rng
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.form_estimates import EntryEstimate
from shuffledp.statistics.counts.form_shares import FormShares, entry_estimates
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.planned_run import counted_choices, people_of_batch
from shuffledp.statistics.stage_runs import BatchPeople
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints

# Each is sealed by the shuffler, within the transaction that closes a batch.
MOST_MEAN_DUMMIES = 10**6


def groups_with_nulls(
    questions: tuple[FormQuestion, ...],
) -> tuple[tuple[int, int], ...]:
    """Returns buckets and answers of each group, buckets for no answer included."""
    return tuple(
        (group.buckets + group.most, group.most)
        for group in FormEncoding(questions).groups
    )


@dataclass(frozen=True)
class DummiesRun(FormShares):
    """See `AnswerRun` and `RunWithDummies`.

    Attributes:
        protocol: The protocol that runs, with the groups of `groups_with_nulls`.
        choices: The protocol of the stage before.
        questions: Of the form.
    """

    protocol: Counts
    choices: Choices
    questions: tuple[FormQuestion, ...]

    def __post_init__(self) -> None:
        if self.mean_dummies > MOST_MEAN_DUMMIES:
            raise InvalidInputError(
                f"Expected at most {MOST_MEAN_DUMMIES:,} dummies of the shuffler in the "
                f"mean, got {self.mean_dummies:,}: ask fewer questions, or larger targets."
            )

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def code(self) -> NumberCode:
        """A message for every bucket."""
        return NumberCode(self._num_buckets)

    @property
    def messages_per_report(self) -> int:
        """One for each answer that a person may give."""
        return self.protocol.randomizer.most

    @property
    def mean_dummies(self) -> int:
        """See `RunWithDummies`."""
        # The mean of a bucket's dummies is a whole number.
        return sum(
            group.buckets * int(group.noise.messages) for group in self.protocol.groups
        )

    @property
    def most_dummies(self) -> int:
        """See `RunWithDummies`."""
        return 2 * self.mean_dummies

    def draw_dummies(self, *, rng: Rng) -> Ints:
        """See `RunWithDummies`."""
        # The protocol's message 2 b is a + of bucket b; there is no -.
        return self.protocol.draw_dummies(rng=rng).take() // 2

    def randomize(self, values: ArrayLike, choices: Floats, *, rng: Rng) -> Ints:
        """See `StageRun`."""
        answers = self._answer_buckets(values, rng=rng)
        messages = self.protocol.randomize(answers, choices, rng=rng).messages
        # Fewer messages than answers would tell the shuffler, and have no cover.
        if messages.shape[1] != self.messages_per_report or np.any(messages < 0):
            raise InvalidInputError("Expected a plan in which all answers are sent.")
        answer_messages: Ints = messages.astype(np.int64) // 2
        return answer_messages

    def tally(self, messages: Ints, choice: float | None) -> Tally:
        """See `StageRun`."""
        counts = np.zeros(2 * self._num_buckets + 1, dtype=np.int64)
        counts[:-1:2] = count_kinds(messages, most=self._num_buckets - 1)
        # A part of a batch: the number of shuffles is that of the whole, see `of_batch`.
        people = -(-messages.size // self.messages_per_report)
        return Tally(
            self.identity,
            np.zeros(0),
            np.array([[people]], dtype=np.int64),
            counts[None, None, :],
        )

    def of_batch(self, tally: Tally) -> Tally:
        """See `RunWithDummies`."""
        counts = tally.counts.copy()
        if counts[0, 0, -1] != 0:
            raise InvalidInputError("Expected the tally of parts of one batch.")
        counts[0, 0, -1] = 1
        return replace(tally, counts=counts)

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """See `AnswerRun`."""
        return people_of_batch(counted_choices(self.choices, chosen), people)

    def estimates(
        self, tally: Tally, chosen: Tally | None
    ) -> tuple[CountsEstimate, tuple[EntryEstimate, ...]]:
        """See `FormShares`."""
        people = counted_choices(self.choices, chosen).scaled_to(tally.num_users)
        everything = self.protocol.estimate(tally, people)
        sizes = [group.buckets for group in FormEncoding(self.questions).groups]

        def of_answers(arrays: tuple[Floats, ...]) -> tuple[Floats, ...]:
            return tuple(each[:size] for each, size in zip(arrays, sizes, strict=True))

        estimate = CountsEstimate(
            of_answers(everything.value),
            of_answers(everything.standard_error),
            of_answers(everything.excess_kurtosis),
            everything.num_users,
            everything.identity,
            everything.step,
        )
        entries = entry_estimates(self.protocol, estimate, people, self.questions)
        return estimate, entries

    def noise_p_value(self, tally: Tally, num_honest: int) -> float | None:
        """Returns None: an empty bucket is as rare as the guarantee fails, not rarer."""
        del tally, num_honest
        return None

    @property
    def _num_buckets(self) -> int:
        return self.protocol.randomizer.num_buckets

    def _answer_buckets(self, values: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the buckets of people's answers, those for no answer included."""
        encoding = FormEncoding(self.questions)
        answers, first = encoding.encode(values, rng=rng).copy(), 0
        for group in encoding.groups:
            group_answers = answers[:, first : first + group.most]
            first += group.most
            # Answers stand before the places without one: buckets differ in a row.
            group_answers[:] = np.where(
                group_answers < 0, group.buckets + np.arange(group.most), group_answers
            )
        return answers
