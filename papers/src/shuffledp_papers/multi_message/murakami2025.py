"""The shuffler draws answers and adds dummies: people send answers without noise.

The shuffler keeps each answer with probability beta, and adds to each bucket an independent
number of dummies; with mu for its mean the analyst takes (count - mu) / beta. A replaced
answer changes two buckets, each made for half of epsilon and delta. With a = epsilon / 2,
three distributions of the dummies:

*Binomial* (SBin), Binomial(M, 1/2), with e_0 = ln((beta - 1 + e^a) / beta), E = e^{e_0},
s = ln(4 beta / delta) and

    M = ceil((2 (E - 1) + (1 + E) ((1 + E) s
             + sqrt(2 E s (2 + (s - 2) cosh e_0 + s + 2 sinh e_0)))) / (E - 1)^2).

*Two-sided geometric, asymmetric* (SAGeo): P(z) = q_l^(nu - z) / kappa below nu and
q_r^(z - nu) / kappa from nu on, z >= 0, with kappa so that they add up to 1,

    q_l = (e^-a - 1 + beta) / beta,      q_r = beta / (e^a - 1 + beta),
    nu = ceil(log_{q_l}(delta (1 - q_l q_r)
              / ((2 + 2 (1 - beta) e^a (q_l - 1) + (delta - 2) q_l) (1 - q_r)))).

*One-sided geometric* (S1Geo): beta = 1 - e^-a, P(z) = (1 - q) q^z with q = 1 / (1 + e^a):
it needs no delta.

beta of the first two has the smallest expected error of all counts together, on a grid of
step 1e-6. The formulas are those of the authors' program.

*Assumptions.* The shuffler is honest, draws the dummies, and hides the answers it sees:
alone, it knows how many dummies it added. In exchange people send one message each, and
dishonest people cannot send more.

Exact: buckets are independent, and an answer that is kept with probability beta has the
ratio 1 - beta + beta (that of the shifted dummies). At an equal guarantee beta and the
shape stay as the paper has them; M, nu, or the epsilon that S1Geo is made for, is the
smallest (largest) that is enough.

Source: Murakami, Sei and Eriguchi (2025), "Augmented Shuffle Protocols for Accurate and
Robust Frequency Estimation under Differential Privacy", arXiv:2504.07362; program:
github.com/AugmentedShuffleDP/AugmentedShuffleDP.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.multi_message.count_design import CountDesign, CountProtocol
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.dummy_counts import (
    BinomialDummies,
    GeometricDummies,
)
from shuffledp_papers.multi_message.exact_pairs import moved_delta, shifted_pair
from shuffledp_papers.multi_message.smallest_noise import smallest_size, smallest_whole

_TITLE = (
    "Augmented Shuffle Protocols for Accurate and Robust Frequency Estimation under "
    "Differential Privacy"
)
_SOURCE = "Murakami, Sei and Eriguchi 2025, arXiv:2504.07362"
# Of the grid of probabilities to keep an answer.
_STEP = 1e-6


@dataclass(frozen=True)
class ShufflerDummies(CountDesign):
    """Answers that a shuffler samples, among its dummies.

    Attributes:
        num_users: n.
        buckets: k.
        sampling_rate: beta, in (0, 1].
        added: Dummies of each bucket.
    """

    num_users: int
    buckets: int
    sampling_rate: float
    added: BinomialDummies | GeometricDummies

    @property
    def messages(self) -> float:
        """The answer."""
        return 1.0

    @property
    def dummies(self) -> float:
        """See `CountDesign`."""
        return self.buckets * self.added.window.mean / self.num_users

    def standard_error(self, holders: int) -> float:
        """Returns the error of dummies and of the sampled answers."""
        sampling = holders * self.sampling_rate * (1.0 - self.sampling_rate)
        return math.sqrt(sampling + self.added.window.variance) / self.sampling_rate

    def certified_delta(self, epsilon: float) -> float:
        """See `CountDesign`."""
        window = self.added.window
        pair = shifted_pair(window.masses, missing=window.missing, drift=window.drift)
        return moved_delta(pair.thinned(self.sampling_rate), epsilon)

    def draw_estimates(
        self, holders: int, repetitions: int, *, rng: np.random.Generator
    ) -> Floats:
        """See `CountDesign`."""
        window = self.added.window
        num_sampled = rng.binomial(holders, self.sampling_rate, size=repetitions)
        counts = num_sampled + window.draw(repetitions, rng=rng)
        return (counts.astype(np.float64) - window.mean) / self.sampling_rate


class MurakamiBinomial(CountProtocol):
    """SBin: binomial dummies."""

    name = "Murakami et al. 2025, SBin"
    title = _TITLE
    source = _SOURCE

    def published(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        sampling_rate, trials = self._printed(setting)
        return _design(setting, sampling_rate, BinomialDummies(trials))

    def smallest(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        sampling_rate, printed = self._printed(setting)
        return smallest_whole(
            lambda trials: _design(setting, sampling_rate, BinomialDummies(trials)),
            setting,
            enough=printed,
        )

    def _printed(self, setting: CountSetting) -> tuple[float, int]:
        """Returns beta and M."""
        grid = _probabilities(0.0)
        trials = binomial_trials(setting, grid)
        best = _best_index(setting, grid, trials / 4.0)
        return float(grid[best]), int(trials[best])


class MurakamiTwoSided(CountProtocol):
    """SAGeo: dummies whose number is geometric to both sides."""

    name = "Murakami et al. 2025, SAGeo"
    title = _TITLE
    source = _SOURCE

    def published(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        return _design(setting, *self._printed(setting))

    def smallest(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        sampling_rate, printed = self._printed(setting)
        return smallest_whole(
            lambda center: _design(
                setting, sampling_rate, replace(printed, center=center)
            ),
            setting,
            enough=printed.center,
        )

    def _printed(self, setting: CountSetting) -> tuple[float, GeometricDummies]:
        """Returns beta and the dummies."""
        half = setting.epsilon / 2.0
        # At the lowest end, masses below nu are 0: that is S1Geo.
        grid = _probabilities(-math.expm1(-half))
        rise = (math.exp(-half) - 1.0 + grid) / grid
        fall = grid / (math.exp(half) - 1.0 + grid)
        # Of the distribution that is not cut at 0.
        weight = rise / (1.0 - rise) + 1.0 / (1.0 - fall)
        variance = (
            rise * (1.0 + rise) / (1.0 - rise) ** 3
            + fall * (1.0 + fall) / (1.0 - fall) ** 3
        ) / weight
        best = _best_index(setting, grid, variance)
        sampling_rate, low, high = (float(each[best]) for each in (grid, rise, fall))
        center = most_likely_number(setting, sampling_rate, low, high)
        return sampling_rate, GeometricDummies(center, low, high)


class MurakamiOneSided(CountProtocol):
    """S1Geo: dummies whose number is geometric."""

    name = "Murakami et al. 2025, S1Geo"
    title = _TITLE
    source = _SOURCE

    def published(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        return self._design(setting, setting.epsilon)

    def smallest(self, setting: CountSetting) -> ShufflerDummies:
        """See `CountProtocol`."""
        return smallest_size(
            lambda size: self._design(setting, 1.0 / size),
            setting,
            enough=1.0 / setting.epsilon,
        )

    def _design(self, setting: CountSetting, epsilon: float) -> ShufflerDummies:
        fall = 1.0 / (1.0 + math.exp(epsilon / 2.0))
        added = GeometricDummies(0, 0.0, fall)
        return _design(setting, -math.expm1(-epsilon / 2.0), added)


def _design(
    setting: CountSetting,
    sampling_rate: float,
    added: BinomialDummies | GeometricDummies,
) -> ShufflerDummies:
    return ShufflerDummies(setting.num_users, setting.buckets, sampling_rate, added)


def binomial_trials(setting: CountSetting, sampling_rate: Floats) -> Floats:
    """Returns M of SBin at every probability to keep an answer."""
    local = np.log(
        (sampling_rate - 1.0 + math.exp(setting.epsilon / 2.0)) / sampling_rate
    )
    growth, s = np.exp(local), np.log(4.0 * sampling_rate / setting.delta)
    inner = 2.0 + (s - 2.0) * np.cosh(local) + s + 2.0 * np.sinh(local)
    # Where s < 0 the formula has no meaning.
    root = np.sqrt(np.maximum(2.0 * growth * s * inner, 0.0))
    top = 2.0 * (growth - 1.0) + (1.0 + growth) * ((1.0 + growth) * s + root)
    trials: Floats = np.where(s > 0.0, np.ceil(top / (growth - 1.0) ** 2), np.inf)
    return trials


def most_likely_number(
    setting: CountSetting, sampling_rate: float, rise: float, fall: float
) -> int:
    """Returns nu of SAGeo."""
    delta, growth = setting.delta, math.exp(setting.epsilon / 2.0)
    below = (
        2.0 + 2.0 * (1.0 - sampling_rate) * growth * (rise - 1.0) + (delta - 2.0) * rise
    )
    part = delta * (1.0 - rise * fall) / (below * (1.0 - fall))
    return max(math.ceil(math.log(part) / math.log(rise)), 1)


def _probabilities(above: float) -> Floats:
    """Returns the grid between `above`, which is left out, and 1, which is in it."""
    grid = np.arange(above + _STEP, 1.0, _STEP)
    return np.append(grid, 1.0)


def _best_index(setting: CountSetting, sampling_rate: Floats, variance: Floats) -> int:
    """Returns where the expected squared error of all counts together is smallest."""
    sampling = setting.num_users * (1.0 - sampling_rate) / sampling_rate
    return int(np.argmin(sampling + setting.buckets * variance / sampling_rate**2))
