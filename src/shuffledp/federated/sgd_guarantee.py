"""What noisy gradient descent in a random order keeps of each person's privacy.

In every epoch a client sends the mean of its k examples' gradients, each of norm at most C,
with normal noise of deviation sigma per coordinate. Replacing one example moves the mean by
at most 2 C / k (E-APES prints 2 C / m for m clients), replacing all of them by 2 C. A step
is therefore mu-GDP with mu = 2 C / (k sigma) for one example. Steps of Gaussian mechanisms
compose exactly, however each depends on what came before: T epochs are sqrt(T) mu-GDP.

That is all that is certified. The order of the clients hides which of them made a step,
but every step depends on the model that the earlier ones left, and no amplification is
proven for such a sequence with normal noise. What E-APES states stands beside it.

Sources: Balle, Wang (2018), Theorem 8, for sigma; Dong, Roth, Su (2022), Corollary 3.3, for
the composition; Chen, Cao, Ge (2023), Algorithm 1 and Theorem 4, for the statement.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.asked import check_whole
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clip_laplace_vectors import LARGEST, SMALLEST, check_clip
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.bounds.eapes import EapesTheorem, gdp_parameter
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import normal_divergence, sensitivity_per_deviation
from shuffledp.types import Floats

# Far more than the error of logarithms of normal tails moves epsilon, and too little to
# be seen.
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
    """What clients of one privacy level are promised after all epochs.

    Attributes:
        epsilon_local: The level: what one step keeps for one example, at delta.
        num_clients: How many chose it.
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
    """The promise of a whole training, level by level.

    Attributes:
        delta: Of every epsilon here.
        epochs: How many steps each client made.
        levels: Ascending.
        certified: Whether the rows cover all that was computed from people's data.
        note: What they cover.
        published_mu: What E-APES states for one epoch, whoever it is.
        published_epsilon: The epsilon at delta of sqrt(epochs) published_mu.
        published_status: What is known of that statement.
    """

    delta: float
    epochs: int
    levels: tuple[SgdLevel, ...]
    certified: bool
    note: str
    published_mu: float
    published_epsilon: float
    published_status: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON: infinite ones as "infinity"."""
        record = _finite(asdict(self))
        record["levels"] = [_finite(asdict(level)) for level in self.levels]
        return record


def deviations(levels: Floats, *, clip: float, examples: int, delta: float) -> Floats:
    """Returns the noise of one step, per coordinate of the mean gradient.

    Args:
        levels: Local budgets of one example in one step, from 0 to 700, shape (m,).
        clip: C, in [1e-30, 1e30].
        examples: k, the examples of every client, >= 1.
        delta: In (0, 1).

    Raises:
        InvalidInputError: If the clip, or noise, is out of the range in which single
            precision, that of the training, holds it.
    """
    check_clip(clip)
    mu = sensitivity_per_deviation(levels, delta)
    sigmas: Floats = 2.0 * clip / examples / mu
    if not (sigmas.min() >= SMALLEST and sigmas.max() <= LARGEST):
        raise InvalidInputError(
            f"Expected a clip, levels and a delta for which the noise is from "
            f"{SMALLEST:g} to {LARGEST:g}, got {sigmas.min():g} to {sigmas.max():g}."
        )
    return sigmas


def certify(
    people: Population,
    *,
    clip: float,
    examples: int,
    epochs: int,
    delta: float,
    public_components: bool = True,
    noise: bool = True,
) -> SgdGuarantee:
    """Computes the promise of a whole training.

    Args:
        people: The clients' levels.
        clip: C, in [1e-30, 1e30].
        examples: k, the examples of every client, >= 1.
        epochs: Steps of every client, >= 1.
        delta: In [1e-100, 1).
        public_components: Whether the projection tells nothing of the clients' examples.
        noise: Whether there was any.

    Raises:
        InvalidInputError: If a parameter is out of range.
    """
    clip, delta = as_number(clip, "clip"), as_number(delta, "delta")
    if not 1e-100 <= delta < 1.0:
        raise InvalidInputError(f"Expected 1e-100 <= delta < 1, got {delta:g}.")
    check_whole(examples, "examples", least=1)
    check_whole(epochs, "epochs", least=1)
    sigmas = deviations(people.epsilons, clip=clip, examples=examples, delta=delta)
    if not noise:
        sigmas = np.zeros_like(sigmas)
    with np.errstate(divide="ignore"):
        client = math.sqrt(epochs) * 2.0 * clip / sigmas * (1.0 + _ROUNDING)
    example = client / examples
    example_epsilons = smallest_epsilons(example, delta)
    client_epsilons = smallest_epsilons(client, delta)
    rows = tuple(
        SgdLevel(*(float(level), int(count)), *map(float, numbers))
        for level, count, *numbers in zip(
            people.epsilons, people.counts, sigmas, example, example_epsilons,
            client, client_epsilons, strict=True,
        )
    )  # fmt: skip
    note = _NO_NOISE if not noise else _PUBLIC if public_components else _NOT_PUBLIC
    mu = (
        math.inf
        if people.num_users < 2
        else gdp_parameter(Setting(people, delta_local=delta), delta_local=delta)
    )
    total = math.sqrt(epochs) * mu
    return SgdGuarantee(
        delta=delta,
        epochs=epochs,
        levels=rows,
        certified=noise and public_components,
        note=note,
        published_mu=mu,
        published_epsilon=float(smallest_epsilons(np.array([total]), delta)[0]),
        published_status=EapesTheorem.proven.value,
    )


def smallest_epsilons(mu: Floats, delta: float) -> Floats:
    """Returns the epsilon at which mu-GDP has this delta, rounded up.

    Args:
        mu: >= 0, shape (levels,); infinite where nothing is kept.
        delta: In (0, 1).
    """
    finite = np.where(np.isfinite(mu), mu, 1.0)
    low = np.zeros(mu.shape)
    # There delta is below Phi(-40), which is less than any that is asked for.
    high = finite * (finite / 2.0 + 40.0)
    for _ in range(100):
        middle = (low + high) / 2.0
        fits = normal_divergence(finite, middle) <= delta
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    none = normal_divergence(finite, np.zeros(mu.shape)) <= delta
    epsilons = np.where(none, 0.0, high * (1.0 + _ROUNDING))
    found: Floats = np.where(np.isfinite(mu), epsilons, math.inf)
    return found


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    return {
        key: "infinity" if value == math.inf else value for key, value in record.items()
    }
