"""Counts of a question's groups, from a collection of counts of all questions."""

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.population import Population
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts


def question_counts(
    counts: Counts,
    counts_estimate: CountsEstimate,
    people: Population | ChoiceCounts,
    groups: slice,
) -> QuestionCounts:
    """Returns the counts of some groups of a collection, at least one.

    Args:
        counts: The collection.
        counts_estimate: Unbiased counts of all its groups.
        people: How many people chose each target.
        groups: Which groups.
    """
    group_counts = []
    for group, value in zip(
        counts.groups[groups], counts_estimate.value[groups], strict=True
    ):
        channel = counts.channel(group, people)
        scale = channel.num_users / channel.signal
        group_counts.append(
            GroupCounts(
                value,
                scale**2 * channel.noise_variance,
                scale**4 * channel.noise_cumulant,
                group.most,
            )
        )
    sampling, spread = channel.answer_variances
    return QuestionCounts(
        tuple(group_counts), counts_estimate.num_users, sampling, spread, scale
    )
