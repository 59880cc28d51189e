"""Exposures: views of a collection that the accountant certifies one by one.

A protocol passes its exposures to the accountant. Each holds the randomizer that the
devices run, so that nothing else can be certified, and computes its own statement.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Protocol

from shuffledp.accounting.accounting_query import MAX_TIMES, AccountingQuery
from shuffledp.accounting.assumptions import assumptions_of, numerical_safeguards
from shuffledp.accounting.bounds_at import TargetUsers
from shuffledp.accounting.coalition import coalition_bound
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.profile_bounds import ProfileBounds
from shuffledp.accounting.rounds.part_losses import PartLosses
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.cover import LocalRandomizer, message_family
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.identity import Identity, described
from shuffledp.population import Population
from shuffledp.types import Mode


class Exposure(Protocol):
    """One view of the reports of all users."""

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the assumptions of a statement, as sentences."""
        ...

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns how numerical errors are kept on the safe side, as sentences."""
        ...

    def certify(self, query: AccountingQuery) -> Statement:
        """Returns the certified statement that answers the query."""
        ...


class Certifiable(Protocol):
    """Interface of a protocol to the accountant."""

    @property
    def identity(self) -> Identity:
        """Statistic, mechanism, parameters and mode of the protocol."""
        ...

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures of these users; `Guarantee.levels` states the first."""
        ...


@dataclass(frozen=True, eq=False)
class SingleMessages:
    """One report per person, of one message or of several that are shuffled apart.

    Attributes:
        about: Subject of the statements, in plain words.
        randomizer: Randomizer that the devices run.
        mode: "agnostic" if levels travel apart from messages, or "stratified".
        population: Users whose messages are shuffled together; positions of its levels
            are those of the whole population.
        coordinates: Reports per user and collection, each shuffled apart.
        adaptive: Whether values may depend on shuffled messages of earlier rounds.
    """

    about: str
    randomizer: LocalRandomizer
    mode: Mode
    population: Population
    coordinates: int = 1
    # The bound of one round holds for all values: this changes sentences, no numbers.
    adaptive: bool = False

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the assumptions about users, shuffler and randomizer, as sentences."""
        times = query.coordinates * self.coordinates
        return assumptions_of(
            self.randomizer,
            self.mode,
            query.absent,
            query.rounds,
            times,
            adaptive=self.adaptive,
        )

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns how errors of one round, and of composition, are covered."""
        times = self.times(query) * self.randomizer.changes
        return numerical_safeguards(times, adaptive=self.adaptive)

    def times(self, query: AccountingQuery) -> int:
        """Returns the number of collections: rounds times coordinates.

        Raises:
            InvalidInputError: If there are more shuffles than can be composed.
        """
        times = query.rounds * query.coordinates * self.coordinates
        shuffles = times * self.randomizer.changes
        if shuffles > MAX_TIMES:
            raise InvalidInputError(
                f"Expected at most {MAX_TIMES:,} rounds times coordinates, got "
                f"{shuffles:,}."
            )
        return times

    def hiding_population(self, position: int) -> tuple[Population, int]:
        """Returns the users who hide those of a level, and the level's position there."""
        if self.mode == "agnostic":
            return self.population, position
        # Messages that carry their level are hidden by those of the same level only.
        level = slice(position, position + 1)
        return Population(
            self.population.epsilons[level], self.population.counts[level]
        ), 0

    def targets(self, position: int, *, absent: int, times: int) -> TargetUsers:
        """Returns the users of one level as target users."""
        population, target = self.hiding_population(position)
        # All absent people may be of this level, which may have fewer others.
        absent = min(absent, population.num_users - 1)
        return TargetUsers(self.randomizer, population, [target], absent, times)

    def certify(self, query: AccountingQuery) -> Statement:
        """Returns the certified statement that answers the query.

        Raises:
            PopulationError: If more users may be absent than there are others.
            CertificationError: If no bound can be proven in double precision.
        """
        return self._statement(query, certify=True)

    @property
    def message_family(self) -> Hashable:
        """See `ComposableExposure`."""
        family = message_family(self.randomizer)
        return family, self.mode, self.population, self.coordinates

    def attacked(self, query: AccountingQuery) -> Statement:
        """See `ComposableExposure`."""
        return self._statement(query, certify=False)

    def _statement(self, query: AccountingQuery, *, certify: bool) -> Statement:
        if query.absent > self.population.num_users - 1:
            raise PopulationError(
                f"Expected at most {self.population.num_users - 1} absent people, got "
                f"{query.absent}."
            )
        bounds: dict[int, ProfileBounds] = {}
        hiding_populations: dict[int, Population] = {}
        for positions, targets in self._all_targets(query):
            computed = targets.bounds(query.delta, query.epsilon, certify=certify)
            bounds |= dict(zip(positions, computed, strict=True))
            hiding_populations |= dict.fromkeys(positions, targets.population)
        # Against shuffler and analyst together no one hides anyone.
        times, epsilons = self.times(query), self.population.epsilons
        coalition = {
            index: coalition_bound(self.randomizer, float(epsilons[index]), times=times)
            for index in query.positions
        }
        levels = [
            LevelGuarantee(
                epsilon_local=float(self.population.epsilons[index]),
                epsilon_coalition=coalition[index][0],
                delta_coalition=coalition[index][1],
                count=int(query.counts[index]),
                # Absent people may be of any level.
                hides_among=max(hiding_populations[index].num_users - query.absent, 1),
                epsilon_central=bounds[index].upper[0],
                epsilon_central_lower=bounds[index].lower[0],
                delta_central=bounds[index].upper[1],
                delta_central_lower=bounds[index].lower[1],
                rests_on=bounds[index].rests_on,
                slack=bounds[index].slack,
                quantile=name if isinstance(name, str) else None,
            )
            for name, index in query.named.items()
        ]
        return Statement(self.about, query.delta, query.epsilon, tuple(levels))

    def part_losses(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, PartLosses]:
        """Returns the losses of all messages of a person, by the position of the level."""
        return {
            position: losses
            for positions, targets in self._all_targets(query)
            for position, losses in zip(positions, targets.losses(delta), strict=True)
        }

    def attacked_pairs(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        """See `ComposableExposure`."""
        del delta
        return {
            position: pairs
            for positions, targets in self._all_targets(query)
            for position, pairs in zip(positions, targets.attacked_pairs(), strict=True)
        }

    def _all_targets(
        self, query: AccountingQuery
    ) -> Iterator[tuple[list[int], TargetUsers]]:
        """Yields target users by the people who hide them, and their positions."""
        for population, positions in self.hiding_populations(query.positions):
            yield (
                list(positions),
                TargetUsers(
                    self.randomizer,
                    population,
                    list(positions.values()),
                    # A level may have fewer people than are absent.
                    min(query.absent, population.num_users - 1),
                    self.times(query),
                ),
            )

    def hiding_populations(
        self, positions: list[int]
    ) -> list[tuple[Population, dict[int, int]]]:
        """Returns hiding populations, each with {position of a level: position in it}."""
        if self.mode == "agnostic":
            return [(self.population, {position: position for position in positions})]
        own = [(position, *self.hiding_population(position)) for position in positions]
        return [(population, {position: local}) for position, population, local in own]


def exposures_of(
    protocol: Certifiable | LocalRandomizer, people: Population
) -> tuple[Exposure, ...]:
    """Returns the exposures of the reports of these users.

    Args:
        protocol: A protocol, or a bare randomizer, whose messages travel apart from
            levels.
        people: Levels and counts of the participants.

    Raises:
        InvalidInputError: If it is neither, or provides no cover to certify.
    """
    # A class has the attributes of its objects, and would pass the tests below.
    if isinstance(protocol, type):
        raise InvalidInputError(
            f"Expected a protocol or a randomizer, got the class {protocol.__name__}."
        )
    if hasattr(protocol, "exposures") and hasattr(protocol, "identity"):
        exposures: tuple[Exposure, ...] = protocol.exposures(people)
        if exposures:
            return exposures
    elif isinstance(protocol, LocalRandomizer):
        return (single_message_exposure(protocol, "agnostic", people),)
    raise InvalidInputError(
        "Expected a protocol or a randomizer that hands over its cover, got "
        f"{type(protocol).__name__}: without a cover there is no certificate."
    )


def single_message_exposure(
    randomizer: LocalRandomizer, mode: Mode, people: Population
) -> SingleMessages:
    """Returns the exposure of a randomizer's messages, independent of any statistic."""
    about = "one message" if randomizer.changes == 1 else "one report"
    return SingleMessages(about, randomizer, mode, people)


def single_messages(
    protocol: Certifiable | LocalRandomizer, people: Population
) -> SingleMessages:
    """Returns the first exposure, if it is of single messages.

    Raises:
        InvalidInputError: If it is of another kind: profiles and inverse problems need one.
    """
    exposure = exposures_of(protocol, people)[0]
    if not isinstance(exposure, SingleMessages):
        raise InvalidInputError(
            "Expected one statistic of one message per person, which profiles and "
            f"searches for budgets need, got {type(protocol).__name__}."
        )
    return exposure


def identity_of(protocol: Certifiable | LocalRandomizer) -> Identity:
    """Returns the identity of a protocol, or of a bare randomizer."""
    if hasattr(protocol, "identity"):
        identity: Identity = protocol.identity
        return identity
    if not isinstance(protocol, LocalRandomizer):
        raise InvalidInputError(
            f"Expected a protocol or a randomizer, got {type(protocol).__name__}."
        )
    return message_identity(protocol, "agnostic")


def message_identity(randomizer: LocalRandomizer, mode: Mode) -> Identity:
    """Returns the identity of single messages that no statistic is estimated from."""
    return Identity.of("message", randomizer.mechanism, described(randomizer), mode)
