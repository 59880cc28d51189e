"""Certified statements about one exposure, level by level."""

from dataclasses import dataclass
from typing import Literal

RestsOn = Literal[
    "two messages", "blanket", "items", "counts", "shuffler", "composition", "device"
]


@dataclass(frozen=True)
class LevelGuarantee:
    """The central guarantee of the people at one privacy level.

    The analyst's view is proven to be (epsilon_central, delta_central)-differentially
    private for each of them. An attack proves that it is not (epsilon_central_lower,
    delta_central_lower)-differentially private. One of the two parameters was given, and
    is the same in both statements.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> level = sdp.account(sdp.Frequency(17), people, delta=1e-6).levels[0]
    >>> level.epsilon_local, level.count, level.hides_among
    (1.0, 5000, 10000)
    >>> level.epsilon_central_lower <= level.epsilon_central
    True
    >>> level.rests_on
    'blanket'

    Attributes:
        epsilon_local: The budget on the device, in nats; None where people chose a central
            epsilon, and a device alone promises nothing.
        count: Users at this level.
        hides_among: Honest users among whom each of them hides, themselves included.
        epsilon_coalition: The local epsilon that remains against a coalition of shuffler
            and analyst, who see each person's own reports: the local budgets of all
            reports together, rounded upward. None if nothing is promised against them.
        rests_on: Theorem behind the certified number: "two messages" (the worst data of
            all, docs/theory/two-messages.md), "blanket" (docs/theory/theorem.md), "items"
            (docs/topics/items.md), "counts" (docs/theory/counts.md), "shuffler" (the
            same, among noise that a trusted shuffler adds), "composition" of several
            protocols (docs/theory/composition.md), or "device" where nothing better could
            be proven than the local guarantee.
        slack: Share of the certified delta, at the certified epsilon, that is margin
            (bounds of errors, densities bounded within cells, data that were not
            searched); 0 where it is not told apart, as for several collections, and for
            sets of items.
        delta_coalition: At which `epsilon_coalition` holds; 0 for pure local budgets.
        quantile: Which part of the population this level stands for, where there are
            too many levels to report ("minimum", "median", ...), else None.
        target: The central epsilon that these people chose, or None if they choose no
            target.
    """

    epsilon_local: float | None
    count: int
    hides_among: int
    epsilon_central: float
    epsilon_central_lower: float
    delta_central: float
    delta_central_lower: float
    epsilon_coalition: float | None
    rests_on: RestsOn
    slack: float = 0.0
    delta_coalition: float = 0.0
    quantile: str | None = None
    target: float | None = None

    @property
    def chosen(self) -> float:
        """The local budget or central target that these users chose."""
        chosen_epsilon = (
            self.target if self.epsilon_local is None else self.epsilon_local
        )
        if chosen_epsilon is None:
            raise ValueError("Expected a local budget or a central target.")
        return chosen_epsilon


@dataclass(frozen=True)
class Statement:
    """Certified statement about one exposure.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> guarantee = sdp.account(sdp.Frequency(3), people, delta=1e-4)
    >>> [statement.about for statement in guarantee.statements]
    ['one report']

    Attributes:
        about: Subject of the statement, in plain words.
        delta: At which epsilons are stated, or None.
        epsilon: At which deltas are stated, or None.
        levels: One entry per reported level.
    """

    about: str
    delta: float | None
    epsilon: float | None
    levels: tuple[LevelGuarantee, ...]

    @property
    def local(self) -> bool:
        """Whether no user hides among others, so that only the local guarantee counts."""
        # Noise of the shuffler hides a single person, too.
        return all(
            level.hides_among == 1 and level.rests_on != "shuffler"
            for level in self.levels
        )
