"""Exposures of a training: one shuffle, or one device without a shuffler.

The exposure of all shuffled messages is `accounting.exposure.SingleMessages`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from shuffledp.accounting.accounting_query import MIN_DELTA, AccountingQuery
from shuffledp.accounting.coalition import coalition_bound
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
    """A single shuffle, at its share of the delta of all shuffles.

    Attributes:
        messages: The exposure of one shuffle.
        coordinates: Number of coordinates, each shuffled apart, in a round.
    """

    messages: SingleMessages
    coordinates: int

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the assumptions for one shuffle, in plain words."""
        return self.messages.assumptions(self._once(query))

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the numerical safeguards of one shuffle, in plain words."""
        return self.messages.numerics(self._once(query))

    def certify(self, query: AccountingQuery) -> Statement:
        """Certifies one shuffle."""
        return self.messages.certify(self._once(query))

    def _once(self, query: AccountingQuery) -> AccountingQuery:
        delta = query.delta
        if delta is not None:
            shuffles = self.coordinates * query.coordinates * query.rounds
            # Delta is additive over shuffles; below MIN_DELTA nothing is certified.
            delta = max(delta / shuffles, MIN_DELTA)
        return replace(query, delta=delta, rounds=1, coordinates=1)


@dataclass(frozen=True, eq=False)
class UnshuffledExposure:
    """All messages of one device, as a receiver sees them before any shuffle.

    Attributes:
        device: The randomizer of every message.
        people: The whole population.
        coordinates: Messages of a round.
    """

    device: LocalRandomizer
    people: Population
    coordinates: int

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the assumptions of the device, in plain words."""
        del query
        return self.device.assumptions

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns no safeguard: the composition rounds up by itself."""
        del query
        return ()

    def certify(self, query: AccountingQuery) -> Statement:
        """Certifies every level by composition of its own messages."""
        # No other user's messages matter here, and no attack is run: the lower bound is 0.
        times = self.coordinates * query.coordinates * query.rounds
        level_bound = self._level_bound(query, times)
        levels = []
        for name, index in query.named.items():
            level = float(self.people.epsilons[index])
            epsilon, delta = level_bound(level)
            coalition = coalition_bound(self.device, level, times=times)
            levels.append(
                LevelGuarantee(
                    epsilon_local=level,
                    count=int(query.counts[index]),
                    hides_among=1,
                    epsilon_central=epsilon,
                    epsilon_central_lower=0.0 if query.epsilon is None else epsilon,
                    delta_central=delta,
                    delta_central_lower=0.0 if query.delta is None else delta,
                    epsilon_coalition=coalition[0],
                    delta_coalition=coalition[1],
                    rests_on="device",
                    quantile=name if isinstance(name, str) else None,
                )
            )
        return Statement(UNSHUFFLED, query.delta, query.epsilon, tuple(levels))

    def _level_bound(
        self, query: AccountingQuery, times: int
    ) -> Callable[[float], tuple[float, float]]:
        delta, epsilon = query.delta, query.epsilon
        if delta is not None:
            return lambda level: (
                local_epsilon_of(self.device, level, times=times, delta=delta),
                delta,
            )
        given_epsilon = epsilon or 0.0
        return lambda level: (
            given_epsilon,
            local_delta_of(self.device, level, times=times, epsilon=given_epsilon),
        )
