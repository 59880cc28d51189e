"""Result of the accountant: a certified bound and an attack for every level."""

from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.cautions import cautions
from shuffledp.accounting.coalition import coalition_note
from shuffledp.accounting.level_table import level_table, solved
from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.errors import DataError, UnknownLevelError
from shuffledp.format_number import plain
from shuffledp.identity import Identity
from shuffledp.text_tables import TextTable, as_html, as_text
from shuffledp.types import Mode

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class Guarantee:
    """A certified statement about one collection, or several with the same people.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    >>> guarantee.mechanism, guarantee.num_users, guarantee.delta
    ('kary-response', 10000, 1e-06)
    >>> guarantee.worst.epsilon_central
    0.0618954
    >>> guarantee.level(1.0).epsilon_central
    0.0191044
    >>> print(guarantee.assumptions[0])  # doctest: +ELLIPSIS
    All people who are counted are honest and really send a message; ...

    Attributes:
        protocol: Identity of the protocol.
        about: Subject of `levels`, in plain words.
        num_users: Users in the collection.
        absent: Number of other users who may be absent or collude, in any combination.
        rounds: Number of collections.
        coordinates: Reports per user and collection, each shuffled apart.
        delta: The given delta, or None.
        epsilon: The given epsilon, or None.
        levels: One entry per level, or, for very many levels, per quantile.
        theorem: Theorems behind the upper bounds.
        assumptions: Conditions of the statement, as sentences.
        numerics: How numerical errors are kept on the safe side, as sentences.
        people: (level, people) of every level, or None if there are too many.
        people_digest: SHA-256 of all levels and counts.
        version: Version of shuffledp.
        also: Further statements about the same collection.
        num_rare: Number of levels with fewer than ten users; None in a certificate that
            was read from a file.
    """

    protocol: Identity
    about: str
    num_users: int
    absent: int
    rounds: int
    coordinates: int
    delta: float | None
    epsilon: float | None
    levels: tuple[LevelGuarantee, ...]
    theorem: str
    assumptions: tuple[str, ...]
    numerics: tuple[str, ...]
    people: tuple[tuple[float, int], ...] | None
    people_digest: str
    version: str
    also: tuple[Statement, ...] = ()
    # Not in certificates: one that is read back must equal the original.
    num_rare: int | None = field(default=None, compare=False)

    @property
    def certified(self) -> bool:
        """True: nothing that is not proven is returned as a Guarantee."""
        return True

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return str(self.protocol.record["mechanism"])

    @property
    def parameters(self) -> dict[str, Any]:
        """The protocol's public parameters."""
        return dict(self.protocol.record["parameters"])

    @property
    def mode(self) -> Mode:
        """Whether levels travel apart from messages or with them."""
        return (
            "stratified" if self.protocol.record["mode"] == "stratified" else "agnostic"
        )

    @property
    def worst(self) -> LevelGuarantee:
        """The reported level whose people are protected least."""
        return max(
            self.levels, key=lambda level: (level.epsilon_central, level.delta_central)
        )

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements, that of `levels` first."""
        return (
            Statement(self.about, self.delta, self.epsilon, self.levels),
            *self.also,
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Numbers that promise little, in sentences: see `accounting.cautions`."""
        return cautions(
            self.statements,
            num_users=self.num_users,
            people=self.people,
            num_rare=self.num_rare,
        )

    @property
    def coalition(self) -> tuple[str, ...]:
        """The guarantee against shuffler and analyst together, in a sentence."""
        note = coalition_note(self.statements)
        # Where nothing is promised, a caution says so.
        return () if note is None else (note,)

    @property
    def repetitions(self) -> str:
        """How often people take part, such as "24 rounds"; empty if once."""
        counts = ((self.rounds, "rounds"), (self.coordinates, "coordinates"))
        return " of ".join(f"{times:,} {what}" for times, what in counts if times > 1)

    def _title(self, statement: Statement) -> str:
        """Returns the title of a statement's table."""
        given_number = (
            statement.epsilon if solved(statement) == "delta" else statement.delta
        )
        name = "epsilon" if solved(statement) == "delta" else "delta"
        about = ", ".join(filter(None, (statement.about, self.repetitions)))
        return f"Guarantee ({about}), at {name} = {plain(given_number or 0.0)}"

    def to_frame(self) -> "pl.DataFrame":
        """Returns all statements as a Polars data frame: a row per statement and level."""
        # The accountant itself needs no tables.
        import polars as pl

        return pl.DataFrame(
            [
                {"about": statement.about, **asdict(level)}
                for statement in self.statements
                for level in statement.levels
            ],
            # The first rows alone may hold None where later ones hold numbers.
            infer_schema_length=None,
        )

    def views(self) -> tuple[TextTable, ...]:
        """Returns a table per statement, the last with all cautions."""
        titles = [self._title(statement) for statement in self.statements]
        tables = [level_table(statement) for statement in self.statements]
        views = [
            TextTable(title, table.headings, table.rows)
            for title, table in zip(titles, tables, strict=True)
        ]
        notes = (
            "Certified is a proven upper bound, what the attack shows a proven lower "
            f"bound; {len(self.assumptions)} assumptions are listed in .assumptions.",
            *self.coalition,
        )
        views[-1] = replace(views[-1], cautions=self.cautions, notes=notes)
        return tuple(views)

    def __str__(self) -> str:
        """Returns the tables of levels, for a screen."""
        return as_text(*self.views())

    # The default repr would fill screens with fields.
    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(*self.views())

    def level(self, chosen: float) -> LevelGuarantee:
        """Returns the entry of one level.

        Raises:
            UnknownLevelError: If it was not reported.
        """
        for level in self.levels:
            if level.chosen == chosen:
                return level
        raise UnknownLevelError("Expected one of the reported levels.")

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON."""
        main, *also = (_statement_record(statement) for statement in self.statements)
        return {
            "format": FORMAT,
            "protocol": self.protocol.record,
            "protocol_digest": self.protocol.digest,
            "certified": self.certified,
            "num_users": self.num_users,
            "absent": self.absent,
            "rounds": self.rounds,
            "coordinates": self.coordinates,
            **main,
            "also": also,
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
            "numerics": list(self.numerics),
            "people": None if self.people is None else [list(p) for p in self.people],
            "people_digest": self.people_digest,
            "version": self.version,
        }


# A reader refuses any other number; it is raised where keys or sentences change.
FORMAT = "shuffledp-guarantee-3"


def check_order(guarantee: Guarantee) -> None:
    """Raises DataError unless levels rise, in the people and in every statement."""
    people = [level for level, _ in guarantee.people or ()]
    if any(first >= second for first, second in pairwise(people)):
        raise DataError("Expected people whose levels rise, each level once.")
    for statement in guarantee.statements:
        levels = [level.chosen for level in statement.levels]
        # Two quantiles may be of one level.
        if any(first > second for first, second in pairwise(levels)):
            raise DataError("Expected statements whose levels rise.")


def _statement_record(statement: Statement) -> dict[str, Any]:
    requested, solved = (
        ("delta", "epsilon") if statement.epsilon is None else ("epsilon", "delta")
    )
    return {
        "about": statement.about,
        requested: getattr(statement, requested),
        "levels": [_level_record(level, solved) for level in statement.levels],
    }


def _level_record(level: LevelGuarantee, solved: str) -> dict[str, Any]:
    chosen_key = "target" if level.epsilon_local is None else "epsilon_local"
    record = {
        chosen_key: level.chosen,
        "count": level.count,
        "hides_among": level.hides_among,
        f"{solved}_central": getattr(level, f"{solved}_central"),
        f"{solved}_central_lower": getattr(level, f"{solved}_central_lower"),
        "epsilon_coalition": level.epsilon_coalition,
        "delta_coalition": level.delta_coalition,
        "rests_on": level.rests_on,
        "slack": level.slack,
    }
    return record | ({} if level.quantile is None else {"quantile": level.quantile})
