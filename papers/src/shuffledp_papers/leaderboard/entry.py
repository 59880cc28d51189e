"""Entries of the leaderboard: a bound, a collection, and the band of its true epsilon."""

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context
from enum import StrEnum
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp_papers.bounds.bound import PublishedBound, Setting, Status, status_in
from shuffledp_papers.court.stated_claim import ClaimVerdict, claim_named
from shuffledp_papers.leaderboard.grid import GridPoint
from shuffledp_papers.leaderboard.measured_work import Cost

FORMAT = "shuffledp-leaderboard-1"
# Certificates have six digits, rounded up, too.
_UPWARD = Context(prec=6, rounding=ROUND_CEILING)


class EntryStatus(StrEnum):
    """Proof status of a bound in the setting of an entry, in the register's words.

    Attributes:
        PROVEN: By the paper, or by this library.
        WITHDRAWN: Unproven since its authors have published errata.
        FALSE: Its statement is false under every reading, though it may hold here.
        SLIP: Its statement is false as printed, and not contradicted as meant.
        EVALUATED: What is evaluated is a reading of ours, and false; such as a constant
            that is not named, and is taken as 0.
        HEURISTIC: Unproven, or used where its theorem does not speak.
    """

    PROVEN = "proven"
    WITHDRAWN = ClaimVerdict.WITHDRAWN.value
    FALSE = ClaimVerdict.FALSE.value
    SLIP = ClaimVerdict.SLIP.value
    EVALUATED = ClaimVerdict.EVALUATED.value
    HEURISTIC = "heuristic"


class Standing(StrEnum):
    """Comparison of a stated epsilon with attack and certificate.

    Attributes:
        BELOW: Below the attack: too small here. It is refuted if its statement is false
            under every reading.
        TIGHTER: Between attack and certificate: smaller than the certificate.
        EQUAL: The certificate, to six digits.
        LOOSER: Above the certificate.
        NONE: Nothing is stated.
    """

    BELOW = "below the attack"
    TIGHTER = "tighter than the certificate"
    EQUAL = "equal to the certificate"
    LOOSER = "above the certificate"
    NONE = "states nothing"


@dataclass(frozen=True)
class Entry:
    """A published bound of one collection.

    Attributes:
        bound: Name of the bound.
        status: Its proof status here.
        epsilon: The epsilon that it states, rounded up to six digits; None if none.
        comparison: With attack and certificate.
        why: Reason that it states nothing; "" otherwise.
        cost: Of its evaluation.
    """

    bound: str
    status: EntryStatus
    epsilon: float | None
    comparison: Standing
    why: str
    cost: Cost

    @property
    def is_refuted(self) -> bool:
        """Whether an attack exceeds a statement that no reading saves."""
        return self.comparison is Standing.BELOW and self.status is EntryStatus.FALSE


@dataclass(frozen=True)
class ComparedPoint:
    """A collection, the band of its least protected people, and all bounds of it.

    Attributes:
        point: The collection.
        attack: Epsilon that a concrete attack proves at least.
        certified: Epsilon that is certified.
        cost: Of certificate and attack together.
        entries: One per bound.
    """

    point: GridPoint
    attack: float
    certified: float
    cost: Cost
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Leaderboard:
    """All bounds on the whole grid.

    Attributes:
        grid_version: Version of the grid.
        version: Version of the library.
        date: Of the run, as it was given.
        machine: Processor, and versions of Python and its numerical libraries.
        sources: Paper and theorem of each bound, by its name.
        points: The collections, in the order of the grid.
    """

    grid_version: int
    version: str
    date: str
    machine: str
    sources: dict[str, str]
    points: tuple[ComparedPoint, ...]

    @property
    def rows(self) -> list[tuple[ComparedPoint, Entry]]:
        """All entries, each with its collection."""
        return [(each, entry) for each in self.points for entry in each.entries]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Leaderboard":
        """Returns the leaderboard of a record that `to_dict` has made.

        Raises:
            InvalidInputError: If it is anything else.
        """
        if record.get("format") != FORMAT:
            raise InvalidInputError(f"Expected a record of format {FORMAT}.")
        try:
            points = tuple(_point(each) for each in record["points"])
            fields = {
                name: record[name]
                for name in ("grid_version", "version", "date", "machine", "sources")
            }
            return cls(**fields, points=points)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"Expected a whole leaderboard, got {type(error).__name__}: {error}."
            ) from error


def _point(record: dict[str, Any]) -> ComparedPoint:
    return ComparedPoint(
        GridPoint(**record["point"]),
        record["attack"],
        record["certified"],
        Cost(**record["cost"]),
        tuple(
            Entry(
                entry["bound"],
                EntryStatus(entry["status"]),
                entry["epsilon"],
                Standing(entry["comparison"]),
                entry["why"],
                Cost(**entry["cost"]),
            )
            for entry in record["entries"]
        ),
    )


def rounded_up(number: float) -> float:
    """Returns the least number of six digits that is not below this one.

    >>> rounded_up(0.02325331083), rounded_up(0.2)
    (0.0232534, 0.2)
    """
    # As Python writes it: the double next to 0.2 is a little above 0.2.
    return float(_UPWARD.create_decimal(repr(number)))


def compare(number: float, *, attack: float, certified: float) -> Standing:
    """Returns where a stated epsilon lies.

    Args:
        number: The stated epsilon, in full.
        attack: A proven lower bound.
        certified: A proven upper bound, of six digits.
    """
    if number < attack:
        return Standing.BELOW
    # Certificates are rounded up: a bound that is below in the seventh digit is equal.
    rounded = rounded_up(number)
    if rounded == certified:
        return Standing.EQUAL
    return Standing.TIGHTER if rounded < certified else Standing.LOOSER


def entry_status(bound: PublishedBound, setting: Setting) -> EntryStatus:
    """Returns the status of a bound in a setting.

    Of a bound that is not proven the register of claims decides, as for `shuffledp claims`.
    """
    if status_in(bound, setting) is Status.PROVEN:
        return EntryStatus.PROVEN
    # A theorem for one level says nothing of several: neither do its errata.
    covered = bound.mixed or setting.people.num_levels == 1
    if not covered or not bound.claim:
        return EntryStatus.HEURISTIC
    # Bounds of a constant that is not named are evaluated at 0, which is our choice.
    if bound.proven is Status.ASYMPTOTIC:
        return EntryStatus.EVALUATED
    return EntryStatus(claim_named(bound.claim).verdict.value)
