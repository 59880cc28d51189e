"""Sixteen randomizers with less privacy than they state; one fails too rarely to be seen.

In most of them each message alone has the stated distribution, and each returns the cover
of a correct mechanism, as a third-party class with its own `covers` may.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp import KRandomizedResponse, Population, UnaryEncoding
from shuffledp.cover import Cover
from shuffledp.types import Floats, Ints


class FixedSeed(KRandomizedResponse):
    """Creates a generator with the same seed in each call."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        return super().randomize(values, epsilons, rng=np.random.default_rng(7))


_GENERATOR = np.random.default_rng(11)


class OwnGenerator(KRandomizedResponse):
    """Draws from a global generator instead of the caller's."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        return super().randomize(values, epsilons, rng=_GENERATOR)


class Memoized(KRandomizedResponse):
    """Repeats its draws of the first batch of each size."""

    seeds: dict[int, int] = {}  # noqa: RUF012

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        size = np.asarray(values).size
        seed = self.seeds.setdefault(size, int(rng.integers(0, 2**62, size=1)[0]))
        return super().randomize(values, epsilons, rng=np.random.default_rng(seed))


class PlainWhenAlone(KRandomizedResponse):
    """Sends the value itself if the batch is one person."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        sent = super().randomize(values, epsilons, rng=rng)
        return np.asarray(values) if sent.size == 1 else sent


class PlainWhenTwoValues(KRandomizedResponse):
    """Sends values themselves if a batch holds exactly two."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        sent = super().randomize(values, epsilons, rng=rng)
        return np.asarray(values) if np.unique(values).size == 2 else sent


class PlainWhenOrdered(KRandomizedResponse):
    """Sends values themselves if they are in ascending order."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        sent = super().randomize(values, epsilons, rng=rng)
        steps = np.diff(np.asarray(values))
        ordered = bool(np.all(steps >= 0) and np.any(steps > 0))
        return np.asarray(values) if ordered else sent


class PlainCategory(KRandomizedResponse):
    """Sends one category without noise, and all others correctly."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        sent = super().randomize(values, epsilons, rng=rng)
        plain = 2 if self.num_categories == 4 else 4
        return np.where(np.asarray(values) == plain, plain, sent)


class PlainAfterTwentyCalls(KRandomizedResponse):
    """Sends values themselves from the twenty-first call on."""

    calls: list[int] = []  # noqa: RUF012

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        self.calls.append(1)
        sent = super().randomize(values, epsilons, rng=rng)
        return np.asarray(values) if len(self.calls) > 20 else sent


class OneInFiveThousand(KRandomizedResponse):
    """Sends one message in 5,000 without noise."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        sent = super().randomize(values, epsilons, rng=rng)
        return np.where(rng.random(sent.size) < 1 / 5_000, values, sent)


class _Response(KRandomizedResponse):
    """Correct, in two steps: who ignores their value, and their message."""

    def lies(self, epsilons: Floats, *, rng: Any) -> NDArray[np.bool_]:
        gamma = self.drawn(epsilons)[0]
        return np.asarray(rng.random(gamma.size) < gamma)

    def lie(self, values: Ints, *, rng: Any) -> Ints:
        return np.asarray(rng.integers(0, self.num_categories, size=values.size))

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Any) -> Ints:
        data, levels = np.asarray(values), np.asarray(epsilons, dtype=np.float64)
        lies = self.lies(levels, rng=rng)
        return np.where(lies, self.lie(data, rng=rng), data)


class PairsShareDraws(_Response):
    """Draws once for each two neighbors of a level."""

    def lies(self, epsilons: Floats, *, rng: Any) -> NDArray[np.bool_]:
        draws = np.repeat(rng.random(epsilons.size // 2 + 1), 2)[: epsilons.size]
        return np.asarray(draws < self.drawn(epsilons)[0])


class Quotas(_Response):
    """Randomizes exactly the expected number of people of each level."""

    def lies(self, epsilons: Floats, *, rng: Any) -> NDArray[np.bool_]:
        lies = np.zeros(epsilons.size, dtype=np.bool_)
        for level in np.unique(epsilons):
            people = rng.permutation(np.flatnonzero(epsilons == level))
            gamma = float(self.drawn(np.array([level]))[0][0])
            # The fractional part is rounded at random.
            number = int(people.size * gamma + rng.random())
            lies[people[:number]] = True
        return lies


class PreviousValue(_Response):
    """Sends the previous person's value instead of a uniform one."""

    def lie(self, values: Ints, *, rng: Any) -> Ints:
        return np.roll(values, 1)


class PlainMiddleBits(UnaryEncoding):
    """Sends all bits except the first and the last without noise."""

    def randomize(
        self, values: Ints, epsilons: Floats, *, rng: Any
    ) -> NDArray[np.bool_]:
        sent = super().randomize(values, epsilons, rng=rng)
        plain = np.asarray(values)[:, None] == np.arange(self.num_categories)
        sent[:, 1:-1] = plain[:, 1:-1]
        return sent


class BitsShareDraws(UnaryEncoding):
    """Flips the third bit whenever the second one is flipped."""

    def randomize(
        self, values: Ints, epsilons: Floats, *, rng: Any
    ) -> NDArray[np.bool_]:
        sent = super().randomize(values, epsilons, rng=rng)
        bits = np.asarray(values)[:, None] == np.arange(self.num_categories)
        sent[:, 2] = (sent[:, 1] ^ bits[:, 1]) ^ bits[:, 2]
        return sent


class GammaOfDelta(KRandomizedResponse):
    """States larger blankets for small deltas."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        return right if delta >= 1e-7 else _more_gamma(right)


class GammaOfCrowd(KRandomizedResponse):
    """States larger blankets in large populations."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        right = super().covers(victims, crowd, delta=delta)
        return right if crowd.num_users < 10_000 else _more_gamma(right)


def _more_gamma(covers: list[tuple[Cover, ...]]) -> list[tuple[Cover, ...]]:
    return [
        tuple(
            replace(
                cover,
                blanket_probabilities=np.minimum(1.2 * cover.blanket_probabilities, 1),
            )
            for cover in victim
        )
        for victim in covers
    ]


def wrong_randomizers() -> dict[str, tuple[Any, str | None]]:
    """Returns randomizers and the failing check, if one fails, by their defect."""
    return {
        "noise from a fixed seed": (FixedSeed(4), "independence"),
        "a generator of its own": (OwnGenerator(4), "independence"),
        "draws that are kept": (Memoized(4), "independence"),
        "plain for a single person": (PlainWhenAlone(4), "independence"),
        "plain if a batch holds two values": (PlainWhenTwoValues(4), "independence"),
        "plain if values come in order": (PlainWhenOrdered(4), "independence"),
        "value 2 of 4 plain": (PlainCategory(4), "drawn law"),
        "category 4 of 8 plain": (PlainCategory(8), "drawn law"),
        "plain after 20 calls": (PlainAfterTwentyCalls(4), "independence"),
        "pairs share draws": (PairsShareDraws(4), "independence"),
        "quotas instead of draws": (Quotas(4), "independence"),
        "the previous person's value": (PreviousValue(4), "independence"),
        "middle bits plain": (PlainMiddleBits(8), "drawn law"),
        "gamma depends on delta": (GammaOfDelta(4), "covers"),
        "gamma depends on the crowd": (GammaOfCrowd(4), "covers"),
        "1 message in 5,000 plain": (OneInFiveThousand(4), None),
    }
