"""Who takes part, from a column of budgets."""

from typing import TYPE_CHECKING

import numpy as np

from shuffledp.errors import MissingValueError
from shuffledp.population import Population
from shuffledp.scale.frames import type_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def population(frame: "DataFrame", budget: str) -> Population:
    """Returns how many people have each local budget, for `shuffledp.account`.

    Machines count; what comes back is one number for each budget, in columns, and never a
    row per person. A hundred million different budgets are two columns of 0.8 GB.

    Args:
        frame: A row per person.
        budget: The column of local budgets in nats.

    Raises:
        InvalidInputError: If there is no such column.
        MissingValueError: If somebody has no budget.
        PopulationError: If there is nobody, or a budget is out of range.
    """
    type_of(frame, budget, what="budgets")
    from pyspark.sql import functions

    # -0.0 and 0.0 are one budget.
    own = (functions.col(budget).cast("double") + functions.lit(0.0)).alias("budget")
    table = frame.select(own).groupBy("budget").count().toArrow()
    if table.column("budget").null_count:
        raise MissingValueError(f"Expected a budget in every row of column {budget!r}.")
    budgets = table.column("budget").to_numpy()
    counts = table.column("count").to_numpy()
    order = np.argsort(budgets)
    return Population(budgets[order], counts[order].astype(np.int64))
