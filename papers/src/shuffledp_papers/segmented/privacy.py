"""Segmented privacy: sets of items, sampled by level, among uniform blanket messages.

Every user holds s of d items and sends each with a probability lambda that their level
sets; in addition, ceil(m) times with probability m / ceil(m), a uniform item. With the
variation ratio at p = infinity, beta = lambda and q = d lambda ceil(m) / m, Theorem 3
reduces one item to the counts (A + D, C - A) against (A, C - A + D),

    D ~ Bernoulli(lambda),  A ~ Binomial(C, 1/2),  C ~ Binomial(n' - 1, 2 m / (ceil(m) d)),

n' = n ceil(m), and s items to one by group privacy: if the counts have divergence delta'
at eps / s, the collection has delta = s e^eps delta' at eps.

Errata. There are n ceil(m) blanket messages, so n' is one more (as_printed=False), as
Theorem 2 and Proposition 1 have it and Lemma 3 and Theorem 3 do not. The target user's
empty output is not hidden: the total number of messages reveals it where the number of
blanket messages is certain, as it is for whole m. Proposition 1 is a lower bound, but not
"exactly tight", and Theorem 3 loses a factor of about s in blanket messages, not "a minor
gap". In Theorem 3 D_(eps eps') is D_(e^eps'); in the proof of Proposition 1 the second x_i
is x_i', which holds T_(j1), and "T not~ x" is "T not in x"; the p of Binomial(n, p) before
Theorem 2 is gamma.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Theorems 1 to 3, Lemma 3, Proposition 1.
"""

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from shuffledp.errors import InvalidInputError
from shuffledp_papers.bounds.bound import (
    PublishedBound,
    Setting,
    check_delta,
    check_epsilon,
    require,
)
from shuffledp_papers.bounds.equal_clones import equal_clones
from shuffledp_papers.bounds.two_counts import divergence
from shuffledp_papers.outside_preconditions import OutsidePreconditions

_WIDTH = 1e-12
# d lambda = 1 may round to less.
_ROUNDING = 1e-12
# In place of a delta of 0, whose logarithm is infinite.
_TINY = 1e-320
# Upper limit of messages per user.
_MOST_MESSAGES = 1e6


@dataclass(frozen=True)
class SegmentedPrivacy(PublishedBound, row="segmented"):
    """Theorem 3; it uses the sampling rate of a level, not the budgets of a setting.

    Attributes:
        num_items: d, the number of items.
        blanket_messages: m > 0, expected blanket messages per user.
        items_per_user: s, the number of items of every user.
        sampling_rate: lambda in (0, 1] of the target user's level.
        as_printed: Whether one blanket message is left out, as in Theorem 3.
    """

    num_items: int
    blanket_messages: float
    items_per_user: int = 1
    sampling_rate: float = 1.0
    as_printed: bool = True

    def __post_init__(self) -> None:
        whole = isinstance(self.num_items, int) and isinstance(self.items_per_user, int)
        if not (whole and 1 <= self.items_per_user < self.num_items):
            raise InvalidInputError(
                f"Expected 1 <= s < d, got s = {self.items_per_user} and "
                f"d = {self.num_items}."
            )
        if not 0.0 < self.blanket_messages <= _MOST_MESSAGES:
            raise InvalidInputError(
                f"Expected 0 < m <= {_MOST_MESSAGES:g}, got {self.blanket_messages:g}."
            )
        if not 0.0 < self.sampling_rate <= 1.0:
            raise InvalidInputError(
                f"Expected 0 < lambda <= 1, got {self.sampling_rate:g}."
            )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions if a mechanism is named or q = d lambda is below 1.

        All names are of other mechanisms; Theorem 1 is stated for q >= 1.
        """
        name = setting.mechanism_name
        require(name is None, "the Poisson randomizer (mechanism None)", f"{name}")
        require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")
        ratio = self.num_items * self.sampling_rate
        require(
            ratio >= 1.0 - _ROUNDING,
            "q = d lambda >= 1, as it is for larger targets or more blanket messages",
            f"q = {ratio:g}",
        )

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns s e^epsilon delta', delta' being the divergence at epsilon / s."""
        return self._delta(setting.num_users, epsilon)

    def _delta(self, num_users: int, epsilon: float) -> float:
        # The clone probability 2 m / (ceil(m) d) of C, and n' - 1 of its trials; Theorem 3
        # counts one blanket message too few (see the errata above).
        messages = math.ceil(self.blanket_messages)
        hit = 2.0 * self.blanket_messages / (messages * self.num_items)
        blanket = num_users * messages - (1 if self.as_printed else 0)
        # Group privacy: one item at epsilon / s.
        one_item = divergence(
            equal_clones(blanket, hit),
            # p = infinity: the item is sent with probability lambda on x, never on x'.
            same=self.sampling_rate,
            other=0.0,
            epsilon=epsilon / self.items_per_user,
        )
        if one_item <= 0.0:
            return 0.0
        # In logarithms: e^epsilon may overflow where delta' is tiny.
        log_delta = math.log(self.items_per_user * one_item) + epsilon
        return min(math.exp(min(log_delta, 0.0)), 1.0)


def smallest_blanket(
    num_users: int,
    *,
    num_items: int,
    epsilon: float,
    delta: float,
    items_per_user: int = 1,
    sampling_rate: float = 1.0,
    as_printed: bool = True,
) -> float:
    """Returns the smallest m for which Theorem 3 states (epsilon, delta), by bisection.

    >>> round(smallest_blanket(5000, num_items=128, epsilon=0.5, delta=2e-6), 3)
    3.413

    Raises:
        OutsidePreconditions: If a million messages per user are not enough.
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)

    def states(messages: float) -> bool:
        bound = SegmentedPrivacy(
            num_items=num_items,
            blanket_messages=messages,
            items_per_user=items_per_user,
            sampling_rate=sampling_rate,
            as_printed=as_printed,
        )
        return bound._delta(num_users, epsilon) <= delta

    # delta falls with m: double until the target is kept, halve until it is not.
    low = high = 1.0
    while states(low) and low > 1e-9:
        low /= 2.0
    while not states(high):
        high *= 2.0
        if high > _MOST_MESSAGES:
            raise OutsidePreconditions(
                f"Expected a delta that {_MOST_MESSAGES:g} messages reach, got {delta:g}."
            )
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if states(middle) else (middle, high)
    # The end at which the statement was checked.
    return high


def largest_sampling_rate(
    num_users: int,
    *,
    num_items: int,
    blanket_messages: float,
    epsilon: float,
    delta: float,
    items_per_user: int = 1,
    as_printed: bool = True,
) -> float:
    """Returns the largest lambda for which Theorem 3 states (epsilon, delta).

    >>> round(
    ...     largest_sampling_rate(
    ...         5000, num_items=128, blanket_messages=1, epsilon=0.5, delta=2e-6
    ...     ),
    ...     4,
    ... )
    0.5524
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)

    def excess(rate: float) -> float:
        bound = SegmentedPrivacy(
            num_items=num_items,
            blanket_messages=blanket_messages,
            items_per_user=items_per_user,
            sampling_rate=rate,
            as_printed=as_printed,
        )
        stated = bound._delta(num_users, epsilon)
        return math.log(max(stated, _TINY)) - math.log(delta)

    # Rate 1 is the end of the range, and needs no root.
    if excess(1.0) <= 0.0:
        return 1.0
    low = 0.5
    # excess grows with the rate: it changes sign between low and 2 low.
    while excess(low) > 0.0:
        low /= 2.0
        # No rate above 0 is stated: nothing may be sent.
        if low < _WIDTH:
            return 0.0
    rate = float(brentq(excess, low, min(2.0 * low, 1.0), xtol=_WIDTH * low))
    # The root may lie on the wrong side by a few units in the last place.
    while excess(rate) > 0.0:
        rate *= 1.0 - _WIDTH
    return rate
