"""Any randomizer behind a shuffler, without an estimator."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.exposure import (
    Exposure,
    message_identity,
    single_message_exposure,
)
from shuffledp.arrays import level_array, unmasked
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_mode
from shuffledp.population import Population
from shuffledp.randomizers.foreign_mechanism import rebuild
from shuffledp.randomness import Rng
from shuffledp.reports import Reports
from shuffledp.types import Mode


@dataclass(frozen=True)
class SingleMessage:
    """One report per person, and a shuffle.

    `account` takes a bare randomizer for one whose messages travel apart from levels.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 10_000})
    >>> stratified = sdp.SingleMessage(sdp.Laplace(0, 1), mode="stratified")
    >>> sdp.account(stratified, people, delta=1e-6).worst.epsilon_central
    0.0378436

    Attributes:
        randomizer: The randomizer of the devices.
        mode: "agnostic" unlinks levels from messages: users hide among all users.
            "stratified" keeps each level with its message: people hide among their own.
    """

    randomizer: LocalRandomizer
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        check_mode(self.mode)
        inner = self.randomizer
        # A class has the methods of its objects, and would pass as a randomizer.
        if isinstance(inner, type) or not isinstance(inner, LocalRandomizer):
            raise InvalidInputError(
                "Expected a randomizer that hands over its cover, such as Laplace(), got "
                f"{getattr(inner, '__name__', type(inner).__name__)}."
            )

    @classmethod
    def from_record(
        cls, record: dict[str, Any], mechanism: Any = None
    ) -> "SingleMessage":
        """Returns the protocol with this identity's record.

        Args:
            record: Of its identity.
            mechanism: The class of a mechanism that is not this library's, or an object.
        """
        terms = Identity.from_record(record).record
        inner = rebuild(terms["mechanism"], terms["parameters"], mechanism)
        return cls(inner, terms["mode"])

    @property
    def identity(self) -> Identity:
        """The identity of the protocol."""
        return message_identity(self.randomizer, self.mode)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one message."""
        return (single_message_exposure(self.randomizer, self.mode, people),)

    def randomize(self, values: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one randomized message per person.

        Args:
            values: As the randomizer takes them, shape (n,).
            levels: Each person's local budget in nats, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If the randomizer draws nothing, or refuses values or levels.
        """
        # Certificates need the cover alone: some randomizers only declare that.
        draw: Any = getattr(self.randomizer, "randomize", None)
        if draw is None:
            raise InvalidInputError(
                f"Expected a randomizer that draws messages, got {self.randomizer!r}."
            )
        epsilons = level_array(levels)
        messages = np.asarray(draw(unmasked(values, "values"), epsilons, rng=rng))
        # Coordinates that one value changes are shuffled apart.
        in_columns = self.randomizer.changes > 1
        return Reports(
            self.identity, messages, epsilons, "columns" if in_columns else "rows"
        )


PROTOCOL = SingleMessage
