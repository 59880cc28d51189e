"""Does a certificate hold? Everything in it is computed anew from its inputs."""

from dataclasses import dataclass

from shuffledp.accounting.account import account, digest
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.cover import Accountable
from shuffledp.errors import DataError
from shuffledp.population import Population


@dataclass(frozen=True, eq=False)
class Verification:
    """What became of a certificate.

    Attributes:
        recomputed: The same question, answered now.
        problems: What the certificate says and the recomputation does not confirm; empty
            if it holds.
        num_levels: How many levels these people have; the certificate may speak of fewer.
    """

    recomputed: Guarantee
    problems: tuple[str, ...]
    num_levels: int

    @property
    def holds(self) -> bool:
        """Are all its statements proven?"""
        return not self.problems


def population_of(guarantee: Guarantee) -> Population:
    """Returns the people a certificate lists.

    Raises:
        DataError: If it lists none, because there are too many levels.
        PopulationError: If the list describes no population.
    """
    if guarantee.people is None:
        raise DataError(
            "Expected the people's budgets: this certificate has too many levels to list "
            "them, and only their digest."
        )
    if len(dict(guarantee.people)) != len(guarantee.people):
        raise DataError("Expected every level once in the certificate.")
    return Population.from_counts(dict(guarantee.people))


def verify(
    guarantee: Guarantee, protocol: Accountable, people: Population
) -> Verification:
    """Recomputes a certificate and compares.

    Args:
        guarantee: As read from a file.
        protocol: What it says ran, built from its mechanism, parameters and mode.
        people: The people it was computed for.

    Raises:
        DataError: If these are not the people of the certificate.
        UnknownLevelError: If it speaks of levels that nobody has.
    """
    if digest(people) != guarantee.people_digest:
        raise DataError(
            "Expected the people of the certificate: their digest is different."
        )
    quantiles = any(level.quantile for level in guarantee.levels)
    recomputed = account(
        protocol,
        people,
        delta=guarantee.delta,
        epsilon=guarantee.epsilon,
        levels=None
        if quantiles
        else [entry.epsilon_local for entry in guarantee.levels],
        quantiles=quantiles or None,
        absent=guarantee.absent,
        rounds=guarantee.rounds,
        coordinates=guarantee.coordinates,
    )
    problems = []
    if guarantee.num_users != people.num_users:
        problems.append(
            f"it says {guarantee.num_users:,} people, and there are {people.num_users:,}"
        )
    if len(recomputed.levels) != len(guarantee.levels):
        problems.append("it does not list the levels it should")
    for said, found in zip(guarantee.levels, recomputed.levels, strict=False):
        name = f"level {said.epsilon_local!r}"
        if (said.epsilon_local, said.count, said.hides_among, said.quantile) != (
            found.epsilon_local,
            found.count,
            found.hides_among,
            found.quantile,
        ):
            problems.append(f"{name}: people or crowd are not those of the population")
        for what in ("epsilon_central", "delta_central"):
            # Written this way round, it refuses NaN, too.
            if not getattr(said, what) >= getattr(found, what):
                problems.append(
                    f"{name}: {what} {getattr(said, what)!r} is not proven, "
                    f"{getattr(found, what)!r} is"
                )
            lower = f"{what}_lower"
            if not getattr(said, lower) <= getattr(found, lower):
                problems.append(
                    f"{name}: no attack shows {lower} {getattr(said, lower)!r}"
                )
    for what in (
        "mechanism",
        "parameters",
        "mode",
        "theorem",
        "assumptions",
        "numerics",
    ):
        if getattr(guarantee, what) != getattr(recomputed, what):
            problems.append(f"its {what} are not those of this computation")
    return Verification(recomputed, tuple(problems), people.num_levels)
