"""Cases as rows of a table: who takes part, what is claimed, and what is attacked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.bounds.published_bounds import published_bound
from shuffledp.papers.court.case import (
    BoundClaim,
    Case,
    Certificate,
    Claim,
    CourtVerdict,
    PrintedNumbers,
    uniform_quantiles,
)
from shuffledp.papers.court.item_attack import item_divergence
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.papers.court.statements import STATEMENTS
from shuffledp.papers.segmented.privacy import SegmentedPrivacy, largest_sampling_rate
from shuffledp.papers.toml_tables import read_table
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace

_ITEMS = 128
_NOISES = ("", "laplace", "clip-laplace", "gaussian")


@dataclass(frozen=True)
class Group:
    """People of one budget, or equally many of each of several.

    Attributes:
        count: How many people have each budget.
        at: The budget; None for the middles of equal parts of a range.
        low: Where the range begins.
        high: Where it ends.
        levels: How many parts it has.
    """

    count: int
    at: float | None = None
    low: float = 0.0
    high: float = 0.0
    levels: int = 0

    def __post_init__(self) -> None:
        if (self.at is None) != (self.levels > 0):
            raise InvalidInputError("Expected either a budget or levels of a range.")

    @property
    def counts(self) -> dict[float, int]:
        """How many people have each budget."""
        if self.at is not None:
            return {self.at: self.count}
        return dict.fromkeys(
            uniform_quantiles(self.low, self.high, self.levels), self.count
        )


@dataclass(frozen=True)
class Crowd:
    """People who run one randomizer, and where a claim is made about them.

    Attributes:
        people: The victim included.
        noise: "laplace", "clip-laplace" or "gaussian"; "" for k-ary response.
        categories: k of k-ary response.
        delta_local: Of Gaussian noise, calibrated as in textbooks.
        careful: Whether the victim has the smallest budget, or else the largest.
        told: Whether the bound is told who she is.
        exactly: Whether the law of all messages is enumerated.
        delta: Where the bound's epsilon is asked for, or None.
        epsilon: Where its delta is asked for, or None.
    """

    people: tuple[Group, ...]
    noise: str = ""
    categories: int = 0
    delta_local: float = 1e-10
    careful: bool = False
    told: bool = True
    exactly: bool = False
    delta: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.noise not in _NOISES:
            raise InvalidInputError(
                f"Expected noise of {', '.join(_NOISES)}, got {self.noise!r}."
            )
        if (self.delta is None) == (self.epsilon is None):
            raise InvalidInputError("Expected either a delta or an epsilon.")

    @property
    def device(self) -> LocalRandomizer:
        """What everybody runs."""
        if self.noise == "gaussian":
            return Gaussian(delta_local=self.delta_local, calibration="classical")
        if self.noise:
            return Laplace() if self.noise == "laplace" else ClipLaplace()
        return KRandomizedResponse(self.categories)


@dataclass(frozen=True)
class ItemSenders:
    """People who send items of theirs among blanket messages.

    Attributes:
        people: n.
        held: How many items everybody holds.
        messages: How many blanket messages everybody sends.
        epsilon: The victim's target, at which the claim is made.
        others: Everybody else's; none if they send everything.
    """

    people: int
    held: int
    messages: int
    epsilon: float
    others: tuple[Group, ...] = ()


@dataclass(frozen=True)
class Row:
    """One claim.

    Attributes:
        name: Such as "V8".
        bound: What the bound is called here.
        setting: Who takes part, in words.
        source: Authors, year and theorem; "" for those of the bound.
        printed: What an earlier audit found.
        why_not: Why there is no certificate; "" if there is one.
        crowd: Who takes part, if they run one randomizer.
        items: Who takes part, if they send items.
    """

    name: str
    bound: str
    setting: str
    source: str = ""
    printed: PrintedNumbers = field(default_factory=PrintedNumbers)
    why_not: str = ""
    crowd: Crowd | None = None
    items: ItemSenders | None = None

    @property
    def case(self) -> Case:
        """What is tried."""
        if self.crowd is not None:
            return crowd_case(self, self.crowd, published_bound(self.bound))
        if self.items is not None:
            return _items_case(self, self.items)
        if self.name not in STATEMENTS:
            raise InvalidInputError(
                f"Expected a crowd, items or a statement of {self.name}."
            )
        return self.tried(*STATEMENTS[self.name]())

    def tried(
        self,
        claim: Callable[[], Claim],
        attack: Callable[[float], float],
        certificate: Callable[[float], Certificate] | str | None = None,
    ) -> Case:
        """Returns the case of this claim.

        Args:
            claim: Evaluates what is stated.
            attack: (epsilon) -> what is reached.
            certificate: (epsilon) -> what is certified; None if there is none.
        """
        return Case(
            name=self.name,
            bound=self.bound,
            source=self.source,
            setting=self.setting,
            claim=claim,
            attack=attack,
            certificate=self.why_not if certificate is None else certificate,
            expected=self.expected,
            printed=self.printed,
        )

    @property
    def expected(self) -> CourtVerdict:
        """How the case is known to end."""
        fell = self.name.startswith("V")
        return CourtVerdict.VIOLATED if fell else CourtVerdict.CONSISTENT


def crowd_case(row: Row, crowd: Crowd, bound: PublishedBound) -> Case:
    """Returns the case of a crowd that runs one randomizer.

    Args:
        row: Its name and words.
        crowd: Who takes part.
        bound: What is claimed of them.
    """
    counts: dict[float, int] = {}
    for group in crowd.people:
        counts |= group.counts
    people = Population.from_counts(counts)
    victim = float(people.epsilons[0 if crowd.careful else -1])
    trial = trial_of(crowd.device, people, victim, exactly=crowd.exactly)
    # A bound that is told of no victim takes whom its paper takes for the worst case.
    told = trial.setting if crowd.told else Setting(people, crowd.device)
    claim = BoundClaim(bound, told, delta=crowd.delta, epsilon=crowd.epsilon)
    named = replace(row, source=row.source or bound.source)
    return named.tried(claim, trial.attack, trial.certificate)


def _items_case(row: Row, sets: ItemSenders) -> Case:
    others: dict[float, int] = {}
    for group in sets.others:
        others |= group.counts

    @cache
    def rates() -> list[float]:
        """The largest rates for which the theorem states (budget, 0.01 / n): what runs."""
        return [
            largest_sampling_rate(
                sets.people,
                num_items=_ITEMS,
                blanket_messages=sets.messages,
                epsilon=budget,
                delta=0.01 / sets.people,
                items_per_user=sets.held,
            )
            for budget in (sets.epsilon, *others)
        ]

    def claim() -> Claim:
        bound = SegmentedPrivacy(
            num_items=_ITEMS,
            blanket_messages=sets.messages,
            items_per_user=sets.held,
            sampling_rate=rates()[0],
        )
        people = Setting(Population.from_counts({sets.epsilon: sets.people}))
        return BoundClaim(bound, people, epsilon=sets.epsilon)()

    def attack(epsilon: float) -> float:
        return item_divergence(
            num_users=sets.people,
            num_items=_ITEMS,
            blanket_messages=sets.messages,
            items_per_user=sets.held,
            sampling_rate=rates()[0],
            epsilon=epsilon,
            other_rates=np.array(rates()[1:]) if others else None,
            other_counts=np.array(list(others.values())) if others else None,
        )

    return row.tried(claim, attack)


@dataclass(frozen=True)
class _CasesTable:
    cases: tuple[Row, ...]


ROWS = read_table(_CasesTable, "court", "cases.toml").cases
