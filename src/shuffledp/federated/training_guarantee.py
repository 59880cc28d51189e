"""The guarantees of a whole training: central where one is proven, and local."""

from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_either, check_rounds
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError
from shuffledp.federated.local_guarantee import (
    LocalGuarantee,
    local_guarantee,
    local_part,
)
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.population import Population

_CENTRAL = "Certified against the analyst, for messages shuffled per coordinate."
_LOCAL = "Certified is what each device keeps without a shuffler, which is local."
_NONE = "No privacy: updates are sent as they are."


@dataclass(frozen=True)
class TrainingGuarantee:
    """Central and local guarantee of a training.

    Attributes:
        rounds: T.
        delta: Of both guarantees.
        central: Against the analyst; None if none is proven.
        local: Of devices by themselves; None if there is none.
        note: The meaning of the guarantees, in plain words.
    """

    rounds: int
    delta: float
    central: Guarantee | None
    local: LocalGuarantee | None
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON; `shuffledp verify` reads the certificate."""
        return {
            "note": self.note,
            "certificate": None if self.central is None else self.central.to_dict(),
            "local": None if self.local is None else self.local.to_dict(),
        }


def training_guarantee_of(
    protocol: TrainingRound | None, people: Population, *, delta: float, rounds: int
) -> TrainingGuarantee:
    """Computes the guarantees of a training, at all levels or, of many, at quantiles.

    Args:
        protocol: The protocol of every round; None if updates are sent unchanged.
        people: The population, which takes part in every round.
        delta: Of the guarantees of a person's whole training.
        rounds: T >= 1, with fresh randomness in each.

    Raises:
        InvalidInputError: If a parameter is out of range.
        PopulationError: If the population is a single person.
        CertificationError: If no bound can be proven in double precision.
    """
    checked_delta = as_number(delta, "delta")
    check_either(checked_delta, None)
    check_rounds(rounds)
    central, local, note = None, None, _NONE
    if protocol is not None and not protocol.uncertified:
        central = account(protocol, people, delta=delta, rounds=rounds)
        local, note = local_part(central, protocol), _CENTRAL
    elif protocol is not None:
        try:
            # Without a central guarantee, devices may still have their local one.
            local = local_guarantee(protocol, people, delta=delta, rounds=rounds)
            note = f"{protocol.uncertified} {_LOCAL}"
        except CertificationError as error:
            note = f"{protocol.uncertified} {error}"
    return TrainingGuarantee(rounds, checked_delta, central, local, note)
