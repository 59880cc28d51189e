"""Logistic regression with several classes, and the gradient of each client's loss.

With weights W of shape (p + 1, classes), whose last row belongs to a constant feature 1,
the probabilities of the classes are softmax(x W), and the gradient of a client's mean
cross-entropy over their m examples is

    (1 / m) sum_j x_j (softmax(x_j W) - onehot(y_j)).

All numbers are in single precision: updates are clipped and get noise, and the rounding is
less than a millionth of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients, check_examples


@dataclass(frozen=True, slots=True)
class SoftmaxRegression:
    """Dimensions of a model; its weights are one flat array, W row by row.

    Attributes:
        num_features: p, >= 1.
        num_classes: >= 2.
    """

    num_features: int
    num_classes: int = 10

    def __post_init__(self) -> None:
        if self.num_features < 1 or self.num_classes < 2:
            raise InvalidInputError(
                "Expected at least 1 feature and 2 classes, "
                f"got {self.num_features} and {self.num_classes}."
            )

    @property
    def num_parameters(self) -> int:
        """The number of weights d = (p + 1) classes."""
        return (self.num_features + 1) * self.num_classes

    def start(self) -> NDArray[np.float32]:
        """Returns the weights before training: zeros, shape (d,)."""
        # The loss is convex: any start will do, and this one is public.
        return np.zeros(self.num_parameters, dtype=np.float32)

    def gradients(
        self, weights: NDArray[np.float32], clients: Clients
    ) -> NDArray[np.float32]:
        """Returns the gradient of each client's mean cross-entropy, shape (k, d).

        Args:
            weights: Of one model for all, shape (d,), or of one per client, (k, d).
            clients: k clients with m examples each.

        Raises:
            InvalidInputError: If shapes differ or a label is not a class of this model.
        """
        people, each, features = clients.features.shape
        self._check(features, clients.labels)
        if weights.shape not in ((self.num_parameters,), (people, self.num_parameters)):
            raise InvalidInputError(
                f"Expected weights of shape ({self.num_parameters},) or "
                f"({people}, {self.num_parameters}), got {weights.shape}."
            )
        matrix = self._matrices(weights)
        inputs = clients.features
        if weights.ndim == 1:
            # One large product is faster than one small product per client.
            inputs = inputs.reshape(1, people * each, features)
        errors = _softmax(inputs @ matrix[..., :-1, :] + matrix[..., -1:, :])
        errors = errors.reshape(people, each, self.num_classes)
        # softmax(x W) - onehot(y)
        of_label = np.take_along_axis(errors, clients.labels[..., None], axis=2)
        np.put_along_axis(errors, clients.labels[..., None], of_label - 1.0, axis=2)
        errors /= np.float32(each)
        return self._outer_products(clients.features, errors)

    def descend(
        self,
        weights: NDArray[np.float32],
        clients: Clients,
        *,
        steps: int,
        rate: np.float32,
        shrink: np.float32,
    ) -> NDArray[np.float32]:
        """Returns (w0 - w) / rate of each client after some steps, shape (k, d).

        Args:
            weights: w0, where all clients start, shape (d,).
            clients: k clients with m examples each.
            steps: Number of steps, >= 1.
            rate: Learning rate.
            shrink: Factor of the earlier steps' sum in each step, 1 - rate * proximal.

        Raises:
            InvalidInputError: If shapes differ or a label is not a class of this model.
        """
        # A gradient is X' E: a client's m examples, times the errors of the probabilities.
        # So is the sum of the steps, and a step needs the scores X (W - rate X' E) only:
        # products of two examples take the place of a model for each client, in a sixth
        # of the time.
        examples = clients.features
        people, each, features = examples.shape
        self._check(features, clients.labels)
        if weights.shape != (self.num_parameters,):
            raise InvalidInputError(
                f"Expected weights of shape ({self.num_parameters},), "
                f"got {weights.shape}."
            )
        matrix = self._matrices(weights)
        scores = examples.reshape(people * each, features) @ matrix[:-1] + matrix[-1]
        scores = scores.reshape(people, each, self.num_classes)
        # The constant feature adds 1 to every product.
        products = np.matmul(examples, examples.transpose(0, 2, 1)) + np.float32(1.0)
        classes = np.eye(self.num_classes, dtype=np.float32)[clients.labels]
        traveled = np.zeros_like(scores)
        for _ in range(steps):
            errors = _softmax(scores - rate * np.matmul(products, traveled)) - classes
            traveled = shrink * traveled + errors / np.float32(each)
        return self._outer_products(examples, traveled)

    def accuracy(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> float:
        """Returns the share of examples classified correctly, in [0, 1].

        Args:
            weights: Shape (d,).
            features: Shape (N, p).
            labels: Shape (N,).

        Raises:
            InvalidInputError: As for `gradients`.
        """
        check_examples(features, labels, dimensions=2)
        self._check(features.shape[1], labels)
        if weights.shape != (self.num_parameters,):
            raise InvalidInputError(
                f"Expected weights of shape ({self.num_parameters},), "
                f"got {weights.shape}."
            )
        matrix = self._matrices(weights)
        likeliest = np.argmax(features @ matrix[:-1] + matrix[-1], axis=1)
        return float(np.mean(likeliest == labels))

    def _outer_products(
        self, examples: NDArray[np.float32], errors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Returns X' E of each client, with the constant feature, shape (k, d)."""
        gradients = np.empty((len(examples), self.num_parameters), dtype=np.float32)
        parts = self._matrices(gradients)
        np.matmul(examples.transpose(0, 2, 1), errors, out=parts[:, :-1])
        errors.sum(axis=1, out=parts[:, -1])
        return gradients

    def _matrices(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns a view of flat weights, shape (..., p + 1, classes)."""
        return weights.reshape(
            *weights.shape[:-1], self.num_features + 1, self.num_classes
        )

    def _check(self, num_features: int, labels: NDArray[np.int64]) -> None:
        if num_features != self.num_features:
            raise InvalidInputError(
                f"Expected {self.num_features} features, got {num_features}."
            )
        if labels.max() >= self.num_classes:
            raise InvalidInputError(f"Expected labels below {self.num_classes}.")


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turns scores into probabilities along the last axis, in place."""
    # Without the largest score, no power overflows.
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores
