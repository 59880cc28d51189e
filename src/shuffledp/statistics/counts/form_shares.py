"""Estimates of all questions of a form, from unbiased counts of its buckets."""

import numpy as np

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.asked_question import FormQuestion
from shuffledp.statistics.counts.answer_shares import AnswerShares
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.form_estimates import EntryEstimate, estimate_entry
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.questionnaire.group_counts import question_counts
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
        own = slice(first, first + len(groups))
        first = own.stop
        of_question = question_counts(counts, counts_estimate, people, own)
        entries.append(estimate_entry(questions, asked, of_question))
    return tuple(entries)


def answer_shares(
    counts_estimate: CountsEstimate, entries: tuple[EntryEstimate, ...]
) -> AnswerShares:
    """Returns the shares and numbers that are published."""
    return AnswerShares(
        counts_estimate,
        tuple(each.people for each in entries if each.people is not None),
        tuple(each.numbers for each in entries if each.numbers is not None),
    )


def share_shifts(
    entries: tuple[EntryEstimate, ...],
    *,
    messages: int,
    num_liars: int,
    num_users: int,
) -> Floats:
    """Returns by how much dishonest people can move each share.

    Args:
        entries: From `entry_estimates`.
        messages: Of a report.
        num_liars: How many people send any reports they like.
        num_users: People in the collection.
    """
    shifts = [
        each.people.manipulation(messages, num_liars)
        for each in entries
        if each.people is not None
    ]
    shares: Floats = np.concatenate(shifts) / num_users
    return shares
