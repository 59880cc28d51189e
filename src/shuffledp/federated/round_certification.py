"""Exposures that a training certifies: all messages of a user, one shuffle, one device.

In every round each person sends one message per coordinate of an update, and the messages
of each coordinate are shuffled apart. *User level*: two neighboring worlds differ in all
data of one person, so that all d messages of all T rounds may change.

Rounds are adaptive: the model, and with it every update, depends on all earlier *shuffled*
messages. Given those, a round is a collection of values like any other, and the bound for
one coordinate holds for all values - the two of the target user, whose data the neighboring
worlds differ in, and all others'. Randomness must be fresh in every round, the model must
be computed from shuffled messages only, and no device may store anything that depends on
its own noise.

Source: Zhu, Dong, Wang (2022), arXiv:2106.08567, Theorem 10; docs/theory/theorem.md.
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
    """Returns why no central guarantee is certified; empty if one is.

    Args:
        framework: The framework of a round.
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
        device: One for which `why_uncertified` is empty.
        people: The whole population.
        num_coordinates: d, the messages of a person in a round.
    """
    # "agnostic": levels travel apart from messages, which `simulated_round` shuffles too.
    certified = cast(LocalRandomizer, device)
    # adaptive: for every past the same pair of distributions dominates a coordinate,
    # and independent copies of it the whole training (Zhu, Dong, Wang, Theorem 10).
    all_messages = SingleMessages(
        ALL, certified, "agnostic", people, num_coordinates, adaptive=True
    )
    one_shuffle = SingleMessages(ONE, certified, "agnostic", people, adaptive=True)
    return all_messages, SingleShuffleExposure(one_shuffle, num_coordinates)


def local_exposure(
    device: Device, people: Population, num_coordinates: int
) -> UnshuffledExposure:
    """Returns all messages of one device, as seen without a shuffler.

    Args:
        device: The randomizer of every coordinate.
        people: The whole population.
        num_coordinates: d, the messages of a person in a round.

    Raises:
        CertificationError: If the device does not state its local privacy.
    """
    reason = why_not_local(device)
    if reason:
        raise CertificationError(f"No local guarantee is certified: {reason}.")
    # A framework, coupled or not, sends a function of these messages only.
    return UnshuffledExposure(cast(LocalRandomizer, device), people, num_coordinates)
