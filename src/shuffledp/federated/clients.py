"""Clients of a training: each holds the same number of labeled examples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, check_rng


@dataclass(frozen=True, eq=False)
class Clients:
    """The examples of all clients, the same number each.

    Attributes:
        features: In [0, 1], shape (n, m, p): n clients, m examples each, p features.
        labels: Classes, integers >= 0, shape (n, m).

    Raises:
        InvalidInputError: If a shape, type or range differs.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        features, labels = self.features, self.labels
        check_examples(features, labels, dimensions=3)
        # Written this way round, it refuses NaN too.
        if not (features.min() >= 0.0 and features.max() <= 1.0):
            raise InvalidInputError("Expected every feature in [0, 1].")

    @property
    def num_clients(self) -> int:
        """The number of clients n."""
        return len(self.features)

    def __getitem__(self, people: slice) -> "Clients":
        """Returns a slice of the clients, as views of the same arrays.

        Raises:
            InvalidInputError: If the slice is empty.
        """
        return Clients(self.features[people], self.labels[people])


def partition(
    features: NDArray[np.float32],
    labels: NDArray[np.int64],
    num_clients: int,
    *,
    rng: Rng,
) -> Clients:
    """Deals examples out evenly, in a random order.

    The last N modulo n examples of that order are left out.

    Args:
        features: In [0, 1], shape (N, p).
        labels: Classes, integers >= 0, shape (N,).
        num_clients: n, in [1, N].
        rng: The only source of randomness.

    Raises:
        InvalidInputError: If a shape, type or range differs.
    """
    check_examples(features, labels, dimensions=2)
    check_rng(rng)
    if not 1 <= num_clients <= len(labels):
        raise InvalidInputError(
            f"Expected from 1 to {len(labels)} clients, one example each at least, "
            f"got {num_clients}."
        )
    each = len(labels) // num_clients
    order = rng.permutation(len(labels))[: num_clients * each]
    return Clients(
        features[order].reshape(num_clients, each, features.shape[1]),
        labels[order].reshape(num_clients, each),
    )


def check_examples(
    features: NDArray[np.float32], labels: NDArray[np.int64], *, dimensions: int
) -> None:
    """Raises InvalidInputError unless there are examples, with one label each.

    Args:
        features: Must be float32 of shape (..., p).
        labels: Must be int64 >= 0 of shape (...).
        dimensions: Number of dimensions that `features` must have.
    """
    if features.ndim != dimensions or features.dtype != np.float32:
        raise InvalidInputError(
            f"Expected features as float32 in {dimensions} dimensions, "
            f"got {features.dtype} in {features.ndim}."
        )
    if labels.shape != features.shape[:-1] or labels.dtype != np.int64:
        raise InvalidInputError(
            f"Expected labels as int64 of shape {features.shape[:-1]}, "
            f"got {labels.dtype} of shape {labels.shape}."
        )
    if not features.size:
        raise InvalidInputError(
            f"Expected examples, got features of shape {features.shape}."
        )
    if labels.min() < 0:
        raise InvalidInputError("Expected every label to be 0 or more.")


def check_converges(numbers: ArrayLike) -> None:
    """Raises InvalidInputError if a number that a training computed is not finite."""
    if not np.all(np.isfinite(numbers)):
        raise InvalidInputError("Training diverged: choose a smaller learning rate.")
