"""Training a model in rounds, with messages instead of updates.

In every round each person computes an update of the model on her own data and randomizes
it at her own level; the messages of each coordinate are shuffled; the analyst estimates
the mean update, and moves the model along it.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.account import check_whole
from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients, check_converges
from shuffledp.federated.frameworks import framework_named
from shuffledp.federated.guarantees import TrainingGuarantee, certify_training
from shuffledp.federated.local_training import LocalTraining, Model
from shuffledp.federated.round import OnShare, collect_round
from shuffledp.population import Population

OnRound = Callable[[int, float], None]
"""Called with (rounds done, accuracy)."""


class TrainableModel(Model, Protocol):
    """A model with a number to tell how good it is, such as `SoftmaxRegression`."""

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
        """Returns the share of examples (N, p) with labels (N,) that are recognized."""
        ...


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model, how well it did, and what it cost.

    Attributes:
        framework: The name of what was run.
        accuracy: After each round, on the test set, shape (rounds,).
        guarantee: What each level of people is promised after all rounds.
        weights: Of the model, shape (d,).
    """

    framework: str
    accuracy: tuple[float, ...]
    guarantee: TrainingGuarantee
    weights: NDArray[np.float32] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Returns all but the weights as plain numbers, lists and texts."""
        return {
            "framework": self.framework,
            "accuracy": list(self.accuracy),
            "guarantee": self.guarantee.to_dict(),
        }


def train(
    model: TrainableModel,
    clients: Clients,
    levels: ArrayLike,
    *,
    test_features: NDArray[np.float32],
    test_labels: NDArray[np.int64],
    framework: str,
    rounds: int,
    clip: float,
    server_rate: float,
    delta: float,
    rng: np.random.Generator,
    share: float = 0.2,
    local_training: LocalTraining | None = None,
    guarantee: TrainingGuarantee | None = None,
    on_round: OnRound | None = None,
    on_share: OnShare | None = None,
) -> TrainingResult:
    """Simulates Algorithm 1 of APES, or another framework, round by round.

    What it guarantees is computed first: nobody trains for hours, only to hear that there
    is no guarantee.

    Args:
        model: What is trained.
        clients: Everybody's data.
        levels: The local budget per coordinate and round of each client, shape (n,).
        test_features: Of public examples, in [0, 1], shape (N, p).
        test_labels: Their classes, shape (N,).
        framework: A name in `FRAMEWORKS`.
        rounds: T >= 1.
        clip: C > 0: coordinates of updates are clipped to [-C, C].
        server_rate: The model moves by this times the estimated mean update, > 0.
        delta: Of one person's guarantee for the whole training, in [1e-300, 1).
        rng: The only source of randomness; it is one of simulations.
        share: b / d, in (0, 1), for frameworks that keep some coordinates.
        local_training: What a client does in a round; by default, one gradient.
        guarantee: What `certify_training` gave for these settings, levels and clip, if it
            was called before.
        on_round: Called after every round.
        on_share: Called with the share of the current round that is done.

    Raises:
        InvalidInputError: If shapes differ, a parameter is out of range, or the training
            diverges: a weight or an update is not finite.
        CertificationError: If nothing can be proven about these settings.
    """
    budgets = level_array(levels)
    if budgets.shape != (clients.num_clients,):
        raise InvalidInputError(
            f"Expected one level for each of {clients.num_clients} clients, "
            f"got {budgets.size}."
        )
    rate = as_number(server_rate, "server_rate")
    if not 0.0 < rate < math.inf:
        raise InvalidInputError(f"Expected a finite server_rate > 0, got {rate:g}.")
    check_whole(rounds, "rounds", least=1)
    chosen = framework_named(framework)
    randomizer = chosen.build(clip, share)
    local = LocalTraining() if local_training is None else local_training
    if guarantee is not None:
        _check_guarantee(
            guarantee,
            (framework, budgets.size, model.num_parameters, rounds, float(delta)),
        )
    else:
        guarantee = certify_training(
            framework,
            Population.from_budgets(budgets),
            clip=clip,
            coordinates=model.num_parameters,
            rounds=rounds,
            delta=delta,
            share=share,
        )
    used = chosen.levels(budgets)
    weights = model.start()
    accuracy = []
    for done in range(rounds):

        def updates(
            people: slice, sent: NDArray[np.float32] = weights
        ) -> NDArray[np.float32]:
            return local.updates(model, sent, clients[people])

        shuffled = collect_round(
            updates,
            randomizer,
            used,
            num_coordinates=model.num_parameters,
            rng=rng,
            on_share=on_share,
        )
        estimate = randomizer.estimate(shuffled.totals(), shuffled.levels)
        # What overflows is reported, once, as the training that diverged.
        with np.errstate(over="ignore", invalid="ignore"):
            weights = (weights - rate * estimate).astype(np.float32)
            check_converges(weights)
            accuracy.append(model.accuracy(weights, test_features, test_labels))
        if on_round is not None:
            on_round(done + 1, accuracy[-1])
    return TrainingResult(framework, tuple(accuracy), guarantee, weights)


def _check_guarantee(
    guarantee: TrainingGuarantee, wanted: tuple[str, int, int, int, float]
) -> None:
    stated = (
        guarantee.framework,
        guarantee.num_users,
        guarantee.coordinates,
        guarantee.rounds,
        guarantee.delta,
    )
    if stated != wanted:
        raise InvalidInputError(
            "Expected a guarantee of this training: (framework, people, coordinates, "
            f"rounds, delta) = {wanted}, got {stated}."
        )
