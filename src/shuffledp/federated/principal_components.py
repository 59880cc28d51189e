"""The directions in which features vary most: the first layer of E-APES's network.

The directions are computed from features without noise: no guarantee of training covers
them. They must come from public data; taken from the users' own pictures, as in the
paper's figure, they reveal something about all users that no accounting covers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Mean and leading directions of a data set, which project features.

    Attributes:
        mean: Of the features, shape (p,).
        directions: Orthonormal, the one of largest variance first, shape (p, k).
    """

    mean: Floats
    directions: Floats

    def project(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the coordinates along the directions, not rescaled, shape (N, k).

        Args:
            features: Shape (N, p).

        Raises:
            InvalidInputError: If the number of features differs from that at `fit`.
        """
        if features.ndim != 2 or features.shape[1] != len(self.mean):
            raise InvalidInputError(
                f"Expected features of shape (N, {len(self.mean)}), "
                f"got {features.shape}."
            )
        directions = self.directions.astype(np.float32)
        # The mean is projected in double precision, and subtracted after the product:
        # no centered copy of the features is made.
        shift = (self.mean @ self.directions).astype(np.float32)
        return features @ directions - shift


def fit(features: NDArray[np.float32], num_components: int = 60) -> PrincipalComponents:
    """Computes the directions of largest variance.

    Args:
        features: Public, shape (N, p).
        num_components: k, in [1, p].

    Raises:
        InvalidInputError: If the shape or k is out of range, or a number not finite.
    """
    if features.ndim != 2 or not 1 <= num_components <= features.shape[1]:
        raise InvalidInputError(
            f"Expected features of shape (N, p) and from 1 to p components, got "
            f"{features.shape} and {num_components}."
        )
    if not len(features) or not np.all(np.isfinite(features)):
        raise InvalidInputError("Expected finite features of at least one person.")
    mean = features.mean(axis=0, dtype=np.float64)
    # Single precision, centered: about 1e-6 of the largest variance, while the smallest of
    # MNIST's 60 is 1e-3 of it.
    centered = features - mean.astype(np.float32)
    covariance = (centered.T @ centered).astype(np.float64) / len(features)
    _, vectors = np.linalg.eigh(covariance)
    directions: Floats = vectors[:, ::-1][:, :num_components]
    # A direction and its opposite are equally good; the sign must not depend on LAPACK.
    largest_features = np.argmax(np.abs(directions), axis=0)
    signs = np.sign(directions[largest_features, np.arange(num_components)])
    return PrincipalComponents(mean, directions * signs)
