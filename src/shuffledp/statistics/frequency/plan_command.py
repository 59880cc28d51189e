"""Plans of frequencies, for a command line."""

from functools import partial
from typing import Any

from shuffledp.parameter import Parameter
from shuffledp.planning.plan_declaration import PlanDeclaration, PlanOutput
from shuffledp.planning.plan_table import plan_tables
from shuffledp.planning.wish import Wish
from shuffledp.statistics.frequency.frequency_plan import plan_frequency

_DESCRIPTION = """Plan the frequencies of K categories.

\b
Examples:
  shuffledp plan frequency --categories 17 --levels 0.5:2500,1.0:5000,2.0:2500
  shuffledp plan frequency --categories 128 --targets 0.05:5000,0.1:5000 --delta 1e-8
"""


def _compute(wish: Wish, **values: Any) -> PlanOutput:
    plan = plan_frequency(wish, **values)
    return PlanOutput(plan.to_dict, partial(plan_tables, plan))


PLAN = PlanDeclaration(
    _DESCRIPTION,
    (
        Parameter(
            "num_categories",
            "whole number",
            "How many values",
            "K",
            option="categories",
        ),
        Parameter(
            "share",
            "number",
            "Of the category whose error is predicted [1 / K]",
            required=False,
        ),
    ),
    _compute,
)
