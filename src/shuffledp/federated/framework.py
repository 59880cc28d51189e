"""What a framework of training brings along, and what of it can be certified.

A framework is an object. It says

* what a device makes of its update before anything is randomized (`encode`),
* which randomizer every coordinate passes (`device`), and
* what the sums of all messages tell about the mean update (`estimate`).

It does not randomize: `TrainingRound` runs `device` on every coordinate alone, and hands
the same object to the accountant. So whatever `encode` does, given its result the
coordinates' messages are independent, each has the law that the device's cover speaks of,
and shuffles of coordinates compose. A framework that has more to do once all coordinates
are randomized - to select among them, say - is *coupled* (`Coupled`). What it sends is a
function of messages of its device, so that their local guarantees hold for it, too; but
coordinates are no longer independent, and nothing central follows from the cover of one.

There is no list of frameworks that are certified: a device that hands over no cover gets no
certificate, whatever its framework is called.
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
    """A randomizer of numbers, as devices run it on one coordinate.

    For a certificate it is a `LocalRandomizer` (`shuffledp.cover`), too.
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
    """What devices send of an update, and what it tells."""

    @property
    def name(self) -> str:
        """How certificates call it."""
        ...

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, from which it can be made again."""
        ...

    @property
    def device(self) -> Device:
        """What every coordinate passes on the device, alone."""
        ...

    @property
    def messages(self) -> range:
        """All messages of a coordinate; beyond its ends they are sent as the ends."""
        ...

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns what is randomized, shape (k, d).

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
            people: Who sent them.
        """
        ...


class Coupled(Framework, Protocol):
    """A framework in which a message depends on those of other coordinates."""

    @property
    def coupling(self) -> str:
        """How, as a sentence without its full stop."""
        ...

    def couple(
        self, messages: NDArray[Any], levels: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """Returns what is sent, given all randomized coordinates, shape (k, d).

        Args:
            messages: Of the device, shape (k, d); they may be overwritten.
            levels: Local budgets, shape (k,).
            rng: The only source of randomness.
        """
        ...


def check_framework(framework: object) -> None:
    """Raises InvalidInputError unless this object can be trained with."""
    kind = type(framework).__name__
    needed = (*_NEEDED, "coupling") if hasattr(framework, "couple") else _NEEDED
    # Not by `hasattr`: a property could show one device now and another one later.
    nothing = object()
    missing = [
        name
        for name in needed
        if inspect.getattr_static(framework, name, nothing) is nothing
    ]
    if isinstance(framework, type) or missing:
        raise InvalidInputError(
            f"Expected a framework, such as ClipLaplaceVectors(0.1), got {kind}"
            + (f" without {', '.join(missing)}." if missing else ".")
        )
    if hasattr(framework, "randomize"):
        raise InvalidInputError(
            f"Expected a framework that does not randomize by itself, got {kind}: what "
            "devices run on a coordinate is its `device`, and nothing else."
        )


def why_not_central(device: Device) -> str:
    """Returns why nothing central is proven of a device; an empty text if something is."""
    if not isinstance(device, LocalRandomizer):
        return f"{device.mechanism} hands over no cover, without which there is none"
    return _inherited(device)


def why_not_local(device: Device) -> str:
    """Returns why nothing local is proven of a device; an empty text if something is."""
    if not (hasattr(device, "local_delta") and hasattr(device, "delta_local")):
        return f"{device.mechanism} does not say what a message tells"
    return _inherited(device)


def _inherited(device: Device) -> str:
    """Tells of a device that has a name, and so a proof, of another class only."""
    own = vars(type(device)) | getattr(device, "__dict__", {})
    if "mechanism" in own:
        return ""
    return (
        f"{type(device).__name__} inherits the proof of {device.mechanism}, and may draw "
        "something else"
    )
