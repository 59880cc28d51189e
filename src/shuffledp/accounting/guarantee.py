"""What the accountant says: for every level, a certified bound and an attack beside it."""

from dataclasses import dataclass
from typing import Any, Literal

from shuffledp.identity import Identity
from shuffledp.types import Mode

RestsOn = Literal["two messages", "blanket", "items", "device"]


@dataclass(frozen=True)
class LevelGuarantee:
    """The central guarantee of the people at one privacy level.

    Everything the analyst sees is (epsilon_central, delta_central)-differentially private
    for each of them: that is proven. It is not (epsilon_central_lower,
    delta_central_lower)-differentially private: an attack shows it. One of the two
    parameters was given, and is the same in both statements.

    Attributes:
        epsilon_local: The budget on the device, in nats; None where people chose a central
            epsilon, and a device alone promises nothing.
        count: People at this level.
        hides_among: Honest people among whom each of them hides, herself included.
        rests_on: What the certified number rests on: "two messages" (the worst data of
            all, docs/two-messages.md), "blanket" (docs/theorem.md), "items"
            (docs/items.md), or "device" where nothing better could be proven than what a
            device keeps alone.
        slack: Which part of the certified delta, at the certified epsilon, is caution
            (bounds of errors, densities bounded within cells, data that were not
            searched); 0 where it is not told apart, as for several collections, and for
            sets of items.
        quantile: Which part of the population this level stands for, where there are
            too many levels to report ("minimum", "median", ...), else None.
        target: The central epsilon that these people chose, where that is what they choose.
    """

    epsilon_local: float | None
    count: int
    hides_among: int
    epsilon_central: float
    epsilon_central_lower: float
    delta_central: float
    delta_central_lower: float
    rests_on: RestsOn
    slack: float = 0.0
    quantile: str | None = None
    target: float | None = None

    @property
    def chosen(self) -> float:
        """What these people chose: a local budget or a central target."""
        known = self.target if self.epsilon_local is None else self.epsilon_local
        if known is None:
            raise ValueError("Expected a local budget or a central target.")
        return known


@dataclass(frozen=True)
class Statement:
    """What is proven about one thing that is seen of people.

    Attributes:
        about: What, in plain words.
        delta: At which epsilons are stated, or None.
        epsilon: At which deltas are stated, or None.
        levels: One entry per level that was asked about.
    """

    about: str
    delta: float | None
    epsilon: float | None
    levels: tuple[LevelGuarantee, ...]

    @property
    def local(self) -> bool:
        """Whether nobody hides among others: then it is what devices keep alone."""
        return all(level.hides_among == 1 for level in self.levels)


@dataclass(frozen=True)
class Guarantee:
    """A certified statement about one collection, or several with the same people.

    Attributes:
        protocol: What ran, by its identity.
        about: What `levels` state, in plain words.
        num_users: People in the collection.
        absent: How many of the others may be absent or collude, whoever they are.
        rounds: How often the collection happens.
        coordinates: How many reports, shuffled apart, each person sends in one of them.
        delta: The delta that was asked for, or None.
        epsilon: The epsilon that was asked for, or None.
        levels: One entry per level, or, for very many levels, per quantile.
        theorem: What the upper bounds rest on.
        assumptions: In plain words, what must hold for the statement to hold.
        numerics: In plain words, how the numbers are kept on the safe side.
        people: (level, people) of every level, or None if there are too many.
        people_digest: SHA-256 of all levels and counts.
        version: Of shuffledp.
        also: Further statements about the same collection.
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

    @property
    def certified(self) -> bool:
        """True: nothing that is not proven is returned as a Guarantee."""
        return True

    @property
    def mechanism(self) -> str:
        """The name of what devices run."""
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
        """All of them, what `levels` state first."""
        return (
            Statement(self.about, self.delta, self.epsilon, self.levels),
            *self.also,
        )

    def level(self, chosen: float) -> LevelGuarantee:
        """Returns the entry of one level.

        Raises:
            KeyError: If it was not reported.
        """
        for level in self.levels:
            if level.chosen == chosen:
                return level
        raise KeyError(chosen)

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


FORMAT = "shuffledp-guarantee-2"


def _statement_record(statement: Statement) -> dict[str, Any]:
    asked, solved = (
        ("delta", "epsilon") if statement.epsilon is None else ("epsilon", "delta")
    )
    return {
        "about": statement.about,
        asked: getattr(statement, asked),
        "levels": [_level_record(level, solved) for level in statement.levels],
    }


def _level_record(level: LevelGuarantee, solved: str) -> dict[str, Any]:
    chosen = "target" if level.epsilon_local is None else "epsilon_local"
    record = {
        chosen: level.chosen,
        "count": level.count,
        "hides_among": level.hides_among,
        f"{solved}_central": getattr(level, f"{solved}_central"),
        f"{solved}_central_lower": getattr(level, f"{solved}_central_lower"),
        "rests_on": level.rests_on,
        "slack": level.slack,
    }
    return record | ({} if level.quantile is None else {"quantile": level.quantile})
