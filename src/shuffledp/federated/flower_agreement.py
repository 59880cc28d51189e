"""The public parameters that devices and server of a training with Flower share.

    ROUND = TrainingRound(ClipLaplaceVectors(0.02), num_coordinates=650)
    AGREEMENT = Agreement(ROUND, rounds=20)

Devices randomize with the round, and the server estimates and certifies with it: one
object. Every request and every reply carries its digest, and either side refuses messages
of another round.
"""

from dataclasses import dataclass

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_rounds
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInputError
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.population import Population


@dataclass(frozen=True)
class Agreement:
    """The round and the number of rounds; public parameters only.

    Attributes:
        protocol: The protocol of a round.
        rounds: The largest number of updates that a device sends, >= 1.

    Raises:
        InvalidInputError: If nothing central is certified for the round, or a parameter is
            out of range.
    """

    protocol: TrainingRound
    rounds: int

    def __post_init__(self) -> None:
        if not isinstance(self.protocol, TrainingRound):
            raise InvalidInputError(
                f"Expected a TrainingRound, got {type(self.protocol).__name__}."
            )
        if self.protocol.uncertified:
            raise InvalidInputError(
                "Expected a round with a central certificate. "
                + self.protocol.uncertified
            )
        check_rounds(self.rounds)

    @property
    def digest(self) -> str:
        """The digest of the round's identity, in hexadecimal digits."""
        return self.protocol.identity.digest

    def certify(self, people: Population, *, delta: float) -> Guarantee:
        """Certifies the whole training.

        Arguments and errors are those of `account`.
        """
        return account(self.protocol, people, delta=delta, rounds=self.rounds)
