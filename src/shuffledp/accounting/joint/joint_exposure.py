"""The exposure of several protocols that the same people take part in."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.joint.composable_exposure import Part
from shuffledp.accounting.joint.joint_bounds import JointBounds, sum_upward
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.total_budget import divergence_of_budget
from shuffledp.accounting.statement import LevelGuarantee, RestsOn, Statement
from shuffledp.errors import CertificationError

# Order of magnitude of delta where no attack gives one, and the smallest that is tried.
_USUAL_DELTA, _LEAST_DELTA = 1e-12, 1e-290
# Another delta is tried if the first guess is farther off than by this factor.
_FAR_OFF = 10.0
# From the second trial on the guess is a certified bound: few are needed.
_TRIALS = 3
# Where an attack on one protocol alone reaches this delta, nothing that is worth a
# computation is left to certify: 1 is at most a thousandth more.
_NEARLY_CERTAIN = 0.999

# Epsilon and delta.
_Point: TypeAlias = tuple[float, float]
_T = TypeVar("_T")

_INDEPENDENT = (
    "{number} protocols run with the same people, each with randomness and a shuffle of "
    "its own: nothing links a person's messages in one of them to those in another."
)
_NEIGHBORS = (
    "Two collections are compared in which one person's values differ, in all protocols at "
    "once; how often a person takes part in each is public."
)
_COMPOSED = (
    "The protocols are composed through loss distributions that dominate each of them "
    "(chords between nodes), by an integral whose errors are added."
)


@dataclass(frozen=True, eq=False)
class JointExposure:
    """All messages of a person in several protocols.

    Attributes:
        parts: Different protocols, each with the same people.
    """

    parts: tuple[Part, ...]

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the assumptions of all protocols, as sentences."""
        num_protocols = sum(part.times for part in self.parts)
        sentences = self._sentences(
            lambda part: part.exposure.assumptions(part.query(query))
        )
        return _INDEPENDENT.format(number=num_protocols), _NEIGHBORS, *sentences

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """Returns the numerical safeguards of all protocols, and of composition."""
        sentences = self._sentences(
            lambda part: part.exposure.numerics(part.query(query))
        )
        return *sentences, _COMPOSED

    def _sentences(self, of: Callable[[Part], tuple[str, ...]]) -> tuple[str, ...]:
        """Returns each sentence once, with the protocols that it speaks of."""
        speakers: dict[str, list[str]] = {}
        for part in self.parts:
            for sentence in of(part):
                # In the order of the protocols, so that certificates of one collection
                # are equal texts.
                speakers.setdefault(sentence, []).append(part.name)
        return tuple(
            f"In each protocol: {sentence}"
            if len(names) == len(self.parts)
            else f"In {' and '.join(names)}: {sentence}"
            for sentence, names in speakers.items()
        )

    def certify(self, query: AccountingQuery) -> Statement:
        """Answers the query.

        Certified numbers are those of the composition. The attack is the strongest of one
        on all protocols together and those on a single one: others may be ignored.

        Raises:
            PopulationError: If more users may be absent than there are others.
            InvalidInputError: If a protocol refuses the query.
            CertificationError: If no finite epsilon holds, or none can be proven.
        """
        statements = self._of_each(
            lambda part: part.exposure.attacked(part.query(query))
        )
        columns = list(zip(*(each.levels for each in statements), strict=True))
        attacked = dict(zip(query.named.values(), columns, strict=True))
        if query.delta is not None:
            ends = self._epsilons(query, query.delta, attacked)
        else:
            ends = self._deltas(query, attacked)
        return Statement(
            "all reports in all protocols",
            query.delta,
            query.epsilon,
            tuple(
                _level(levels, *ends[index])
                for index, levels in zip(query.named.values(), columns, strict=True)
            ),
        )

    def _epsilons(
        self,
        query: AccountingQuery,
        delta: float,
        attacked: dict[int, tuple[LevelGuarantee, ...]],
    ) -> dict[int, tuple[_Point, _Point]]:
        """Returns the certified and the attacked end of each level at a delta."""
        bounds = self.bounds(query, delta, with_attacks=True)
        ends = {}
        for index in query.positions:
            upper = bounds[index].epsilon(delta)
            lower = bounds[index].attacked_epsilon(delta, certified=upper)
            part_epsilon, _ = _strongest(attacked[index])
            ends[index] = (upper, delta), (max(lower, part_epsilon), delta)
        return ends

    def bounds(
        self, query: AccountingQuery, delta: float, *, with_attacks: bool = False
    ) -> dict[int, JointBounds]:
        """Returns both ends of the profile of each level, by its position.

        Args:
            query: Levels, absent people, and number of collections.
            delta: About the size of the divergence that is asked for.
            with_attacks: Whether to bound the profile from below, too.
        """
        # Each protocol may drop tails for its part of delta.
        share = self._share(delta)
        losses = self._of_each(
            lambda part: part.exposure.part_losses(part.query(query), delta=share)
        )
        pairs = self._attacked_pairs(query, delta) if with_attacks else {}
        return {
            index: JointBounds([each[index] for each in losses], pairs.get(index, ()))
            for index in query.positions
        }

    def _of_each(self, computed: Callable[[Part], _T]) -> list[_T]:
        """Returns the results for all protocols; those that show the same share one."""
        results: dict[tuple[Hashable, int], _T] = {}
        keys = [(part.exposure.message_family, part.times) for part in self.parts]
        for key, part in zip(keys, self.parts, strict=True):
            if key not in results:
                results[key] = computed(part)
        return [results[key] for key in keys]

    def _share(self, delta: float) -> float:
        return max(delta / len(self.parts), _LEAST_DELTA)

    def _attacked_pairs(
        self, query: AccountingQuery, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        """Returns what an adversary sees of a person of each level in all protocols."""
        attacks = self._of_each(
            lambda part: part.exposure.attacked_pairs(
                part.query(query), delta=self._share(delta)
            )
        )
        return {
            index: tuple(pair for each in attacks for pair in each[index])
            for index in query.positions
        }

    def _deltas(
        self, query: AccountingQuery, attacked: dict[int, tuple[LevelGuarantee, ...]]
    ) -> dict[int, tuple[_Point, _Point]]:
        """Returns the certified and the attacked end of each level at an epsilon."""
        strongest = {index: _strongest(levels)[1] for index, levels in attacked.items()}
        epsilon = query.epsilon or 0.0
        is_certain = {
            index: each >= _NEARLY_CERTAIN for index, each in strongest.items()
        }
        least = min(strongest.values()) or _USUAL_DELTA
        pairs = {} if all(is_certain.values()) else self._attacked_pairs(query, least)
        ends = {}
        for index in query.positions:
            budget, device_delta = _coalition(attacked[index])
            if budget <= epsilon and device_delta == 0.0:
                # The devices alone keep it.
                ends[index] = (epsilon, 0.0), (epsilon, 0.0)
            elif is_certain[index]:
                ends[index] = (epsilon, 1.0), (epsilon, strongest[index])
            else:
                ends[index] = self._deltas_of(
                    query, index, strongest[index], pairs[index]
                )
        return ends

    def _deltas_of(
        self,
        query: AccountingQuery,
        index: int,
        part_attack: float,
        pairs: tuple[AttackedPair, ...],
    ) -> tuple[_Point, _Point]:
        """Returns the certified and the attacked end of one level at an epsilon."""
        epsilon = query.epsilon or 0.0
        level = replace(query, named={index: index})
        about = part_attack or min(_normal_delta(pairs, epsilon), _USUAL_DELTA)
        smallest_upper, lower = 1.0, part_attack
        for _ in range(_TRIALS):
            # How much may be dropped depends on the delta that comes out.
            bounds = replace(self.bounds(level, about)[index], attacked=pairs)
            smallest_upper = min(smallest_upper, bounds.delta(epsilon))
            # Every trial's bounds hold: the best of all is kept.
            lower = max(lower, bounds.attacked_delta(epsilon))
            tried, about = about, max(smallest_upper, _LEAST_DELTA)
            is_near = tried / _FAR_OFF <= about <= tried * _FAR_OFF
            if is_near or smallest_upper == 0.0:
                break
        return (epsilon, smallest_upper), (epsilon, lower)


def _normal_delta(pairs: tuple[AttackedPair, ...], epsilon: float) -> float:
    """Returns about the divergence of these pairs, as if their loss were normal."""
    variance = math.fsum(pair.number * pair.information for pair in pairs)
    if not 0.0 < variance < math.inf:
        return 1.0
    # Its mean is half of its variance.
    distance = max(epsilon - 0.5 * variance, 0.0)
    return max(math.exp(-0.5 * distance * (distance / variance)), _LEAST_DELTA)


def _strongest(levels: tuple[LevelGuarantee, ...]) -> _Point:
    """Returns the strongest attack's epsilon and delta on one of the protocols."""
    return max(
        (level.epsilon_central_lower, level.delta_central_lower) for level in levels
    )


def _coalition(levels: tuple[LevelGuarantee, ...]) -> _Point:
    """Returns what is left against a coalition; epsilon is infinite if nothing is."""
    epsilons = [level.epsilon_coalition for level in levels]
    delta = sum_upward([level.delta_coalition for level in levels])
    return sum_upward([math.inf if each is None else each for each in epsilons]), delta


def _level(
    levels: tuple[LevelGuarantee, ...], upper: _Point, lower: _Point
) -> LevelGuarantee:
    """Returns the guarantee of a level from those of each protocol alone."""
    if not (lower[0] <= upper[0] and lower[1] <= upper[1]):
        raise CertificationError(
            f"The bounds contradict each other ({lower!r} > {upper!r}): the numbers are "
            "too extreme for double precision."
        )
    first = levels[0]
    local = all(level.epsilon_local is not None for level in levels)
    budget, delta_coalition = _coalition(levels)
    rests_on: RestsOn = "composition"
    device_delta = divergence_of_budget(budget, upper[0])
    # Also below the budget, where it alone keeps what is certified.
    if delta_coalition == 0.0 and device_delta <= upper[1]:
        rests_on = "device"
    return LevelGuarantee(
        epsilon_local=first.chosen if local else None,
        # In some protocol, a number that was chosen is no local budget.
        target=None if local else first.chosen,
        count=first.count,
        hides_among=min(level.hides_among for level in levels),
        epsilon_central=upper[0],
        epsilon_central_lower=lower[0],
        delta_central=upper[1],
        delta_central_lower=lower[1],
        epsilon_coalition=None if math.isinf(budget) else budget,
        delta_coalition=min(delta_coalition, 1.0),
        rests_on=rests_on,
        quantile=first.quantile,
    )
