"""What training with messages shuffled per coordinate keeps of each person's privacy.

In every round each person sends one message per coordinate of her update, and the messages
of each coordinate are shuffled apart. *User level*: two neighboring worlds differ in all
data of one person, so that all her d messages of all T rounds may change.

Rounds are adaptive: the model, and with it everybody's update, depends on all earlier
messages. Given those, a round is a collection of values like any other, and the bound for
one coordinate holds whatever the values are - the victim's two and all others'. So for
every past the same pair of distributions dominates the coordinate, and independent copies
of it dominate the whole training (Zhu, Dong, Wang 2022, arXiv:2106.08567, Theorem 10;
docs/theorem.md). Randomness must be fresh in every round, and the model must be computed
from shuffled messages only.

Without a shuffle, the same composition of what one device's message shows is the *local*
guarantee. It holds for what passed a shuffler, too, and is no central guarantee.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.asked import MIN_DELTA, check_whole
from shuffledp.accounting.rounds.composed_profile import total_budget
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.central_composition import (
    central_epsilons,
    device_of,
    is_certified,
)
from shuffledp.federated.local_composition import local_composition
from shuffledp.federated.published_training import stated_by_apes
from shuffledp.population import Population

# With more distinct levels than this, quantiles are reported.
_MAX_REPORTED_LEVELS = 8
_QUANTILES = {
    "minimum": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "maximum": 1.0,
}

_CENTRAL = "Certified against the analyst, for messages shuffled per coordinate."
_NOTES = {
    "apes": _CENTRAL,
    "one-bit-apes": _CENTRAL,
    "unis": _CENTRAL,
    "s-apes-threshold": _CENTRAL
    + " Which messages are kept depends on a public threshold and on the message alone, "
    "so that coordinates stay independent; all of them are counted.",
    "random-sparsification": _CENTRAL
    + " Which coordinates a person keeps does not depend on her data; for the others she "
    "holds 0. So the certificate of all coordinates holds.",
    "s-apes": "No central guarantee is certified: which of a person's messages are among "
    "her largest depends on all her values, so that coordinates are not independent and "
    "all of them tell something. Certified is what her device keeps without a shuffler. "
    "The published figure counts 2 b coordinates.",
    "pldp": "Nothing is shuffled: certified is what each device keeps.",
    "ldp-min": "Nothing is shuffled, and everybody has the smallest budget: certified is "
    "what each device keeps.",
    "non-private": "No privacy: updates are sent as they are.",
}
FRAMEWORKS = tuple(_NOTES)


@dataclass(frozen=True, slots=True)
class TrainingLevel:
    """What the people of one privacy level are promised.

    None stands for what is not known, infinity for no privacy.

    Attributes:
        epsilon_local: The budget of one message, in nats.
        count: How many people have it.
        quantile: Which part of the population it stands for, where not all are reported.
        user_local: d T epsilon_local: what all messages of a person keep, with delta 0.
        user_local_certified: The same at delta, by composition: never more.
        coordinate_central: Of one shuffle, at delta / (d T), but at least 1e-300:
            certified.
        coordinate_central_lower: What an attack on it reaches.
        user_central: Of the whole training, at delta: certified.
        user_central_lower: What an attack on it reaches.
        coordinate_published: What the paper states for one coordinate, whoever it is.
        user_published: The same for the whole training.
    """

    epsilon_local: float
    count: int
    quantile: str | None
    user_local: float
    user_local_certified: float
    coordinate_central: float | None = None
    coordinate_central_lower: float | None = None
    user_central: float | None = None
    user_central_lower: float | None = None
    coordinate_published: float | None = None
    user_published: float | None = None


@dataclass(frozen=True, slots=True)
class TrainingGuarantee:
    """The promise of a whole training, level by level.

    Attributes:
        framework: Its name.
        num_users: How many people take part.
        coordinates: d, messages per person and round.
        rounds: T.
        delta: Of every user-level epsilon here.
        levels: Ascending.
        certified: Whether a central guarantee is proven: never without a shuffle.
        note: In plain words, what the rows say.
    """

    framework: str
    num_users: int
    coordinates: int
    rounds: int
    delta: float
    levels: tuple[TrainingLevel, ...]
    certified: bool
    note: str

    @property
    def worst(self) -> TrainingLevel:
        """The *reported* level whose people are protected least.

        Where quantiles are reported, others may be protected less: with Laplace noise a
        careful person among liberal ones, whose messages lie where nobody else's do.
        """
        return max(
            self.levels,
            key=lambda level: (
                level.user_local_certified
                if level.user_central is None
                else level.user_central
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON: infinite ones as "infinity"."""
        record = asdict(self)
        record["levels"] = [
            {
                name: "infinity" if value == math.inf else value
                for name, value in level.items()
            }
            for level in record["levels"]
        ]
        return record


def certify_training(
    framework: str,
    people: Population,
    *,
    clip: float,
    coordinates: int,
    rounds: int,
    delta: float,
    share: float = 0.2,
) -> TrainingGuarantee:
    """Computes what a training is worth, for every level or, if there are many, quantiles.

    Args:
        framework: One of `FRAMEWORKS`.
        people: Everybody's level; they take part in every round.
        clip: C > 0: coordinates of updates are clipped to [-C, C].
        coordinates: d >= 1.
        rounds: T >= 1, with fresh randomness in each.
        delta: At which user-level guarantees are stated, in [1e-300, 1).
        share: b / d, in (0, 1], for frameworks that keep some coordinates; below 1 with a
            threshold.

    Raises:
        InvalidInputError: If the framework is unknown or a parameter is out of range.
        PopulationError: If a single person is to hide among others.
        CertificationError: If no bound can be proven in double precision.
    """
    if framework not in FRAMEWORKS:
        raise InvalidInputError(
            f"Expected one of {', '.join(FRAMEWORKS)}, got {framework!r}."
        )
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    check_whole(coordinates, "coordinates", least=1)
    check_whole(rounds, "rounds", least=1)
    if not MIN_DELTA <= as_number(delta, "delta") < 1.0:
        raise InvalidInputError(
            f"Expected {MIN_DELTA:g} <= delta < 1, got {as_number(delta, 'delta'):g}."
        )
    if not 0.0 < as_number(share, "share") <= 1.0:
        raise InvalidInputError(f"Expected 0 < share <= 1, got {share:g}.")
    if framework == "ldp-min":
        people = Population.from_counts({float(people.epsilons[0]): people.num_users})
    times = coordinates * rounds
    device = device_of(framework, clip, share)
    private = framework != "non-private"
    central = private and is_certified(framework)
    rows = _reported(people)
    found: list[dict[str, float]] = [{} for _ in rows]
    if central:
        reported = people.epsilons[[index for index, _ in rows]].tolist()
        found = central_epsilons(device, people, reported, coordinates, rounds, delta)
    stated = stated_by_apes(
        framework,
        people,
        coordinates=coordinates,
        rounds=rounds,
        delta=delta,
        share=share,
    )
    levels = []
    for (index, quantile), certified in zip(rows, found, strict=True):
        epsilon, local, pure = math.inf, math.inf, math.inf
        if private:
            epsilon = float(people.epsilons[index])
            local = local_composition(device, epsilon, times=times, delta=delta)
            pure = total_budget(times, epsilon)
        levels.append(
            TrainingLevel(
                epsilon_local=epsilon,
                count=int(people.counts[index]),
                quantile=quantile,
                user_local=pure,
                user_local_certified=local,
                coordinate_published=stated(epsilon)[0],
                user_published=stated(epsilon)[1],
                **certified,
            )
        )
    return TrainingGuarantee(
        framework=framework,
        num_users=people.num_users,
        coordinates=int(coordinates),
        rounds=int(rounds),
        delta=float(delta),
        levels=tuple(levels),
        certified=central,
        note=_NOTES[framework],
    )


def _reported(people: Population) -> list[tuple[int, str | None]]:
    """Returns positions of the levels to report, with the quantile each stands for."""
    if people.num_levels <= _MAX_REPORTED_LEVELS:
        return [(index, None) for index in range(people.num_levels)]
    ranks = np.cumsum(people.counts)
    last = people.num_users - 1
    # The person of rank floor(q (n - 1)), as in `account`.
    return [
        (int(np.searchsorted(ranks, int(share * last), side="right")), name)
        for name, share in _QUANTILES.items()
    ]
