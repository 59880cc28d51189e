"""E-APES (Chen, Cao, Ge 2023), Figure 5: noisy training, one client after the other.

MNIST, 100 clients with 600 pictures each, 50 epochs, C = 2, steps of 0.05, delta = 1e-5,
and the five budget distributions of its Table 3.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import load_mnist
from shuffledp.federated.sgd_guarantee import SgdGuarantee
from shuffledp.federated.shuffled_sgd import Images, components_of, train
from shuffledp.population import Population
from shuffledp.types import Floats
from shuffledp_papers.eapes.stated_descent import stated_by_eapes
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort, OnShare
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.toml_tables import read_rows

NUM_CLIENTS = 100
EPOCHS = 50
# Epochs with an interval in the figure.
_INTERVAL_EPOCHS = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)


@dataclass(frozen=True)
class TrainingVariant:
    """One training, from `training_variants.toml`.

    Attributes:
        distribution: Of E-APES's Table 3, without the name of the paper.
        name: The difference from the main trainings; "-" for these.
        learning_rate: Per mean gradient of a client.
        noise: Whether noise is added.
        public_components: Whether principal components are those of the test pictures.
    """

    distribution: str
    name: str = "-"
    learning_rate: float = 0.05
    noise: bool = True
    public_components: bool = True


VARIANTS = read_rows(TrainingVariant, "eapes", "training_variants.toml")


def run(effort: Effort) -> ComputedFigure:
    """Computes accuracies during training, and certified guarantees after it."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    images = load_mnist()
    rows: list[dict[str, Cell]] = []
    curves = []
    for index, variant in enumerate(VARIANTS):

        def share(done: float, before: int = index) -> None:
            on_share((before + done) / len(VARIANTS))

        trained, tests, guarantee = _trained(images, variant, repetitions, seed, share)
        curves.append(_curve(variant, trained))
        rows.append(_row(variant, trained.mean(axis=0), tests, guarantee))
    panel = Panel(
        "",
        curves,
        horizontal="epochs",
        vertical="accuracy on the training pictures (%)",
    )
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={
            "clients": NUM_CLIENTS,
            "epochs": EPOCHS,
            "delta": 1e-5,
            "C": 2,
            "repetitions": repetitions,
        },
        table=table,
        values={"epochs": EPOCHS},
        panels=[panel],
        numbers=table.numbers("test %")[:1],
    )


def _trained(
    images: Images,
    variant: TrainingVariant,
    repetitions: int,
    seed: int,
    on_share: OnShare,
) -> tuple[Floats, Floats, SgdGuarantee]:
    """Returns training accuracies, shape (repetitions, epochs), and last test ones."""
    # Once per distribution; clients' pictures, orders and noise in each repetition.
    levels = draw_budgets(
        f"e-apes/{variant.distribution}", NUM_CLIENTS, rng=np.random.default_rng(seed)
    )
    # Components of the test pictures, without labels, are treated as public; from clients'
    # pictures, no guarantee would be certified.
    public = components_of(images.test_features) if variant.public_components else None
    results = []
    for repetition in range(repetitions):

        def on_epoch(
            epoch: int, _train: float, _test: float, before: int = repetition
        ) -> None:
            on_share((before + epoch / EPOCHS) / repetitions)

        results.append(
            train(
                images,
                levels,
                rng=np.random.default_rng([seed, repetition]),
                epochs=EPOCHS,
                learning_rate=variant.learning_rate,
                components=public,
                noise=variant.noise,
                on_epoch=on_epoch,
            )
        )
    trained: Floats = 100.0 * np.array([each.train_accuracy for each in results])
    tests: Floats = 100.0 * np.array([each.test_accuracy[-1] for each in results])
    # Guarantees depend on the levels, which all repetitions share.
    return trained, tests, results[0].guarantee


def _row(
    variant: TrainingVariant, curve: Floats, tests: Floats, guarantee: SgdGuarantee
) -> dict[str, Cell]:
    minimum, maximum = guarantee.levels[0], guarantee.levels[-1]
    # Epsilons that are not certified are not in the table.
    certified = guarantee.certified
    return {
        "distribution": variant.distribution,
        "variant": variant.name,
        "train % at 1": float(curve[0]),
        "at 10": float(curve[min(10, EPOCHS) - 1]),
        "at 50": float(curve[min(50, EPOCHS) - 1]),
        "test %": float(tests.mean()),
        "spread": float(tests.std(ddof=1)) if tests.size > 1 else None,
        "picture, least": minimum.example_epsilon if certified else None,
        "picture, most": maximum.example_epsilon if certified else None,
        "client, least": minimum.client_epsilon if certified else None,
        # Without noise no guarantee is stated.
        "stated": _stated(guarantee) if variant.noise else None,
    }


def _stated(guarantee: SgdGuarantee) -> float:
    """Returns the epsilon that E-APES states for the same clients and epochs."""
    people = {level.epsilon_local: level.num_clients for level in guarantee.levels}
    return stated_by_eapes(
        Population.from_counts(people), epochs=guarantee.epochs, delta=guarantee.delta
    ).epsilon


def _curve(variant: TrainingVariant, trained: Floats) -> Curve:
    """Returns mean accuracies, with the least and the largest of all repetitions."""
    epochs = [epoch for epoch in _INTERVAL_EPOCHS if epoch <= EPOCHS]
    chosen = trained[:, [epoch - 1 for epoch in epochs]]
    name = variant.distribution + ("" if variant.name == "-" else f", {variant.name}")
    return Curve(
        name,
        epochs,
        chosen.mean(axis=0).tolist(),
        low=chosen.min(axis=0).tolist(),
        high=chosen.max(axis=0).tolist(),
    )
