"""Loss of private selection against the number of candidates."""

import numpy as np

from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.selection import (
    curators_choice,
    level_formula,
    listed_level,
    name_candidates,
    shares_of_bits,
)

NUM_USERS, EPSILON = 10_000, 1.0
CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
SHARES = (0.3, 0.7)
# The largest d for which all 2^d approvals are enumerated.
_LISTED = 8
_MECHANISMS = ("curator", "local exponential mechanism", "local bit of one candidate")


def run(effort: Effort) -> ComputedFigure:
    """Returns the approval that each mechanism loses to the best candidate."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = []
    for d in effort.each(CANDIDATES):
        missed = np.array([_missed(d, rng=rng) for _ in range(effort.repetitions)])
        rows.append(
            {
                "candidates": d,
                **dict(zip(_MECHANISMS, missed.mean(axis=0).tolist(), strict=True)),
                "level of naming, formula": level_formula(d, EPSILON),
                "level of naming, listed": (
                    listed_level(d, EPSILON) if d <= _LISTED else None
                ),
            }
        )
    return ComputedFigure(
        setting={"people": NUM_USERS, "epsilon": EPSILON},
        table=Table.from_records(rows),
        values={"least": SHARES[0], "most": SHARES[1]},
    )


def _missed(d: int, *, rng: np.random.Generator) -> tuple[float, ...]:
    """Returns the loss of each mechanism in one run."""
    shares = rng.permutation(np.linspace(*SHARES, d))
    approvals = rng.random((NUM_USERS, d)) < shares
    counts = approvals.sum(axis=0)
    # The loss is about the shares of these users, not about the shares drawn from.
    truth = counts / NUM_USERS
    named = name_candidates(approvals, EPSILON, rng=rng)
    assigned = rng.integers(d, size=NUM_USERS)
    answered = approvals[np.arange(NUM_USERS), assigned]
    estimated = shares_of_bits(answered, assigned, EPSILON, num_candidates=d, rng=rng)
    chosen = (
        curators_choice(counts, EPSILON, rng=rng),
        int(np.argmax(np.bincount(named, minlength=d))),
        int(np.argmax(estimated)),
    )
    return tuple(float(truth.max() - truth[candidate]) for candidate in chosen)
