"""One answer among uniformly random messages: in buckets, or in buckets of a hash function.

*Small domain* (FE1). A person sends the own bucket, and rho = mu k / n messages into
uniformly random buckets: floor(rho) of them, and one more with the remaining probability.
So mu noise messages fall into each bucket in the mean.

*Large domain* (FE2). With b = floor(n / ln(n)^c) and a prime q > max(k, b), a person
draws u in {1, ..., q - 1} and v in {1, ..., q} and sends (u, v, (u x + v mod q) mod b),
and rho = mu b / n messages (u, v, w) that are uniformly random. The number of messages
that agree with x, less its mean without x, is divided by 1 - c_q, with

    c_q = floor(q / b) (q mod b + q - b) / (q (q - 1)),

the probability that two values have one hash. c = 1 has the smaller error, c = 3 the fewer
messages.

*How much noise.* mu = 32 ln(2 / delta) / epsilon^2, or, as the authors' program searches
it, the smallest mu with P(X + 1 >= e^epsilon Y) <= delta for independent X, Y ~
Binomial(n, mu / n). These formulas are those of the authors' program; the second one
starts from 1000 there, and from the first one here.

*Exact* (`split_delta`). In FE1 the noise messages in the two buckets that change fall into
either equally often. So they do in FE2, where a message counts for x if it agrees with x
but not with x': the answer itself agrees with both with probability c_q, and then hides.
The adversary is told which messages agree with both, which makes this a bound.

Source: Luo, Wang and Yi (2022), "Frequency Estimation in the Shuffle Model with Almost a
Single Message", CCS 2022, arXiv:2111.06833; program: github.com/hkustDB/SDPFE.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.multi_message.count_design import CountDesign, CountProtocol
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.exact_pairs import binomial_masses, split_delta
from shuffledp_papers.multi_message.smallest_noise import smallest_size
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# The program's search ends when it knows mu to this.
_PRECISION = 0.1


@dataclass(frozen=True)
class UniformMessages(CountDesign):
    """Answers among uniformly random messages, hashed or not.

    Attributes:
        num_users: n.
        cells: Buckets, or values of the hash function, into which messages fall.
        mean: mu > 0, noise messages in each of them in the mean.
        collision: Probability that two values have one hash; 0 without hashing.
    """

    num_users: int
    cells: int
    mean: float
    collision: float = 0.0

    @property
    def messages(self) -> float:
        """The answer, and rho."""
        return 1.0 + self._per_person

    def standard_error(self, holders: int) -> float:
        """Returns the error of noise and of others' answers with the same hash."""
        share = 1.0 / self.cells
        variance = sum(
            trials * probability * share * (1.0 - probability * share)
            for trials, probability in self._draws
        )
        others = self.num_users - holders
        variance += others * self.collision * (1.0 - self.collision)
        return math.sqrt(variance) / (1.0 - self.collision)

    def certified_delta(self, epsilon: float) -> float:
        """See `CountDesign`."""
        share = 2.0 * (1.0 - self.collision) / self.cells
        draws = [
            (trials, min(probability * share, 1.0))
            for trials, probability in self._draws
        ]
        return (1.0 - self.collision) * split_delta(draws, epsilon)

    def draw_estimates(
        self, holders: int, repetitions: int, *, rng: np.random.Generator
    ) -> Floats:
        """See `CountDesign`."""
        messages = np.full(repetitions, holders, dtype=np.int64)
        for trials, probability in self._draws:
            sent = rng.binomial(trials, probability, size=repetitions)
            messages += rng.binomial(sent, 1.0 / self.cells)
        others = self.num_users - holders
        messages += rng.binomial(others, self.collision, size=repetitions)
        usual = self.mean + self.num_users * self.collision
        return (messages.astype(np.float64) - usual) / (1.0 - self.collision)

    @property
    def _per_person(self) -> float:
        return self.mean * self.cells / self.num_users

    @property
    def _draws(self) -> tuple[tuple[int, float], tuple[int, float]]:
        """How many noise messages, and with which probability each is sent."""
        whole = math.floor(self._per_person)
        return (
            (self.num_users * whole, 1.0),
            (self.num_users, self._per_person - whole),
        )


class Luo2022(CountProtocol):
    """The protocol for small domains, or for large ones.

    Attributes:
        exponent: c, at least 0; None: without hashing.
        as_printed: The formula of mu; otherwise the program's search.
    """

    title = "Frequency Estimation in the Shuffle Model with Almost a Single Message"
    source = "Luo, Wang and Yi 2022, arXiv:2111.06833"

    def __init__(
        self, *, exponent: float | None = None, as_printed: bool = False
    ) -> None:
        self.exponent = exponent
        self.as_printed = as_printed

    @property
    def name(self) -> str:  # type: ignore[override]
        """The paper with the protocol's name."""
        domain = "FE1" if self.exponent is None else f"FE2, c = {self.exponent:g}"
        return f"Luo et al. 2022, {domain}{', formula' if self.as_printed else ''}"

    def published(self, setting: CountSetting) -> UniformMessages:
        """See `CountProtocol`."""
        mean = printed_mean(setting.epsilon, setting.delta)
        if not self.as_printed:
            mean = searched_mean(
                setting.num_users, setting.epsilon, setting.delta, most=mean
            )
        return self._design(setting, mean)

    def smallest(self, setting: CountSetting) -> UniformMessages:
        """See `CountProtocol`."""
        return smallest_size(
            lambda mean: self._design(setting, mean),
            setting,
            enough=printed_mean(setting.epsilon, setting.delta),
        )

    def _design(self, setting: CountSetting, mean: float) -> UniformMessages:
        num_users, buckets = setting.num_users, setting.buckets
        if self.exponent is None:
            return UniformMessages(num_users, buckets, mean)
        cells = int(num_users / math.log(num_users) ** self.exponent)
        if not 2 <= cells < buckets:
            raise OutsidePreconditions(
                f"Expected more buckets than values of a hash function, at least 2, got "
                f"{buckets:,} and {cells:,}."
            )
        prime = next_prime(max(buckets, cells) + 1)
        return UniformMessages(num_users, cells, mean, collision(prime, cells))


def printed_mean(epsilon: float, delta: float) -> float:
    """Returns mu = 32 ln(2 / delta) / epsilon^2."""
    return 32.0 * math.log(2.0 / delta) / epsilon**2


def searched_mean(
    num_users: int, epsilon: float, delta: float, *, most: float
) -> float:
    """Returns mu as the authors' program does: at most 0.1 above the smallest.

    Args:
        num_users: n.
        epsilon: Above 0.
        delta: In (0, 1).
        most: Where the search starts; at most n / 2 are tried.

    Raises:
        OutsidePreconditions: If that is not enough.
    """
    low, high = 0.0, min(most, num_users / 2.0)
    if _exceeding(num_users, high / num_users, math.exp(epsilon)) > delta:
        raise OutsidePreconditions(
            f"Expected more people than {num_users:,}: no mu up to {high:g} is enough."
        )
    while low + _PRECISION < high:
        middle = 0.5 * (low + high)
        if _exceeding(num_users, middle / num_users, math.exp(epsilon)) <= delta:
            high = middle
        else:
            low = middle
    return high


def collision(prime: int, cells: int) -> float:
    """Returns c_q, the probability that two values have one hash."""
    return (prime // cells) * (prime % cells + prime - cells) / (prime * (prime - 1))


def next_prime(least: int) -> int:
    """Returns the smallest prime of at least `least` >= 2."""
    number = least
    while any(number % factor == 0 for factor in range(2, math.isqrt(number) + 1)):
        number += 1
    return number


def _exceeding(trials: int, probability: float, growth: float) -> float:
    """Returns P(X + 1 >= growth Y) for independent binomial X and Y."""
    first, masses, _ = binomial_masses(trials, probability)
    counts = first + np.arange(masses.size, dtype=np.float64)
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    minimum = np.ceil(growth * counts - 1.0) - first
    at = np.clip(minimum, 0, masses.size).astype(np.int64)
    return float(masses @ tails[at])
