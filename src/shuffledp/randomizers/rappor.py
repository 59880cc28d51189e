"""RAPPOR: a noisy Bloom filter that a user stores, and noisier copies that are sent.

A value sets at most h of m bits. Once for every value, a user at level eps draws a
*permanent* response: each bit of the filter, flipped with probability f / 2,

    f = 2 / (1 + e^{eps / (2 h)}).

Every *report* is drawn from it: a 1 stays 1 with probability q, a 0 becomes 1 with
probability p, the same for all users. Two values differ in 2 h bits at most, and their
permanent responses by a factor of at most ((1 - f/2) / (f/2))^{2h} = e^eps, for any number
of reports drawn from them: eps is a lifetime's budget. One report alone has a 1 with
probability

    q* = f (p + q) / 2 + (1 - f) q  for a 1 of the filter,
    p* = f (p + q) / 2 + (1 - f) p  for a 0.

*Any number of reports.* With q = 1 and p = 0 the report is the permanent response. Suppose
the same users send T reports each, every coordinate shuffled separately in each collection.
From the shuffled permanent bits of one coordinate anyone can draw T noisy copies of each,
as the noise does not depend on whose bit it is, and shuffle each copy separately: this is
exactly the distribution of T collections. So a guarantee for `permanent` holds for all
reports on one value together, however many, as long as the same users send all of them.

Source: Erlingsson, Pihur, Korolova (2014), "RAPPOR: Randomized aggregatable
privacy-preserving ordinal response".
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomizers.bit_channel import (
    UPWARD,
    BitChannel,
    BitProbabilities,
    symmetric_flips,
)
from shuffledp.randomizers.bit_draws import bit_draws
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng, check_rng, stream_of
from shuffledp.types import Floats

MAX_HASHES = 64

# Bits randomized at a time, to bound the memory of temporaries; no report has more.
_BATCH = 1 << 22


@dataclass(frozen=True, slots=True)
class Rappor(BitChannel):
    """Public parameters only; filters, levels and rng are arguments of the draws.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.Rappor(num_bits=32, num_hashes=2)
    >>> device.bits_per_person(np.array([1.0]))
    32.0

    Attributes:
        num_bits: m, the length of a filter; at least 2 h + 1.
        num_hashes: h, how many bits a value sets at most.
        one_given_one: q, the probability that a report repeats a permanent 1.
        one_given_zero: p, the probability that a report shows 1 for a permanent 0;
            below q. By default, as q, that of the paper's example.
    """

    num_bits: int
    num_hashes: int
    _: KW_ONLY
    one_given_one: float = 0.75
    one_given_zero: float = 0.5

    def __post_init__(self) -> None:
        whole_number(self.num_hashes, "hashes", least=1, most=MAX_HASHES)
        # Room for two values without a common bit, and a third without any of theirs.
        min_bits = 2 * int(self.num_hashes) + 1
        whole_number(self.num_bits, "bits", least=min_bits, most=_BATCH)
        q = as_number(self.one_given_one, "one_given_one")
        p = as_number(self.one_given_zero, "one_given_zero")
        if not 0.0 <= p < q <= 1.0:
            raise InvalidInputError(
                f"Expected 0 <= one_given_zero < one_given_one <= 1, got {p:g} and {q:g}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "rappor"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "bits": int(self.num_bits),
            "hashes": int(self.num_hashes),
            "one_given_one": float(self.one_given_one),
            "one_given_zero": float(self.one_given_zero),
        }

    @property
    def permanent(self) -> "Rappor":
        """The same filters without later noise: certifies all reports on one value."""
        # With q = 1 and p = 0 a report is the permanent response itself.
        return Rappor(
            self.num_bits, self.num_hashes, one_given_one=1.0, one_given_zero=0.0
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about hashes and permanent responses."""
        hashes = (
            "Lower bounds are for two values that set different bits, and a third one "
            "that sets none of them."
        )
        alike = "People who are counted hash alike: those of other cohorts hide no one."
        if self.one_given_one == 1.0 and self.one_given_zero == 0.0:
            return (
                hashes,
                alike,
                "The one report stands for any number of reports on one value, if the "
                "same people send all of them, with the same parameters of the noise.",
            )
        return (
            hashes,
            alike,
            "Every report is drawn from a permanent response of its own: for several "
            "reports from the same one, certify the permanent response.",
        )

    @property
    def changes(self) -> int:
        """The bits of the old value and those of the new one: 2 h at most."""
        return 2 * int(self.num_hashes)

    @property
    def has_third_value(self) -> bool:
        """True: filters have room for one."""
        return True

    def bits_per_person(self, epsilons: Floats) -> float:
        """Length of a report."""
        del epsilons
        return float(self.num_bits)

    def promised(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities allowed in one report, shape (levels,) each."""
        # f / 2 = 1 / (1 + e^{eps / (2 h)}): two filters differ in 2 h bits at most.
        flips = symmetric_flips(epsilons / self.changes)
        return self._reported(flips.lost, flips.gap)

    def drawn(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities used in one report, shape (levels,) each."""
        flip = self._flip(epsilons)
        return self._reported(flip, 1.0 - 2.0 * flip)

    def effective_probabilities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns q* and p*, the probabilities of a 1 for a 1 or 0 of the filter.

        Args:
            epsilons: Lifetime budgets in nats, >= 0, shape (levels,).
        """
        probabilities = self.drawn(np.asarray(epsilons, dtype=np.float64))
        return 1.0 - probabilities.lost, probabilities.stray

    def permanent_response(
        self, bloom: NDArray[np.bool_], epsilons: Floats, *, rng: Rng
    ) -> NDArray[np.bool_]:
        """Draws the bits a person keeps for one value.

        Args:
            bloom: Each person's filter, shape (n, m).
            epsilons: Each person's lifetime budget, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Bits, shape (n, m).

        Raises:
            InvalidInputError: If shapes differ, a filter has more than h ones, or a
                budget is out of range.
        """
        check_rng(rng)
        bits = self._bits(bloom, "filters")
        levels = level_array(epsilons)
        if levels.size != bits.shape[0]:
            raise InvalidInputError("Expected one privacy level for each filter.")
        # With more ones, two filters may differ in more than 2 h bits.
        if bits.size and bits.sum(axis=1).max() > self.num_hashes:
            raise InvalidInputError(
                f"Expected filters with at most {self.num_hashes} ones."
            )
        check_budgets(levels)
        response = bits.copy()
        for part in self._batches(bits.shape[0]):
            # The probability of a flip, not of a one: 1 - 1e-20 is not a number of its
            # own.
            flip = self._flip(levels[part])
            response[part] ^= bit_draws(
                bits[part], of_one=flip, of_zero=flip, rng=stream_of(rng, part)
            )
        return response

    def instantaneous_response(
        self, permanent: NDArray[np.bool_], *, rng: Rng
    ) -> NDArray[np.bool_]:
        """Draws one report from permanent responses, shape (n, m) as they.

        Args:
            permanent: Output of `permanent_response`, shape (n, m).
            rng: The only source of randomness.

        Raises:
            InvalidInputError: If these are not m bits per person.
        """
        check_rng(rng)
        bits = self._bits(permanent, "permanent responses")
        reports = np.empty_like(bits)
        for part in self._batches(bits.shape[0]):
            permanent_bits = bits[part]
            reports[part] = bit_draws(
                permanent_bits,
                of_one=np.full(len(permanent_bits), float(self.one_given_one)),
                of_zero=np.full(len(permanent_bits), float(self.one_given_zero)),
                rng=stream_of(rng, part),
            )
        return reports

    def _flip(self, epsilons: Floats) -> Floats:
        """Returns f / 2 as it is drawn, rounded upward: more private, never less."""
        # A quotient rounded upward would be a budget larger than the granted one.
        exact = symmetric_flips(np.nextafter(epsilons / self.changes, 0.0)).lost
        return np.minimum(exact * UPWARD, 0.5)

    def _reported(self, flip: Floats, keeps_more: Floats) -> BitProbabilities:
        """Returns the probabilities of one report; `keeps_more` is 1 - f."""
        q, p = float(self.one_given_one), float(self.one_given_zero)
        # 1 - q* and p* as sums of terms >= 0, so that no digits cancel.
        return BitProbabilities(
            lost=flip * ((1.0 - q) + (1.0 - p)) + keeps_more * (1.0 - q),
            stray=flip * (p + q) + keeps_more * p,
            gap=keeps_more * (q - p),
        )

    def _batches(self, num_people: int) -> list[slice]:
        people = _BATCH // self.num_bits
        starts = range(0, num_people, people)
        return [slice(start, start + people) for start in starts]

    def _bits(self, bits: Any, what: str) -> NDArray[np.bool_]:
        bit_array = bits if isinstance(bits, np.ndarray) else np.array(None)
        if bit_array.dtype != np.bool_ or bit_array.shape[1:] != (self.num_bits,):
            raise InvalidInputError(
                f"Expected {what} as an array of {self.num_bits} booleans per person."
            )
        return bit_array
