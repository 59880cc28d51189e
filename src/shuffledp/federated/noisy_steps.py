"""Noisy mean gradient that a client sends in a step of shuffled gradient descent.

Each of the client's k gradients is clipped to norm C, and their mean gets normal noise of
deviation sigma per coordinate. A step is mu-GDP with mu = 2 C / (k sigma) for one example,
k times that for all of them, and sigma follows from the client's level.

Source: Balle, Wang (2018), Theorem 8, for sigma.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.exposure import Exposure
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.federated.clip_laplace_vectors import LARGEST, SMALLEST, check_clip
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.types import Floats


class Network(Protocol):
    """Interface of a model with per-example clipping, such as `ReluNetwork`."""

    def clipped_sum(
        self,
        weights: NDArray[np.float32],
        inputs: NDArray[np.float32],
        labels: NDArray[np.int64],
        clip: float,
    ) -> NDArray[np.float32]:
        """Returns the sum of examples' gradients, each of norm <= clip, shape (d,)."""
        ...


@dataclass(frozen=True)
class NoisySteps:
    """The Gaussian mechanism of every step; holds public parameters only.

    Attributes:
        clip: C, the largest norm of one example's gradient, in [1e-30, 1e30].
        examples: k, the examples of every client, >= 1.
        delta: One step is (level, delta)-private for one example, in [1e-100, 1).
        noise: Whether noise is added; without, nothing is certified.
    """

    clip: float
    examples: int
    delta: float
    noise: bool = True

    def __post_init__(self) -> None:
        check_clip(self.clip)
        check_whole(self.examples, "examples", least=1)
        delta = as_number(self.delta, "delta")
        if not 1e-100 <= delta < 1.0:
            raise InvalidInputError(f"Expected 1e-100 <= delta < 1, got {delta:g}.")

    @property
    def identity(self) -> Identity:
        """The identity of a step, with all parameters."""
        terms = {
            "clip": float(self.clip),
            "examples": int(self.examples),
            "delta": float(self.delta),
            "noise": self.noise,
        }
        return Identity.of("shuffled-sgd", "gaussian", terms, "agnostic")

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Raises CertificationError: only local guarantees hold (`sgd_guarantee`)."""
        del people
        raise CertificationError(
            "No central guarantee is certified: every step depends on the model that "
            "earlier ones left, and no amplification by the order of clients is proven "
            "for such steps."
        )

    def deviations(self, levels: Floats) -> Floats:
        """Returns the noise of one step, per coordinate of the mean gradient, shape (m,).

        Args:
            levels: Local budgets of one example in one step, from 0 to 700, shape (m,).

        Raises:
            InvalidInputError: If noise is out of the range of single precision.
        """
        # Replacing one example moves the mean by 2 C / k at most; E-APES prints 2 C / m
        # for m clients.
        # sigma = 2 C / (k mu), with mu from the exact calibration of the Gaussian
        # mechanism (Balle and Wang, Theorem 8).
        mu = sensitivity_per_deviation(levels, float(self.delta))
        sigmas: Floats = 2.0 * float(self.clip) / self.examples / mu
        if not (sigmas.min() >= SMALLEST and sigmas.max() <= LARGEST):
            raise InvalidInputError(
                f"Expected a clip, levels and a delta for which the noise is from "
                f"{SMALLEST:g} to {LARGEST:g}, got {sigmas.min():g} to {sigmas.max():g}."
            )
        return sigmas if self.noise else np.zeros_like(sigmas)

    def send(
        self,
        network: Network,
        weights: NDArray[np.float32],
        inputs: NDArray[np.float32],
        labels: NDArray[np.int64],
        *,
        deviation: float,
        rng: np.random.Generator,
    ) -> NDArray[np.float32]:
        """Returns a client's mean gradient, clipped and noisy, shape (d,).

        Args:
            network: The model.
            weights: Of the model, shape (d,).
            inputs: Of the client's k examples, shape (k, p).
            labels: Their classes, shape (k,).
            deviation: Of the client's level, from `deviations`.
            rng: A simulation's: the noise is in single precision.
        """
        if len(labels) != self.examples:
            raise InvalidInputError(f"Expected {self.examples} examples of a client.")
        mean_gradient = network.clipped_sum(weights, inputs, labels, float(self.clip))
        mean_gradient /= np.float32(self.examples)
        if self.noise:
            noise = rng.standard_normal(len(mean_gradient), dtype=np.float32)
            mean_gradient += np.float32(deviation) * noise
        return mean_gradient
