"""Trainings that tables and figures of APES (Liu et al. 2023) share.

On QMNIST, as in the paper, if its files lie where data are looked for; else on MNIST, of
which it is an extension. Each is run with real messages of every coordinate of every
person, once per repetition, whichever of its names it is asked for by: PLDP and UniS send
the same messages and differ in their accounting only. A round of 10,000 people takes half
a second to two seconds on two cores.

Levels are drawn once from the seed. Who holds which pictures, and all noise, are drawn anew
in each repetition, pictures in the same way for all frameworks.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import (
    QMNIST_HOME,
    LabeledImages,
    has_qmnist,
    load_mnist,
    load_qmnist,
)
from shuffledp.federated.apes_settings import PAPER_SETTINGS, ApesSettings
from shuffledp.federated.clients import partition
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import OnRound, train
from shuffledp.federated.training_promise import TrainingPromise, promise_of
from shuffledp.papers.apes.printed import ACCURACIES, DISTRIBUTIONS
from shuffledp.papers.apes.stated_training import StatedTraining, stated_by_apes
from shuffledp.papers.figures.notes import figure_notes
from shuffledp.papers.figures.picture import Curve
from shuffledp.papers.figures.result import Cell, Comparison, Effort, OnShare
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


def load_images() -> LabeledImages:
    """Returns QMNIST if it is there, else MNIST, which is downloaded if need be."""
    return load_qmnist() if has_qmnist() else load_mnist()


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained, in a setting.

    Attributes:
        framework: As the command line calls it.
        setting: All other parameters.
    """

    framework: str
    setting: ApesSettings

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


# Relative: of one drawing to the next, accuracies differ by 2 points of 80.
SAME_ACCURACY = 0.025
OTHER_RATES = "the paper names neither its rounds nor its rates"

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
    images = load_images()
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


def standard_error(found: Floats) -> float | None:
    """Returns that of the mean of several repetitions, shape (repetitions,)."""
    if found.size < 2:
        return None
    return float(found.std(ddof=1)) / math.sqrt(found.size)


def mean_curve(
    label: str, at: Sequence[float], found: Sequence[Floats], *, joined: bool = True
) -> Curve:
    """Returns means of repetitions, with a standard error to either side.

    Args:
        label: What the legend says.
        at: Places on the horizontal axis.
        found: Of each place, shape (repetitions,).
        joined: Whether points are joined.
    """
    means = [float(each.mean()) for each in found]
    errors = [standard_error(each) for each in found]
    if None in errors:
        return Curve(label, at, means, joined=joined)
    return Curve(
        label,
        at,
        means,
        low=[mean - (error or 0.0) for mean, error in zip(means, errors, strict=True)],
        high=[mean + (error or 0.0) for mean, error in zip(means, errors, strict=True)],
        joined=joined,
    )


def level_curve(label: str, at: Sequence[float], found: Floats) -> Curve:
    """Returns a mean that does not depend on the horizontal axis, from end to end."""
    ends = [min(at), max(at)]
    return Curve(label, ends, [float(found.mean())] * 2)


def accuracy_comparisons(
    found: Mapping[tuple[str, str], Floats], *, why: str
) -> tuple[Comparison, ...]:
    """Compares mean accuracies with the printed ones.

    Args:
        found: By framework and distribution, in percent, shape (repetitions,).
        why: Why they differ, where they do.
    """
    compared = []
    for (framework, distribution), accuracy in found.items():
        if framework in ACCURACIES:
            printed = ACCURACIES[framework][DISTRIBUTIONS.index(distribution)]
            here = float(accuracy.mean())
            what = f"accuracy, percent, {NAMES[framework]}, {distribution}"
            same = Comparison(what, printed, here, within=SAME_ACCURACY)
            compared.append(same if same.agrees else replace(same, why=why))
    return tuple(compared)


def repetitions_of(effort: Effort) -> int:
    """Returns how often a training is repeated: once if it has to be quick."""
    return 1 if effort.quick else effort.repetitions


def setting_cells(setting: ApesSettings, repetitions: int) -> dict[str, Cell]:
    """Returns what numbers hold for, for the picture and for machines."""
    return {
        "data": "QMNIST" if has_qmnist() else "MNIST",
        "people": setting.num_clients,
        "budgets": setting.distribution.removeprefix("apes/"),
        "rounds": setting.rounds,
        "C": setting.clip,
        "b / d": setting.share,
        "delta": setting.delta,
        "repetitions": repetitions,
    }


def setting_notes(setting: ApesSettings) -> tuple[str, ...]:
    """Returns in words how everybody trained."""
    local = setting.local_training
    notes = figure_notes(
        "apes",
        "trainings",
        steps=local.steps,
        learning_rate=local.learning_rate,
        proximal=local.proximal,
        server_rate=setting.server_rate,
    )
    if has_qmnist():
        return notes
    return (
        *notes,
        *figure_notes("apes", "without-qmnist", qmnist_home=QMNIST_HOME),
    )
