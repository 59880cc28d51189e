"""Theorem 9.6: noisy bits of n users, with the printed and with a certified p."""

import math

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import Population
from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.noisy_sum import (
    local_budget,
    printed_estimate,
    printed_share,
    unbiased_estimate,
)

PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
EPSILON, DELTA, SHARE = 0.5, 1e-6, 0.4


def run(effort: Effort) -> ComputedFigure:
    """Returns noise, guarantees and errors for every number of users."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = []
    for n in effort.each(PEOPLE):
        share = printed_share(n, EPSILON, DELTA)
        people = Population.from_counts({local_budget(share): n})
        # Every user has the local budget of this p.
        (stated,) = account(OneBit(), people, delta=DELTA).levels
        largest = largest_budgets(Promise(OneBit(), DELTA), {EPSILON: n})
        # The largest local budget has the smallest p, 2 / (e^budget + 1).
        (budget,) = largest.people.epsilons.tolist()
        certified = 2.0 / (math.exp(budget) + 1.0)
        printed, right = _errors(n, share, effort.repetitions, rng=rng)
        _, ours = _errors(n, certified, effort.repetitions, rng=rng)
        unit = math.sqrt(math.log(1.0 / DELTA)) / (n * EPSILON)
        rows.append(
            {
                "people": n,
                "p, printed": share,
                "epsilon of that p, certified": stated.epsilon_central,
                "p, certified": certified,
                "certified over printed": certified / share,
                "error of (9.5), printed": printed,
                "error, n p / 2": right,
                "error, certified p": ours,
                "sqrt(ln(1 / delta)) / (n eps)": unit,
                "constant": ours / unit,
            }
        )
    # The expected sum of messages, n ((1 - p) mean + p / 2).
    total = 1_000 * (0.7 * 0.4 + 0.15)
    return ComputedFigure(
        setting={"epsilon": EPSILON, "delta": DELTA, "share of ones": SHARE},
        table=Table.from_records(rows),
        values={"epsilon": EPSILON},
        numbers=[
            estimate(total, num_users=1_000, share=0.3)
            for estimate in (printed_estimate, unbiased_estimate)
        ],
    )


def _errors(
    n: int, share: float, repetitions: int, *, rng: np.random.Generator
) -> tuple[float, float]:
    """Returns mean absolute errors of (9.5) as printed, and with n p / 2."""
    ones = round(SHARE * n)
    # A uniform bit replaces the true one with probability p, so that half of them flip.
    flip = share / 2.0
    totals = rng.binomial(ones, 1.0 - flip, size=repetitions) + rng.binomial(
        n - ones, flip, size=repetitions
    )
    errors = [
        float(
            np.mean(
                [abs(estimate(t, num_users=n, share=share) - ones / n) for t in totals]
            )
        )
        for estimate in (printed_estimate, unbiased_estimate)
    ]
    return errors[0], errors[1]
