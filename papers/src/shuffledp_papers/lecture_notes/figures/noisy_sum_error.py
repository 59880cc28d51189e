"""Theorem 9.6: noisy bits of n users, with the printed and with a certified p."""

import math

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.calibration import largest_budgets
from shuffledp.accounting.promise import Promise
from shuffledp.population import Population
from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.figures.line_plot import column_curves, draw_curves
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.noisy_sum import (
    local_budget,
    printed_estimate,
    printed_share,
    unbiased_estimate,
)

PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
EPSILON, DELTA, SHARE = 0.5, 1e-6, 0.4
_TITLE = "Lecture notes, Theorem 9.6: the sum of bits in the shuffle model"


def run(effort: Effort) -> Result:
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
    setting: dict[str, Cell] = {
        "epsilon": EPSILON,
        "delta": DELTA,
        "share of ones": SHARE,
    }
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        notes=(
            "Mean absolute errors about the participants. p printed is ln(1 / delta) / "
            f"(n eps^2) with the constant taken for 1; certified is the smallest p that "
            f"is worth {EPSILON:g} after the shuffle.",
        ),
        svg=draw_curves(
            _TITLE,
            setting,
            column_curves(
                PEOPLE,
                table,
                {
                    "(9.5) as printed": "error of (9.5), printed",
                    "(9.5) with n p / 2": "error, n p / 2",
                    "sqrt(ln(1/delta)) / (n eps)": "sqrt(ln(1 / delta)) / (n eps)",
                    "n p / 2, certified p": "error, certified p",
                },
                ours=("n p / 2, certified p",),
            ),
            horizontal="people",
            vertical="mean absolute error",
            log="xy",
            description="Errors of the noisy sum against the number of people, log-log",
        ),
        comparisons=(
            Comparison(
                # At the expected sum of messages, n ((1 - p) mean + p / 2).
                "expectation of (9.5) for n = 1,000, p = 0.3, truth 0.4",
                "0.4",
                printed_estimate(
                    1_000 * (0.7 * 0.4 + 0.15), num_users=1_000, share=0.3
                ),
                why="n people send n p / 2 ones of noise in the mean, not p / 2.",
            ),
            Comparison(
                "the same with n p / 2",
                "0.4",
                unbiased_estimate(
                    1_000 * (0.7 * 0.4 + 0.15), num_users=1_000, share=0.3
                ),
            ),
        ),
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
