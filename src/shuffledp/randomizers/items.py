"""Item sets: each held item is sent with some probability, among blanket messages.

A user holds s of d items. Their report consists of

* every item of the user, with probability lambda, which the user's target sets;
* N blanket messages, each an item drawn uniformly from all d, independent of the set;
* dummies, up to `report_size` messages: the analyst drops them, and the number of
  messages reveals nothing.

    noise        N
    "poisson"    min(Poisson(m), cap): without the cap, blanket counts of items would be
                 independent Poisson(n m / d), and their total says nothing
    "bernoulli"  Binomial(ceil(m), m / ceil(m)), as published

Where N is Poisson, an entry -1 of a set means "no item": less is sent, nothing else. As
published, every user must hold exactly s items.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 2, for "bernoulli" noise.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number, float_array
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.bucket_messages import BucketGroup, BucketMessages
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.jump_table import JumpTable
from shuffledp.randomizers.stop_and_go import stop_and_go
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints

Noise: TypeAlias = Literal["poisson", "bernoulli"]

MAX_ITEMS = 2**31 - 2
MAX_SET_SIZE = 4096
MAX_REPORT_SIZE = 2**20


@dataclass(frozen=True, slots=True)
class ItemsRandomizer:
    """Public parameters only; sets, sampling rates and rng are arguments of `randomize`.

    Attributes:
        num_items: d, at least 2.
        set_size: s, from 1 to d.
        blanket: m >= 0, blanket messages per person, in the mean and before the cap.
        report_size: Messages per person, dummies included, at least s. Blanket messages
            that do not fit beside s items are never drawn.
        noise: "poisson" or "bernoulli".
    """

    num_items: int
    set_size: int
    blanket: float
    report_size: int
    noise: Noise = "poisson"

    def __post_init__(self) -> None:
        d = whole_number(self.num_items, "items", least=2, most=MAX_ITEMS)
        max_set_size = min(d, MAX_SET_SIZE)
        s = whole_number(self.set_size, "items per person", least=1, most=max_set_size)
        check_blanket(self.blanket)
        if self.noise not in ("poisson", "bernoulli"):
            raise InvalidInputError(
                f"Expected noise 'poisson' or 'bernoulli', got {self.noise!r}."
            )
        min_report_size = s + (
            math.ceil(self.blanket) if self.noise == "bernoulli" else 0
        )
        what = "messages per person"
        whole_number(
            self.report_size, what, least=min_report_size, most=MAX_REPORT_SIZE
        )

    @property
    def cap(self) -> int:
        """The most blanket messages that a person can send."""
        if self.noise == "bernoulli":
            return math.ceil(self.blanket)
        return self.report_size - self.set_size

    @property
    def beyond_cap(self) -> float:
        """The probability that the cap cuts a person's draw."""
        if self.noise == "bernoulli":
            return 0.0
        _, go = self._stop_and_go()
        return float(np.prod(go[: self.cap + 1]))

    def blanket_distribution(self) -> Floats:
        """Returns P(N = j) for j = 0, ..., cap, shape (cap + 1,)."""
        stop, go = self._stop_and_go()
        stop = np.append(stop[: self.cap], 1.0)
        distribution: Floats = stop * np.concatenate(
            [[1.0], np.cumprod(go[: self.cap])]
        )
        return distribution

    def blanket_moments(self) -> tuple[float, float]:
        """Returns mean and variance of N, the cap included."""
        distribution = self.blanket_distribution()
        counts = np.arange(distribution.size)
        mean = float(distribution @ counts)
        return mean, float(distribution @ (counts - mean) ** 2)

    def randomize(self, sets: Ints, rates: Floats, *, rng: Rng) -> NDArray[np.int32]:
        """Draws one report per person, in the order of `sets`.

        Args:
            sets: Distinct items in [0, d) in every row, and with Poisson noise any number
                of -1 for "no item", shape (n, s).
            rates: lambda of each person's target, in [0, 1], shape (n,).
            rng: The only source of randomness.

        Returns:
            Messages in [0, d], d being the dummy, shape (n, report_size).

        Raises:
            InvalidInputError: If shapes differ, an item or a rate is out of range, or a
                set holds an item twice.
        """
        check_rng(rng)
        item_sets, probabilities = (
            self.check_sets(sets),
            float_array(rates, "sampling rates"),
        )
        if probabilities.size != item_sets.shape[0]:
            raise InvalidInputError("Expected as many sampling rates as sets.")
        if not np.all((probabilities >= 0.0) & (probabilities <= 1.0)):
            raise InvalidInputError("Expected sampling rates from 0 to 1.")
        # All messages of noise add to an item: 2 b stands for item b, and 2 d for none.
        items = self.messages.randomize(item_sets, probabilities, rng=rng) // 2
        return items.astype(np.int32)

    @property
    def messages(self) -> BucketMessages:
        """A group of buckets, one for each item, whose noise is the blanket messages."""
        slots = math.ceil(self.blanket) if self.noise == "bernoulli" else 0
        jumps = JumpTable(
            plus=np.ones(1, np.int64),
            minus=np.zeros(1, np.int64),
            weights=np.ones(1),
            mean=float(self.blanket) / slots if slots else float(self.blanket),
            slots=slots,
            width=1,
        )
        group = BucketGroup(self.num_items, self.set_size, jumps)
        return BucketMessages((group,), self.report_size - self.set_size)

    def _stop_and_go(self) -> tuple[Floats, Floats]:
        """Returns the probabilities that N stops at j or goes on, for j < cap at least."""
        m, cap = float(self.blanket), self.cap
        if self.noise == "poisson":
            # What is that far beyond both cap and mean is below 1e-20 of what is before.
            last = max(cap, math.ceil(m)) + 80 + 20 * math.ceil(math.sqrt(m))
            return stop_and_go(m / np.arange(1.0, last + 1.0))
        remaining_draws, complement = np.arange(cap, 0, -1), cap - m
        # All ceil(m) are sent if m is whole: the ratio is infinite, and N goes on.
        ratios = (
            remaining_draws
            / remaining_draws[::-1]
            * (m / complement if complement > 0.0 else np.inf)
        )
        return stop_and_go(ratios)

    def check_sets(self, sets: Ints) -> Ints:
        """Returns the sets as an array; raises InvalidInputError unless these are sets."""
        d, s = self.num_items, self.set_size
        minimum = -1 if self.noise == "poisson" else 0
        or_no_item = ", or -1 for no item" if minimum < 0 else ""
        refusal = InvalidInputError(
            f"Expected sets as rows of {s} different items from 0 to {d - 1}{or_no_item}."
        )
        try:
            set_array = self.messages.check_answers(sets)
        except InvalidInputError as error:
            raise refusal from error
        if set_array.min() < minimum:
            raise refusal
        return set_array


def check_blanket(blanket: float) -> float:
    """Returns m as a float; raises InvalidInputError unless 0 <= m <= 1e5."""
    blanket_mean = as_number(blanket, "blanket messages")
    if not 0.0 <= blanket_mean <= 1e5:
        raise InvalidInputError(
            f"Expected 0 to 100000 blanket messages per person, got {blanket_mean:g}."
        )
    return blanket_mean


def poisson_cap(blanket: float, probability: float, *, noise: Noise = "poisson") -> int:
    """Returns the smallest cap that cuts a draw with at most this probability.

    >>> poisson_cap(1.0, 1e-12)
    14

    Args:
        blanket: m, blanket messages per person in the mean.
        probability: In (0, 1).
        noise: With "bernoulli", nothing is cut, and it is ceil(m).
    """
    m = check_blanket(blanket)
    if noise == "bernoulli":
        return math.ceil(m)
    if not 0.0 < as_number(probability, "probability") < 1.0:
        raise InvalidInputError(
            f"Expected a probability from 0 to 1, got {probability:g}."
        )
    last = math.ceil(m) + 80 + 20 * math.ceil(math.sqrt(m))
    low = 0
    # Each go is at most m / (j + 1): tails fall at least that fast beyond the mean.
    while True:
        _, go = stop_and_go(m / np.arange(1.0, low + last + 1.0))
        sufficient = np.flatnonzero(np.cumprod(go) <= probability)
        if sufficient.size:
            return int(sufficient[0])
        low += last
