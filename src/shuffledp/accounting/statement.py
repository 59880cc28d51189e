"""What is proven about one thing that is seen of people, level by level."""

from dataclasses import dataclass
from typing import Literal

RestsOn = Literal["two messages", "blanket", "items", "device"]


@dataclass(frozen=True)
class LevelGuarantee:
    """The central guarantee of the people at one privacy level.

    Everything the analyst sees is (epsilon_central, delta_central)-differentially private
    for each of them: that is proven. It is not (epsilon_central_lower,
    delta_central_lower)-differentially private: an attack shows it. One of the two
    parameters was given, and is the same in both statements.

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
        count: People at this level.
        hides_among: Honest people among whom each of them hides, herself included.
        rests_on: What the certified number rests on: "two messages" (the worst data of
            all, docs/theory/two-messages.md), "blanket" (docs/theory/theorem.md), "items"
            (docs/topics/items.md), or "device" where nothing better could be proven than
            what a device keeps alone.
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

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 1_000})
    >>> guarantee = sdp.account(sdp.Frequency(3), people, delta=1e-4)
    >>> [statement.about for statement in guarantee.statements]
    ['one report']

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
