"""APES (Liu et al. 2023), Figure 6: error of the calibration by eq. (1).

10,000 users with budgets U(0.05, 1) and gradients clipped to [-0.1, 0.1]. The analyst
solves eq. (1) for the mean, as if all users held it. The table has the gaps between the
average message and eq. (1) at the true mean, and the errors of the solution.
"""

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.federated.response_inversion import invert_response, mean_response
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.grid import STEPS
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

NUM_USERS = 10_000
CLIP = 0.1
_BINS = 16


def run(effort: Effort) -> ComputedFigure:
    """Computes the errors for three kinds of gradients."""
    repetitions = effort.repetitions
    rng = np.random.default_rng(effort.seed)
    protocol = Mean(-CLIP, CLIP, randomizer=ClipLaplace(clip=CLIP))
    points = np.linspace(-CLIP, CLIP, STEPS + 1)
    kinds = _gradients(rng)
    rows: list[dict[str, Cell]] = []
    histograms = {}
    for index, (name, values) in enumerate(kinds.items()):
        mean = float(values.mean())
        gaps, errors = [], []
        for repetition in range(repetitions):
            budgets = draw_budgets("apes/uniform2", NUM_USERS, rng=rng)
            people = Population.from_budgets(budgets)
            reports = protocol.randomize(values, budgets, rng=rng)
            shuffled = shuffle(reports, rng=rng)
            average = float(protocol.randomizer.decode(shuffled.messages).mean())
            # Expected messages at each grid point from -C to C, in cells of the grid.
            responses = mean_response(people)
            scale = CLIP / (STEPS / 2)
            expected = scale * float(np.interp(mean, points, responses))
            gaps.append(average - expected)
            # The analyst inverts eq. (1) as if all users held the mean.
            solved = invert_response(np.array([average / scale]), responses)
            errors.append(CLIP * float(solved[0]) - mean)
            effort.on_share((index + (repetition + 1) / repetitions) / len(kinds))
        histograms[name] = np.array(gaps)
        rows.append(
            {
                "gradients": name,
                "mean": mean,
                "spread": float(values.std()),
                "average gap": float(np.mean(gaps)),
                "spread of gaps": float(np.std(gaps)),
                "bias of the estimate": float(np.mean(errors)),
                "error of the estimate": float(np.std(errors)),
            }
        )
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "budgets": "U(0.05, 1)",
            "C": CLIP,
            "repetitions": repetitions,
        },
        table=Table.from_records(rows),
        panels=[_histogram(histograms)],
    )


def _gradients(rng: np.random.Generator) -> dict[str, Floats]:
    # The paper's gradients are those of its model, and not printed.
    drawn = rng.normal(size=NUM_USERS)
    lopsided = np.where(rng.random(NUM_USERS) < 0.25, CLIP, 0.0)
    return {
        "differ little": np.clip(0.02 + 0.01 * drawn, -CLIP, CLIP),
        "differ much": np.clip(0.02 + 0.1 * drawn, -CLIP, CLIP),
        "lopsided": lopsided,
    }


def _histogram(gaps: dict[str, Floats]) -> Panel:
    together = np.concatenate(list(gaps.values()))
    ends = np.linspace(float(together.min()), float(together.max()), _BINS + 1)
    middles = (0.5 * (ends[1:] + ends[:-1])).tolist()
    curves = [
        Curve(name, middles, np.histogram(values, ends)[0].tolist())
        for name, values in gaps.items()
    ]
    return Panel(
        "",
        curves,
        horizontal="average message minus what eq. (1) expects",
        vertical=f"repetitions, in {_BINS} bins",
    )
