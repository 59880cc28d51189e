"""What devices and server of a training with Flower agree on before it begins.

    AGREEMENT = Agreement(framework="apes", clip=0.02, rounds=20)

Devices randomize with it, and the server estimates and certifies with it: the framework
that a certificate speaks of is the one whose randomizer runs.
"""

from dataclasses import dataclass

from shuffledp.accounting.asked import check_whole
from shuffledp.errors import InvalidInputError
from shuffledp.federated.central_composition import is_certified
from shuffledp.federated.frameworks import FRAMEWORKS, framework_named
from shuffledp.federated.guarantees import TrainingGuarantee, certify_training
from shuffledp.federated.round import VectorRandomizer
from shuffledp.federated.simulated_cells import FARTHEST_CELL
from shuffledp.population import Population
from shuffledp.randomizers.grid import STEPS

# All messages of one coordinate; those of other frameworks are cells within the grid.
_MESSAGES = {
    "one-bit-apes": range(2),
    "unis": range(-FARTHEST_CELL, FARTHEST_CELL + 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Public parameters only.

    Attributes:
        framework: A name in `FRAMEWORKS` with a central certificate.
        clip: C > 0; coordinates of updates are clipped to [-C, C].
        rounds: The largest number of updates that anybody gives away, >= 1.
        share: b / d, in (0, 1), for frameworks that keep some coordinates.

    Raises:
        InvalidInputError: If a parameter is out of range, or nothing central is certified
            for the framework.
    """

    framework: str
    clip: float
    rounds: int
    share: float = 0.2

    def __post_init__(self) -> None:
        framework_named(self.framework)
        if not is_certified(self.framework):
            certified = ", ".join(filter(is_certified, FRAMEWORKS))
            raise InvalidInputError(
                "Expected a framework with a central certificate, "
                f"one of {certified}, got {self.framework!r}."
            )
        check_whole(self.rounds, "rounds", least=1)
        _ = self.randomizer

    @property
    def randomizer(self) -> VectorRandomizer:
        """What devices do to their updates."""
        return framework_named(self.framework).build(self.clip, self.share)

    @property
    def messages(self) -> range:
        """All messages that the randomizer may send for one coordinate."""
        return _MESSAGES.get(self.framework, range(STEPS))

    def certify(
        self, people: Population, *, coordinates: int, delta: float
    ) -> TrainingGuarantee:
        """Returns what the whole training guarantees.

        Arguments and errors are those of `certify_training`.
        """
        return certify_training(
            self.framework,
            people,
            clip=self.clip,
            coordinates=coordinates,
            rounds=self.rounds,
            delta=delta,
            share=self.share,
        )
