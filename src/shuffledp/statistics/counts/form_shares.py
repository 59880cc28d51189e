"""Estimates of all questions of a form, from unbiased counts of its buckets."""

from abc import ABC, abstractmethod

import numpy as np

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.asked_question import FormQuestion
from shuffledp.statistics.counts.answer_shares import AnswerShares
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.form_estimates import EntryEstimate, estimate_entry
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.questionnaire.group_counts import question_counts
from shuffledp.tally import Tally
from shuffledp.types import Floats


def entry_estimates(
    counts: Counts,
    counts_estimate: CountsEstimate,
    people: ChoiceCounts,
    questions: tuple[FormQuestion, ...],
) -> tuple[EntryEstimate, ...]:
    """Returns the estimates of each question, or combination, of a form.

    Args:
        counts: The collection.
        counts_estimate: Of the buckets of the form's encoding, group by group.
        people: How many people chose each target.
        questions: Of the form.
    """
    first, entries = 0, []
    for asked, groups in zip(questions, FormEncoding(questions).entries, strict=True):
        group_slice = slice(first, first + len(groups))
        first = group_slice.stop
        of_question = question_counts(counts, counts_estimate, people, group_slice)
        entries.append(estimate_entry(questions, asked, of_question))
    return tuple(entries)


class FormShares(ABC):
    """Publication of a stage of a form, with either party's noise: see `AnswerRun`."""

    @property
    @abstractmethod
    def messages_per_report(self) -> int:
        """See `StageRun`."""

    @abstractmethod
    def estimates(
        self, tally: Tally, chosen: Tally | None
    ) -> tuple[CountsEstimate, tuple[EntryEstimate, ...]]:
        """Returns estimates of the form's buckets, and of its questions.

        Args:
            tally: Of the answers.
            chosen: Of the stage before.
        """

    def estimate(self, tally: Tally, chosen: Tally | None) -> AnswerShares:
        """See `AnswerRun`."""
        counts_estimate, entries = self.estimates(tally, chosen)
        return AnswerShares(
            counts_estimate,
            tuple(each.people for each in entries if each.people is not None),
            tuple(each.numbers for each in entries if each.numbers is not None),
        )

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> Floats:
        """See `AnswerRun`."""
        _, entries = self.estimates(tally, chosen)
        shifts = [
            each.people.manipulation(self.messages_per_report, num_liars)
            for each in entries
            if each.people is not None
        ]
        shares: Floats = np.concatenate(shifts) / tally.num_users
        return shares
