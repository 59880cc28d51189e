"""Plans of counts, for a command line."""

from functools import partial
from typing import Any

from shuffledp.parameter import Parameter
from shuffledp.planning.plan_declaration import PlanDeclaration, PlanOutput
from shuffledp.planning.wish import Wish
from shuffledp.statistics.counts.counts_plan import plan_counts
from shuffledp.statistics.counts.counts_plan_table import counts_plan_tables
from shuffledp.statistics.counts.noise_families import USUAL_MESSAGES

_DESCRIPTION = """Plan counts of people per bucket, as a trusted curator would state them.

Every person sends a message into their bucket, and a few messages of noise into any.
Three kinds of noise are compared at equal certified guarantees: Poisson, geometric among
pairs that cancel, and a fixed number of slots per report; and beside them the best
protocol of one randomized message. Where buckets outnumber people, or noise for each has no
room in a report, they are hashed to fewer ones. If the shuffler is trusted to add the noise
itself, one message per answer will do: what to write then is printed, too.

\b
Examples:
  shuffledp plan counts --buckets 8 --targets 1:100000 --max-messages 9
  shuffledp plan counts --buckets 128 --most 4 --targets 0.5:25000,1:50000
"""


def _compute(wish: Wish, *, most: int | None, **values: Any) -> PlanOutput:
    given_options = {name: value for name, value in values.items() if value is not None}
    plan = plan_counts(wish, most=1 if most is None else most, **given_options)
    return PlanOutput(plan.to_dict, partial(counts_plan_tables, plan))


PLAN = PlanDeclaration(
    _DESCRIPTION,
    (
        Parameter("buckets", "whole number", "How many buckets", "D"),
        Parameter(
            "most",
            "whole number",
            "The most buckets that a person is in [1]",
            "S",
            required=False,
        ),
        Parameter(
            "share",
            "number",
            "Of people in the bucket whose error is predicted [S / D]",
            required=False,
        ),
        Parameter(
            "max_messages",
            "whole number",
            "The largest report, in messages, dummies included; the mean where sizes vary "
            f"[{USUAL_MESSAGES}]",
            "B",
            required=False,
        ),
    ),
    _compute,
    takes_levels=False,
)
