"""Verification of certificates by recomputation of every entry from its inputs."""

from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.account import account, digest
from shuffledp.accounting.exposure import identity_of
from shuffledp.accounting.guarantee import Guarantee, check_order
from shuffledp.accounting.joint.protocol_composition import one_protocol
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.arguments import expect_instance
from shuffledp.errors import DataError
from shuffledp.population import Population

# Texts of a certificate that must match, and the verb of the error message.
_WORDS = {
    "theorem": "is not that",
    "assumptions": "are not those",
    "numerics": "are not those",
}
# The part of a delta that is caution is not rounded: on another machine its last digits
# are others. The smallest parts that bounds add are 1e-9, which no other number passes for.
_SLACK, _TINY = 1.0 / 0.99, 1e-10


@dataclass(frozen=True, eq=False)
class Verification:
    """Result of verifying a certificate.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    >>> verification = sdp.verify(guarantee)
    >>> verification.holds
    True

    Attributes:
        recomputed: The same question, answered now.
        problems: Statements that the recomputation does not confirm; empty if the
            certificate holds.
        weaker: Where it states less than the recomputation proves, in sentences. Such a
            certificate holds, and its numbers are not the best that are known.
        num_levels: How many levels these people have; the certificate may speak of fewer.
        file: The file that was read, as it was named; None if it was no file.
        parts: Which certificates of it were read and recomputed, by their keys, such as
            "certificate"; "all of it" if it is a certificate itself. Other content of
            the file was not verified. `recomputed` is the first one's.
    """

    recomputed: Guarantee
    problems: tuple[str, ...]
    num_levels: int
    file: str | None = None
    parts: tuple[str, ...] = ("all of it",)
    weaker: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all statements of the certificate are proven."""
        return not self.problems

    def __bool__(self) -> bool:
        """Returns `holds`, as `assert verify(certificate)` would have it."""
        return self.holds

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {
            "holds": self.holds,
            "file": self.file,
            "parts": list(self.parts),
            "problems": list(self.problems),
            "weaker": list(self.weaker),
            "num_levels": self.num_levels,
            "num_levels_listed": len(self.recomputed.levels),
            "recomputed": self.recomputed.to_dict(),
        }


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
    # Of two counts of a level a dict keeps the last: `recompute` refuses the order.
    return Population.from_counts(dict(guarantee.people))


def recompute(guarantee: Guarantee, protocol: Any, people: Population) -> Verification:
    """Recomputes a certificate and compares.

    Args:
        guarantee: As read from a file.
        protocol: The protocol that it names, or a list of several.
        people: The people it was computed for.

    Raises:
        DataError: If these are not the people or the protocol of the certificate, or its
            levels do not rise.
        UnknownLevelError: If it states levels that no user has.
    """
    check_order(guarantee)
    if digest(expect_instance(people, Population)) != guarantee.people_digest:
        raise DataError(
            "Expected the people of the certificate: their digest is different."
        )
    protocol = one_protocol(protocol)
    if identity_of(protocol) != guarantee.protocol:
        raise DataError(
            f"Expected the protocol of the certificate, {guarantee.protocol}; got "
            f"{identity_of(protocol)}."
        )
    quantiles = any(level.quantile for level in guarantee.levels)
    recomputed = account(
        protocol,
        people,
        delta=guarantee.delta,
        epsilon=guarantee.epsilon,
        levels=None if quantiles else [entry.chosen for entry in guarantee.levels],
        quantiles=quantiles or None,
        absent=guarantee.absent,
        rounds=guarantee.rounds,
        coordinates=guarantee.coordinates,
    )
    problems, weaker = [], []
    if guarantee.num_users != people.num_users:
        problems.append(
            f"it says {guarantee.num_users:,} people, and there are {people.num_users:,}"
        )
    if len(recomputed.also) != len(guarantee.also):
        problems.append("it does not make the statements it should")
    # A missing statement is a problem by itself; those that are there are compared.
    pairs = zip(guarantee.statements, recomputed.statements, strict=False)
    for claim, computed in pairs:
        problems += _unconfirmed_claims(claim, computed)
        for level, other in zip(claim.levels, computed.levels, strict=False):
            weaker += _weaker(level, other)
    for what, differs in _WORDS.items():
        if getattr(guarantee, what) != getattr(recomputed, what):
            problems.append(f"its {what} {differs} of this computation")
    return Verification(
        recomputed, tuple(problems), people.num_levels, weaker=tuple(weaker)
    )


def _unconfirmed_claims(claim: Statement, computed: Statement) -> list[str]:
    """Returns the claims of one statement that recomputation does not confirm."""
    problems = []
    if (claim.about, claim.delta, claim.epsilon) != (
        computed.about,
        computed.delta,
        computed.epsilon,
    ):
        problems.append(
            f"it says {claim.about!r} where it should say {computed.about!r}"
        )
    if len(claim.levels) != len(computed.levels):
        problems.append("it does not list the levels it should")
    for level, other in zip(claim.levels, computed.levels, strict=False):
        problems += _compared_levels(level, other)
    return problems


def _compared_levels(claim: LevelGuarantee, computed: LevelGuarantee) -> list[str]:
    name, problems = f"level {claim.chosen!r}", []
    # Of another number, it is another part: `_weaker` says so.
    is_confirmed = (
        _central_numbers(claim) == _central_numbers(computed)
        and claim.slack > _SLACK * computed.slack + _TINY
    )
    if is_confirmed or claim.slack < computed.slack / _SLACK - _TINY:
        problems.append(
            f"{name}: of its delta {claim.slack!r} is said to be numerical caution, and "
            f"{computed.slack!r} is"
        )
    same = (
        "epsilon_local",
        "target",
        "count",
        "hides_among",
        "quantile",
        "rests_on",
    )
    if any(getattr(claim, what) != getattr(computed, what) for what in same):
        problems.append(
            f"{name}: people, or those they hide among, are not the stated ones"
        )
    if not _coalition_holds(claim, computed):
        problems.append(
            f"{name}: against shuffler and analyst together, {_coalition_text(claim)} is "
            "not proven"
        )
    # A larger certified number claims less, and a larger attacked one claims more.
    for what in ("epsilon_central", "delta_central"):
        # Plain numbers: others may compare as they like.
        claimed, proven = float(getattr(claim, what)), getattr(computed, what)
        # Written this way round, it refuses NaN, too.
        if not claimed >= proven:
            problems.append(f"{name}: {what} {claimed!r} is not proven, {proven!r} is")
        lower = f"{what}_lower"
        claimed, attacked = float(getattr(claim, lower)), getattr(computed, lower)
        if not claimed <= attacked:
            problems.append(f"{name}: no attack shows {lower} {claimed!r}")
    return problems


def _weaker(claim: LevelGuarantee, computed: LevelGuarantee) -> list[str]:
    """Returns the claims of one level that are weaker than proven, as sentences."""
    name, weaker = f"level {claim.chosen!r}", []
    for what in ("epsilon_central", "delta_central"):
        claimed, proven = getattr(claim, what), getattr(computed, what)
        if claimed > proven:
            weaker.append(
                f"{name}: it says {what} {claimed!r}, and {proven!r} is proven; its "
                f"`slack`, {claim.slack!r}, was not compared"
            )
        lower = f"{what}_lower"
        claimed, attacked = getattr(claim, lower), getattr(computed, lower)
        if claimed < attacked:
            weaker.append(
                f"{name}: it says {lower} {claimed!r}, and attacks show {attacked!r}"
            )
    if _coalition_text(claim) != _coalition_text(computed) and _coalition_holds(
        claim, computed
    ):
        weaker.append(
            f"{name}: against shuffler and analyst together it says "
            f"{_coalition_text(claim)}, and {_coalition_text(computed)} is proven"
        )
    return weaker


def _coalition_holds(claim: LevelGuarantee, computed: LevelGuarantee) -> bool:
    """Returns whether no more is claimed against the coalition than is proven."""
    # None claims nothing.
    if claim.epsilon_coalition is None:
        return True
    if computed.epsilon_coalition is None:
        return False
    return (
        float(claim.epsilon_coalition) >= computed.epsilon_coalition
        and float(claim.delta_coalition) >= computed.delta_coalition
    )


def _coalition_text(level: LevelGuarantee) -> str:
    if level.epsilon_coalition is None:
        return "no guarantee"
    return f"epsilon {level.epsilon_coalition!r} at delta {level.delta_coalition!r}"


def _central_numbers(level: LevelGuarantee) -> tuple[float, float]:
    return level.epsilon_central, level.delta_central
