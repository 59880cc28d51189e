"""Interfaces of training frameworks and of their devices, and checks of both.

A framework is an object with

* an encoder of an update before anything is randomized (`encode`),
* the randomizer of every coordinate (`device`), and
* an estimator of the mean update from the sums of all messages (`estimate`).

It does not randomize: `TrainingRound` runs `device` on every coordinate alone, and hands
the same object to the accountant. So for any `encode`, given its result the coordinates'
messages are independent, each has the distribution that the device's cover bounds, and
shuffles of coordinates compose. A framework that processes all randomized coordinates
together - to select among them, say - is *coupled* (`Coupled`). It sends a function of
messages of its device, so that their local guarantees hold for it, too; but coordinates
are no longer independent, and nothing central follows from the cover of one.

There is no list of certified frameworks: a device without a cover gets no certificate,
under any name.
"""

import inspect
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints

_NEEDED = ("name", "parameters", "device", "messages", "encode", "estimate")


class Device(Protocol):
    """Interface of a randomizer of numbers, as devices run it on one coordinate.

    For a certificate it must be a `LocalRandomizer` (`shuffledp.cover`), too.
    """

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        ...

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        ...

    @property
    def low(self) -> float:
        """Smallest possible value; smaller ones are clipped to it."""
        ...

    @property
    def high(self) -> float:
        """Largest possible value; larger ones are clipped to it."""
        ...

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message, a whole number, for each value and budget, shape (n,)."""
        ...


class Framework(Protocol):
    """Interface of an encoder and estimator of updates around one randomizer."""

    @property
    def name(self) -> str:
        """The framework's name in certificates."""
        ...

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, from which it can be rebuilt."""
        ...

    @property
    def device(self) -> Device:
        """The randomizer of every single coordinate."""
        ...

    @property
    def messages(self) -> range:
        """All messages of a coordinate; the device's are clipped to its ends."""
        ...

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the numbers to randomize, shape (k, d).

        Args:
            updates: Finite, shape (k, d).
            levels: Local budgets of a message in nats, shape (k,).
            rng: The only source of randomness.
        """
        ...

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Returns the estimated mean update, shape (d,).

        Args:
            totals: The sum of the messages of each coordinate, shape (d,).
            people: The population that sent them.
        """
        ...


class Coupled(Framework, Protocol):
    """Interface of a framework whose messages depend on other coordinates'."""

    @property
    def coupling(self) -> str:
        """The kind of dependence, as a sentence without its full stop."""
        ...

    def couple(
        self, messages: NDArray[Any], levels: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """Returns the messages to send, given all randomized coordinates, shape (k, d).

        Args:
            messages: Of the device, shape (k, d); they may be overwritten.
            levels: Local budgets, shape (k,).
            rng: The only source of randomness.
        """
        ...


def check_framework(framework: object) -> None:
    """Raises InvalidInputError unless this is an instance of a framework."""
    kind = type(framework).__name__
    needed_names = (*_NEEDED, "coupling") if hasattr(framework, "couple") else _NEEDED
    # Not by `hasattr`: it runs properties, which may return a new device on every call.
    nothing = object()
    missing = [
        name
        for name in needed_names
        if inspect.getattr_static(framework, name, nothing) is nothing
    ]
    if isinstance(framework, type) or missing:
        raise InvalidInputError(
            f"Expected a framework, such as ClipLaplaceVectors(0.1), got {kind}"
            + (f" without {', '.join(missing)}." if missing else ".")
        )
    # The certificate is of `device`: a method of the framework would run unseen by it.
    if hasattr(framework, "randomize"):
        raise InvalidInputError(
            f"Expected a framework that does not randomize by itself, got {kind}: what "
            "devices run on a coordinate is its `device`, and nothing else."
        )


def why_not_central(device: Device) -> str:
    """Returns why no central guarantee is proven; empty if one is."""
    if not isinstance(device, LocalRandomizer):
        return f"{device.mechanism} hands over no cover, without which there is none"
    return _inherited_proof(device)


def why_not_local(device: Device) -> str:
    """Returns why no local guarantee is proven; empty if one is."""
    if not (hasattr(device, "local_delta") and hasattr(device, "delta_local")):
        return f"{device.mechanism} does not say what a message tells"
    return _inherited_proof(device)


def _inherited_proof(device: Device) -> str:
    """Returns why a proof may not hold: its class inherits it from another one."""
    # A subclass that overrides `randomize` only would be certified as its parent.
    own_attributes = vars(type(device)) | getattr(device, "__dict__", {})
    if "mechanism" in own_attributes:
        return ""
    return (
        f"{type(device).__name__} inherits the proof of {device.mechanism}, and may draw "
        "something else"
    )
