"""Noisy gradient descent that visits the clients in a random order.

Every epoch visits all clients in a fresh random order. A client computes the gradient of
each of their examples, clips it to norm C, and sends the mean with normal noise, whose
deviation follows from their own level; the model makes one step along it at once. The
guarantee is in `shuffledp.federated.sgd_guarantee`.

E-APES divides the sum of a client's gradients by the number m of clients, not by that of
the client's examples k = n / m. With noise for the sensitivity 2 C / m of that sum it is
the same method at the learning rate k / m times as large: 0.3, not 0.05, at its Table 2. It
also calibrates the noise by the classical formula, which holds for epsilon <= 1 only; the
exact calibration guarantees no less.

Source: Chen, Cao, Ge (2023), "Enhancing Privacy in Personalized Differential Privacy under
the Shuffle Model", Algorithm 1 and Table 2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import check_converges, check_examples, partition
from shuffledp.federated.clip_laplace_vectors import SMALLEST
from shuffledp.federated.noisy_steps import NoisySteps
from shuffledp.federated.principal_components import PrincipalComponents, fit
from shuffledp.federated.relu_network import ReluNetwork
from shuffledp.federated.sgd_guarantee import SgdGuarantee, sgd_guarantee
from shuffledp.population import Population

OnEpoch = Callable[[int, float, float], None]
"""Called with (epochs done, accuracy on the training set, on the test set)."""

_COMPONENTS, _CLASSES = 60, 10


class Images(Protocol):
    """Interface of labeled examples, such as `datasets.mnist.LabeledImages`."""

    @property
    def train_features(self) -> NDArray[np.float32]:
        """In [0, 1], shape (N, p)."""
        ...

    @property
    def train_labels(self) -> NDArray[np.int64]:
        """Classes from 0 to 9, shape (N,)."""
        ...

    @property
    def test_features(self) -> NDArray[np.float32]:
        """In [0, 1], shape (M, p)."""
        ...

    @property
    def test_labels(self) -> NDArray[np.int64]:
        """Classes from 0 to 9, shape (M,)."""
        ...


@dataclass(frozen=True, eq=False)
class ShuffledSgdResult:
    """A trained model, its accuracy, and its privacy guarantee.

    Attributes:
        train_accuracy: After each epoch, on all clients' examples, shape (epochs,). It is
            measured by the simulation, without noise: the guarantee does not cover it.
        test_accuracy: After each epoch, shape (epochs,).
        guarantee: For each level of clients.
        model: The shape of the network.
        components: The projection of a picture before the network.
        weights: Of the network, shape (d,).
    """

    train_accuracy: tuple[float, ...]
    test_accuracy: tuple[float, ...]
    guarantee: SgdGuarantee
    model: ReluNetwork = field(repr=False)
    components: PrincipalComponents = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Returns accuracies and guarantee as plain values, for JSON."""
        return {
            "train_accuracy": list(self.train_accuracy),
            "test_accuracy": list(self.test_accuracy),
            "widths": list(self.model.widths),
            "guarantee": self.guarantee.to_dict(),
        }


def components_of(features: NDArray[np.float32]) -> PrincipalComponents:
    """Returns the 60 principal components of the paper, or all if there are fewer.

    Args:
        features: Public for a certificate, such as `images.test_features`; shape (N, p).
    """
    return fit(features, min(_COMPONENTS, features.shape[1]))


def train(
    images: Images,
    levels: ArrayLike,
    *,
    rng: np.random.Generator,
    epochs: int = 50,
    clip: float = 2.0,
    learning_rate: float = 0.05,
    delta: float = 1e-5,
    hidden: tuple[int, ...] = (100,),
    components: PrincipalComponents | None = None,
    noise: bool = True,
    on_epoch: OnEpoch | None = None,
) -> ShuffledSgdResult:
    """Simulates Algorithm 1 of E-APES; the defaults are its Table 2.

    Args:
        images: Training examples, dealt out to the clients evenly, and test examples.
        levels: The local budget of each client, from 0 to 700, shape (m,): epsilon of one
            step for one of the client's examples, at delta.
        rng: The only source of randomness, of a simulation only.
        epochs: T, >= 1.
        clip: C, the largest norm of one example's gradient, in [1e-30, 1e30].
        learning_rate: At least 1e-30.
        delta: In [1e-100, 1).
        hidden: The numbers of ReLU units, layer by layer.
        components: A projection computed from public data, see `components_of`. By
            default it is computed from the clients' examples, as in the paper, and
            nothing is certified.
        noise: Whether to add any; without, nothing is certified.
        on_epoch: Called after every epoch.

    Raises:
        InvalidInputError: If shapes differ, a parameter is out of range, or the training
            diverges: a step is not finite.
    """
    budgets = level_array(levels)
    people = Population.from_budgets(budgets)
    rate = as_number(learning_rate, "learning_rate")
    # Below SMALLEST, single precision loses digits; a too large rate diverges, which
    # `check_converges` reports.
    if not SMALLEST <= rate < math.inf:
        raise InvalidInputError(
            f"Expected a finite learning rate of at least {SMALLEST:g}, got {rate:g}."
        )
    features, labels = images.train_features, images.train_labels
    clients = partition(features, labels, budgets.size, rng=rng)
    check_examples(images.test_features, images.test_labels, dimensions=2)
    examples = clients.labels.shape[1]
    steps = NoisySteps(clip, examples, delta, noise)
    guarantee = sgd_guarantee(
        steps, people, epochs=epochs, public_components=components is not None
    )
    if components is None:
        components = components_of(features)
    flat = clients.features.reshape(-1, features.shape[1])
    inputs, classes = components.project(flat), clients.labels.ravel()
    test_inputs = components.project(images.test_features)

    model = ReluNetwork((inputs.shape[1], *hidden, _CLASSES))

    weights = model.start(rng=rng)
    deviations = steps.deviations(budgets)
    train_accuracy, test_accuracy = [], []
    for epoch in range(epochs):
        # E-APES draws one order for all epochs; a new one each guarantees no less.
        for client in rng.permutation(budgets.size):
            examples_of_client = slice(client * examples, (client + 1) * examples)
            # The model changes at once: the steps of later clients depend on this one.
            step = steps.send(
                model,
                weights,
                inputs[examples_of_client],
                classes[examples_of_client],
                deviation=float(deviations[client]),
                rng=rng,
            )
            with np.errstate(over="ignore", invalid="ignore"):
                weights -= np.float32(rate) * step
            check_converges(weights)
        train_accuracy.append(model.accuracy(weights, inputs, classes))
        test_accuracy.append(model.accuracy(weights, test_inputs, images.test_labels))
        if on_epoch is not None:
            on_epoch(epoch + 1, train_accuracy[-1], test_accuracy[-1])
    return ShuffledSgdResult(
        tuple(train_accuracy),
        tuple(test_accuracy),
        guarantee,
        model,
        components,
        weights,
    )
