"""Accuracy of each reading of E-APES Algorithm 1 and Table 2 after 50 epochs.

The paper prints 96.78% on the test pictures, without the budgets, the width of the network,
or whether there is noise. Algorithm 1 has several readings: m is the number of clients in
Table 2, and "batch size" in the algorithm's input; the step divides a client's sum of
gradients by m, and the noise is for that. The readings with noise come first.

Noise is given in units of the printed sigma = (2 C / m) sqrt(2 log(1.25 / delta)) /
epsilon_i, added to (1 / m) times the sum of a client's gradients.
"""

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import load_mnist
from shuffledp.federated.principal_components import PrincipalComponents
from shuffledp.federated.sgd_guarantee import smallest_epsilons
from shuffledp.federated.shuffled_sgd import Images, components_of, train
from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table, number
from shuffledp_papers.toml_tables import read_rows

EPOCHS, QUICK_EPOCHS = 50, 5
CLIENTS, DELTA = 100, 1e-5
PRINTED = "96.78"


@dataclass(frozen=True)
class TrainingReading:
    """One reading of the algorithm, from `training_readings.toml`.

    Attributes:
        name: The difference from the printed algorithm.
        noise: In units of the printed sigma; 0 for none.
        clients: Number of parts into which the 60,000 pictures are split.
        rate: Per mean gradient of a client.
        clip: C.
        hidden: Widths of hidden layers.
        distribution: Of budgets, from Table 3 of the paper.
        budget: The same for all clients, in place of a distribution.
        drawn: Whether it is in the figure and in a quick run.
    """

    name: str
    noise: float
    _: KW_ONLY
    clients: int = CLIENTS
    rate: float = 0.3
    clip: float = 2.0
    hidden: tuple[int, ...] = (100,)
    distribution: str = "uniform1"
    budget: float | None = None
    drawn: bool = False


READINGS = read_rows(TrainingReading, "eapes", "training_readings.toml")


def levels_of(reading: TrainingReading, *, rng: np.random.Generator) -> Floats:
    """Returns local budgets at which the exact calibration has the reading's noise."""
    if reading.budget is None:
        name = f"e-apes/{reading.distribution}"
        budgets = draw_budgets(name, reading.clients, rng=rng)
    else:
        budgets = np.full(reading.clients, reading.budget)
    if reading.noise == 0.0:
        return budgets
    # Sensitivity over standard deviation of the printed noise: mu of one step.
    mu = budgets / (math.sqrt(2.0 * math.log(1.25 / DELTA)) * reading.noise)
    # The printed sigma is that of the classical formula, a little too large.
    return smallest_epsilons(mu, DELTA)


def run(effort: Effort) -> ComputedFigure:
    """Computes accuracies of one training per reading."""
    chosen = [each for each in READINGS if each.drawn or not effort.quick]
    epochs = QUICK_EPOCHS if effort.quick else EPOCHS
    images = load_mnist()
    components = components_of(images.train_features)
    rows: list[dict[str, Cell]] = []
    curves = []
    for reading in effort.each(chosen):
        train_accuracy, test_accuracy = _trained(
            images, components, reading, epochs=epochs, seed=effort.seed
        )
        best = max(test_accuracy)
        rows.append(
            {
                "noise": "yes" if reading.noise else "no",
                "reading": reading.name,
                "sigma / printed": reading.noise,
                "train %": 100.0 * train_accuracy[-1],
                "test %": 100.0 * test_accuracy[-1],
                "best test %": 100.0 * best,
                "test - printed": 100.0 * test_accuracy[-1] - float(PRINTED),
            }
        )
        if reading.drawn:
            curves.append(
                Curve(
                    ("" if reading.noise else "no noise: ") + reading.name,
                    list(range(1, epochs + 1)),
                    [100.0 * share for share in test_accuracy],
                )
            )
    curves.append(Curve(f"the paper's {PRINTED}%", [1, epochs], 2 * [float(PRINTED)]))
    panel = Panel("", curves, horizontal="epochs", vertical="test accuracy (%)")
    table = Table.from_records(rows)
    with_noise, without_noise = (
        table.where("noise", noise).numbers("test %") for noise in ("yes", "no")
    )
    printed_noise = [
        number(row["test %"]) for row in rows if number(row["sigma / printed"]) >= 1.0
    ]
    return ComputedFigure(
        setting={
            "clients": CLIENTS,
            "epochs": epochs,
            "C": 2,
            "eta": 0.05,
            "delta": DELTA,
            "hidden units": 100,
        },
        table=table,
        values={
            "epochs": epochs,
            "printed": PRINTED,
            "most_full": max(printed_noise),
            "most_noisy": max(with_noise),
            "least_plain": min(without_noise),
            "most_plain": max(without_noise),
        },
        panels=[panel],
        # The first reading is the algorithm as printed.
        numbers=table.numbers("test %")[:1],
    )


def _trained(
    images: Images,
    components: PrincipalComponents,
    reading: TrainingReading,
    *,
    epochs: int,
    seed: int,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns accuracies on training and test pictures, epoch by epoch."""
    result = train(
        images,
        levels_of(reading, rng=np.random.default_rng(seed)),
        rng=np.random.default_rng([seed, 0]),
        epochs=epochs,
        clip=reading.clip,
        learning_rate=reading.rate,
        delta=DELTA,
        hidden=reading.hidden,
        components=components,
        noise=reading.noise > 0.0,
    )
    return result.train_accuracy, result.test_accuracy
