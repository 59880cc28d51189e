"""Counts of more buckets than noise has room for: a public hash maps them to fewer.

What devices run and what is certified is `Counts` of the hashed buckets; estimates of all
buckets are post-processing. Collisions add the squared counts of others to an error, which
a plan predicts for frequencies in proportion to 1 / rank: see docs/theory/counts.md.
"""

from dataclasses import replace

from shuffledp.accounting.account import account
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsDesign
from shuffledp.statistics.questionnaire.certified_questionnaire import (
    certified_questionnaire,
)
from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
    HashedChoiceQuestion,
)
from shuffledp.statistics.questionnaire.hashed.hashed_rows import can_be_hashed
from shuffledp.statistics.questionnaire.protocol import Questionnaire

NAME = "category"
# Certified noise may take a few messages more than rows were chosen for.
_LESS, _TRIES = 0.85, 4


def hashed_counts(wish: Wish, *, buckets: int, max_messages: int) -> CountsDesign:
    """Returns hashed buckets that keep all targets, certified.

    >>> design = hashed_counts(
    ...     Wish(targets={1.0: 10_000}), buckets=100_000, max_messages=64
    ... )
    >>> design.name, round(design.standard_error, 1), design.messages < 64.0
    ('Poisson noise, hashed to 5 rows of 512', 7.4, True)

    Args:
        wish: Targets, people, delta, absent people.
        buckets: That people answer; each person is in one.
        max_messages: Messages of a report in the mean, answers and noise.

    Raises:
        CertificationError: If there are none with as few messages.
    """
    if not can_be_hashed(buckets):
        raise CertificationError(f"{buckets:,} buckets are not hashed.")
    people = Population.from_counts(dict(wish.targets or {}))
    messages = float(max_messages)
    for _ in range(_TRIES):
        asked = HashedChoiceQuestion(NAME, buckets, messages)
        # The search for noise begins above its result.
        name, planned, _ = certified_questionnaire(
            (asked,), wish, max_messages=2 * max_messages
        )
        # Sizes vary, as those of Poisson noise in buckets that are not hashed.
        varying = replace(planned, report_size=None)
        if varying.counts.parameters.mean_messages <= max_messages:
            return _hashed_design(name, varying, wish, people)
        messages *= _LESS
    raise CertificationError(f"More than {max_messages:,} messages per report.")


def _hashed_design(
    name: str, asked: Questionnaire, wish: Wish, people: Population
) -> CountsDesign:
    """Returns the certified design of a questionnaire of one hashed question."""
    counts, (question,) = asked.counts, asked.questions
    assert isinstance(question, HashedChoiceQuestion)
    guarantee = account(
        counts, people, delta=wish.delta, quantiles=False, absent=wish.absent
    )
    # The plan was certified with reports of one size: this is another certificate.
    if not keeps_targets(guarantee):
        raise CertificationError(f"No noise keeps all targets at delta {wish.delta:g}.")
    rows, n = question.chosen, people.num_users
    # All answers are sent: counts are not scaled.
    variance = counts.channel(counts.groups[0], people).noise_variance
    return CountsDesign(
        f"{name}, hashed to {rows.num_rows} rows of {rows.row_size:,}",
        counts,
        rows.ranked_error(variance, n, false_categories=question.false_categories),
        guarantee,
        asked,
        rows.even_error(variance, n),
    )
