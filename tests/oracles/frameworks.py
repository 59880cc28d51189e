"""Third-party frameworks and devices, for tests of their certificates."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


class PlainNumbers:
    """Sends values without noise, in thousandths; has no cover."""

    mechanism = "plain"
    low, high = -10.0, 10.0

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {}

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        del epsilons, rng
        thousandths: Ints = np.rint(1000.0 * np.asarray(values)).astype(np.int64)
        return thousandths


class NoiselessClipLaplace(ClipLaplace):
    """Overrides `randomize`, and inherits name and cover."""

    __slots__ = ()

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        return PlainNumbers().randomize(values, epsilons, rng=rng)


@dataclass(frozen=True)
class Mine:
    """Runs any device on every coordinate."""

    device: Any
    name: str = "mine"
    messages: range = range(-10_000, 10_001)
    parameters: dict[str, int | float | str] = field(default_factory=dict)

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        del levels, rng
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        return totals / 1000.0 / people.num_users


@dataclass(frozen=True)
class Signs:
    """Sends one bit of a coordinate's sign, as in signSGD."""

    name: ClassVar[str] = "signs"
    messages: ClassVar[range] = range(2)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {}

    @property
    def device(self) -> OneBit:
        return OneBit(-1.0, 1.0)

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        del levels, rng
        return np.sign(updates)

    def estimate(self, totals: Floats, people: Population) -> Floats:
        slope = float(np.tanh(people.epsilons / 2.0) @ people.counts)
        return (2.0 * totals - people.num_users) / slope


@dataclass(frozen=True)
class OnlyTheLargest(Signs):
    """Sends 1 except in the first coordinate, which depends on all others."""

    coupling: ClassVar[str] = "the first message is what all of them agree on"

    def couple(
        self, messages: NDArray[Any], levels: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        del levels, rng
        coupled = np.ones_like(messages)
        coupled[:, 0] = messages.all(axis=1)
        return coupled
