"""What is certified of a training: all messages of a person, one shuffle, one device.

In every round each person sends one message per coordinate of an update, and the messages
of each coordinate are shuffled apart. *User level*: two neighboring worlds differ in all
data of one person, so that all d messages of all T rounds may change.

Rounds are adaptive: the model, and with it everybody's update, depends on all earlier
*shuffled* messages. Given those, a round is a collection of values like any other, and the
bound for one coordinate holds whatever the values are - the victim's two and all others'.
So for every past the same pair of distributions dominates the coordinate, and independent
copies of it dominate the whole training (Zhu, Dong, Wang 2022, arXiv:2106.08567, Theorem
10; docs/theory/theorem.md). Randomness must be fresh in every round, the model must be
computed from shuffled messages only, and no device may keep anything that depends on its
own noise.
"""

from typing import cast

from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError
from shuffledp.federated.exposures import (
    ALL,
    ONE,
    SingleShuffleExposure,
    UnshuffledExposure,
)
from shuffledp.federated.framework import (
    Coupled,
    Device,
    Framework,
    why_not_central,
    why_not_local,
)
from shuffledp.population import Population


def why_uncertified(framework: Framework, device: Device, *, shuffled: bool) -> str:
    """Returns why nothing central is certified; an empty text if something is.

    Args:
        framework: What a round runs.
        device: Its device.
        shuffled: Whether messages pass a shuffler on their way to the analyst.
    """
    if not shuffled:
        return "messages reach the analyst without a shuffle"
    if hasattr(framework, "couple"):
        coupling = cast(Coupled, framework).coupling
        return f"{coupling}, so that coordinates are not independent"
    return why_not_central(device)


def central_exposures(
    device: Device, people: Population, num_coordinates: int
) -> tuple[Exposure, ...]:
    """Returns all messages of one person, and those of one coordinate of one round.

    Args:
        device: Whose messages are certified; see `why_uncertified`.
        people: Everybody.
        num_coordinates: d, the messages of a person in a round.
    """
    certified = cast(LocalRandomizer, device)
    everything = SingleMessages(
        ALL, certified, "agnostic", people, num_coordinates, adaptive=True
    )
    one = SingleMessages(ONE, certified, "agnostic", people, adaptive=True)
    return everything, SingleShuffleExposure(one, num_coordinates)


def local_exposure(
    device: Device, people: Population, num_coordinates: int
) -> UnshuffledExposure:
    """Returns all messages of one device, as seen where no shuffler is passed.

    All that a device sends is made of these messages, whatever a framework does with them.

    Args:
        device: What runs on every coordinate.
        people: Everybody.
        num_coordinates: d, the messages of a person in a round.

    Raises:
        CertificationError: If the device does not say what its messages tell.
    """
    reason = why_not_local(device)
    if reason:
        raise CertificationError(f"No local guarantee is certified: {reason}.")
    return UnshuffledExposure(cast(LocalRandomizer, device), people, num_coordinates)
