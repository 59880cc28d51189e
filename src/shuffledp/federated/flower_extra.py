"""Optional import of Flower, and conversion of its records to flat arrays."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from flwr.app import ArrayRecord
    from flwr.serverapp.strategy import FedAvg as FedAvg

    HAS_FLOWER = True
else:
    try:
        with warnings.catch_warnings():
            # Users cannot change the deprecated calls of Flower's own dependencies.
            warnings.simplefilter("ignore", DeprecationWarning)
            from flwr.serverapp.strategy import FedAvg

        HAS_FLOWER = True
    except ImportError:
        HAS_FLOWER = False

        class FedAvg:
            """Placeholder of the base class, so that modules can be imported."""


def require_flower() -> None:
    """Raises MissingExtraError, with how to install Flower, if it is not installed."""
    if not HAS_FLOWER:
        raise MissingExtraError(
            "Training with Flower needs flwr: install shuffledp[federated], or use "
            "shuffledp train, which needs nothing."
        )


def flat_weights(arrays: "ArrayRecord") -> NDArray[np.float32]:
    """Returns the weights of a model, its arrays one after the other, shape (d,).

    Raises:
        InvalidInputError: If there is no array, or one is not in single precision.
    """
    parts: list[NDArray[Any]] = [array.numpy() for array in arrays.values()]
    if not parts or any(part.dtype != np.float32 for part in parts):
        raise InvalidInputError("Expected a model of one or more float32 arrays.")
    return np.concatenate([part.ravel() for part in parts])


def shaped_weights(flat: NDArray[np.float32], arrays: "ArrayRecord") -> "ArrayRecord":
    """Returns flat weights, shape (d,), under the names and in the shapes of `arrays`."""
    from flwr.app import Array, ArrayRecord

    ends = np.cumsum([np.prod(array.shape, dtype=int) for array in arrays.values()])
    parts = np.split(flat, ends[:-1])
    return ArrayRecord(
        {
            name: Array(part.reshape(array.shape))
            for (name, array), part in zip(arrays.items(), parts, strict=True)
        }
    )
