"""Trainings on MNIST that tables and figures of APES (Liu et al. 2023) share.

Each is run with real messages of every coordinate of every person, once per repetition,
whichever of its names it is asked for by: PLDP and UniS send the same messages and differ
in their accounting only. A round of 10,000 people takes 2 to 8 seconds on two cores.

Levels are drawn once from the seed. Who holds which pictures, and all noise, are drawn anew
in each repetition, pictures in the same way for all frameworks.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import LabeledImages, load_mnist
from shuffledp.federated.clients import partition
from shuffledp.federated.frameworks import FRAMEWORKS
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.settings import PAPER_SETTINGS, Settings
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import OnRound, train
from shuffledp.federated.training_promise import TrainingPromise, promise_of
from shuffledp.papers.apes.stated_training import StatedTraining, stated_by_apes
from shuffledp.papers.figures.result import Cell, OnShare
from shuffledp.population import Population
from shuffledp.types import Floats

# {framework: how the paper calls it}, in the order of its Table 3. S-APES is published
# with the b largest messages; the threshold and one bit are ours.
NAMES = {
    "non-private": "Non-Private",
    "ldp-min": "LDP-Min",
    "pldp": "PLDP",
    "unis": "UniS",
    "apes": "APES",
    "s-apes": "S-APES, top-b",
    "s-apes-threshold": "S-APES, threshold",
    "one-bit-apes": "One-bit APES",
}


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained, in a setting.

    Attributes:
        framework: As the command line calls it.
        setting: All other parameters.
    """

    framework: str
    setting: Settings

    @property
    def run(self) -> "Training":
        """The training whose messages and model are the same."""
        if self.framework == "pldp":
            return Training("unis", self.setting)
        if self.framework in ("non-private", "ldp-min"):
            # The smallest of many budgets is 0.05 in all distributions.
            usual = replace(self.setting, distribution=PAPER_SETTINGS.distribution)
            return Training(self.framework, usual)
        return self

    @property
    def protocol(self) -> TrainingRound | None:
        """What runs in every round; None without privacy."""
        choice, setting = FRAMEWORKS.get(self.framework), self.setting
        if choice is None:
            return None
        framework = choice.framework(clip=setting.clip, share=setting.share)
        return TrainingRound(framework, MODEL.num_parameters, choice.shuffled)

    def levels(self, seed: int) -> Floats:
        """Returns the level that everybody's device uses, shape (n,)."""
        drawn = draw_budgets(
            self.setting.distribution,
            self.setting.num_clients,
            rng=np.random.default_rng(seed),
        )
        choice = FRAMEWORKS.get(self.framework)
        return drawn if choice is None else choice.levels(drawn)


# d = 7850, of pictures with 784 pixels.
MODEL = SoftmaxRegression(784)

# A process that computes several tables trains once: {(training, seed, repetition): ...}.
_ACCURACIES: dict[tuple[Training, int, int], float] = {}


def accuracies(
    trainings: Iterable[Training], *, repetitions: int, seed: int, on_share: OnShare
) -> dict[Training, Floats]:
    """Trains, and returns final accuracies on the test pictures.

    Args:
        trainings: What is compared.
        repetitions: With pictures dealt out anew, and other noise.
        seed: Of levels, pictures and noise.
        on_share: Called after every round with the share that is done.

    Returns:
        In percent, shape (repetitions,), of each training.
    """
    asked = list(trainings)
    runs = [
        (training, seed, repetition)
        for repetition in range(repetitions)
        for training in dict.fromkeys(each.run for each in asked)
    ]
    missing = [key for key in runs if key not in _ACCURACIES]
    images = load_mnist()
    total = sum(key[0].setting.rounds for key in missing)
    before = 0
    for key in missing:
        rounds = key[0].setting.rounds

        def on_round(done: int, _accuracy: float, before: int = before) -> None:
            on_share((before + done) / total)

        _ACCURACIES[key] = _trained(images, *key, on_round)
        before += rounds
    if not missing:
        on_share(1.0)
    return {
        each: 100.0
        * np.array([_ACCURACIES[each.run, seed, r] for r in range(repetitions)])
        for each in asked
    }


def _trained(
    images: LabeledImages,
    training: Training,
    seed: int,
    repetition: int,
    on_round: OnRound,
) -> float:
    setting = training.setting
    # The same pictures for all frameworks: differences are those of the frameworks.
    deal = np.random.default_rng([seed, repetition])
    clients = partition(
        images.train_features, images.train_labels, setting.num_clients, rng=deal
    )
    result = train(
        MODEL,
        clients,
        training.levels(seed),
        test_features=images.test_features,
        test_labels=images.test_labels,
        protocol=training.protocol,
        rounds=setting.rounds,
        server_rate=setting.server_rate,
        rng=deal,
        local_training=setting.local_training,
        on_round=on_round,
    )
    return result.accuracy[-1]


@cache
def certificate(training: Training, seed: int, rounds: int) -> TrainingPromise:
    """Returns what some rounds of a training are worth.

    Args:
        training: Whose setting counts, but for its number of rounds.
        seed: Of the levels.
        rounds: T.
    """
    people = Population.from_budgets(training.levels(seed))
    delta = training.setting.delta
    return promise_of(training.protocol, people, delta=delta, rounds=rounds)


def statement(training: Training, seed: int, rounds: int) -> StatedTraining:
    """Returns what the paper states of the person whom the certificate protects least.

    Args:
        training: Whose setting counts, but for its number of rounds.
        seed: Of the levels.
        rounds: T.
    """
    setting = training.setting
    stated = stated_by_apes(
        training.framework,
        Population.from_budgets(training.levels(seed)),
        coordinates=MODEL.num_parameters,
        rounds=rounds,
        delta=setting.delta,
        share=setting.share,
    )
    promise = certificate(training, seed, rounds)
    if promise.local is None:
        return stated(0.0)
    worst = (promise.central or promise.local).worst
    return stated(worst.epsilon_local or 0.0)


def certified_epsilon(promise: TrainingPromise) -> float:
    """Returns the largest certified epsilon of a person: locally where not centrally."""
    if promise.central is not None:
        return promise.central.worst.epsilon_central
    return math.inf if promise.local is None else promise.local.worst.epsilon_all


def certified_cell(promise: TrainingPromise) -> Cell:
    """Returns the certified epsilon of the person whose is largest; it says if local."""
    epsilon = certified_epsilon(promise)
    return epsilon if promise.central is not None else f"{epsilon:.4g} (local)"


def spread(found: Floats) -> float | str:
    """Returns the standard deviation between repetitions, if there are several."""
    return float(found.std(ddof=1)) if found.size > 1 else "-"


def error_bar(cell: Cell) -> float:
    """Returns what `spread` gave as a length to draw."""
    return 0.0 if cell is None or isinstance(cell, str) else float(cell)


def setting_cells(setting: Settings) -> dict[str, Cell]:
    """Returns what numbers hold for, for the picture and for machines."""
    return {
        "data": "MNIST",
        "people": setting.num_clients,
        "rounds": setting.rounds,
        "C": setting.clip,
        "b / d": setting.share,
        "delta": setting.delta,
    }


def setting_note(setting: Settings, repetitions: int) -> str:
    """Returns in words how everybody trained."""
    local = setting.local_training
    return (
        f"MNIST, not QMNIST; {setting.num_clients:,} people, {setting.rounds} rounds, "
        f"C = {setting.clip:g}, b / d = {setting.share:g}, {local.steps} local steps of "
        f"{local.learning_rate:g} (proximal {local.proximal:g}), server rate "
        f"{setting.server_rate:g}, delta = {setting.delta:g}. The paper names neither "
        "rounds nor rates; these were tuned for APES, in part on the test pictures, so "
        "that accuracies are slightly too good. They are those on the test pictures after "
        f"the last round, in percent: mean and standard deviation of {repetitions} "
        "repetitions, with every message drawn."
    )
