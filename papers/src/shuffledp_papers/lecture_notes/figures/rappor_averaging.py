"""RAPPOR: averaging of repeated answers, and the number of ones in a report."""

from fractions import Fraction

import numpy as np

from shuffledp.randomizers.bloom import bloom_filters
from shuffledp.randomizers.rappor import Rappor
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.repeated_answers import (
    expected_ones,
    probability_of_at_least,
    probability_of_exactly,
)

BITS, HASHES, KEPT_NOISE, ONE_GIVEN_ONE = 256, 4, 0.5, 0.75
NOISES = (0.25, 0.5)
DAYS = (1, 2, 5, 10, 20, 50, 100)
_VALUE = "68"


def run(effort: Effort) -> ComputedFigure:
    """Returns probabilities of averaged answers, and numbers of ones in reports."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = [
        {
            "what": "yes on 3 of 4 days",
            "days or bits": days,
            "if no, or expected": _yes(days, Fraction(1, 4)),
            "if yes, or drawn": _yes(days, Fraction(3, 4)),
        }
        for days in DAYS
    ]
    # f = 2 / (1 + e^{eps / (2 h)}) is 0.5 where e^{eps / (2 h)} is 3.
    budget = 2 * HASHES * float(np.log(2.0 / KEPT_NOISE - 1.0))
    expected: dict[float, float] = {}
    for noise in NOISES:
        expected[noise] = expected_ones(
            num_bits=BITS,
            num_hashes=HASHES,
            kept_noise=KEPT_NOISE,
            one_given_one=ONE_GIVEN_ONE,
            one_given_zero=noise,
        )
        device = Rappor(BITS, HASHES, one_given_one=ONE_GIVEN_ONE, one_given_zero=noise)
        n = effort.repetitions
        bloom = bloom_filters([_VALUE] * n, [0] * n, num_bits=BITS, num_hashes=HASHES)
        stored = device.permanent_response(bloom, np.full(n, budget), rng=rng)
        ones = device.instantaneous_response(stored, rng=rng).sum(axis=1)
        rows.append(
            {
                "what": f"ones in a report, p = {noise:g}",
                "days or bits": BITS,
                "if no, or expected": expected[noise],
                "if yes, or drawn": float(ones.mean()),
            }
        )
    effort.on_share(1.0)
    return ComputedFigure(
        setting={"k": BITS, "h": HASHES, "f": KEPT_NOISE, "q": ONE_GIVEN_ONE},
        table=Table.from_records(rows),
        values={
            "repetitions": effort.repetitions,
            "budget": budget,
            "noise": KEPT_NOISE,
            "hashes": HASHES,
            "exactly": probability_of_exactly(75, 100, probability=Fraction(1, 4)),
        },
        numbers=(
            probability_of_at_least(75, 100, probability=Fraction(1, 4)),
            100.0 * float(np.log(3.0)),
            expected[0.25],
            expected[0.5],
        ),
        # A stored first answer reveals no more on later days.
        pictured=Table.from_records(row | {"kept": 0.25} for row in rows[: len(DAYS)]),
        picture_setting={"epsilon": "ln 3 a day", "yes on": "3 of 4 days or more"},
    )


def _yes(days: int, probability: Fraction) -> float:
    # Three quarters of the days, rounded up.
    return probability_of_at_least(-(-3 * days // 4), days, probability=probability)
