"""Training a model in rounds, with messages instead of updates.

In every round each client computes an update of the model on their own data and randomizes
it at their own level; the messages of each coordinate are shuffled; the analyst estimates
the mean update, and moves the model along it.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.accounting_query import check_rounds
from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients, check_converges
from shuffledp.federated.local_training import LocalTraining, Model
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.simulated_round import OnShare, Updates, average_updates
from shuffledp.population import Population
from shuffledp.types import Floats

OnRound = Callable[[int, float], None]
"""Called with (rounds done, accuracy)."""


class TrainableModel(Model, Protocol):
    """Interface of a model with start weights and an accuracy: `SoftmaxRegression`."""

    @property
    def num_parameters(self) -> int:
        """The number of weights d."""
        ...

    def start(self) -> NDArray[np.float32]:
        """Returns the weights before training, shape (d,)."""
        ...

    def accuracy(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> float:
        """Returns the share of examples (N, p) classified as their labels (N,)."""
        ...


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A trained model and its accuracy.

    Attributes:
        accuracy: After each round, on the test set, shape (rounds,).
        weights: Of the model, shape (d,).
    """

    accuracy: tuple[float, ...]
    weights: NDArray[np.float32] = field(repr=False)


def train(
    model: TrainableModel,
    clients: Clients,
    levels: ArrayLike,
    *,
    test_features: NDArray[np.float32],
    test_labels: NDArray[np.int64],
    protocol: TrainingRound | None,
    rounds: int,
    server_rate: float,
    rng: np.random.Generator,
    local_training: LocalTraining | None = None,
    on_round: OnRound | None = None,
    on_share: OnShare | None = None,
) -> TrainedModel:
    """Simulates Algorithm 1 of APES, with any framework, round by round.

    `account(protocol, people, delta=..., rounds=...)` certifies it, before or after.

    Args:
        model: The model to train.
        clients: The data of all clients.
        levels: The local budget per coordinate and round of each client, shape (n,).
        test_features: Of public examples, in [0, 1], shape (N, p).
        test_labels: Their classes, shape (N,).
        protocol: A round, for as many coordinates as the model has weights; None if
            updates are sent unchanged, without any privacy.
        rounds: T >= 1.
        server_rate: The model moves by this times the estimated mean update, > 0.
        rng: The only source of randomness, a simulation's generator.
        local_training: Gradient descent of a client; by default, one gradient.
        on_round: Called after every round.
        on_share: Called with the share of the current round that is done.

    Raises:
        InvalidInputError: If shapes differ, a parameter is out of range, or the training
            diverges: a weight or an update is not finite.
    """
    budgets = _levels_of(clients, levels)
    rate = as_number(server_rate, "server_rate")
    if not 0.0 < rate < math.inf:
        raise InvalidInputError(f"Expected a finite server_rate > 0, got {rate:g}.")
    check_rounds(rounds)
    _check_protocol(protocol, model.num_parameters)
    local = LocalTraining() if local_training is None else local_training
    weights = model.start()
    accuracy = []
    for done in range(rounds):

        def updates(
            # A default binds this round's weights: threads may call it later.
            part: slice,
            sent: NDArray[np.float32] = weights,
        ) -> NDArray[np.float32]:
            return local.updates(model, sent, clients[part])

        estimate = _mean_update(protocol, updates, budgets, model, rng, on_share)
        # An overflow is reported once, by `check_converges`.
        with np.errstate(over="ignore", invalid="ignore"):
            weights = (weights - rate * estimate).astype(np.float32)
            check_converges(weights)
            accuracy.append(model.accuracy(weights, test_features, test_labels))
        if on_round is not None:
            on_round(done + 1, accuracy[-1])
    return TrainedModel(tuple(accuracy), weights)


def _levels_of(clients: Clients, levels: ArrayLike) -> Floats:
    budgets = level_array(levels)
    if budgets.shape != (clients.num_clients,):
        raise InvalidInputError(
            f"Expected one level for each of {clients.num_clients} clients, "
            f"got {budgets.size}."
        )
    return budgets


def _mean_update(
    protocol: TrainingRound | None,
    updates: Updates,
    budgets: Floats,
    model: TrainableModel,
    rng: np.random.Generator,
    on_share: OnShare | None,
) -> Floats:
    """Returns the analyst's estimate after a round, shape (d,)."""
    if protocol is None:
        return average_updates(
            updates,
            num_people=budgets.size,
            num_coordinates=model.num_parameters,
            on_share=on_share,
        )
    # The estimate needs sums only, which no shuffle changes: no message is stored.
    tally = protocol.draw_tally(updates, budgets, rng=rng, on_share=on_share)
    return protocol.estimate(tally, Population.from_budgets(budgets)).value


def _check_protocol(protocol: object, num_coordinates: int) -> None:
    if protocol is None:
        return
    if not isinstance(protocol, TrainingRound):
        raise InvalidInputError(
            f"Expected a TrainingRound or None, got {type(protocol).__name__}."
        )
    if protocol.num_coordinates != num_coordinates:
        raise InvalidInputError(
            f"Expected a round of {num_coordinates} coordinates, one for each weight of "
            f"the model, got {protocol.num_coordinates}."
        )
