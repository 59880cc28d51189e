"""Estimator of the shares of people who hold items, from randomly sampled items.

Of n people, n_k chose target k and send each item they hold with probability lambda_k;
each sends b blanket messages in the mean, uniform over d items. Write D for
n_1 lambda_1 + ... + n_K lambda_K and f_j for the share of people who hold item j:

    estimate_j = (count_j - n b / d) / D.

It is unbiased if targets and sets are independent (the order of targets does not depend on
the sets). With means over people, and N the number of a person's blanket messages,

    variance_j = ( n f_j mean lambda (1 - lambda) + n f_j (1 - f_j) var(lambda) n / (n - 1)
                   + n (b (1 - 1/d) / d + Var[N] / d^2) + f_j^2 Var[D] ) / D^2.

The terms: the sampling of items; the random assignment of targets; blanket messages, for
which N ~ Poisson(m) gives n m / d; and an estimate of D where the numbers n_k are not
known but estimated, without bias and from messages of their own (delta method).

These are errors about the n participants. If they were drawn at random from a larger
population, f_j itself is off by a variance of p_j (1 - p_j) / n.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.manipulation import check_liars
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ItemsEstimate:
    """Estimated shares of the people who hold each item.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> estimate = sdp.ItemsEstimate(np.array([0.30, 0.10]), np.array([0.02, 0.02]), 1_000)
    >>> low, high = estimate.interval(0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.261, 0.339], [0.061, 0.139])

    Attributes:
        value: Unbiased estimates, shape (d,); a rare item may come out below 0.
        standard_error: About the shares of the people who took part, shape (d,).
        num_users: People in the collection.
        identity: Of the protocol that estimated it.
    """

    value: Floats
    standard_error: Floats
    num_users: int
    identity: Identity | None = None

    @property
    def population_error(self) -> Floats:
        """The standard error about the population that the participants come from."""
        f = np.clip(self.value, 0.0, 1.0)
        error: Floats = np.sqrt(self.standard_error**2 + f * (1.0 - f) / self.num_users)
        return error

    def interval(
        self,
        confidence: float = 0.95,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> Floats:
        """Returns the ends of two-sided normal confidence intervals, shape (d, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
            about: Whose share: that of the "participants", or of the "population" of
                which they are a random sample.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        of_people = about == "participants"
        error = self.standard_error if of_people else self.population_error
        wide = reach(confidence) * error
        return np.stack([self.value - wide, self.value + wide], axis=1)


@dataclass(frozen=True, eq=False)
class ItemsChannel:
    """Distribution of message counts, given the shares of people who hold each item.

    Attributes:
        num_users: n.
        num_items: d.
        people: People per target, exact or estimated, shape (targets,); they add up to n.
        covariance: Of estimated numbers of people, shape (targets, targets); None if
            they are exact.
        rates: lambda of each target, shape (targets,).
        blanket_mean: Mean of the number N of a person's blanket messages.
        blanket_variance: Its variance.
    """

    num_users: int
    num_items: int
    people: Floats
    covariance: Floats | None
    rates: Floats
    blanket_mean: float
    blanket_variance: float

    def __post_init__(self) -> None:
        # Written this way round, it refuses NaN, too.
        if not self.signal > 1e-9 * self.num_users:
            raise InvalidInputError(
                "Expected sampling rates above 0 at targets that people chose: there is "
                "nothing but noise in their messages."
            )

    @property
    def signal(self) -> float:
        """D, the sum of all people's sampling rates."""
        return float(self.people @ self.rates)

    @property
    def blanket_count(self) -> float:
        """Mean blanket messages per item."""
        return self.num_users * self.blanket_mean / self.num_items

    def manipulation(self, report_size: int, num_liars: int) -> float:
        """Returns by how much dishonest people can move a share.

        Args:
            report_size: Messages of a report; all of them may name one item.
            num_liars: Number of dishonest people.
        """
        check_liars(num_liars, self.num_users)
        return num_liars * report_size / self.signal

    def estimate(self, counts: Ints) -> ItemsEstimate:
        """Estimates shares from the number of messages per item, shape (d,)."""
        value = (counts.astype(np.float64) - self.blanket_count) / self.signal
        return ItemsEstimate(value, self.standard_errors(value), self.num_users)

    def standard_errors(self, shares: Floats) -> Floats:
        """Returns the errors about the participants, of true or estimated shares.

        Args:
            shares: f, shape (d,).
        """
        n, d = self.num_users, self.num_items
        f = np.clip(shares, 0.0, 1.0)
        weight = self.people / n
        mean = float(weight @ self.rates)
        # Estimated numbers of people may be negative, but no variance is.
        sampling = max(float(weight @ (self.rates * (1.0 - self.rates))), 0.0)
        spread = max(float(weight @ (self.rates - mean) ** 2), 0.0)
        # The terms of variance_j, in the order of the module's docstring.
        variance = n * sampling * f + n * spread * n / max(n - 1, 1) * f * (1.0 - f)
        variance += n * self.blanket_mean / d * (1.0 - 1.0 / d)
        variance += n * self.blanket_variance / d**2
        if self.covariance is not None:
            variance += f**2 * float(self.rates @ self.covariance @ self.rates)
        error: Floats = np.sqrt(variance) / self.signal
        return error

    def predicted_mse(
        self,
        shares: Floats,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> float:
        """Returns the expected sum over items of squared errors.

        Args:
            shares: f, shape (d,).
            about: The group of people whose shares are the truth.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        variance = float(np.sum(self.standard_errors(shares) ** 2))
        if about == "population":
            variance += float(np.sum(shares * (1.0 - shares))) / self.num_users
        return variance
