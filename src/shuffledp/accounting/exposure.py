"""What of a collection is seen, and among whom each person hides in it.

A protocol hands its exposures to the accountant: they hold the randomizer that devices run,
so that nothing else can be certified. Every exposure answers for itself.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.assumptions import assumed, numerical_safeguards
from shuffledp.accounting.bounds_at import Answer, TargetUsers
from shuffledp.accounting.rounds.composed_profile import total_budget
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.identity import Identity, described
from shuffledp.population import Population
from shuffledp.types import Mode

MAX_TIMES = 10**8

# Budgets up to here need no bound but themselves.
_SILENT = 1e-250


class Exposure(Protocol):
    """Something that is seen of everybody's reports."""

    def assumptions(self, asked: AccountingQuery) -> tuple[str, ...]:
        """In plain words, what must hold for a statement to hold."""
        ...

    def numerics(self, asked: AccountingQuery) -> tuple[str, ...]:
        """In plain words, how numbers are kept on the safe side."""
        ...

    def certify(self, asked: AccountingQuery) -> Statement:
        """Answers the question."""
        ...


class Certifiable(Protocol):
    """A protocol, as the accountant sees it."""

    @property
    def identity(self) -> Identity:
        """What it is."""
        ...

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """What is seen of these people's reports; the first one is what `levels` state."""
        ...


@dataclass(frozen=True, eq=False)
class SingleMessages:
    """One report per person, of one message or of several that are shuffled apart.

    Attributes:
        about: What statements are about, in plain words.
        randomizer: What the devices run.
        mode: Do levels travel apart from messages ("agnostic"), or with them?
        crowd: The people who are mixed with each other; positions of its levels are those
            of the whole population.
        coordinates: How many reports, each shuffled apart, one collection takes of each.
        adaptive: Whether values may depend on shuffled messages of earlier rounds. The
            bound of one round holds whatever its values are, so that numbers are the same.
    """

    about: str
    randomizer: LocalRandomizer
    mode: Mode
    crowd: Population
    coordinates: int = 1
    adaptive: bool = False

    def assumptions(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        times = asked.coordinates * self.coordinates
        return assumed(
            self.randomizer,
            self.mode,
            asked.absent,
            asked.rounds,
            times,
            adaptive=self.adaptive,
        )

    def numerics(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        times = self.times(asked) * self.randomizer.changes
        return numerical_safeguards(times, adaptive=self.adaptive)

    def times(self, asked: AccountingQuery) -> int:
        """Returns in how many collections, rounds or coordinates, people take part.

        Raises:
            InvalidInputError: If it is more than can be composed.
        """
        times = asked.rounds * asked.coordinates * self.coordinates
        shuffles = times * self.randomizer.changes
        if shuffles > MAX_TIMES:
            raise InvalidInputError(
                f"Expected at most {MAX_TIMES} rounds times coordinates, got {shuffles}."
            )
        return times

    def crowd_of(self, position: int) -> tuple[Population, int]:
        """Returns among whom people of a level hide, and that level's position there."""
        if self.mode == "agnostic":
            return self.crowd, position
        one = slice(position, position + 1)
        return Population(self.crowd.epsilons[one], self.crowd.counts[one]), 0

    def victims(self, position: int, *, absent: int, times: int) -> TargetUsers:
        """Returns the people of one level, as victims."""
        crowd, victim = self.crowd_of(position)
        absent = min(absent, crowd.num_users - 1)
        return TargetUsers(self.randomizer, crowd, [victim], absent, times)

    def certify(self, asked: AccountingQuery) -> Statement:
        """Answers the question.

        Raises:
            PopulationError: If more people may be absent than there are others.
            CertificationError: If no bound can be proven in double precision.
        """
        if asked.absent > self.crowd.num_users - 1:
            raise PopulationError(
                f"Expected at most {self.crowd.num_users - 1} absent people, got "
                f"{asked.absent}."
            )
        found: dict[int, Answer] = {}
        crowds: dict[int, Population] = {}
        for crowd, places in self.crowds(asked.positions):
            victims = TargetUsers(
                self.randomizer,
                crowd,
                list(places.values()),
                min(asked.absent, crowd.num_users - 1),
                self.times(asked),
            )
            answers = _answers(victims, asked.delta, asked.epsilon)
            found |= dict(zip(places, answers, strict=True))
            crowds |= dict.fromkeys(places, crowd)
        levels = [
            LevelGuarantee(
                epsilon_local=float(self.crowd.epsilons[index]),
                count=int(asked.counts[index]),
                hides_among=max(crowds[index].num_users - asked.absent, 1),
                epsilon_central=found[index].upper[0],
                epsilon_central_lower=found[index].lower[0],
                delta_central=found[index].upper[1],
                delta_central_lower=found[index].lower[1],
                rests_on=found[index].rests_on,
                slack=found[index].slack,
                quantile=name if isinstance(name, str) else None,
            )
            for name, index in asked.named.items()
        ]
        return Statement(self.about, asked.delta, asked.epsilon, tuple(levels))

    def crowds(self, positions: list[int]) -> list[tuple[Population, dict[int, int]]]:
        """Returns each crowd with the positions in it that are asked about."""
        if self.mode == "agnostic":
            return [(self.crowd, {position: position for position in positions})]
        found = [(position, *self.crowd_of(position)) for position in positions]
        return [(crowd, {position: place}) for position, crowd, place in found]


def exposures_of(protocol: Any, people: Population) -> tuple[Exposure, ...]:
    """Returns what is seen of these people's reports.

    Args:
        protocol: A protocol, or a bare randomizer, whose messages travel apart from
            levels.
        people: Levels and counts of those who take part.

    Raises:
        InvalidInputError: If it is neither, or has nothing that a certificate could rest
            on.
    """
    if isinstance(protocol, type):
        raise InvalidInputError(
            f"Expected a protocol or a randomizer, got the class {protocol.__name__}."
        )
    if hasattr(protocol, "exposures") and hasattr(protocol, "identity"):
        found: tuple[Exposure, ...] = protocol.exposures(people)
        if found:
            return found
    elif isinstance(protocol, LocalRandomizer):
        return (alone(protocol, "agnostic", people),)
    raise InvalidInputError(
        "Expected a protocol or a randomizer that hands over its cover, got "
        f"{type(protocol).__name__}: without a cover there is no certificate."
    )


def alone(
    randomizer: LocalRandomizer, mode: Mode, people: Population
) -> SingleMessages:
    """Returns what is seen of a randomizer's messages, whatever they are used for."""
    about = "one message" if randomizer.changes == 1 else "one report"
    return SingleMessages(about, randomizer, mode, people)


def single_messages(protocol: Any, people: Population) -> SingleMessages:
    """Returns the exposure that levels of a certificate state, if it is of this kind.

    Raises:
        InvalidInputError: If it is not: profiles and inverse problems need one.
    """
    exposure = exposures_of(protocol, people)[0]
    if not isinstance(exposure, SingleMessages):
        raise InvalidInputError(
            "Expected a protocol with local budgets and one report per person, got "
            f"{type(protocol).__name__}."
        )
    return exposure


def identity_of(protocol: Any) -> Identity:
    """Returns what a protocol, or a bare randomizer, is."""
    if hasattr(protocol, "identity"):
        found: Identity = protocol.identity
        return found
    return message_identity(protocol, "agnostic")


def message_identity(randomizer: LocalRandomizer, mode: Mode) -> Identity:
    """Returns the identity of single messages, of which nothing is estimated."""
    return Identity.of("message", randomizer.mechanism, described(randomizer), mode)


def _answers(
    victims: TargetUsers, delta: float | None, epsilon: float | None
) -> list[Answer]:
    """Returns the answer for each victim; those who send only noise need no bound."""
    levels, pure = victims.crowd.epsilons, victims.randomizer.delta_local == 0.0
    found: dict[int, Answer] = {}
    for position in victims.positions:
        if not pure:
            continue
        budget = total_budget(victims.times, float(levels[position]))
        # Nobody's total variation exceeds half her budget, so that such a small one is
        # certified at epsilon = 0.
        if budget <= _SILENT and delta is not None and budget <= delta:
            found[position] = Answer((0.0, delta), (0.0, delta))
        elif epsilon is not None and budget <= epsilon:
            # At her own budget and above a person's delta is 0 even without others.
            found[position] = Answer((epsilon, 0.0), (epsilon, 0.0))
        elif epsilon is not None and budget <= _SILENT:
            found[position] = Answer((epsilon, 0.0), (epsilon, budget))
    rest = [position for position in victims.positions if position not in found]
    if rest:
        others = replace(victims, positions=rest)
        answers = (
            others.epsilons_at(delta)
            if delta is not None
            else others.deltas_at(epsilon or 0.0)
        )
        found |= dict(zip(rest, answers, strict=True))
    return [found[position] for position in victims.positions]
