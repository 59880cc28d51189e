"""Estimator of how many people are in each bucket, from counts of messages.

Of n people, n_k chose target k and send each answer with probability lambda_k. With D for
n_1 lambda_1 + ... + n_K lambda_K and N_b the mean noise of bucket b,

    estimate_b = n (plus_b - minus_b - N_b) / D.

It is unbiased if targets and answers are independent. With f_b = (people in b) / n and
means over people,

    variance_b = (n / D)^2 (n f_b mean lambda (1 - lambda)
                            + n f_b (1 - f_b) var(lambda) n / (n - 1) + Var[noise]
                            + f_b^2 Var[D]).

Devices may randomize answers before: an answer is then b with probability keep + flip if
it is the true one, and flip otherwise. The estimate of what is sent, less n flip, is
divided by keep; a person sends b with lambda times that probability.

The terms: which answers are sent, who happened to choose which target, noise, and an
estimate of D where the numbers n_k are not known but estimated, without bias and from
messages of their own (delta method).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.interval import half_width
from shuffledp.analyzer.manipulation import check_liars
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class CountsEstimate:
    """Estimated numbers of people in each bucket.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> group = sdp.CountGroup(2, 1, sdp.PoissonNoise(100.0))
    >>> counts = sdp.Counts((group,), (1.0,), (1.0,), honest=1_000)
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> rng = np.random.default_rng(1)
    >>> tally = counts.draw_tally([np.array([[300, 700]])], people, rng=rng)
    >>> estimate = counts.estimate(tally, people)
    >>> estimate.standard_error[0].tolist()
    [10.0, 10.0]
    >>> bool(abs(estimate.value[0][0] - 300.0) < 50.0)
    True

    Attributes:
        value: Unbiased estimates, in people, one array of shape (buckets,) per group; a
            rare bucket may come out below 0.
        standard_error: Of each, in people, shapes as `value`.
        excess_kurtosis: Of each estimate's error, shapes as `value`: geometric noise has
            longer tails than a normal distribution.
        num_users: People in the collection.
        identity: Of the protocol that estimated them.
        step: By how much one message moves a number of each group, in people.
    """

    value: tuple[Floats, ...]
    standard_error: tuple[Floats, ...]
    excess_kurtosis: tuple[Floats, ...]
    num_users: int
    identity: Identity
    step: tuple[float, ...]

    def interval(self, confidence: float = 0.95) -> tuple[Floats, ...]:
        """Returns the ends of two-sided confidence intervals.

        Normal quantiles are corrected for the fourth cumulant of noise, and for the step
        of one message.

        Args:
            confidence: Probability that an interval contains the true number, in (0, 1).

        Returns:
            An array of shape (buckets, 2) per group.
        """
        ends = []
        for value, error, excess, step in zip(
            self.value,
            self.standard_error,
            self.excess_kurtosis,
            self.step,
            strict=True,
        ):
            margin = half_width(confidence, error, step, excess)
            ends.append(np.stack([value - margin, value + margin], axis=1))
        return tuple(ends)


@dataclass(frozen=True, eq=False)
class CountsChannel:
    """Distribution of one group's counts, given the people in each bucket.

    Attributes:
        people: People of each target, exact or estimated, shape (targets,).
        rates: lambda of each target, shape (targets,).
        noise_mean: Of + minus - of a bucket.
        noise_variance: Of + minus - of a bucket.
        noise_cumulant: Its fourth cumulant.
        covariance: Of estimated numbers of people, shape (targets, targets); None if
            they are exact.
        keep: By how much more probably a randomized answer is the true one than any other.
        flip: Probability that it is a given other one; 0 if answers are not randomized.
    """

    people: Floats
    rates: Floats
    noise_mean: float
    noise_variance: float
    noise_cumulant: float
    covariance: Floats | None = None
    keep: float = 1.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        # Written this way round, it refuses NaN, too.
        if not self.signal > 1e-9 * self.num_users:
            raise InvalidInputError(
                "Expected sampling rates above 0 at targets that people chose: there is "
                "nothing but noise in their messages."
            )

    @property
    def num_users(self) -> float:
        """Number of people."""
        return float(self.people.sum())

    @property
    def signal(self) -> float:
        """Sum D of all people's sampling rates."""
        return float(self.people @ self.rates)

    @property
    def message(self) -> float:
        """People by which one message moves an estimate."""
        return self.num_users / self.signal / self.keep

    def estimate(self, differences: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Estimates people per bucket, standard errors and their excess kurtosis.

        Args:
            differences: + minus - of each bucket, shape (buckets,).
        """
        n, scale = self.num_users, self.num_users / self.signal
        num_sent = scale * (differences.astype(np.float64) - self.noise_mean)
        value = (num_sent - n * self.flip) / self.keep
        errors = self.standard_errors(value / self.num_users)
        # Sampling is nearly normal: it adds to the variance, and not to the cumulant.
        excess: Floats = (scale / self.keep) ** 4 * self.noise_cumulant / errors**4
        return value, errors, excess

    def standard_errors(self, shares: Floats) -> Floats:
        """Returns the errors, in people, at true or estimated shares.

        Args:
            shares: f, shape (buckets,).
        """
        f = np.clip(shares, 0.0, 1.0)
        scale = self.num_users / self.signal
        sampling, spread = self.answer_variances
        variance = scale**2 * self.noise_variance + self.keep**2 * spread * f * (
            1.0 - f
        )
        if self.flip == 0.0:
            variance += sampling * f
        else:
            variance += self._randomized_variance(self.keep + self.flip) * f
            variance += self._randomized_variance(self.flip) * (1.0 - f)
        if self.covariance is not None:
            of_signal = float(self.rates @ self.covariance @ self.rates)
            # Estimated numbers of people scale the estimate: f is off by as large a
            # part as D is.
            variance += scale**2 * f**2 * of_signal
        errors: Floats = np.sqrt(variance) / self.keep
        return errors

    def _randomized_variance(self, probability: float) -> float:
        """Returns that of an answer that all people give with this probability."""
        rates = probability * self.rates
        return (self.num_users / self.signal) ** 2 * float(
            self.people @ (rates * (1.0 - rates))
        )

    def manipulation(self, messages: float, num_liars: int) -> float:
        """Returns by how much dishonest people can move a count, in people.

        Args:
            messages: By which a report may move the difference of a bucket.
            num_liars: Number of dishonest people.
        """
        check_liars(num_liars, round(self.num_users))
        return num_liars * messages * self.message

    @property
    def answer_variances(self) -> tuple[float, float]:
        """Variances, in people squared, of which answers are sent, and by whom.

        The first one is (n / D)^2 n mean lambda (1 - lambda), of an answer that all people
        have; the second one (n / D)^2 n var(lambda) n / (n - 1).
        """
        n = self.num_users
        weight, scale = self.people / n, n / self.signal
        mean = float(weight @ self.rates)
        # Estimated numbers of people may be negative, but no variance is.
        sampling = max(float(weight @ (self.rates * (1.0 - self.rates))), 0.0)
        spread = max(float(weight @ (self.rates - mean) ** 2), 0.0)
        spread *= n / max(n - 1.0, 1.0)
        return scale**2 * n * sampling, scale**2 * n * spread
