"""APES (Liu et al. 2023), Theorem 2: bounds on convergence, and a training.

Algorithm 1 trains softmax regression on pictures, with real messages, and the quantities of
the theorem are measured in every round: the length G of the gradient of the mean loss f,
the dissimilarity B of users' gradients, the inexactness alpha of their minimization, and
the noise eta.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.budget_distributions import draw_budgets
from shuffledp.federated.clients import Clients, partition
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.population import Population
from shuffledp_papers.apes.convergence import (
    Factors,
    Landscape,
    aggregation_bound,
    factors,
    training_bound,
)
from shuffledp_papers.apes.figures.framework_training import load_images
from shuffledp_papers.apes.noise_size import corrected_noise, noise_length
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.outside_preconditions import OutsidePreconditions

PULLS = (100.0, 1_000.0, 10_000.0)
ROUNDS = 8
PEOPLE = 2_000
CLIP = 0.1
STEPS = 4


@dataclass(frozen=True)
class Round:
    """Measurements of one round.

    Attributes:
        loss: f before it.
        after: f after it.
        gradient: G before it.
        dissimilarity: B before it.
        inexactness: The largest alpha of a user.
        noise: |eta|.
    """

    loss: float
    after: float
    gradient: float
    dissimilarity: float
    inexactness: float
    noise: float


def run(effort: Effort) -> ComputedFigure:
    """Returns losses and bounds, for three strengths of the pull towards the start."""
    images = load_images()
    features, labels = images.train_features, images.train_labels
    # All trainings have the same assignment of examples to users.
    deal = np.random.default_rng(effort.seed)
    clients = partition(features, labels, PEOPLE, rng=deal)
    smoothness = largest_smoothness(clients)
    rows: list[dict[str, Cell]] = []
    total = len(PULLS) * effort.repetitions
    for index, mu in enumerate(PULLS):
        trained = []
        for repetition in range(effort.repetitions):
            rng = np.random.default_rng([effort.seed, index, repetition])
            trained.append(measured(clients, mu, smoothness, rng=rng))
            effort.on_share((index * effort.repetitions + repetition + 1) / total)
        rows += _rows(mu, smoothness, trained)
    return ComputedFigure(
        setting={
            "data": images.name.upper(),
            "people": PEOPLE,
            "budgets": "U(0.05, 1)",
            "C": CLIP,
            "L": round(smoothness, 1),
            "repetitions": effort.repetitions,
        },
        table=Table.from_records(rows),
    )


def largest_smoothness(clients: Clients) -> float:
    """Returns an upper bound of every user's L."""
    # Half the largest eigenvalue of a user's mean outer product of examples.
    examples = clients.features.astype(np.float64)
    # The bias is a feature that is 1 in every example.
    products = np.matmul(examples, examples.transpose(0, 2, 1)) + 1.0
    # diag(p) - p p^T, in the second derivative of cross-entropy, is at most 1/2.
    largest = float(np.linalg.eigvalsh(products)[:, -1].max())
    return 0.5 * largest / float(examples.shape[1])


def measured(
    clients: Clients, mu: float, smoothness: float, *, rng: np.random.Generator
) -> list[Round]:
    """Runs a training, and returns the measurements of every round.

    Args:
        clients: The examples of all users.
        mu: Strength of the pull towards the start.
        smoothness: L; steps are 1 / (mu + L / 2).
        rng: Draws levels and noise.
    """
    model = SoftmaxRegression(clients.features.shape[2])
    # 2 over the sum of the least and the largest curvature of h_i, mu and mu + L.
    rate = 1.0 / (mu + 0.5 * smoothness)
    local = LocalTraining(steps=STEPS, learning_rate=rate, proximal=mu)
    protocol = TrainingRound(ClipLaplaceVectors(CLIP), model.num_parameters)
    levels = draw_budgets("apes/uniform2", clients.num_clients, rng=rng)
    people = Population.from_budgets(levels)
    weights, rounds = model.start(), []
    for _ in range(ROUNDS):
        gradients = model.gradients(weights, clients)
        updates = local.updates(model, weights, clients)
        minimizers = weights - np.float32(STEPS * rate) * updates
        # The gradient of h_i there; its length over that of F_i at the start is alpha.
        residuals = model.gradients(minimizers, clients)
        residuals += np.float32(mu) * (minimizers - weights)

        def part(
            of: slice, updates: NDArray[np.float32] = updates
        ) -> NDArray[np.float32]:
            return updates[of]

        tally = protocol.draw_tally(part, levels, rng=rng)
        estimate = protocol.estimate(tally, people).value
        mean = updates.mean(axis=0, dtype=np.float64)
        moved = (weights - STEPS * rate * estimate).astype(np.float32)
        lengths = np.linalg.norm(gradients, axis=1)
        gradient = float(np.linalg.norm(gradients.mean(axis=0, dtype=np.float64)))
        rounds.append(
            Round(
                loss=mean_loss(weights, clients),
                after=mean_loss(moved, clients),
                gradient=gradient,
                dissimilarity=float(np.sqrt(np.mean(lengths**2))) / gradient,
                inexactness=float((np.linalg.norm(residuals, axis=1) / lengths).max()),
                noise=STEPS * rate * float(np.linalg.norm(estimate - mean)),
            )
        )
        weights = moved
    return rounds


def mean_loss(weights: NDArray[np.float32], clients: Clients) -> float:
    """Returns f, the mean cross-entropy of all examples, in nats."""
    count, each, features = clients.features.shape
    matrix = weights.astype(np.float64).reshape(features + 1, -1)
    inputs = clients.features.reshape(count * each, features)
    # The last row of the weights are the biases.
    scores = inputs @ matrix[:-1] + matrix[-1]
    own = scores[np.arange(len(scores)), clients.labels.ravel()]
    # The largest score is subtracted: exp must not overflow.
    peak = scores.max(axis=1)
    spread = np.log(np.exp(scores - peak[:, None]).sum(axis=1))
    return float(np.mean(peak + spread - own))


def _rows(
    mu: float, smoothness: float, trained: list[list[Round]]
) -> list[dict[str, Cell]]:
    every = [each for rounds in trained for each in rounds]
    # The loss is convex: k = 0.
    worst = Landscape(
        smoothness,
        mu,
        dissimilarity=max(each.dissimilarity for each in every),
        inexactness=max(each.inexactness for each in every),
    )
    # Lemma 8 has one bound of the noise for all rounds: the largest mean of any round.
    noise = max(
        float(np.mean([rounds[t].noise for rounds in trained])) for t in range(ROUNDS)
    )
    square = max(
        float(np.mean([rounds[t].noise ** 2 for rounds in trained]))
        for t in range(ROUNDS)
    )
    length = STEPS / (mu + 0.5 * smoothness)
    # (29) at the smallest budget of U(0.05, 1); the model moves by the noise of the update
    # times STEPS times the rate.
    stated = length * noise_length(
        corrected_noise(CLIP, 0.05), coordinates=SoftmaxRegression(784).num_parameters
    )
    # f* >= 0, so that f(w_0) is at least the gap.
    gap = every[0].loss
    corrected = _factors(worst, every, printed=False)
    printed = _factors(worst, every, printed=True)
    rows: list[dict[str, Cell]] = []
    for t in range(ROUNDS):
        seen = [rounds[t] for rounds in trained]
        changes = np.array([each.after - each.loss for each in seen])
        own = np.array([_lemma_7(worst, each, printed=False) for each in seen])
        their = np.array([_lemma_7(worst, each, printed=True) for each in seen])
        rows.append(
            {
                "mu": mu,
                "round": t + 1,
                "loss": float(np.mean([each.after for each in seen])),
                "change": float(changes.mean()),
                "Lemma 7": float(own.mean()),
                "Lemma 7: exceeded": bool(np.any(changes > own)),
                "Lemma 7 printed": float(their.mean()),
                "Lemma 7 printed: exceeded": bool(np.any(changes > their)),
                "B": float(np.mean([each.dissimilarity for each in seen])),
                "noise": float(np.mean([each.noise for each in seen])),
                "Theorem 2": _bound(corrected, t + 1, gap, noise, square),
                "Theorem 2, noise by (29)": _bound(
                    corrected, t + 1, gap, stated, stated**2
                ),
                "Theorem 2 printed": _bound(printed, t + 1, gap, noise, square),
            }
        )
    return rows


def _factors(worst: Landscape, every: list[Round], *, printed: bool) -> Factors | None:
    # The smallest beta measured with f* = 0: it fulfils the condition in every round.
    steepness = min(each.gradient**2 / (2.0 * each.loss) for each in every)
    lipschitz = max(each.gradient for each in every)
    try:
        return factors(
            worst, steepness=steepness, lipschitz=lipschitz, as_printed=printed
        )
    except OutsidePreconditions:
        return None


def _lemma_7(worst: Landscape, seen: Round, *, printed: bool) -> float:
    # Lemma 7 is about one round: with the B and alpha of that round.
    own = replace(worst, dissimilarity=seen.dissimilarity, inexactness=seen.inexactness)
    return aggregation_bound(
        own, gradient=seen.gradient, noise=seen.noise, as_printed=printed
    )


def _bound(
    coefficients: Factors | None, rounds: int, gap: float, noise: float, square: float
) -> float | None:
    if coefficients is None:
        return None
    return training_bound(
        coefficients, rounds=rounds, gap=gap, noise=noise, noise_square=square
    )
