"""k-ary response, directly and through one bit per user with public randomness."""

import math

import numpy as np

from shuffledp.types import Floats, Ints
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table, number
from shuffledp_papers.lecture_notes.one_bit_reduction import OneBitReduction
from shuffledp_papers.response_table import response_table

NUM_USERS, NUM_CATEGORIES = 20_000, 16
BUDGETS = (0.25, 0.5, 1.0, 2.0, 3.0)


def run(effort: Effort) -> ComputedFigure:
    """Returns errors of both at every budget."""
    rng = np.random.default_rng(effort.seed)
    k = NUM_CATEGORIES
    direct = f"{math.log2(k):g} bits each"
    # Squares modulo k: shares that differ, and the same values in every run.
    values = np.arange(NUM_USERS) * np.arange(NUM_USERS) % k
    truth = np.bincount(values, minlength=k) / NUM_USERS
    rows: list[dict[str, Cell]] = []
    for budget in effort.each(BUDGETS):
        response = response_table(k, budget)
        # The mean over values is as close to each of them as any value's distribution.
        one_bit = OneBitReduction(response, response.mean(axis=0), budget)
        # P(kept, z) = c Q(z | x), up to rounding.
        off = np.abs(one_bit.kept_probabilities() - one_bit.kept_share * response)
        errors = []
        for _ in range(effort.repetitions):
            whole = _drawn(response, values, rng=rng)
            public = one_bit.draw_public(NUM_USERS, rng=rng)
            accepted = public[one_bit.randomize(values, public, rng=rng)]
            # Messages that are kept have the distribution of the original response.
            errors.append(
                [
                    float(np.sum((_shares(messages, response) - truth) ** 2))
                    for messages in (whole, accepted)
                ]
            )
        direct_error, bit_error = np.sqrt(np.mean(errors, axis=0)).tolist()
        rows.append(
            {
                "epsilon": budget,
                direct: direct_error,
                "one bit each": bit_error,
                "ratio": bit_error / direct_error,
                "sqrt(e^eps + 1)": math.sqrt(1.0 / one_bit.kept_share),
                "share kept": one_bit.kept_share,
                "level of the bit": one_bit.level(),
                "off from c Q": float((off / (one_bit.kept_share * response)).max()),
            }
        )
    return ComputedFigure(
        setting={"people": NUM_USERS, "categories": k},
        table=Table.from_records(rows),
        pictured=Table.from_records(
            row | {"longer": number(row[direct]) * number(row["sqrt(e^eps + 1)"])}
            for row in rows
        ),
    )


def _drawn(table: Floats, values: Ints, *, rng: np.random.Generator) -> Ints:
    # Inversion of each row's distribution function; the last edge, 1, is not needed.
    edges = np.cumsum(table, axis=1)[:, :-1]
    messages: Ints = (rng.random((values.size, 1)) >= edges[values]).sum(axis=1)
    return messages


def _shares(messages: Ints, table: Floats) -> Floats:
    """Returns unbiased shares of categories from messages of k-ary response."""
    counts = np.bincount(messages, minlength=len(table)) / max(messages.size, 1)
    shares: Floats = (counts - table[0, 1]) / (table[0, 0] - table[0, 1])
    return shares
