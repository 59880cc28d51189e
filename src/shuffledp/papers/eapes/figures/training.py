"""E-APES (Chen, Cao, Ge 2023), Figure 5: training with noise, one client after the other.

MNIST, 100 clients with 600 pictures each, 50 epochs, C = 2, steps of 0.05, delta = 1e-5,
and the five budget distributions of its Table 3. Principal components are fitted on the
test pictures, without their labels, which are treated as public: otherwise nothing at all
would be certified. Levels are drawn once per distribution; clients' pictures, orders and
noise anew in each repetition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import load_mnist
from shuffledp.federated.sgd_guarantee import SgdGuarantee
from shuffledp.federated.shuffled_sgd import Images, components_of, train
from shuffledp.papers.eapes.stated_training import stated_by_eapes
from shuffledp.papers.figures.result import Cell, Effort, OnShare, Result
from shuffledp.population import Population
from shuffledp.report.picture import new_figure, svg
from shuffledp.types import Floats

NUM_CLIENTS = 100
EPOCHS = 50
# "an accuracy of 96.78% on the test dataset after approximately 50 epochs".
PAPER_TEST_ACCURACY = 96.78
_COLORS = (
    "#1f5fa8", "#d9730d", "#2e7d4f", "#8a3ea0", "#a61c3c", "#57606a", "#b58900", "#0f766e",
    "#9d174d",
)  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """What is trained.

    Attributes:
        distribution: Of E-APES's Table 3, without the name of the paper.
        name: What is different.
        learning_rate: Per mean gradient of a client.
        noise: Whether there is any.
        public_components: Whether they are those of the test pictures.
    """

    distribution: str
    name: str = "-"
    learning_rate: float = 0.05
    noise: bool = True
    public_components: bool = True


VARIANTS = (
    *(Variant(name) for name in ("uniform1", "uniform2", "gauss1", "gauss2", "gauss3")),
    Variant("uniform1", "clients' components", public_components=False),
    Variant("uniform1", "no noise", noise=False),
    # The printed sum over 600 pictures, divided by the 100 clients.
    Variant("uniform1", "as printed, / m", learning_rate=0.3),
    Variant("uniform1", "as printed, no noise", learning_rate=0.3, noise=False),
)


def run(effort: Effort) -> Result:
    """Returns accuracies during training, and what is certified after it."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    images = load_mnist()
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for index, variant in enumerate(VARIANTS):

        def share(done: float, before: int = index) -> None:
            on_share((before + done) / len(VARIANTS))

        curve, tests, guarantee = _trained(images, variant, repetitions, seed, share)
        curves.append(curve)
        rows.append(_row(variant, curve, tests, guarantee))
    return Result(
        title=f"E-APES Figure 5: shuffled noisy SGD on MNIST, {repetitions} repetitions",
        setting={"clients": NUM_CLIENTS, "epochs": EPOCHS, "delta": 1e-5, "C": 2},
        columns=(
            "distribution",
            "variant",
            "train % at 1",
            "at 10",
            "at 50",
            "test %",
            "spread",
            "paper's test",
            "picture, least",
            "picture, most",
            "client, least",
            "stated",
        ),
        rows=tuple(rows),
        notes=(
            f"Accuracies in percent after 1, 10 and {EPOCHS} epochs, the last one with the "
            "standard deviation between repetitions. The paper prints 96.78% for the test "
            "pictures, and does not say for which budgets.",
            "picture: certified epsilon, at delta = 1e-5 after all epochs, of one picture "
            "of the client with the smallest and with the largest budget; - where nothing "
            "is certified. client: of all 600 pictures of the former together, which is no "
            "protection to speak of. No amplification by the order of clients is proven; "
            "stated is what E-APES claims of it, unproven.",
            "Components are fitted on the test pictures, treated as public, without "
            "labels; with those of the clients' own pictures nothing is certified.",
            "as printed: the paper divides the sum of a client's gradients by the number "
            "of clients, 100, not by that of her pictures, 600: steps are 6 times as long.",
        ),
        svg=_picture(curves),
    )


def _trained(
    images: Images, variant: Variant, repetitions: int, seed: int, on_share: OnShare
) -> tuple[Floats, Floats, SgdGuarantee]:
    """Returns mean training accuracies by epoch, the last test accuracies, in percent."""
    levels = draw_budgets(
        f"e-apes/{variant.distribution}", NUM_CLIENTS, rng=np.random.default_rng(seed)
    )
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
    curve: Floats = 100.0 * np.mean([each.train_accuracy for each in results], axis=0)
    tests: Floats = 100.0 * np.array([each.test_accuracy[-1] for each in results])
    return curve, tests, results[0].guarantee


def _row(
    variant: Variant, curve: Floats, tests: Floats, guarantee: SgdGuarantee
) -> tuple[Cell, ...]:
    least, most = guarantee.levels[0], guarantee.levels[-1]
    certified: tuple[Cell, ...] = (
        least.example_epsilon,
        most.example_epsilon,
        least.client_epsilon,
    )
    return (
        variant.distribution,
        variant.name,
        *(float(curve[min(epoch, EPOCHS) - 1]) for epoch in (1, 10, 50)),
        float(tests.mean()),
        float(tests.std(ddof=1)) if tests.size > 1 else "-",
        PAPER_TEST_ACCURACY,
        *(certified if guarantee.certified else ("-", "-", "-")),
        _stated(guarantee) if variant.noise else "-",
    )


def _stated(guarantee: SgdGuarantee) -> float:
    """Returns the epsilon that E-APES states for the same clients and epochs."""
    people = {level.epsilon_local: level.num_clients for level in guarantee.levels}
    return stated_by_eapes(
        Population.from_counts(people), epochs=guarantee.epochs, delta=guarantee.delta
    ).epsilon


def _picture(curves: Sequence[Floats]) -> str:
    figure = new_figure(7.6, 5.2)
    axes = figure.subplots()
    for variant, curve, color in zip(VARIANTS, curves, _COLORS, strict=False):
        plain = variant.name == "-"
        axes.plot(
            np.arange(1, len(curve) + 1),
            curve,
            color=color,
            linestyle="-" if plain else "--",
            linewidth=1.6 if plain else 1.0,
            label=variant.distribution + ("" if plain else f", {variant.name}"),
        )
    axes.axhline(
        PAPER_TEST_ACCURACY, color="#111827", linewidth=0.8, label="the paper's 96.78%"
    )
    axes.set_xlabel("epochs")
    axes.set_ylabel("accuracy on the training pictures (%)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return svg(figure, "Training accuracy of shuffled noisy SGD against epochs")
