"""What a whole training is worth: centrally where that is proven, and locally."""

from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_either, check_whole
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
class TrainingPromise:
    """What people are promised.

    Attributes:
        rounds: T.
        delta: Of every guarantee here.
        central: Against the analyst; None if nothing is proven.
        local: Of devices by themselves; None if they keep nothing.
        note: In plain words, what this says.
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


def promise_of(
    protocol: TrainingRound | None, people: Population, *, delta: float, rounds: int
) -> TrainingPromise:
    """Computes what a training is worth, for every level or, if there are many, quantiles.

    Args:
        protocol: What runs in every round; None if updates are sent as they are.
        people: Everybody's level; they take part in every round.
        delta: At which guarantees of a person's whole training are stated.
        rounds: T >= 1, with fresh randomness in each.

    Raises:
        InvalidInputError: If a parameter is out of range.
        PopulationError: If a single person is to hide among others.
        CertificationError: If no bound can be proven in double precision.
    """
    number = as_number(delta, "delta")
    check_either(number, None)
    check_whole(rounds, "rounds", least=1)
    central, local, note = None, None, _NONE
    if protocol is not None and not protocol.uncertified:
        central = account(protocol, people, delta=delta, rounds=rounds)
        local, note = local_part(central, protocol), _CENTRAL
    elif protocol is not None:
        try:
            local = local_guarantee(protocol, people, delta=delta, rounds=rounds)
            note = f"{protocol.uncertified} {_LOCAL}"
        except CertificationError as error:
            note = f"{protocol.uncertified} {error}"
    return TrainingPromise(rounds, number, central, local, note)
