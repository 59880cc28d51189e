"""RAPPOR: averaging of repeated answers, and the number of ones in a report."""

from fractions import Fraction

import numpy as np

from shuffledp.randomizers.bloom import bloom_filters
from shuffledp.randomizers.rappor import Rappor
from shuffledp_papers.figures.line_plot import Curve, column_curves, draw_curves
from shuffledp_papers.figures.result import Comparison, Effort, Result
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
_AVERAGED = "yes on 3 of 4 days"
_TITLE = "Lecture notes, section 9.1.1: RAPPOR"


def run(effort: Effort) -> Result:
    """Returns probabilities of averaged answers, and numbers of ones in reports."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = [
        {
            "what": _AVERAGED,
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
    setting: dict[str, Cell] = {
        "k": BITS,
        "h": HASHES,
        "f": KEPT_NOISE,
        "q": ONE_GIVEN_ONE,
    }
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        keys=2,
        notes=(
            "Fresh responses at epsilon = ln 3: the chance that at least three quarters "
            "are yes, if the truth is no and if it is yes. A person who keeps the first "
            "response and repeats it stays at the chances of day 1.",
            f"Reports of one value, {effort.repetitions} runs; a lifetime's budget of "
            f"{budget:.3f}, which is what f = {KEPT_NOISE:g} and h = {HASHES} allow.",
        ),
        svg=draw_curves(
            _TITLE,
            {"epsilon": "ln 3 a day", "yes on": "3 of 4 days or more"},
            [
                *column_curves(
                    DAYS,
                    table.where("what", _AVERAGED),
                    {
                        "fresh responses, truth no": "if no, or expected",
                        "fresh responses, truth yes": "if yes, or drawn",
                    },
                ),
                # A stored first answer reveals no more on later days.
                Curve("first response kept, truth no", DAYS, [0.25] * len(DAYS)),
            ],
            horizontal="days",
            vertical="chance of yes on 3 of 4 days",
            log="xy",
            description="Chances of answers that are averaged over days",
        ),
        comparisons=(
            Comparison(
                "chance of at least 75 yes in 100 answers, truth no",
                "1.39e-24",
                probability_of_at_least(75, 100, probability=Fraction(1, 4)),
                why="Printed is 3^-50, by which factor 75 yes are less likely for no than "
                "for yes. The chances of at least and of exactly 75 are 1.435e-25 and "
                f"{probability_of_exactly(75, 100, probability=Fraction(1, 4)):.4g}.",
            ),
            Comparison("budget of 100 answers", "110", 100.0 * float(np.log(3.0))),
            Comparison(
                "ones in a report of Figure 9.2, p = 0.25 as printed",
                "145",
                expected[0.25],
                within=0.05,
                why="A slip for p = 0.5, as in the original figure.",
            ),
            Comparison("the same with p = 0.5", "145", expected[0.5], within=0.05),
        ),
    )


def _yes(days: int, probability: Fraction) -> float:
    # Three quarters of the days, rounded up.
    return probability_of_at_least(-(-3 * days // 4), days, probability=probability)
