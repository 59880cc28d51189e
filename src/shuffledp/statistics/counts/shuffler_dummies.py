"""The dummies of a shuffler that adds the noise of counts."""

import numpy as np

from shuffledp.accounting.counts.counts_parameters import CountsParameters
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.dummy_numbers import draw_dummies
from shuffledp.randomness import Rng
from shuffledp.shuffler.dummies import Dummies

# Of 4 or 8 bytes each.
_MOST_DUMMIES = 10**9


def dummies_of(parameters: CountsParameters, *, rng: Rng) -> Dummies:
    """Draws the dummies of one collection.

    Args:
        parameters: Of a collection whose noise the shuffler adds.
        rng: The only source of randomness.

    Raises:
        InvalidInputError: If devices draw the noise, or there were too many dummies.
    """
    if not parameters.noise_by_shuffler:
        raise InvalidInputError(
            "Expected a protocol with ShufflerNoise: devices draw the noise of this one."
        )
    mean = sum(group.buckets * group.noise.messages for group in parameters.groups)
    if mean > _MOST_DUMMIES:
        raise InvalidInputError(
            f"Expected at most {_MOST_DUMMIES:,} dummies in the mean, got {mean:,.0f}."
        )
    numbers = []
    for group in parameters.groups:
        assert isinstance(group.noise, ShufflerNoise)
        noise = group.noise
        drawn = draw_dummies(noise.decay, noise.dummies, group.buckets, rng=rng)
        numbers.append(drawn)
    per_bucket = np.concatenate(numbers)
    # Message 2 b is a + of bucket b.
    messages = np.repeat(2 * np.arange(per_bucket.size), per_bucket)
    answers = sum(group.most for group in parameters.groups)
    return Dummies(parameters.identity, messages, answers)
