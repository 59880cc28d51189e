"""Several protocols that the same people take part in, as one protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from shuffledp.accounting.exposure import (
    Certifiable,
    exposures_of,
    identity_of,
)
from shuffledp.accounting.joint.composable_exposure import ComposableExposure, Part
from shuffledp.accounting.joint.joint_exposure import JointExposure
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.types import Mode

# Each different protocol is bounded by itself.
MAX_PARTS = 1_000
NAME = "several"


@dataclass(frozen=True, init=False)
class ProtocolComposition:
    """Protocols that run with the same people, each with randomness of its own.

    `account` takes a list of protocols, and certifies this composition.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> both = sdp.ProtocolComposition([sdp.Frequency(17), sdp.Mean(0, 10)])
    >>> [level.epsilon_central for level in sdp.account(both, people, delta=1e-6).levels]
    [0.0463682, 0.096195]

    Attributes:
        parts: At least two protocols or randomizers; one that takes place several times
            is listed as often. Every one must accept the levels of the population.
    """

    parts: tuple[Certifiable | LocalRandomizer, ...]

    def __init__(self, parts: Sequence[Certifiable | LocalRandomizer]) -> None:
        if not isinstance(parts, list | tuple):
            raise InvalidInputError(
                f"Expected a list of protocols, got {type(parts).__name__}."
            )
        if not 2 <= len(parts) <= MAX_PARTS:
            raise InvalidInputError(
                f"Expected from 2 to {MAX_PARTS:,} protocols, got {len(parts)}."
            )
        for part in parts:
            if not (hasattr(part, "exposures") or hasattr(part, "mechanism")):
                raise InvalidInputError(
                    f"Expected protocols or randomizers, got {type(part).__name__}."
                )
        if any(isinstance(part, ProtocolComposition) for part in parts):
            raise InvalidInputError(
                "Expected protocols in one list: a composition is not part of another."
            )
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def identity(self) -> Identity:
        """The identities of all parts, in the order in which they are listed."""
        records = [identity_of(part).record for part in self.parts]
        # Where one part shows levels beside messages, the whole does.
        modes = {record["mode"] for record in records}
        mode: Mode = "stratified" if "stratified" in modes else "agnostic"
        return Identity.of(NAME, "composition", {"parts": records}, mode)

    def exposures(self, people: Population) -> tuple[JointExposure]:
        """Returns the exposure that is certified: all reports in all protocols.

        Raises:
            InvalidInputError: If a part is no protocol, or cannot be composed.
            UnknownLevelError: If a part does not accept the levels of these people.
        """
        different: dict[Identity, list[Certifiable | LocalRandomizer]] = {}
        exposures: dict[Identity, ComposableExposure] = {}
        for part in self.parts:
            # Its first exposure is of all messages of a person.
            exposure = exposures_of(part, people)[0]
            if not isinstance(exposure, ComposableExposure):
                raise InvalidInputError(
                    "Expected protocols that can be composed with others, got "
                    f"{type(part).__name__}."
                )
            exposures.setdefault(identity_of(part), exposure)
            different.setdefault(identity_of(part), []).append(part)
        return (
            JointExposure(
                tuple(
                    Part(parts[0], exposures[identity], str(identity), len(parts))
                    for identity, parts in different.items()
                )
            ),
        )


def one_protocol(
    protocol: Certifiable | LocalRandomizer | Sequence[Certifiable | LocalRandomizer],
) -> Certifiable | LocalRandomizer:
    """Returns the protocol, or the composition of several that are listed."""
    if isinstance(protocol, list | tuple):
        if not protocol:
            raise InvalidInputError(
                "Expected at least one protocol, got an empty list."
            )
        if len(protocol) > 1:
            return ProtocolComposition(protocol)
        (protocol,) = protocol
    return cast(Certifiable | LocalRandomizer, protocol)
