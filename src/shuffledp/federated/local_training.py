"""Local training on a device: a few steps of gradient descent.

A client minimizes F(w) + (mu / 2) |w - w0|^2 from the received model w0: F is the mean
loss of their own examples, and mu > 0 keeps their model near those of the others. The
update is the distance from w0, per step and learning rate; for one step, the gradient.

Source: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith (2020), "Federated optimization in
heterogeneous networks" (FedProx).
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients, check_converges


class Model(Protocol):
    """Interface of a model that is trained locally, such as `SoftmaxRegression`."""

    def gradients(
        self, weights: NDArray[np.float32], clients: Clients
    ) -> NDArray[np.float32]:
        """Returns each client's gradient, shape (k, d), at weights (d,) or (k, d)."""
        ...


@runtime_checkable
class MultiStepModel(Model, Protocol):
    """Interface of a model that computes several steps faster than one by one."""

    def descend(
        self,
        weights: NDArray[np.float32],
        clients: Clients,
        *,
        steps: int,
        rate: np.float32,
        shrink: np.float32,
    ) -> NDArray[np.float32]:
        """Returns each client's (w0 - w) / rate, shape (k, d), from weights w0 (d,)."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTraining:
    """Gradient descent of every client in a round; holds public parameters only.

    Attributes:
        steps: Number of steps of a client, >= 1.
        learning_rate: The length of a step per gradient, > 0.
        proximal: mu, >= 0; without effect for a single step.
    """

    steps: int = 1
    learning_rate: float = 0.1
    proximal: float = 0.0

    def __post_init__(self) -> None:
        rate = as_number(self.learning_rate, "learning_rate")
        proximal = as_number(self.proximal, "proximal")
        check_whole(self.steps, "steps", least=1)
        if not 0.0 < rate < np.inf:
            raise InvalidInputError(f"Expected a learning rate > 0, got {rate:g}.")
        if not 0.0 <= proximal < np.inf:
            raise InvalidInputError(
                f"Expected a finite proximal >= 0, got {proximal:g}."
            )

    # An overflow is reported once, by `check_converges`.
    @np.errstate(over="ignore", invalid="ignore")
    def updates(
        self, model: Model, weights: NDArray[np.float32], clients: Clients
    ) -> NDArray[np.float32]:
        """Returns (w0 - w) / (steps * learning_rate) of each client, shape (k, d).

        It needs the memory of about three such arrays: pass clients in slices.

        Args:
            model: The model, whose loss is minimized.
            weights: w0, the same for all clients, shape (d,).
            clients: k clients.

        Raises:
            InvalidInputError: If the weights have another shape, or an update is not
                finite, since steps, or those of earlier rounds, were too long.
        """
        if weights.ndim != 1:
            raise InvalidInputError(
                f"Expected weights in 1 dimension, got {weights.ndim}."
            )
        rate = np.float32(self.learning_rate)
        shrink = np.float32(1.0 - self.learning_rate * self.proximal)
        # The distance from w0 in learning rates: w itself would lose digits to w0 in
        # single precision.
        if isinstance(model, MultiStepModel):
            traveled = model.descend(
                weights, clients, steps=self.steps, rate=rate, shrink=shrink
            )
        else:
            traveled = model.gradients(weights, clients)
            for _ in range(self.steps - 1):
                # The proximal term's gradient is mu (w - w0) = -mu rate traveled.
                gradients = model.gradients(weights - rate * traveled, clients)
                traveled *= shrink
                traveled += gradients
        if self.steps > 1:
            traveled /= np.float32(self.steps)
        check_converges(traveled)
        return traveled
