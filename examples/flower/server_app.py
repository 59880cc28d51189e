"""What the server runs: two trainings, their guarantees, and the check against NumPy."""

import logging
import math
from collections.abc import Iterable

import numpy as np
import setting
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, Result
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from shuffledp.federated.flower_server import ShuffledAveraging
from shuffledp.federated.local_guarantee import local_part
from shuffledp.population import Population

app = ServerApp()


class Gaussian(FedAvg):
    """Federated averaging that asks devices for the training with Flower's own mod."""

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Asks all connected devices to train."""
        messages = list(super().configure_train(server_round, arrays, config, grid))
        for message in messages:
            message.metadata.message_type = "train.gaussian"
        return messages


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Trains both ways, and prints what became of it."""
    del context
    logging.getLogger("flwr").setLevel(logging.WARNING)
    private = ShuffledAveraging(
        setting.agreement(),
        promised=setting.PROMISED,
        delta=setting.DELTA,
        server_rate=setting.SERVER_RATE,
    )
    result = start(private, grid)
    print_accuracies("shuffledp, levels " + ", ".join(map(str, setting.LEVELS)), result)
    print_guarantee(private)
    print_check(result)
    gaussian = Gaussian(
        fraction_evaluate=0.0,
        min_train_nodes=setting.NUM_CLIENTS,
        min_available_nodes=setting.NUM_CLIENTS,
    )
    result = start(gaussian, grid)
    print_accuracies("\nFlower's LocalDpMod, one budget for everybody", result)
    print_gaussian()


def start(strategy: FedAvg, grid: Grid) -> Result:
    """Trains the same model from the same start."""
    first = ArrayRecord([setting.model().start()])
    return strategy.start(grid, first, num_rounds=setting.ROUNDS, evaluate_fn=evaluate)


def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
    """Returns the accuracy on pictures that are nobody's."""
    del server_round
    known = setting.images()
    (weights,) = arrays.to_numpy_ndarrays()
    accuracy = setting.model().accuracy(weights, known.test_features, known.test_labels)
    return MetricRecord({"accuracy": accuracy})


def print_accuracies(title: str, result: Result) -> None:
    """Prints the accuracy after each round, from before the first one on."""
    print(title)
    for server_round, metrics in result.evaluate_metrics_serverapp.items():
        print(f"  round {server_round:2d}  accuracy {metrics['accuracy']:.3f}")


def print_guarantee(strategy: ShuffledAveraging) -> None:
    """Prints what each level is promised after all rounds."""
    guarantee = strategy.guarantee
    local = local_part(guarantee, setting.agreement().protocol)
    print(f"  after {guarantee.rounds} rounds, delta {guarantee.delta:g}, epsilon of")
    print("    level  one weight's message  all updates: locally  centrally, shuffled")
    for row, central in zip(local.levels, guarantee.levels, strict=True):
        print(
            f"    {row.epsilon_local:5g}  {row.epsilon_local:20g}"
            f"  {row.epsilon_all:20.4g}  {central.epsilon_central:19.4g}"
        )


def print_check(result: Result) -> None:
    """Trains once more without Flower, from the same seeds, and compares the models."""
    weights = setting.model().start()
    levels = np.array([setting.level_for(i) for i in range(setting.NUM_CLIENTS)])
    people = Population.from_budgets(levels)
    framework = setting.agreement().protocol.framework
    for server_round in range(1, setting.ROUNDS + 1):
        cells = np.stack(
            [
                cells_of(weights, number, server_round)
                for number in range(setting.NUM_CLIENTS)
            ]
        )
        totals = cells.sum(axis=0, dtype=np.int64).astype(np.float64)
        mean = framework.estimate(totals, people)
        weights = (weights - setting.SERVER_RATE * mean).astype(np.float32)
    (trained,) = result.arrays.to_numpy_ndarrays()
    if not np.array_equal(weights, trained):
        raise RuntimeError("Expected the same model from Flower and from NumPy alone.")
    print("  NumPy alone arrives at the same model from the same seeds")


def cells_of(
    weights: NDArray[np.float32], number: int, server_round: int
) -> NDArray[np.uint16]:
    """Returns what one device sends, shape (d,)."""
    trained = setting.train_locally(weights, number)
    update = (weights - trained) / np.float32(setting.SCALE)
    rng = setting.rng_for(number, server_round)
    level = [setting.level_for(number)]
    reports = setting.agreement().protocol.randomize(update[None], level, rng=rng)
    cells: NDArray[np.uint16] = reports.messages[0]
    return cells


def print_gaussian() -> None:
    """Prints what Flower's mod promises, and what all updates of a person come to."""
    noise = math.sqrt(2.0 * math.log(1.25 / setting.DELTA)) / setting.GAUSSIAN_EPSILON
    composed = gaussian_epsilon(math.sqrt(setting.ROUNDS) / noise)
    print(
        f"  stated: epsilon {setting.GAUSSIAN_EPSILON:g} of a whole update, locally, at "
        f"delta {setting.DELTA:g}\n"
        f"  all updates of {setting.ROUNDS} rounds, locally, computed here: {composed:.4g}"
    )


def gaussian_epsilon(distance: float) -> float:
    """Returns the epsilon at DELTA of normal noise.

    Args:
        distance: How far apart two worlds are, in standard deviations of the noise.

    Source: Balle, Wang (2018), "Improving the Gaussian mechanism", Theorem 8.
    """

    def excess(epsilon: float) -> float:
        near = ndtr(distance / 2.0 - epsilon / distance)
        far = log_ndtr(-distance / 2.0 - epsilon / distance)
        return float(near - np.exp(epsilon + far)) - setting.DELTA

    return float(brentq(excess, 0.0, 100.0))
