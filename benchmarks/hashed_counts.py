"""Prints counts of more categories than people: hashed buckets, their own, one message.

    python benchmarks/hashed_counts.py

*Hashed*: as `plan counts` plans it, simulated with frequencies in proportion to 1 / rank,
and with even ones; every collection has hash functions of its own. *Own buckets*: the
noise of every category, whatever messages it takes. *One message*: the protocol that `plan
frequency` recommends for a category of 1% of people, and its errors of categories of none,
of 1% and of 10%.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from machine import describe

from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsDesign, CountsSearch
from shuffledp.statistics.counts.hashed_counts import NAME, hashed_counts
from shuffledp.statistics.counts.noise_families import NoiseFamily
from shuffledp.statistics.frequency.frequency_plan import plan_frequency
from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
    HashedChoiceQuestion,
)

_DELTA = 1e-6
# People, categories, epsilon, and messages of a person at most.
_CASES = (
    (1_000, 100_000, 1.0, 64),
    (10_000, 100_000, 1.0, 16),
    (10_000, 100_000, 1.0, 64),
    (10_000, 1_000_000, 1.0, 64),
    (100_000, 1_000_000, 1.0, 16),
    (100_000, 1_000_000, 1.0, 64),
    (100_000, 1_000_000, 0.1, 64),
    (1_000_000, 4_000_000, 1.0, 16),
)
_COLLECTIONS = 5
_SINGLE_SHARE, _SHARES = 0.01, (0.0, 0.01, 0.1)
_MOST_FREQUENT = 10


@dataclass(frozen=True)
class Simulated:
    """Root mean squared errors in people, and what their intervals cover.

    Attributes:
        every: Of all categories.
        frequent: Of the ten most frequent ones.
        covered: Share of 95% intervals that hold the truth.
        recognized: Categories that were recognized as frequent, in the mean.
    """

    every: float
    frequent: float
    covered: float
    recognized: float


def main() -> None:
    print(describe())
    print(
        "people | categories | epsilon | own buckets: error, messages | "
        "one message: error at 0, 1%, 10% | hashed to | messages | error, 1 / rank: "
        "predicted, simulated, of the ten most frequent | recognized | error, even: "
        "predicted, simulated | 95% intervals cover: 1 / rank, even"
    )
    for people, categories, epsilon, most in _CASES:
        wish = Wish(targets={epsilon: people}, delta=_DELTA)
        own = _own_buckets(wish, categories)
        single = _one_message(wish, categories)
        design = hashed_counts(wish, buckets=categories, max_messages=most)
        ranked = _simulated(design, 1.0 / np.arange(1.0, categories + 1.0))
        even = _simulated(design, np.ones(categories))
        rows = [group.buckets for group in design.protocol.groups]
        print(
            f"{people:,} | {categories:,} | {epsilon:g} | {own} | {single} | "
            f"{len(rows)} rows of {rows[0]:,} | {design.messages:.1f} | "
            f"{design.standard_error:.2f}, {ranked.every:.2f}, {ranked.frequent:.2f} | "
            f"{ranked.recognized:.0f} | {design.even_error:.2f}, {even.every:.2f} | "
            f"{ranked.covered:.1%}, {even.covered:.1%}",
            flush=True,
        )


def _own_buckets(wish: Wish, categories: int) -> str:
    people = Population.from_counts(dict(wish.targets or {}))
    search = CountsSearch(
        people, categories, 1, 1.0 / categories, wish.delta, people.num_users
    )
    try:
        design = search.design(NoiseFamily("Poisson noise", "poisson"), 0)
    except CertificationError:
        return "none proven"
    return f"{design.standard_error:.2f}, {design.messages:,.0f}"


def _one_message(wish: Wish, categories: int) -> str:
    plan = plan_frequency(wish, num_categories=categories, share=_SINGLE_SHARE)
    best = plan.recommended
    errors = (best.protocol.predicted_error(best.people, share=f) for f in _SHARES)
    texts = ", ".join(f"{wish.num_users * error:.1f}" for error in errors)
    return f"{texts} ({best.name}, {best.bits:.0f} bits)"


def _simulated(design: CountsDesign, weights: Sequence[float] | Any) -> Simulated:
    asked, rng = design.hashed, np.random.default_rng(2026)
    assert asked is not None
    people = Population.from_counts(dict.fromkeys(asked.targets, asked.honest))
    shares, n = np.asarray(weights) / np.sum(weights), people.num_users
    squares, frequent, covered, recognized = [], [], [], []
    for key in range(_COLLECTIONS):
        (question,) = asked.questions
        assert isinstance(question, HashedChoiceQuestion)
        keyed = replace(question, key=key, rows=replace(question.chosen, key=key))
        again = replace(asked, questions=(keyed,))
        truth = rng.multinomial(n, shares)
        answers = np.repeat(np.arange(truth.size), truth)
        targets = np.full(n, asked.targets[0])
        tally = again.draw_tally({NAME: answers}, targets, rng=rng)
        found: Any = again.estimate(tally, people)[NAME]
        off = (found.value - truth) ** 2
        squares.append(np.nanmean(off))
        frequent.append(np.nanmean(off[np.argsort(-truth)[:_MOST_FREQUENT]]))
        low, high = found.interval().T
        covered.append(np.mean((low <= truth) & (truth <= high)))
        recognized.append(found.frequent.size)
    return Simulated(
        float(np.sqrt(np.mean(squares))),
        float(np.sqrt(np.mean(frequent))),
        float(np.mean(covered)),
        float(np.mean(recognized)),
    )


if __name__ == "__main__":
    main()
