"""A feed-forward network of ReLU units with a softmax layer, and its clipped gradients.

Layer l turns its inputs a into max(0, a W + b), the last one into softmax(a W + b). Let
delta be the derivative of one example's cross-entropy by the sums a W + b of a layer. Its
gradient in that layer is the outer product of a and delta, with delta for b, so that

    |gradient|^2 = sum over layers of (|a|^2 + 1) |delta|^2,

and the sum of gradients scaled by factors c_j is one matrix product per layer.

Source of the norms: Goodfellow (2015), "Efficient per-example gradient computations",
arXiv:1510.01799.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import check_converges, check_examples

# An overflow is reported once, by `check_converges`.
_quiet = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True, slots=True)
class ReluNetwork:
    """Widths of a network; its weights are one flat array, W then b, layer by layer.

    Attributes:
        widths: Of the inputs, of each hidden layer, and of the classes: at least two
            numbers, each >= 1, the last >= 2.
    """

    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.widths) < 2 or min(self.widths) < 1 or self.widths[-1] < 2:
            raise InvalidInputError(
                f"Expected widths >= 1 of inputs and layers, with 2 classes at least, "
                f"got {self.widths}."
            )

    @property
    def num_parameters(self) -> int:
        """The number of weights d."""
        return sum((a + 1) * b for a, b in self._layers())

    def start(self, *, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draws the weights before training: normal, of variance 2 / inputs, b = 0."""
        # With this variance (He et al., 2015) signals neither grow nor fade over layers.
        # No data enter: it costs no privacy.
        weights = np.zeros(self.num_parameters, dtype=np.float32)
        for matrix, _ in self._views(weights):
            matrix[...] = rng.normal(0.0, math.sqrt(2.0 / len(matrix)), matrix.shape)
        return weights

    @_quiet
    def clipped_sum(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
        clip: float,
    ) -> NDArray[np.float32]:
        """Returns the sum over examples of g / max(1, |g| / clip), shape (d,).

        Args:
            weights: Shape (d,).
            features: Shape (N, inputs).
            labels: Shape (N,).
            clip: The largest Euclidean norm of one example's gradient g, > 0; infinite
                for no clipping.

        Raises:
            InvalidInputError: If shapes differ, or weights are so large that a gradient
                is not finite.
        """
        signals, errors = self._derivatives(weights, features, labels)
        norms = _norms(signals, errors)
        # max(norms, clip) also avoids 0 / 0; 1 + 0 * norms keeps shape and type.
        shares = clip / np.maximum(norms, clip) if clip < math.inf else 1.0 + 0 * norms
        total = np.empty(self.num_parameters, dtype=np.float32)
        for (matrix, bias), a, delta in zip(
            self._views(total), signals, errors, strict=True
        ):
            shortened = delta * shares.astype(np.float32)[:, None]
            # One product sums over examples: no example's gradient is ever stored.
            np.matmul(a.T, shortened, out=matrix)
            shortened.sum(axis=0, out=bias)
        return total

    @_quiet
    def gradient_norms(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """Returns the Euclidean norm of each example's gradient, shape (N,)."""
        return _norms(*self._derivatives(weights, features, labels))

    @_quiet
    def accuracy(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> float:
        """Returns the share of examples classified correctly, in [0, 1]."""
        self._check(weights, features, labels)
        _, scores = self._forward(weights, features)
        return float(np.mean(np.argmax(scores, axis=1) == labels))

    def _derivatives(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Returns each layer's inputs, and each example's derivative by its sums."""
        self._check(weights, features, labels)
        signals, scores = self._forward(weights, features)
        # Shifting by the largest score leaves the softmax as it is and avoids overflow.
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        # The derivative of the cross-entropy by the scores: softmax minus one-hot.
        probabilities[np.arange(len(labels)), labels] -= np.float32(1.0)
        errors = [probabilities]
        views = self._views(weights)
        for layer in range(len(views) - 1, 0, -1):
            # The derivative of max(0, .) is 1 where the unit's output is positive.
            errors.append((errors[-1] @ views[layer][0].T) * (signals[layer] > 0.0))
        return signals, errors[::-1]

    def _forward(
        self, weights: NDArray[np.float32], features: NDArray[np.float32]
    ) -> tuple[list[NDArray[np.float32]], NDArray[np.float32]]:
        """Returns each layer's inputs, and the sums of the last layer."""
        signals, sums = [], features
        for layer, (matrix, bias) in enumerate(self._views(weights)):
            signals.append(np.maximum(sums, np.float32(0.0)) if layer else features)
            sums = signals[-1] @ matrix + bias
        check_converges(sums)
        return signals, sums

    def _layers(self) -> list[tuple[int, int]]:
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))

    def _views(
        self, flat: NDArray[np.float32]
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Returns W and b of each layer as views of a flat array."""
        views, start = [], 0
        for inputs, outputs in self._layers():
            end = start + inputs * outputs
            bias = flat[end : end + outputs]
            views.append((flat[start:end].reshape(inputs, outputs), bias))
            start = end + outputs
        return views

    def _check(
        self,
        weights: NDArray[np.float32],
        features: NDArray[np.float32],
        labels: NDArray[np.int64],
    ) -> None:
        check_examples(features, labels, dimensions=2)
        if weights.shape != (self.num_parameters,) or weights.dtype != np.float32:
            raise InvalidInputError(
                f"Expected float32 weights of shape ({self.num_parameters},), "
                f"got {weights.dtype} of shape {weights.shape}."
            )
        if features.shape[1] != self.widths[0] or labels.max() >= self.widths[-1]:
            raise InvalidInputError(
                f"Expected {self.widths[0]} features and labels below "
                f"{self.widths[-1]}, got {features.shape[1]} features."
            )


def _norms(
    signals: list[NDArray[np.float32]], errors: list[NDArray[np.float32]]
) -> NDArray[np.float32]:
    # |gradient|^2 = sum over layers of (|a|^2 + 1) |delta|^2; the 1 is for the bias.
    squares = sum(
        (np.einsum("ij,ij->i", a, a) + np.float32(1.0))
        * np.einsum("ij,ij->i", delta, delta)
        for a, delta in zip(signals, errors, strict=True)
    )
    norms: NDArray[np.float32] = np.sqrt(np.asarray(squares, dtype=np.float32))
    check_converges(norms)
    return norms
