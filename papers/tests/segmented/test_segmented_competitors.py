"""Competitors: errors as predicted, and guarantees as stated."""

from functools import cache

import numpy as np
import pytest

from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.wang2024 import variation_ratio_delta
from shuffledp_papers.segmented.figures.competitors import (
    BallsIntoBins,
    Competitor,
    balls_into_bins,
    separate_balls_into_bins,
    subexp_local,
    subexp_shuffle,
)
from shuffledp_papers.segmented.privacy import SegmentedPrivacy

D, S = 24, 3
PEOPLE = Population.from_counts({0.5: 500, 1.0: 1000, 2.0: 500})
DELTA = 0.01 / PEOPLE.num_users


@cache
def competitors() -> list[Competitor]:
    separate = [
        separate_balls_into_bins(
            PEOPLE, num_items=D, set_size=S, delta=DELTA, weights=weights
        )
        for weights in ("equal", "published", "inverse variance")
    ]
    return [
        subexp_local(PEOPLE, num_items=D, set_size=S),
        subexp_shuffle(PEOPLE, num_items=D, set_size=S, delta=DELTA),
        balls_into_bins(PEOPLE, num_items=D, set_size=S, delta=DELTA),
        *separate,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("index", range(6))
def test_errors_are_those_predicted(index: int) -> None:
    competitor = competitors()[index]
    rng, runs, n = np.random.default_rng(12), 1_000, PEOPLE.num_users
    sets = draw_uniform_sets(n, num_items=D, set_size=S, rng=rng).sets
    # Not all items equally often.
    sets = np.where(sets[:, :1] < 12, np.arange(S, dtype=np.int32), sets)
    truth = np.bincount(sets.ravel(), minlength=D) / n
    levels = np.repeat(np.arange(3), PEOPLE.counts)

    errors = np.array(
        [
            competitor.draw(sets, rng.permutation(levels), rng=rng) - truth
            for _ in range(runs)
        ]
    )

    spread = errors.std(axis=0)
    # 24 items of six competitors: a false alarm in 100 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 4.0 * spread / np.sqrt(runs))
    simulated = float(np.mean(np.sum(errors**2, axis=1)))
    # The sum over 24 items in 1000 runs is off by 1%.
    assert competitor.predicted_mse(truth) == pytest.approx(simulated, rel=0.05)


def test_guarantees_are_those_stated() -> None:
    found = subexp_shuffle(PEOPLE, num_items=D, set_size=S, delta=DELTA)
    alone = separate_balls_into_bins(PEOPLE, num_items=D, set_size=S, delta=DELTA)

    budget = found.mechanism.epsilon
    ratio = np.exp(budget)
    stated = variation_ratio_delta(
        0.5,
        p=ratio,
        beta=found.mechanism.total_variation,
        q=ratio,
        num_users=PEOPLE.num_users,
    )
    assert 0.99 * DELTA < stated <= DELTA
    assert budget > 0.5
    for blanket, level, count in zip(
        alone.blankets, PEOPLE.epsilons, PEOPLE.counts, strict=True
    ):
        bound = SegmentedPrivacy(
            num_items=D, blanket_messages=float(blanket), items_per_user=S
        )
        setting = Setting(Population.from_counts({float(level): int(count)}))
        assert 0.99 * DELTA < bound.delta(setting, float(level)) <= DELTA


@pytest.mark.slow
def test_weights_are_those_of_the_paper_and_the_best() -> None:
    def of(weights: str) -> BallsIntoBins:
        return separate_balls_into_bins(
            PEOPLE,
            num_items=D,
            set_size=S,
            delta=DELTA,
            weights=weights,  # type: ignore[arg-type]
        )

    equal, published, best = of("equal"), of("published"), of("inverse variance")

    n = PEOPLE.counts
    bound = D * S**2 * np.log(1.0 / DELTA) / (n * PEOPLE.epsilons) ** 2 + S / n
    assert np.ptp(published.weights * np.sqrt(bound)) < 1e-12
    for competitor in (equal, published, best):
        assert competitor.weights.sum() == pytest.approx(1.0)
    shares = np.full(D, S / D)
    errors = [c.predicted_mse(shares) for c in (best, published, equal)]
    assert errors == sorted(errors)
    with pytest.raises(InvalidInputError):
        of("best")


@pytest.mark.slow
def test_other_people_are_refused() -> None:
    rng = np.random.default_rng(1)
    sets = draw_uniform_sets(7, num_items=D, set_size=S, rng=rng).sets

    for competitor in competitors():
        with pytest.raises(InvalidInputError):
            competitor.draw(sets, np.zeros(7, dtype=np.int64), rng=rng)
