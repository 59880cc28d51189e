"""Algorithm 1 with any randomizers: certified above what enumeration finds."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.types import Floats
from shuffledp_papers.segmented.budget_search import (
    Privacy,
    RandomizerFamily,
    best_messages,
    kary_family,
    largest_budget,
    noise_family,
    segmented_messages,
)
from shuffledp_papers.segmented.segmented_messages import (
    MessageScores,
    SegmentedMessages,
)

Law = dict[tuple[int, ...], float]


def mixed(laws: list[Floats]) -> Law:
    """The law of how often each message occurs; an entry beyond omega's is no message."""
    found: Law = {(0,) * (laws[0].size - 1): 1.0}
    for law in laws:
        grown: Counter[tuple[int, ...]] = Counter()
        for counts, chance in found.items():
            for message, weight in enumerate(law.tolist()):
                seen = list(counts)
                if message < len(seen):
                    seen[message] += 1
                grown[tuple(seen)] += chance * weight
        found = dict(grown)
    return found


def exact_delta(protocol: SegmentedMessages, level: int, epsilon: float) -> float:
    """The largest divergence over the victim's values, others saying nothing."""
    gamma = protocol.blanket_probability
    silent = np.append((gamma * protocol.omega), 1.0 - gamma)
    rows = [np.append(row, 0.0) for row in protocol.tables[level]]
    worlds = [mixed([row] + [silent] * protocol.blanket_draws) for row in rows]
    return max(
        sum(
            max(here.get(key, 0.0) - math.exp(epsilon) * there.get(key, 0.0), 0.0)
            for key in here
        )
        for here, there in itertools.permutations(worlds, 2)
    )


@pytest.mark.few_cases(23)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("blanket", [0.7, 1.0, 1.5])
def test_certified_is_above_enumeration(seed: int, blanket: float) -> None:
    rng, people = np.random.default_rng(seed), Population.from_counts({0.5: 1, 1.0: 1})
    tables = tuple(rng.dirichlet(np.ones(3), size=2) * 0.9 + 1.0 / 30 for _ in range(2))
    omega = rng.dirichlet(np.ones(3)) * 0.9 + 1.0 / 30
    protocol = SegmentedMessages(people, tables, omega, blanket)

    for level, epsilon in itertools.product((0, 1), (0.0, 0.3, 1.0)):
        exact = exact_delta(protocol, level, epsilon)
        certified = protocol.certified_delta(level, epsilon, delta=1e-6)
        whole = protocol.certified_delta(level, epsilon, delta=1e-6, own=True)

        assert exact <= certified * (1.0 + 1e-9) + 1e-15
        # What others say about themselves hides her even better.
        assert whole <= certified * (1.0 + 1e-9) + 1e-15


def test_others_messages_counted_too_are_above_enumeration() -> None:
    people = Population.from_counts({0.5: 2, 1.0: 1})
    family = kary_family(3)
    tables = (family.table(0.8), family.table(1.5))
    protocol = SegmentedMessages(people, tables, family.omega, 1.0)
    blank = [family.omega] * 3

    for epsilon, held in itertools.product((0.1, 0.5), range(3)):
        worlds = [
            mixed(
                [np.append(law, 0.0) for law in (*blank, tables[0][held], tables[0][x])]
                + [np.append(tables[1][held], 0.0)]
            )
            for x in (0, 1)
        ]
        exact = sum(
            max(worlds[0][key] - math.exp(epsilon) * worlds[1][key], 0.0)
            for key in worlds[0]
        )
        certified = protocol.certified_delta(0, epsilon, delta=1e-6, own=True)

        assert exact <= certified * (1.0 + 1e-9)


def test_an_empty_message_tells_what_theorem_3_overlooks() -> None:
    # One blanket message each: the total says whether the item was sent.
    n, d, rate = 5_000, 128, 0.5524
    people = Population.from_counts({0.5: n})
    table = np.zeros((2, d + 1))
    table[0, 0] = table[1, 1] = rate
    table[:, d] = 1.0 - rate
    omega = np.append(np.full(d, 1.0 / d), 0.0)
    protocol = SegmentedMessages(people, (table,), omega, 1.0)

    # Theorem 3 states 2e-6; exact is 9.05e-4 (case V11 of the court).
    assert 9.0e-4 < protocol.certified_delta(0, 0.5, delta=1e-6) < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", [kary_family(4), noise_family()], ids=lambda f: f.name
)
def test_estimates_are_unbiased_and_err_as_predicted(family: RandomizerFamily) -> None:
    rng, runs = np.random.default_rng(3), 3_000
    people = Population.from_counts({0.5: 60, 1.0: 40})
    tables = (family.table(2.0), family.table(3.0))
    protocol = SegmentedMessages(people, tables, family.omega, 0.4)
    shares = np.arange(1.0, tables[0].shape[0] + 1.0)
    shares /= shares.sum()
    truth = shares @ family.scores.values

    errors = []
    for _ in range(runs):
        held = np.array([rng.multinomial(n, shares) for n in people.counts])
        counts = protocol.draw_counts(held, rng=rng)
        errors.append(family.scores.estimate(protocol, counts) - truth)

    off, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / math.sqrt(runs)
    # Four numbers at most: a false alarm in 400,000 seeds.
    assert np.all(np.abs(off) < 5.0 * spread)
    simulated = float(np.mean(np.sum(np.square(errors), axis=1)))
    # The mean of 3,000 has a deviation of 2.6% at most.
    predicted = family.scores.error(protocol, shares)
    assert predicted == pytest.approx(simulated, rel=0.13)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", [kary_family(16), noise_family()], ids=lambda f: f.name
)
def test_budgets_are_the_largest_that_are_kept(family: RandomizerFamily) -> None:
    people, delta = Population.from_counts({0.5: 1250, 1.0: 2500, 2.0: 1250}), 2e-6

    protocol, budgets = segmented_messages(
        family, people, blanket=0.15, delta=delta, privacy="certified"
    )

    assert list(budgets) == sorted(budgets)
    for level, target in enumerate((0.5, 1.0, 2.0)):
        found = protocol.certified_delta(level, target, delta=delta)
        assert found <= delta
        more = SegmentedMessages(
            people, (family.table(1.01 * budgets[level]),) * 3, family.omega, 0.15
        )
        if budgets[level] < 13.0:
            assert more.certified_delta(level, target, delta=delta) > delta


@pytest.mark.parametrize(
    "privacy", ["stated", pytest.param("certified", marks=pytest.mark.slow)]
)
def test_the_best_blanket_has_the_least_error(privacy: Privacy) -> None:
    family, delta = kary_family(8), 1e-5
    people, shares = Population.from_counts({0.5: 400, 1.0: 600}), np.full(8, 1.0 / 8)

    best = best_messages(family, people, delta=delta, privacy=privacy, shares=shares)

    least = family.scores.error(best, shares)
    for factor in (0.4, 0.8, 1.25, 2.5):
        other, _ = segmented_messages(
            family, people, blanket=factor * best.blanket, delta=delta, privacy=privacy
        )
        assert family.scores.error(other, shares) > least


def test_what_cannot_be_kept_is_refused() -> None:
    people = Population.from_counts({0.01: 5})

    with pytest.raises(CertificationError, match="No budget"):
        largest_budget(
            noise_family(), people, 0, blanket=0.1, delta=1e-9, privacy="certified"
        )
    with pytest.raises(InvalidInputError, match="even number of cells"):
        noise_family(cells=3)


def test_what_makes_no_sense_is_refused() -> None:
    people = Population.from_counts({1.0: 5})
    table, omega = np.full((2, 3), 1.0 / 3.0), np.full(3, 1.0 / 3.0)

    for tables, law, blanket, message in (
        ((), omega, 1.0, "a table for each"),
        ((table, table), omega, 1.0, "a table for each"),
        ((table,), omega[:2], 1.0, "a distribution of these"),
        ((0.9 * table,), omega, 1.0, "add up to 1"),
        ((table,), 0.9 * omega, 1.0, "add up to 1"),
        ((table,), omega, 0.0, "0 < m"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            SegmentedMessages(people, tables, law, blanket)
    bent = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    scores = MessageScores(np.arange(3.0)[:, None] ** 2, np.arange(3.0)[:, None])
    with pytest.raises(InvalidInputError, match="straight line"):
        scores.slopes(bent)
    with pytest.raises(InvalidInputError, match="these people"):
        SegmentedMessages(people, (table,), omega, 1.0).draw_counts(
            np.array([[1, 1]]), rng=np.random.default_rng(1)
        )
