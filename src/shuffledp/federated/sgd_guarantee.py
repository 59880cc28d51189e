"""Local guarantee of noisy gradient descent that visits clients in a random order.

A step is mu-GDP for one example, and k mu-GDP for all examples of a client
(`NoisySteps`); T epochs are sqrt(T) mu-GDP.

No more is certified, and this is local. The order of the clients hides which of them made
a step, but every step depends on the model that the earlier ones left, and no
amplification is proven for such a sequence with normal noise.

Source: Dong, Roth, Su (2022), Corollary 3.3, for the composition.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.federated.noisy_steps import NoisySteps
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import normal_divergence
from shuffledp.types import Floats

# Relative margin: far above the effect of rounding in the logarithms of normal tails on
# epsilon, and too small to be seen.
_ROUNDING = 1e-9

_PUBLIC = (
    "For one example, or all examples, of a client whose level is the row's, against "
    "anybody who sees every step and whose it is; in exact arithmetic. The principal "
    "components count as public."
)
_NOT_PUBLIC = (
    "Not certified: the principal components were computed from the clients' own examples "
    "without noise. The rows hold for the steps of training only. For a certificate, take "
    "components of public pictures: --public-components on the command line."
)
_NO_NOISE = "Not certified: trained without noise."


@dataclass(frozen=True, slots=True)
class SgdLevel:
    """Guarantee for the clients of one privacy level after all epochs.

    Attributes:
        epsilon_local: The level: epsilon of one step for one example, at delta.
        num_clients: Number of clients at this level.
        deviation: sigma of the noise, per coordinate of the mean gradient.
        example_mu: The Gaussian privacy of one example after all epochs.
        example_epsilon: The epsilon of `example_mu` at delta, rounded up.
        client_mu: The Gaussian privacy of all examples of a client together.
        client_epsilon: The epsilon of `client_mu` at delta, rounded up.
    """

    epsilon_local: float
    num_clients: int
    deviation: float
    example_mu: float
    example_epsilon: float
    client_mu: float
    client_epsilon: float


@dataclass(frozen=True, slots=True)
class SgdGuarantee:
    """Local guarantee of a whole training, level by level. It is not central.

    Attributes:
        protocol: Identity of every step.
        delta: Of every epsilon.
        epochs: Number of steps of each client.
        levels: Ascending.
        certified: Whether the rows cover every computation on the clients' data.
        note: The extent of the guarantee, as a sentence.
    """

    protocol: Identity
    delta: float
    epochs: int
    levels: tuple[SgdLevel, ...]
    certified: bool
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON: infinite ones as "infinity"."""
        record = asdict(self)
        record["protocol"] = self.protocol.record
        record["levels"] = [_finite_record(asdict(level)) for level in self.levels]
        return record


def sgd_guarantee(
    steps: NoisySteps,
    people: Population,
    *,
    epochs: int,
    public_components: bool = True,
) -> SgdGuarantee:
    """Computes the local guarantee of a whole training, at the delta of a step.

    Args:
        steps: The mechanism of every step.
        people: The population of clients.
        epochs: Steps of every client, >= 1.
        public_components: Whether the projection is independent of the clients' examples.

    Raises:
        InvalidInputError: If a parameter is out of range.
    """
    check_whole(epochs, "epochs", least=1)
    sigmas, delta = steps.deviations(people.epsilons), float(steps.delta)
    # Gaussian mechanisms compose exactly, also if a step depends on the earlier ones:
    # sqrt(T) mu (Dong, Roth, Su 2022, Corollary 3.3).
    # Without noise sigma is 0, and mu infinite.
    with np.errstate(divide="ignore"):
        client = (
            math.sqrt(epochs) * 2.0 * float(steps.clip) / sigmas * (1.0 + _ROUNDING)
        )
    # Replacing one of k examples moves the mean a k-th as far as all of them.
    example = client / steps.examples
    example_epsilons = smallest_epsilons(example, delta)
    client_epsilons = smallest_epsilons(client, delta)
    rows = tuple(
        SgdLevel(*(float(level), int(count)), *map(float, numbers))
        for level, count, *numbers in zip(
            people.epsilons, people.counts, sigmas, example, example_epsilons,
            client, client_epsilons, strict=True,
        )
    )  # fmt: skip
    covered = _PUBLIC if public_components else _NOT_PUBLIC
    return SgdGuarantee(
        protocol=steps.identity,
        delta=delta,
        epochs=epochs,
        levels=rows,
        certified=steps.noise and public_components,
        note=covered if steps.noise else _NO_NOISE,
    )


def smallest_epsilons(mu: Floats, delta: float) -> Floats:
    """Returns the epsilon at which mu-GDP has this delta, rounded up.

    Args:
        mu: >= 0, shape (levels,); infinite without any privacy.
        delta: In (0, 1).
    """
    finite = np.where(np.isfinite(mu), mu, 1.0)
    low = np.zeros(mu.shape)
    # There delta is below Phi(-40), which is less than any delta in [1e-100, 1).
    high = finite * (finite / 2.0 + 40.0)
    for _ in range(100):
        middle = (low + high) / 2.0
        holds = normal_divergence(finite, middle) <= delta
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    holds_at_zero = normal_divergence(finite, np.zeros(mu.shape)) <= delta
    epsilons = np.where(holds_at_zero, 0.0, high * (1.0 + _ROUNDING))
    # `high` is the end of the bracket at which the bound was evaluated and held.
    rounded: Floats = np.where(np.isfinite(mu), epsilons, math.inf)
    return rounded


def _finite_record(record: dict[str, Any]) -> dict[str, Any]:
    return {
        key: "infinity" if value == math.inf else value for key, value in record.items()
    }
