"""Noise from a fixed number of slots per person: reports of constant size, nothing cut.

Every report has J slots. A slot is a *jump* in one bucket, each bucket equally
likely, or it is filled with dummies. A jump is j messages + , or j messages -, with
probabilities in the ratio p^j / j for j = 1, ..., `longest`, as geometric numbers have
them; or j pairs (+, -), each j = 1, ..., longest // 2 equally likely. So a slot takes
`longest` messages, and the numbers of jumps are binomial.

*Buckets are dependent*, as a slot jumps in one of them. Let c of d buckets change. Show
the adversary which slots jump into the d - c others, and how. The remaining slots are
independent: each jumps into one of the c, with the conditional probability, or holds
dummies, whose number follows from the other counts, as reports have one size. Let each of
them first choose one of the c, uniformly, and then jump into that with c times the
probability. That is the same distribution; show the choices, too. Given these, the c
buckets are independent. A bucket is chosen by at least mean - sqrt(2 mean log(1 / eta))
remaining slots, except with probability eta (Chernoff; it is `missing`), and more slots are
post-processing. So each bucket has the noise of that many slots, a compound binomial
number of + and of -.

*The distribution* of D = (+ minus -) and V = (number of -) is the inverse of its
characteristic function (1 + h)^m, by a fast Fourier transform. Mass beyond the range
wraps around; that and rounding errors (`jump_transform`) are `missing`.

*The attack* shows two buckets' D, whose joint distribution with all dependence is another
transform; the numbers V, which say a little about D, are left out.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.counts.jump_rates import JumpRates
from shuffledp.accounting.counts.jump_transform import (
    FAR,
    cells_of,
    rounding_error,
    turns_of,
)
from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.types import Complexes, Floats

# Jumps per slot of a bucket: (1 + h)^m then stays away from 0.
_MOST_PER_SLOT = 0.25
# As complex numbers, 256 MB.
_MOST_CELLS = 2**24
# Cells with less are left out: their errors exceed them.
_SMALL = 1e-17
_MOST_LONGEST = 64
_LARGEST = 1e6


@dataclass(frozen=True)
class SlotNoise:
    """Jumps of all honest people's slots.

    >>> import shuffledp as sdp
    >>> noise = sdp.SlotNoise(slots=100_000, decay=0.7, longest=8, pairs=800.0)
    >>> round(noise.variance, 2)
    12.51

    Attributes:
        slots: H J, of all honest people together.
        decay: p in (0, 1).
        longest: The messages of a slot, from 2 to 64.
        pairs: F, the mean number of pairs (+, -) per bucket, above 0.
        strength: Mean jumps of j messages + per bucket, and of -, over p^j / j; above 0.
    """

    slots: int
    decay: float
    longest: int
    pairs: float
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_whole(self.slots, "slots", least=1)
        check_whole(self.longest, "messages per slot", least=2)
        if self.longest > _MOST_LONGEST:
            raise InvalidInputError(
                f"Expected at most {_MOST_LONGEST} messages per slot, got {self.longest}."
            )
        for name, maximum in (
            ("decay", 1.0),
            ("pairs", _LARGEST),
            ("strength", _LARGEST),
        ):
            parameter = as_number(getattr(self, name), name)
            if not 0.0 < parameter < maximum:
                raise InvalidInputError(
                    f"Expected 0 < {name} < {maximum:g}, got {parameter}."
                )
            # Numbers of one type each: equal noise has equal identities.
            object.__setattr__(self, name, parameter)
        object.__setattr__(self, "slots", int(self.slots))
        object.__setattr__(self, "longest", int(self.longest))

    @property
    def single_rates(self) -> Floats:
        """Jumps of j messages + per bucket in the mean, as many -, shape (longest,)."""
        sizes = np.arange(1.0, self.longest + 1.0)
        rates: Floats = self.strength * self.decay**sizes / sizes
        return rates

    @property
    def pair_rates(self) -> Floats:
        """Jumps of j pairs per bucket in the mean, shape (longest // 2,)."""
        max_pairs = self.longest // 2
        return np.full(max_pairs, self.pairs / (max_pairs * (max_pairs + 1) / 2.0))

    def jumps(self) -> JumpRates:
        """See `CountNoise`."""
        single = self.single_rates
        return JumpRates(single, single, self.pair_rates, 0.0)

    @property
    def variance(self) -> float:
        """Variance of + minus -; a symmetric sum has that of its jumps."""
        sizes = np.arange(1.0, self.longest + 1.0)
        return float(2.0 * (self.single_rates * sizes**2).sum())

    @property
    def fourth_cumulant(self) -> float:
        """That of Poisson numbers of jumps, slightly more than that of the slots'."""
        sizes = np.arange(1.0, self.longest + 1.0)
        return float(2.0 * (self.single_rates * sizes**4).sum())

    @property
    def messages(self) -> float:
        """Mean number of noise messages in a bucket, dummies left out."""
        sizes = np.arange(1.0, self.longest + 1.0)
        return float(2.0 * (self.single_rates * sizes).sum()) + 2.0 * self.pairs

    def scaled(self, factor: float) -> "SlotNoise":
        """Returns the noise of `factor` times as many slots, which jump as often."""
        # As many slots per person as before: a whole number, but for rounding.
        slots = max(math.floor(self.slots * factor * (1.0 + 1e-13) + 1e-13), 1)
        part = slots / self.slots
        return replace(
            self,
            slots=slots,
            pairs=self.pairs * part,
            strength=self.strength * part,
        )

    def certified(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """See `CountNoise`.

        Raises:
            CertificationError: If there are too few slots for these jumps.
        """
        changing = min(times * (2 if moved else 1), buckets)
        pair = _slot_pair(self, buckets, changing)
        return BucketChange(pair.thinned(rate), moved, times)

    def attacked(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """Returns one of these changes, seen in the differences + minus - alone."""
        del buckets, times
        return BucketChange(_attacked(self, rate, moved), False, 1)


@lru_cache(maxsize=16)
def _slot_pair(noise: SlotNoise, buckets: int, changing: int) -> BucketPair:
    """Returns the pair of one of `changing` buckets, of `buckets` in all."""
    into_one = noise.jumps().total / noise.slots
    remaining = 1.0 - (buckets - changing) * into_one
    if remaining <= 0.0:
        raise CertificationError(
            f"Expected more slots: {buckets * into_one:.3g} jumps do not fit into one."
        )
    # Slots that do not jump elsewhere, and choose the bucket.
    mean = noise.slots * remaining / changing
    slots = noise.slots
    if changing < buckets or changing > 1:
        slots = math.floor((mean - math.sqrt(2.0 * mean * FAR)) * (1.0 - 1e-12))
    per_slot = changing * into_one / remaining
    _check_density(per_slot, slots)
    part = slots * per_slot / noise.jumps().total
    single, pairs = noise.single_rates * part, noise.pair_rates * part
    sizes, pair_sizes = np.arange(1, single.size + 1), np.arange(1, pairs.size + 1)
    differences = cells_of(
        np.concatenate([single, single]), np.concatenate([sizes, -sizes])
    )
    numbers = cells_of(
        np.concatenate([single, pairs]), np.concatenate([sizes, pair_sizes])
    )
    if differences * numbers > _MOST_CELLS:
        raise CertificationError("Expected less noise: its distribution is too wide.")
    w, v = np.arange(differences), np.arange(numbers // 2 + 1)
    # A jump of j messages - turns by w j - v j: a product for each j, all summed at once.
    against = turns_of(w, sizes, differences) * single
    exponent = against @ turns_of(v, -sizes, numbers).T
    exponent += (against.conj().sum(axis=1) - 2.0 * single.sum())[:, None]
    exponent += (turns_of(v, -pair_sizes, numbers) - 1.0) @ pairs
    # D is around 0 and V around its mean: both are moved to the middle.
    middle = round(float(single @ sizes + pairs @ pair_sizes))
    powers = np.exp(slots * log1p(exponent / slots))
    powers *= turns_of(w, np.array([-(differences // 2)]), differences)
    powers *= turns_of(v, np.array([middle - numbers // 2]), numbers).T
    masses = np.fft.irfft2(powers, s=(differences, numbers))
    terms = 2.0 * float(single.sum()) + float(pairs.sum())
    # Each term is off by a few roundings of itself, and each sum by one.
    rounding = 4.0 * terms * (2 * sizes.size + pair_sizes.size + 32.0)
    missing = rounding_error(masses, rounding) + 4.0 * math.exp(-FAR)
    missing += changing * math.exp(-FAR)
    return _with_one_more(masses, missing)


@lru_cache(maxsize=16)
def _attacked(noise: SlotNoise, rate: float, moved: bool) -> BucketPair:
    buckets = 2 if moved else 1
    _check_density(buckets * noise.jumps().total / noise.slots, noise.slots)
    single, sizes = noise.single_rates, np.arange(1, noise.longest + 1)
    cells = cells_of(np.concatenate([single, single]), np.concatenate([sizes, -sizes]))
    w = np.arange(cells)
    exponent_of_one: Complexes = (turns_of(w, sizes, cells).real - 1.0) @ (
        2.0 * single
    ) + 0j
    exponent = (
        exponent_of_one[:, None] + exponent_of_one[None, :]
        if moved
        else exponent_of_one[:, None]
    )
    middle = turns_of(w, np.array([-(cells // 2)]), cells)
    shift = middle * middle.T if moved else middle
    powers = np.exp(noise.slots * log1p(exponent / noise.slots)) * shift
    masses = np.fft.ifft2(powers).real if moved else np.fft.ifft(powers, axis=0).real
    rounding = 8.0 * buckets * float(single.sum()) * (sizes.size + 32.0)
    missing = rounding_error(masses, rounding) + 4.0 * math.exp(-FAR)
    return _with_one_more(masses, missing, rate=rate, moved=moved)


def _with_one_more(
    masses: Floats, missing: float, *, rate: float = 1.0, moved: bool = False
) -> BucketPair:
    """Returns the pair of a + more, which moves the first number by one.

    Args:
        masses: Of the first number, and of another, shape (cells, cells or 1).
        missing: Bound of the sum of their errors.
        rate: Probability that the message is sent.
        moved: Whether the message would otherwise move the second number.
    """
    masses = np.maximum(masses, 0.0)
    with_message = (1.0 - rate) * masses
    with_message[1:] += rate * masses[:-1]
    without, beyond = masses, float(masses[-1].sum())
    if moved:
        without = (1.0 - rate) * masses
        without[:, 1:] += rate * masses[:, :-1]
        beyond += float(masses[:, -1].sum())
    large = np.maximum(with_message, without) > _SMALL
    dropped = float(with_message[~large].sum() + without[~large].sum())
    return BucketPair.of(
        with_message[large],
        without[large],
        missing=missing + dropped + beyond,
        drift=8.0 * ULP,
    )


def _check_density(per_slot: float, slots: int) -> None:
    if slots < 1:
        raise CertificationError(
            "Expected more slots: with so few, a bucket may be left without noise."
        )
    if per_slot > _MOST_PER_SLOT:
        raise CertificationError(
            f"Expected at most {_MOST_PER_SLOT:g} jumps of a slot in the buckets that "
            f"change, got {per_slot:.3g}: take less noise, or more slots."
        )
