"""Plans of a mean, for a command line."""

from functools import partial
from typing import Any

from shuffledp.parameter import Parameter
from shuffledp.planning.plan_declaration import PlanDeclaration, PlanOutput
from shuffledp.planning.plan_table import plan_tables
from shuffledp.planning.wish import Wish
from shuffledp.statistics.mean.mean_labels import HIGH, LOW
from shuffledp.statistics.mean.mean_plan import plan_mean

_DESCRIPTION = """Plan the mean of bounded numbers.

\b
Examples:
  shuffledp plan mean --low 20 --high 80 --levels 0.1:5400,0.5:3700,1.0:900
  shuffledp plan mean --low 0 --high 1 --targets 0.02:5400,0.05:3700 --delta 1e-8
"""


def _compute(wish: Wish, **values: Any) -> PlanOutput:
    plan = plan_mean(wish, **values)
    return PlanOutput(plan.to_dict, partial(plan_tables, plan))


PLAN = PlanDeclaration(
    _DESCRIPTION,
    (
        LOW,
        HIGH,
        Parameter(
            "mean",
            "number",
            "What the mean may be; predicted errors assume it [the middle of the range]",
            required=False,
        ),
        Parameter(
            "spread",
            "number",
            "What the standard deviation of the values may be; predicted errors assume "
            "it [0: with both defaults, errors of one-bit messages are the largest "
            "possible, those of Laplace messages as for any values, and those of others "
            "may be larger]",
            default=0.0,
            required=False,
        ),
    ),
    _compute,
)
