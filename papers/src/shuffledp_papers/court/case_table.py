"""Cases as rows of a table: population, claim and attack."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.published_bounds import published_bound
from shuffledp_papers.court.case import (
    BoundClaim,
    Case,
    Certificate,
    Claim,
    CourtVerdict,
    PrintedNumbers,
    certificate_of,
    uniform_quantiles,
)
from shuffledp_papers.court.item_attack import item_divergence
from shuffledp_papers.court.noise_cases import attack_on
from shuffledp_papers.court.stated_claim import claims_of
from shuffledp_papers.court.statements import STATEMENTS
from shuffledp_papers.segmented.privacy import SegmentedPrivacy, largest_sampling_rate
from shuffledp_papers.toml_tables import read_rows

# d of the synthetic data of Wang et al. (2025).
_ITEMS = 128
_NOISES = ("", "laplace", "clip-laplace", "gaussian")


@dataclass(frozen=True)
class Group:
    """Users of one budget, or equally many of each of several.

    Attributes:
        count: Number of users at each budget.
        at: The budget; None for the middles of equal parts of a range.
        low: Lower end of the range.
        high: Upper end of the range.
        levels: Number of parts of the range.
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
        """Number of users at each budget."""
        if self.at is not None:
            return {self.at: self.count}
        return dict.fromkeys(
            uniform_quantiles(self.low, self.high, self.levels), self.count
        )


@dataclass(frozen=True)
class PopulationRow:
    """Users of one randomizer, and the point of the claim about them.

    Attributes:
        people: All users, the target user included.
        noise: "laplace", "clip-laplace" or "gaussian"; "" for k-ary response.
        categories: k of k-ary response.
        delta_local: Of Gaussian noise, calibrated as in textbooks.
        strictest_target: Whether the target user has the smallest budget, not the largest.
        target_given: Whether the bound gets the target user's budget.
        enumerated: Whether all messages are enumerated.
        delta: The delta at which the bound's epsilon is evaluated, or None.
        epsilon: The epsilon at which its delta is evaluated, or None.
    """

    people: tuple[Group, ...]
    noise: str = ""
    categories: int = 0
    delta_local: float = 1e-10
    strictest_target: bool = False
    target_given: bool = True
    enumerated: bool = False
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
        """Randomizer of all users."""
        if self.noise == "gaussian":
            return Gaussian(delta_local=self.delta_local, calibration="classical")
        if self.noise:
            return Laplace() if self.noise == "laplace" else ClipLaplace()
        return KRandomizedResponse(self.categories)


@dataclass(frozen=True)
class ItemsRow:
    """Users who send items among blanket messages.

    Attributes:
        people: n.
        items_per_user: Number of items of every user.
        messages: Number of blanket messages of every user.
        epsilon: The target user's target, at which the claim is made.
        others: Targets of the other users; none if they send everything.
    """

    people: int
    items_per_user: int
    messages: int
    epsilon: float
    others: tuple[Group, ...] = ()


@dataclass(frozen=True)
class CaseRow:
    """One claim.

    Attributes:
        name: Such as "V8".
        bound: Name of the bound in this library.
        setting: Description of the collection.
        printed: The numbers of an earlier audit.
        why_not: The reason that there is no certificate; "" if there is one.
        population: The population, if all run one randomizer.
        items: The population, if it sends items.
    """

    name: str
    bound: str
    setting: str
    printed: PrintedNumbers = field(default_factory=PrintedNumbers)
    why_not: str = ""
    population: PopulationRow | None = None
    items: ItemsRow | None = None

    @property
    def case(self) -> Case:
        """The case of this claim."""
        if self.population is not None:
            return population_case(self, self.population, published_bound(self.bound))
        if self.items is not None:
            return _items_case(self, self.items)
        if self.name not in STATEMENTS:
            raise InvalidInputError(
                f"Expected a population, items or a statement of {self.name}."
            )
        return self.to_case(*STATEMENTS[self.name]())

    def to_case(
        self,
        claim: Callable[[], Claim],
        attack: Callable[[float], float],
        certificate: Callable[[float], Certificate] | str | None = None,
    ) -> Case:
        """Returns the case of this claim.

        Args:
            claim: Evaluates the published formula.
            attack: (epsilon) -> delta reached.
            certificate: (epsilon) -> the accountant's bounds; None if there are none.
        """
        return Case(
            name=self.name,
            bound=self.bound,
            statement=claims_of(self.name)[0],
            setting=self.setting,
            claim=claim,
            attack=attack,
            certificate=self.why_not if certificate is None else certificate,
            expected=self.expected,
            printed=self.printed,
        )

    @property
    def expected(self) -> CourtVerdict:
        """The known verdict."""
        # Names of violated claims begin with "V", of the others with "C".
        fell = self.name.startswith("V")
        return CourtVerdict.VIOLATED if fell else CourtVerdict.CONSISTENT


def population_case(
    row: CaseRow, population: PopulationRow, bound: PublishedBound
) -> Case:
    """Returns the case of a population that runs one randomizer.

    Args:
        row: Name and texts of the case.
        population: The population.
        bound: The bound that makes the claim.
    """
    counts: dict[float, int] = {}
    for group in population.people:
        counts |= group.counts
    people = Population.from_counts(counts)
    target_user = float(people.epsilons[0 if population.strictest_target else -1])
    device = population.device
    attack = attack_on(device, people, target_user, enumerated=population.enumerated)
    # Without a target user, a bound takes the user whom its paper takes for the worst case.
    setting = attack.ran if population.target_given else Setting(people, device)
    claim = BoundClaim(
        bound, setting, delta=population.delta, epsilon=population.epsilon
    )
    alone = people.num_users == 1
    certificate = (
        "no other user to hide among"
        if alone
        else certificate_of(device, people, target_user)
    )
    return row.to_case(claim, attack, certificate)


def _items_case(row: CaseRow, sets: ItemsRow) -> Case:
    others: dict[float, int] = {}
    for group in sets.others:
        others |= group.counts

    @cache
    def rates() -> list[float]:
        # The largest rates at which the theorem states (budget, 0.01 / n), as devices use.
        return [
            largest_sampling_rate(
                sets.people,
                num_items=_ITEMS,
                blanket_messages=sets.messages,
                epsilon=budget,
                delta=0.01 / sets.people,
                items_per_user=sets.items_per_user,
            )
            for budget in (sets.epsilon, *others)
        ]

    def claim() -> Claim:
        bound = SegmentedPrivacy(
            num_items=_ITEMS,
            blanket_messages=sets.messages,
            items_per_user=sets.items_per_user,
            sampling_rate=rates()[0],
        )
        people = Setting(Population.from_counts({sets.epsilon: sets.people}))
        return BoundClaim(bound, people, epsilon=sets.epsilon)()

    def attack(epsilon: float) -> float:
        return item_divergence(
            num_users=sets.people,
            num_items=_ITEMS,
            blanket_messages=sets.messages,
            items_per_user=sets.items_per_user,
            sampling_rate=rates()[0],
            epsilon=epsilon,
            other_rates=np.array(rates()[1:]) if others else None,
            other_counts=np.array(list(others.values())) if others else None,
        )

    return row.to_case(claim, attack)


CASE_ROWS = read_rows(CaseRow, "court", "cases.toml")
