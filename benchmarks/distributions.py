"""Prints errors of distributions and quantiles, and how often intervals cover the truth.

    python benchmarks/distributions.py [--collections 200]

Values are lognormal; a tree of intervals is certified at (1, 1e-6).
"""

import argparse
import time

import numpy as np
from machine import describe
from scipy.stats import lognorm

import shuffledp as sdp
from shuffledp.statistics.questionnaire.distribution_question import equal_bins

_CASES = (
    (1_024, 10**5, None),
    (1_024, 10**5, 2),
    (1_024, 10**5, 16),
    (64, 10**4, None),
)
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=200)
    collections = parser.parse_args().collections
    print(describe())
    print(
        "bins | people | fan-out | messages | Kolmogorov-Smirnov distance | error of "
        "ranks of quantiles, in people | 95% intervals of the distribution cover | of "
        "quantiles | seconds of planning"
    )
    for num_bins, people, fan_out in _CASES:
        edges = equal_bins(0.0, 20.0, num_bins)
        start = time.perf_counter()
        plan = sdp.plan_questionnaire(
            (sdp.DistributionQuestion("x", edges, fan_out),),
            sdp.Wish(targets={1.0: people}),
        )
        seconds = time.perf_counter() - start
        (question,) = plan.questionnaire.questions
        assert isinstance(question, sdp.DistributionQuestion)
        # The same people in all collections; noise is drawn anew.
        spots = (np.arange(people) + 0.5) / people
        values = np.minimum(lognorm(0.7, scale=3.0).ppf(spots), 20.0)
        truth = np.searchsorted(values, edges[1:-1], side="left") / people
        exact = values[np.ceil(np.array(_SHARES) * people).astype(int) - 1]
        distances, ranks, covered, caught = [], [], [], []
        rng = np.random.default_rng(2026)
        targets = np.ones(people)
        for _ in range(collections):
            tally = plan.questionnaire.draw_tally({"x": values}, targets, rng=rng)
            found = plan.questionnaire.estimate(
                tally, sdp.Population.from_counts({1.0: people})
            )["x"]
            assert isinstance(found, sdp.DistributionEstimate)
            below = found.distribution()
            distances.append(np.abs(below.value - truth).max())
            low, high = below.interval().T
            covered.append(np.mean((low <= truth) & (truth <= high)))
            numbers = found.quantiles(_SHARES)
            ranks.append(np.searchsorted(values, numbers) - np.array(_SHARES) * people)
            low, high = found.quantile_intervals(_SHARES).T
            caught.append(np.mean((low <= exact) & (exact <= high)))
        error = float(np.sqrt(np.mean(np.square(ranks))))
        print(
            f"{num_bins:,} | {people:,} | {question.fan_out} | {plan.messages:.2f} | "
            f"{np.mean(distances):.2e} | {error:.1f} | {np.mean(covered):.1%} | "
            f"{np.mean(caught):.1%} | {seconds:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
