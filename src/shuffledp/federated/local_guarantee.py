"""Local guarantee of a training: it holds without a shuffler, and against its operator.

It composes the local privacy of one device's messages (`local_composition`). It holds for
shuffled messages, too, and it is not a central guarantee.
"""

from dataclasses import asdict, dataclass
from typing import Any

from shuffledp.accounting.account import reported
from shuffledp.accounting.accounting_query import (
    AccountingQuery,
    check_either,
    check_rounds,
)
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.accounting.statement import Statement
from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number
from shuffledp.federated.exposures import UNSHUFFLED
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.identity import Identity
from shuffledp.population import Population


@dataclass(frozen=True)
class LocalLevel:
    """Local guarantee of the devices of one privacy level.

    Attributes:
        epsilon_local: The budget of one message, in nats.
        count: Number of people at this level.
        quantile: The quantile of the population, where not all levels are reported.
        epsilon_all: Of all messages of a person, at delta: certified.
        epsilon_sum: d T epsilon_local: of all messages, with delta 0 if budgets are pure.
    """

    epsilon_local: float
    count: int
    quantile: str | None
    epsilon_all: float
    epsilon_sum: float


@dataclass(frozen=True)
class LocalGuarantee:
    """Local guarantee of a whole training, level by level. It is not central.

    Attributes:
        protocol: Identity of every round.
        num_users: Number of people who take part.
        rounds: T.
        coordinates: d, messages per person and round.
        delta: Of every epsilon_all.
        levels: Ascending.
    """

    protocol: Identity
    num_users: int
    rounds: int
    coordinates: int
    delta: float
    levels: tuple[LocalLevel, ...]

    @property
    def worst(self) -> LocalLevel:
        """The reported level with the largest epsilon."""
        return max(self.levels, key=lambda level: level.epsilon_all)

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON."""
        record = asdict(self)
        record["protocol"] = self.protocol.record
        return record


def local_guarantee(
    protocol: TrainingRound, people: Population, *, delta: float, rounds: int = 1
) -> LocalGuarantee:
    """Computes the local guarantee of a training.

    Args:
        protocol: The protocol of every round, shuffled or not.
        people: The population, which takes part in every round.
        delta: In [1e-300, 1).
        rounds: T >= 1, with fresh randomness in each.

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If the device does not state its local privacy.
    """
    expect_instance(people, Population)
    checked_delta = as_number(delta, "delta")
    check_either(checked_delta, None)
    check_rounds(rounds)
    query = AccountingQuery(
        named=reported(people),
        counts=people.counts,
        delta=checked_delta,
        epsilon=None,
        rounds=int(rounds),
    )
    # No people hide a device here; `people` only says which levels are reported.
    statement = protocol.without_shuffle(people).certify(query)
    return _from_statement(
        statement, protocol, people.num_users, checked_delta, int(rounds)
    )


def local_part(guarantee: Guarantee, protocol: TrainingRound) -> LocalGuarantee:
    """Returns the local guarantee in a certificate of a training at a delta."""
    # A round has one statement of this name: `TrainingRound.exposures`.
    (statement,) = (each for each in guarantee.also if each.about == UNSHUFFLED)
    return _from_statement(
        statement,
        protocol,
        guarantee.num_users,
        guarantee.delta or 0.0,
        guarantee.rounds,
    )


def _from_statement(
    statement: Statement,
    protocol: TrainingRound,
    num_users: int,
    delta: float,
    rounds: int,
) -> LocalGuarantee:
    times = protocol.num_coordinates * rounds
    levels = tuple(
        LocalLevel(
            epsilon_local=level.chosen,
            count=level.count,
            quantile=level.quantile,
            epsilon_all=level.epsilon_central,
            # Basic composition of pure budgets, beside the certified composition at
            # this delta.
            epsilon_sum=total_budget(times, level.chosen),
        )
        for level in statement.levels
    )
    return LocalGuarantee(
        protocol.identity,
        num_users,
        rounds,
        int(protocol.num_coordinates),
        delta,
        levels,
    )
