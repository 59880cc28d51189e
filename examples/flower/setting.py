"""What devices and server agree on, and the data that the simulation deals out."""

import os
from functools import lru_cache

import numpy as np
from flwr.app import Context, Message
from numpy.typing import NDArray

from shuffledp.datasets.mnist import LabeledImages, load_digits, load_mnist
from shuffledp.federated.clients import Clients, partition
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.flower_agreement import Agreement
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression

NUM_CLIENTS = 100
ROUNDS = int(os.environ.get("ROUNDS", "10"))
# Of a third of the people each, in nats per weight of the model and round.
LEVELS = (0.5, 1.0, 2.0)
CLIP = 0.02
DELTA = 1e-4
LOCAL = LocalTraining(steps=1, learning_rate=0.5)
SCALE = LOCAL.steps * LOCAL.learning_rate
SERVER_RATE = 5.0
# For Flower's own mod, which protects a whole update at once: its norm, and the budget.
GAUSSIAN_CLIP = 0.2
GAUSSIAN_EPSILON = 1.0
SEED = 1
# How many devices of each level every round has; nothing is learned from one with fewer.
PROMISED = {
    level: len(range(first, NUM_CLIENTS, len(LEVELS)))
    for first, level in enumerate(LEVELS)
}


@lru_cache(maxsize=1)
def images() -> LabeledImages:
    """Returns MNIST if SHUFFLEDP_DATA says where it is, or scikit-learn's digits."""
    return load_mnist() if "SHUFFLEDP_DATA" in os.environ else load_digits()


@lru_cache(maxsize=1)
def clients() -> Clients:
    """Returns everybody's pictures; a device of the simulation looks at its own only."""
    known = images()
    rng = np.random.default_rng(SEED)
    return partition(known.train_features, known.train_labels, NUM_CLIENTS, rng=rng)


def model() -> SoftmaxRegression:
    """Returns the model: 650 weights for the digits, 7,850 for MNIST."""
    return SoftmaxRegression(images().train_features.shape[1])


def agreement() -> Agreement:
    """Returns what happens in a round, and how often."""
    protocol = TrainingRound(ClipLaplaceVectors(CLIP), model().num_parameters)
    return Agreement(protocol, rounds=ROUNDS)


def train_locally(weights: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """Returns the weights that one device arrives at, shape (d,)."""
    own = clients()[number : number + 1]
    (update,) = LOCAL.updates(model(), weights, own)
    trained: NDArray[np.float32] = weights - np.float32(SCALE) * update
    return trained


def number_of(context: Context) -> int:
    """Returns which of the devices of the simulation this is."""
    return int(context.node_config["partition-id"])


def level_of(context: Context) -> float:
    """Returns a device's level; real ones have `privacy-level` in their node config."""
    return level_for(number_of(context))


def rng_for(number: int, server_round: int) -> np.random.Generator:
    """Returns a repeatable source of randomness, which nobody else uses."""
    return np.random.default_rng([SEED, number, server_round])


def rng_of(message: Message, context: Context) -> np.random.Generator:
    """Returns a device's source of randomness; real ones use `SystemRandom`."""
    server_round = int(str(message.content.config_records["config"]["server-round"]))
    return rng_for(number_of(context), server_round)


def level_for(number: int) -> float:
    """Returns the level of one device of the simulation."""
    return LEVELS[number % len(LEVELS)]
