"""Devices' tables for the noise of counts, and whole collections' noise drawn at once."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.counts.counts_parameters import CountGroup, CountsParameters
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.bucket_messages import BucketGroup, BucketMessages
from shuffledp.randomizers.dummy_numbers import draw_dummies
from shuffledp.randomizers.jump_table import JumpTable


def bucket_messages(parameters: CountsParameters) -> BucketMessages:
    """Returns the randomizer of one of the `honest` people."""
    return BucketMessages(
        tuple(_bucket_group(group, parameters.honest) for group in parameters.groups),
        parameters.cap,
    )


def _bucket_group(group: CountGroup, num_honest: int) -> BucketGroup:
    noise = group.noise
    if isinstance(noise, ShufflerNoise):
        no_sizes = np.zeros(0, dtype=np.int64)
        no_jumps = JumpTable(no_sizes, no_sizes, np.zeros(0), mean=0.0)
        return BucketGroup(group.buckets, group.most, no_jumps)
    jumps, slots = noise.jumps(), _slots(group, num_honest)
    by_kind = jumps.plus, jumps.minus, jumps.pairs
    weights = np.concatenate(by_kind)
    sizes = np.concatenate([np.arange(1, rates.size + 1) for rates in by_kind])
    first_minus, first_pair = jumps.plus.size, jumps.plus.size + jumps.minus.size
    plus, minus = sizes.copy(), sizes.copy()
    plus[first_minus:first_pair] = 0
    minus[:first_minus] = 0
    # The most frequent first: most jumps are then decided by few draws.
    order = np.lexsort((minus, plus, weights))[::-1]
    weights, plus, minus = weights[order], plus[order], minus[order]
    table = JumpTable(
        plus=plus.astype(np.int64),
        minus=minus.astype(np.int64),
        weights=weights.astype(np.float64),
        mean=_mean_jumps(group, num_honest),
        slots=slots,
        width=noise.longest if isinstance(noise, SlotNoise) else 0,
    )
    return BucketGroup(group.buckets, group.most, table)


def check_jumps(parameters: CountsParameters) -> None:
    """Raises InvalidInputError if devices cannot draw this noise."""
    for group in parameters.groups:
        if not isinstance(group.noise, ShufflerNoise):
            _mean_jumps(group, parameters.honest)


def _mean_jumps(group: CountGroup, num_honest: int) -> float:
    """Returns jumps of a person in the mean, or the probability that a slot holds one."""
    noise = group.noise
    assert not isinstance(noise, ShufflerNoise)
    per_person = group.buckets * noise.jumps().total / num_honest
    slots = _slots(group, num_honest)
    if slots and per_person > slots:
        raise InvalidInputError(
            f"Expected more slots: {per_person:g} jumps of a person do not fit into "
            f"{slots}."
        )
    return per_person / slots if slots else per_person


def _slots(group: CountGroup, num_honest: int) -> int:
    """Returns the slots of a person; 0 if the number of jumps is Poisson."""
    noise = group.noise
    return noise.slots // num_honest if isinstance(noise, SlotNoise) else 0


def draw_noise(
    group: CountGroup, *, num_users: int, num_honest: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draws the noise messages of `num_users` people together, shape (buckets, 2).

    Columns are + and -. The distribution is that of the devices' messages, at a cost of
    the number of buckets.

    Args:
        group: Whose noise is that of `num_honest` people.
        num_users: How many people send noise.
        num_honest: How many the noise is made for.
        rng: A simulation's generator.
    """
    d, noise, factor = group.buckets, group.noise, num_users / num_honest
    drawn = np.zeros((d, 2), dtype=np.int64)
    if isinstance(noise, ShufflerNoise):
        drawn[:, 0] = draw_dummies(noise.decay, noise.dummies, d, rng=rng)
        return drawn
    if isinstance(noise, GeometricNoise):
        shape = noise.surplus * factor
        # Shares of independent people add up: the shapes of negative binomial numbers
        # do, too.
        drawn[:] = rng.negative_binomial(shape, 1.0 - noise.decay, size=(d, 2))
        if noise.shape == float("inf"):
            pairs = rng.poisson(noise.pairs * factor, size=d)
        else:
            stop = noise.shape / (noise.shape + noise.pairs)
            pairs = rng.negative_binomial(noise.shape * factor, stop, size=d)
        drawn += pairs[:, None]
        return drawn
    if not isinstance(noise, SlotNoise):
        drawn[:, 0] = rng.poisson(noise.mean * factor, size=d)
        return drawn
    table = _bucket_group(group, num_honest).jumps
    # Every slot of every person holds a jump with the same probability, in a uniform
    # bucket.
    total = rng.binomial(table.slots * num_users, table.mean)
    of_kinds = rng.multinomial(total, table.weights / table.weights.sum())
    for kind, number in enumerate(of_kinds.tolist()):
        bucket_hits = rng.multinomial(number, np.full(d, 1.0 / d))
        drawn[:, 0] += bucket_hits * table.plus[kind]
        drawn[:, 1] += bucket_hits * table.minus[kind]
    return drawn
