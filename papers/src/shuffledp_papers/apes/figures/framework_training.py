"""Trainings that tables and figures of APES (Liu et al. 2023) share.

Each training draws the messages of all coordinates of all users, once per repetition and
for all of its names. A round of 10,000 users takes half a second to two seconds on two
cores.

Levels are drawn once from the seed. The assignment of pictures to users, and all noise, are
drawn in each repetition.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.datasets.mnist import LabeledImages, has_qmnist, load_mnist, load_qmnist
from shuffledp.federated.apes_settings import PAPER_SETTINGS, ApesSettings
from shuffledp.federated.clients import partition
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import OnRound, train
from shuffledp.federated.training_guarantee import (
    TrainingGuarantee,
    training_guarantee_of,
)
from shuffledp.population import Population
from shuffledp.types import Floats
from shuffledp_papers.apes.stated_training import PublishedEpsilons, stated_by_apes
from shuffledp_papers.figures.result import Effort


def load_images() -> LabeledImages:
    """Returns QMNIST if its files exist, else MNIST, which may be downloaded."""
    # The paper has QMNIST, which extends MNIST.
    return load_qmnist() if has_qmnist() else load_mnist()


@dataclass(frozen=True, slots=True)
class Training:
    """One training: a framework, and all its parameters.

    Attributes:
        framework: Its name on the command line.
        setting: All other parameters.
    """

    framework: str
    setting: ApesSettings

    @property
    def simulated(self) -> "Training":
        """The training that is run for this one, with the same messages and model."""
        # PLDP and UniS send the same messages: only their accounting differs.
        if self.framework == "pldp":
            return Training("unis", self.setting)
        if self.framework in ("non-private", "ldp-min"):
            # The smallest of many budgets is 0.05 in all distributions.
            usual = replace(self.setting, distribution=PAPER_SETTINGS.distribution)
            return Training(self.framework, usual)
        return self

    @property
    def protocol(self) -> TrainingRound | None:
        """The protocol of every round; None without privacy."""
        choice, setting = FRAMEWORKS.get(self.framework), self.setting
        if choice is None:
            return None
        framework = choice.framework(clip=setting.clip, share=setting.share)
        return TrainingRound(framework, MODEL.num_parameters, choice.shuffled)

    def levels(self, seed: int) -> Floats:
        """Returns the level that each user's device uses, shape (n,)."""
        drawn = draw_budgets(
            self.setting.distribution,
            self.setting.num_clients,
            rng=np.random.default_rng(seed),
        )
        choice = FRAMEWORKS.get(self.framework)
        return drawn if choice is None else choice.levels(drawn)


# d = 7850, of pictures with 784 pixels.
MODEL = SoftmaxRegression(784)


def repetitions_of(effort: Effort) -> int:
    """Returns the number of repetitions of a training: one in a quick run."""
    return 1 if effort.quick else effort.repetitions


# A process that computes several tables trains once. Keys: (training, seed, repetition).
_ACCURACIES: dict[tuple[Training, int, int], float] = {}


def accuracies(trainings: Iterable[Training], effort: Effort) -> dict[Training, Floats]:
    """Runs the trainings, and returns final accuracies on the test pictures.

    Args:
        trainings: The trainings to compare.
        effort: Repetitions, each with other noise and another assignment of pictures;
            and the seed of levels, pictures and noise.

    Returns:
        In percent, shape (repetitions,), of each training.
    """
    requested, seed, repetitions = list(trainings), effort.seed, repetitions_of(effort)
    runs = [
        (training, seed, repetition)
        for repetition in range(repetitions)
        for training in dict.fromkeys(each.simulated for each in requested)
    ]
    missing = [key for key in runs if key not in _ACCURACIES]
    images = load_images()
    total = sum(key[0].setting.rounds for key in missing)
    # Rounds of finished trainings, for the share of work that is done.
    before = 0
    for key in missing:
        rounds = key[0].setting.rounds

        def on_round(done: int, _accuracy: float, before: int = before) -> None:
            effort.on_share((before + done) / total)

        _ACCURACIES[key] = _trained(images, *key, on_round)
        before += rounds
    if not missing:
        effort.on_share(1.0)
    return {
        each: 100.0
        * np.array([_ACCURACIES[each.simulated, seed, r] for r in range(repetitions)])
        for each in requested
    }


def _trained(
    images: LabeledImages,
    training: Training,
    seed: int,
    repetition: int,
    on_round: OnRound,
) -> float:
    setting = training.setting
    # The same pictures for all frameworks: accuracies differ by the frameworks only.
    assignment_rng = np.random.default_rng([seed, repetition])
    clients = partition(
        images.train_features,
        images.train_labels,
        setting.num_clients,
        rng=assignment_rng,
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
        rng=assignment_rng,
        local_training=setting.local_training,
        on_round=on_round,
    )
    return result.accuracy[-1]


@cache
def certificate(training: Training, seed: int, rounds: int) -> TrainingGuarantee:
    """Certifies some rounds of a training.

    Args:
        training: Its setting is used, except for the number of rounds.
        seed: Of the levels.
        rounds: T.
    """
    people = Population.from_budgets(training.levels(seed))
    delta = training.setting.delta
    return training_guarantee_of(training.protocol, people, delta=delta, rounds=rounds)


def statement(training: Training, seed: int, rounds: int) -> PublishedEpsilons:
    """Returns the paper's statement for the user whom the certificate protects least.

    Args:
        training: Its setting is used, except for the number of rounds.
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
