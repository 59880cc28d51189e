"""Families of noise for one question, which a planner compares at equal guarantees.

A family has one number that a target decides: the mean of Poisson noise, or the decay
parameter e' = -log p of geometric noise. The others follow from the people, the buckets
and the size of reports: the more pairs hide the + messages, the smaller the variance.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.flood_window import LARGEST_FLOOD
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise, enough_dummies
from shuffledp.accounting.counts.slot_noise import SlotNoise

# Messages of a report, if no number is asked for.
USUAL_MESSAGES = 16
# Pairs per bucket beyond which more hardly reduce the variance, times epsilon^1.2.
_ENOUGH_PAIRS = 4000.0
# Of slots, fewer suffice: their jumps are of several sizes.
_ENOUGH_IN_SLOTS = 1500.0
# The part of all slots that jumps may take: with more, too few are left for a bucket.
_FULL = 0.4
# Jumps of a slot in the buckets that change.
_MOST_PER_SLOT = 0.24
# Of a negative binomial number of pairs, the best at most sizes.
_SHAPE = 10.0
# Jumps shorter than this times the sensitivity over epsilon hide no answer.
_LEAST_JUMP = 2.5
_LONGEST = 64
# Of delta, for the tails that a shuffler's dummies lack: less hardly costs more dummies.
_TAILS = 0.01


@dataclass(frozen=True)
class NoiseFamily:
    """Noise with one free number.

    Attributes:
        name: For people.
        kind: "poisson", "geometric", "slots" or "shuffler".
        pairs: Mean pairs per bucket of geometric noise.
        slots: Slots of all honest people together.
        longest: Messages of a slot.
        most: Answers of a person, for noise of the shuffler.
        delta: That targets allow, for noise of the shuffler.
    """

    name: str
    kind: str
    pairs: float = 0.0
    slots: int = 0
    longest: int = 0
    most: int = 1
    delta: float = 0.0

    def noise(self, size: float) -> Noise:
        """Returns the noise of this size, which is about its standard deviation.

        Args:
            size: Above 0; the variance rises with it.
        """
        if self.kind == "poisson":
            return PoissonNoise(size**2)
        # Discrete Laplace noise of parameter e' has a deviation of about sqrt 2 / e'.
        decay = math.exp(-math.sqrt(2.0) / size)
        if self.kind == "shuffler":
            tails = _TAILS * self.delta
            return ShufflerNoise(
                decay, enough_dummies(decay, changes=self.most, delta=tails)
            )
        if self.kind == "geometric":
            return GeometricNoise(decay, self.pairs, _SHAPE)
        return SlotNoise(self.slots, decay, self.longest, self.pairs)


def noise_families(
    *, num_honest: int, buckets: int, most: int, epsilon: float, max_messages: int
) -> Iterator[NoiseFamily]:
    """Yields the families whose reports are small enough.

    Args:
        num_honest: People who surely add noise.
        buckets: d.
        most: s, the most buckets of a person.
        epsilon: The smallest target.
        max_messages: Messages of a report: in the mean where sizes vary, and exactly
            where they do not.
    """
    # A power of the smallest targets would be too large.
    wider = max(min(epsilon, 4.0), 1e-100) ** -1.2
    # With one bucket, the size of a report would tell the shuffler the answer.
    if buckets > 1:
        yield NoiseFamily("Poisson noise", "poisson")
        # Single messages take 2 / e' of a bucket; among few pairs, e' is epsilon / (4 s).
        room = (max_messages - most) * num_honest / buckets - 8.0 * most / epsilon
        pairs = min(0.5 * room, _ENOUGH_PAIRS * wider, LARGEST_FLOOD)
        if pairs > 1.0:
            yield NoiseFamily("geometric noise", "geometric", pairs=pairs)
    changing = 1 if buckets == 1 else 2 * most
    # One long slot, or two, where few people share many buckets.
    for each in (1, 2):
        longest_slot = min((max_messages - most) // each, _LONGEST)
        if longest_slot < max(_LEAST_JUMP * changing / epsilon, 2.0):
            return
        total = each * num_honest
        jumps = min(_FULL * total / buckets, _MOST_PER_SLOT * total / changing)
        jumps -= 2.0 * math.log(1.0 + 2.0 * most / epsilon)
        pairs = min(jumps * (longest_slot // 2 + 1) / 2.0, _ENOUGH_IN_SLOTS * wider)
        if pairs > 1.0:
            slot = "slot" if each == 1 else "slots"
            yield NoiseFamily(
                f"{each} {slot} of {longest_slot} messages",
                "slots",
                pairs=pairs,
                slots=total,
                longest=longest_slot,
            )
