"""What is seen of everybody's messages in a training, besides all of them shuffled."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from shuffledp.accounting.accounting_query import MIN_DELTA, AccountingQuery
from shuffledp.accounting.exposure import SingleMessages
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.cover import LocalRandomizer
from shuffledp.federated.local_composition import local_delta_of, local_epsilon_of
from shuffledp.population import Population

ALL = "all messages of one person: every coordinate of every round"
ONE = "one coordinate of one round"
UNSHUFFLED = (
    "all messages of one device without a shuffler, which is local and not central"
)


@dataclass(frozen=True, eq=False)
class SingleShuffleExposure:
    """A single shuffle, at its part of the delta of all of them.

    Attributes:
        messages: Of one shuffle.
        coordinates: How many there are in a round.
    """

    messages: SingleMessages
    coordinates: int

    def assumptions(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        return self.messages.assumptions(self._once(asked))

    def numerics(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        return self.messages.numerics(self._once(asked))

    def certify(self, asked: AccountingQuery) -> Statement:
        """Answers the question for one shuffle."""
        return self.messages.certify(self._once(asked))

    def _once(self, asked: AccountingQuery) -> AccountingQuery:
        delta = asked.delta
        if delta is not None:
            shuffles = self.coordinates * asked.coordinates * asked.rounds
            delta = max(delta / shuffles, MIN_DELTA)
        return replace(asked, delta=delta, rounds=1, coordinates=1)


@dataclass(frozen=True, eq=False)
class UnshuffledExposure:
    """All messages of one device, as whoever receives them before a shuffle sees them.

    Attributes:
        device: What runs on it.
        people: Everybody.
        coordinates: Messages of a round.
    """

    device: LocalRandomizer
    people: Population
    coordinates: int

    def assumptions(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        del asked
        return self.device.assumptions

    def numerics(self, asked: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        del asked
        return ()

    def certify(self, asked: AccountingQuery) -> Statement:
        """Answers the question; nobody else plays a part, and no attack is tried."""
        times = self.coordinates * asked.coordinates * asked.rounds
        answer = self._answer(asked, times)
        levels = []
        for name, index in asked.named.items():
            level = float(self.people.epsilons[index])
            epsilon, delta = answer(level)
            levels.append(
                LevelGuarantee(
                    epsilon_local=level,
                    count=int(asked.counts[index]),
                    hides_among=1,
                    epsilon_central=epsilon,
                    epsilon_central_lower=0.0 if asked.epsilon is None else epsilon,
                    delta_central=delta,
                    delta_central_lower=0.0 if asked.delta is None else delta,
                    rests_on="device",
                    quantile=name if isinstance(name, str) else None,
                )
            )
        return Statement(UNSHUFFLED, asked.delta, asked.epsilon, tuple(levels))

    def _answer(
        self, asked: AccountingQuery, times: int
    ) -> Callable[[float], tuple[float, float]]:
        delta, epsilon = asked.delta, asked.epsilon
        if delta is not None:
            return lambda level: (
                local_epsilon_of(self.device, level, times=times, delta=delta),
                delta,
            )
        given = epsilon or 0.0
        return lambda level: (
            given,
            local_delta_of(self.device, level, times=times, epsilon=given),
        )
