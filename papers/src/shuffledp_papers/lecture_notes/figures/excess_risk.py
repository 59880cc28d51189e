"""Excess empirical risk under local privacy, against users, dimensions and budget.

Vectors are corners of the cube; labels of the logistic loss follow a linear model.
"""

import math

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.risk import (
    LocalSgd,
    convex_rate,
    on_ball,
    printed_convex_rate,
    private_mean,
    strongly_convex_risk,
)

PEOPLE, DIMENSIONS, EPSILON = 20_000, 8, 0.64
VARIED: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("people", (1_000, 3_000, 10_000, 30_000, 100_000)),
    ("dimensions", (4, 12, 36, 108)),
    ("epsilon", (0.08, 0.16, 0.32, 0.64, 1.28)),
)
LOSSES = ("squared", "linear", "logistic")
_ROUNDS = 400
_DELTA = 1e-6


def run(effort: Effort) -> ComputedFigure:
    """Returns the risks of three losses, as users, dimensions and epsilon vary."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = []
    logarithm = math.log(1.0 / _DELTA)
    total = sum(len(settings) for _, settings in VARIED)
    for varied, settings in VARIED:
        for value in settings:
            n = int(value) if varied == "people" else PEOPLE
            d = int(value) if varied == "dimensions" else DIMENSIONS
            budget = value if varied == "epsilon" else EPSILON
            runs = np.array(
                [_risks(n, d, budget, rng=rng) for _ in range(effort.repetitions)]
            )
            rows.append(
                {
                    "varied": varied,
                    "at": value,
                    **dict(zip(LOSSES, runs.mean(axis=0).tolist(), strict=True)),
                    "squared, at most": strongly_convex_risk(n, d, budget),
                    "sqrt(d) / (sqrt(n) eps)": convex_rate(n, d, budget),
                    "sqrt(d) / sqrt(n eps), printed": printed_convex_rate(n, d, budget),
                    "central, strongly convex": d * logarithm / (n * budget) ** 2,
                    "central, convex": math.sqrt(d * logarithm) / (n * budget),
                }
            )
            effort.on_share(len(rows) / total)
    table = Table.from_records(rows)

    def power(varied: str, loss: str) -> float:
        chosen = table.where("varied", varied)
        return exponent(chosen.numbers("at"), chosen.numbers(loss))

    return ComputedFigure(
        setting={"people": PEOPLE, "dimensions": DIMENSIONS, "epsilon": EPSILON},
        table=table,
        values={"rounds": _ROUNDS, "delta": _DELTA},
        numbers=[
            power(varied, loss)
            for loss in ("squared", "linear")
            for varied, _ in VARIED
        ],
    )


def _risks(n: int, d: int, budget: float, *, rng: np.random.Generator) -> Floats:
    """Returns the excess risk of every loss in one run."""
    # As long as the noise, sqrt(d) / (tanh(eps / 2) sqrt(n)), if that fits into the ball:
    # there noise costs most under the linear loss.
    length = min(math.sqrt(d / n) / math.tanh(budget / 2.0), 1.0)
    signs = np.where(rng.random((n, d)) < 0.5 + 0.5 * length, 1.0, -1.0)
    vectors = signs / math.sqrt(d)
    mean = vectors.mean(axis=0)
    estimate = private_mean(vectors, budget, rng=rng)
    squared = 0.5 * float(np.sum((on_ball(estimate) - mean) ** 2))
    # -<theta, mean> is least in the ball at mean / |mean|; the private minimizer is the
    # estimate, normalized.
    linear = float(np.linalg.norm(mean) - mean @ estimate / np.linalg.norm(estimate))
    return np.array([squared, linear, _logistic(n, d, budget, rng=rng)])


def _logistic(n: int, d: int, budget: float, *, rng: np.random.Generator) -> float:
    features = np.where(rng.random((n, d)) < 0.5, 1.0, -1.0) / math.sqrt(d)
    truth = np.full(d, 3.0 / math.sqrt(d))
    probabilities = 1.0 / (1.0 + np.exp(-features @ truth))
    labels = np.where(rng.random(n) < probabilities, 1.0, -1.0)
    signed = features * labels[:, None]

    def gradients(people: slice, point: Floats) -> Floats:
        part = signed[people]
        slopes: Floats = -part / (1.0 + np.exp(part @ point))[:, None]
        return slopes

    def loss(point: Floats) -> float:
        return float(np.mean(np.logaddexp(0.0, -signed @ point)))

    def slope(point: Floats) -> Floats:
        mean: Floats = gradients(slice(None), point).mean(axis=0)
        return mean

    # The excess is over the best point of the same ball, found without noise.
    within_ball = NonlinearConstraint(
        lambda point: point @ point, -np.inf, 1.0, jac=lambda point: 2.0 * point
    )
    best = minimize(
        loss,
        np.zeros(d),
        jac=slope,
        constraints=within_ball,
        method="SLSQP",
        tol=1e-12,
    )
    point = LocalSgd(_ROUNDS).run(
        gradients, num_users=n, num_dimensions=d, epsilon=budget, rng=rng
    )
    return loss(point) - float(best.fun)
