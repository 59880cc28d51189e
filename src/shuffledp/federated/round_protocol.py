"""A round of training as a protocol: devices run the object that is certified.

Its exposures are in `round_certification`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.exposure import Exposure
from shuffledp.arrays import level_array
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.federated.coordinate_messages import (
    check_messages,
    check_sums,
    draw_messages,
    message_type,
)
from shuffledp.federated.exposures import UnshuffledExposure
from shuffledp.federated.framework import Device, Framework, check_framework
from shuffledp.federated.framework_catalog import framework_of
from shuffledp.federated.round_certification import (
    central_exposures,
    local_exposure,
    why_uncertified,
)
from shuffledp.federated.simulated_round import (
    IN_MEMORY,
    OnShare,
    Updates,
    add_up_messages,
    checked_levels,
    collect_round,
)
from shuffledp.federated.update_estimate import UpdateEstimate
from shuffledp.identity import Identity, described
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.tallying import Seen, check_people, checked, tally_of
from shuffledp.stored_state import is_ours
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class TrainingRound:
    """A framework for vectors of d coordinates, a shuffle of each, and the mean update.

    >>> import numpy as np, shuffledp as sdp
    >>> from shuffledp.federated.baseline_vectors import OneBitVectors
    >>> rng = np.random.default_rng(6)
    >>> protocol, levels = TrainingRound(OneBitVectors(1.0), 2), np.full(40_000, 2.0)
    >>> updates = np.tile(np.array([[0.5, -0.2]], np.float32), (40_000, 1))
    >>> reports = protocol.randomize(updates, levels, rng=rng)
    >>> people = sdp.Population.from_budgets(levels)
    >>> protocol.estimate(sdp.shuffle(reports, rng=rng), people).value.round(1)
    array([ 0.5, -0.2])
    >>> sdp.account(protocol, people, delta=1e-6, rounds=3).worst.epsilon_central
    0.105555

    Attributes:
        framework: The devices' framework, such as `ClipLaplaceVectors`.
        num_coordinates: d, the weights of the model.
        shuffled: Whether messages pass a shuffler on their way to the analyst. If not,
            nothing central is certified.
    """

    framework: Framework
    num_coordinates: int
    shuffled: bool = True
    # Read from the framework once, so that the certified object is the one that runs.
    device: Device = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_framework(self.framework)
        check_whole(self.num_coordinates, "coordinates", least=1)
        if not isinstance(self.shuffled, bool):
            raise InvalidInputError("Expected shuffled to be True or False.")
        object.__setattr__(self, "device", self.framework.device)
        # Certificates count one shuffled message per coordinate and round.
        if getattr(self.device, "changes", 1) != 1:
            raise InvalidInputError(
                "Expected a device that sends one message per coordinate, got "
                f"{self.device.mechanism}."
            )
        _ = self.message_type, self.identity  # Both raise on invalid parameters.

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "TrainingRound":
        """Rebuilds the round from the record of its identity.

        Raises:
            InvalidInputError: If its framework is none of the library's.
        """
        terms = dict(record["parameters"])
        framework = framework_of(record["mechanism"], terms)
        return cls(framework, terms["coordinates"], terms["shuffled"])

    @property
    def identity(self) -> Identity:
        """The identity of the framework, its device and the coordinates."""
        parameters: dict[str, Any] = {
            "device": self.device.mechanism,
            "device_parameters": described(self.device),
            "coordinates": int(self.num_coordinates),
            "shuffled": self.shuffled,
            "coupled": self.coupled,
        }
        if not is_ours(type(self.framework)):
            parameters["framework"] = described(self.framework)
        further = self.framework.parameters
        # An identity with one key for two parameters could stand for two protocols.
        if clashing := ", ".join(parameters.keys() & further.keys()):
            raise InvalidInputError(
                f"Expected other names of parameters than {clashing}."
            )
        parameters |= further
        return Identity.of("training", self.framework.name, parameters, "agnostic")

    @property
    def message_type(self) -> np.dtype[Any]:
        """The integer type of one coordinate's message."""
        return message_type(self.framework.messages)

    @property
    def coupled(self) -> bool:
        """Whether a message depends on those of a person's other coordinates."""
        return hasattr(self.framework, "couple")

    @property
    def uncertified(self) -> str:
        """A sentence why no central guarantee is certified; empty if one is."""
        reason = why_uncertified(self.framework, self.device, shuffled=self.shuffled)
        return reason and f"No central guarantee is certified: {reason}."

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the certified exposures: all messages, one shuffle, one device.

        Raises:
            CertificationError: If no central guarantee is proven for the messages.
        """
        if self.uncertified:
            raise CertificationError(self.uncertified)
        return (
            *central_exposures(self.device, people, self.num_coordinates),
            self.without_shuffle(people),
        )

    def without_shuffle(self, people: Population) -> UnshuffledExposure:
        """Returns the exposure of one device's messages without any shuffler.

        Raises:
            CertificationError: If the device does not state its local privacy.
        """
        return local_exposure(self.device, people, self.num_coordinates)

    def randomize(
        self, updates: NDArray[np.float32], levels: ArrayLike, *, rng: Rng
    ) -> Reports:
        """Draws one randomized message per person and coordinate, on the devices.

        A NumPy generator, for simulations, selects the much faster `simulated_messages`.

        Args:
            updates: Finite, as float32 of shape (n, d).
            levels: Each person's local budget of a message in nats, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a number is not finite or not a budget.
        """
        epsilons = level_array(levels)
        if updates.ndim != 2 or updates.shape[1] != self.num_coordinates:
            raise InvalidInputError(
                f"Expected updates of {self.num_coordinates} coordinates."
            )
        messages = self._send(updates, epsilons, rng)
        return Reports(self.identity, messages, epsilons, "columns")

    def collect(
        self,
        updates: Updates,
        levels: ArrayLike,
        *,
        rng: np.random.Generator,
        in_memory: int = IN_MEMORY,
        on_share: OnShare | None = None,
    ) -> ShuffledReports:
        """Simulates a round, part by part: `randomize` and a shuffle of each coordinate.

        Args:
            updates: Returns those of a slice of people; see `collect_round`.
            levels: Each person's local budget of a message in nats, shape (n,), n >= 1.
            rng: A simulation's.
            in_memory: Bytes of messages above which they go to a temporary file.
            on_share: Called with the share of the work that is done.

        Raises:
            InvalidInputError: If levels or updates are of another form.
        """
        epsilons = checked_levels(levels, rng)
        rows, shuffled = collect_round(
            updates,
            self._send,
            epsilons,
            num_coordinates=self.num_coordinates,
            message_type=self.message_type,
            rng=rng,
            in_memory=in_memory,
            on_share=on_share,
        )
        return ShuffledReports(self.identity, rows.T, shuffled, "columns")

    def draw_tally(
        self,
        updates: Updates,
        levels: ArrayLike,
        *,
        rng: np.random.Generator,
        on_share: OnShare | None = None,
    ) -> Tally:
        """Draws the tally of a round, with the distribution of `collect`, part by part.

        Every message is drawn, and none is stored.

        Args:
            updates: Returns those of a slice of people; see `collect_round`.
            levels: Each person's local budget of a message in nats, shape (n,), n >= 1.
            rng: A simulation's.
            on_share: Called with the share of the work that is done.

        Raises:
            InvalidInputError: If levels or updates are of another form.
        """
        epsilons = checked_levels(levels, rng)
        sums = add_up_messages(
            updates,
            self._send,
            epsilons,
            num_coordinates=self.num_coordinates,
            rng=rng,
            on_share=on_share,
        )
        people = Population.from_budgets(epsilons)
        return Tally(
            self.identity, people.epsilons, people.counts[None, :], sums[None, None, :]
        )

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Adds up the messages of every coordinate; tallies of parts may be added.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """

        def count(
            messages: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[Any]:
            del groups, num_groups
            self.check_messages(messages)
            sums: NDArray[Any] = messages.sum(axis=0, dtype=np.int64, keepdims=True)
            return sums

        return tally_of(shuffled, self.identity, count=count, arrangement="columns")

    def estimate(self, seen: Seen, people: Population) -> UpdateEstimate:
        """Estimates the mean update from shuffled reports or their tally.

        Args:
            seen: From `shuffle` or `collect`, or a tally.
            people: The population that took part.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If reports are another protocol's or none of its messages,
                do not come from as many people per level as expected, have impossible
                sums, or are only noise.
        """
        tally = checked(seen, self.identity, self.tally)
        check_people(tally, people)
        (sums,) = tally.counts
        check_sums(sums, self.framework.messages, tally.num_users, self.num_coordinates)
        totals = sums[0].astype(np.float64)
        return UpdateEstimate(self.framework.estimate(totals, people), self.identity)

    def check_messages(self, messages: NDArray[Any]) -> None:
        """Raises InvalidInputError unless these are messages, shape (n, d)."""
        check_messages(messages, self.framework.messages, self.num_coordinates)

    def _send(
        self, updates: NDArray[np.float32], levels: Floats, rng: Rng
    ) -> NDArray[Any]:
        return draw_messages(self.framework, self.device, updates, levels, rng=rng)


PROTOCOL = TrainingRound
