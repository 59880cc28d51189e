"""Claim check: a claim, an attack on it, and a certificate of the same collection.

The attack, which shares no code with the accountant, decides alone. The certificate and the
accountant's own attack stand beside it for comparison.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shuffledp.accounting.account import account
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import check_equal, query_of
from shuffledp_papers.court.stated_claim import ClaimVerdict, StatedClaim

# Claims that are exact must not fall to the last digits of an attack.
ROUNDING = 1e-9


class CourtVerdict(StrEnum):
    """Verdict of an attack on a claim."""

    VIOLATED = "violated"
    CONSISTENT = "consistent"


@dataclass(frozen=True)
class Claim:
    """Statement of a paper about one collection.

    Attributes:
        epsilon: The epsilon of the statement; None for a claim of pure local privacy.
        value: The delta stated at this epsilon, or else the local budget.
    """

    epsilon: float | None
    value: float


@dataclass(frozen=True, eq=False)
class BoundClaim:
    """Evaluates a published bound at a delta or at an epsilon.

    Attributes:
        bound: The bound.
        setting: The collection, as far as the bound uses it.
        delta: The delta at which epsilon is evaluated, or None.
        epsilon: The epsilon at which delta is evaluated, or None.
    """

    bound: PublishedBound
    setting: Setting
    delta: float | None = None
    epsilon: float | None = None

    def __call__(self) -> Claim:
        """Returns an epsilon, and the delta that is stated at it."""
        # The stated epsilon may have a smaller stated delta than the one it was asked at.
        epsilon = self.epsilon
        if epsilon is None:
            epsilon = self.bound.epsilon(self.setting, self.delta or 0.0)
        return Claim(epsilon, self.bound.delta(self.setting, epsilon))


@dataclass(frozen=True, eq=False)
class NoiseAttack:
    """An attack with the collection that it attacks.

    Attributes:
        ran: The collection that is attacked.
        reach: (epsilon) -> delta reached.
    """

    ran: Setting
    reach: Callable[[float], float]

    def __call__(self, epsilon: float) -> float:
        """Returns the delta that the attack reaches."""
        return self.reach(epsilon)


@dataclass(frozen=True)
class Certificate:
    """The accountant's bounds of delta at the claim's epsilon.

    Attributes:
        upper: Certified delta.
        lower: Delta that the accountant's own attack reaches.
    """

    upper: float
    lower: float


@dataclass(frozen=True)
class PrintedNumbers:
    """The same numbers in the report of an earlier audit, digit by digit; "" if none.

    Attributes:
        epsilon: The epsilon of the claim.
        claimed: The claim.
        exact: The number that the attack reached.
    """

    epsilon: str = ""
    claimed: str = ""
    exact: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """One claim to check.

    Attributes:
        name: Such as "V8"; those of violations start with "V", the others with "C".
        bound: Name of the bound in this library.
        statement: The paper's statement, with the reading and the adversary.
        setting: Description of the collection.
        claim: Evaluates the published formula.
        attack: (claim's epsilon) -> delta of an exact attack; given 0 for a claim of
            local privacy, the loss of one output.
        certificate: (claim's epsilon) -> the accountant's bounds; or the reason that
            there are none.
        expected: The known verdict.
        printed: The numbers of an earlier audit.

    Raises:
        InvalidInputError: If claim and attack are about different noise or users.
    """

    name: str
    bound: str
    statement: StatedClaim
    setting: str
    claim: Callable[[], Claim]
    attack: Callable[[float], float]
    certificate: Callable[[float], Certificate] | str
    expected: CourtVerdict
    printed: PrintedNumbers = PrintedNumbers()

    def __post_init__(self) -> None:
        claim, attack = self.claim, self.attack
        if isinstance(claim, BoundClaim) and isinstance(attack, NoiseAttack):
            check_equal(query_of(claim.setting), query_of(attack.ran))


@dataclass(frozen=True)
class Ruling:
    """Result of checking one case.

    Attributes:
        case: Name of the case.
        bound: Name of the bound in this library.
        statement: Name of the paper's statement in the register.
        source: Authors, year and theorem.
        setting: Description of the collection.
        reading: The reading of the statement that is tried.
        adversary: Description of the attacker's view.
        epsilon: The epsilon of the claim; None for a claim of pure local privacy.
        claimed: The delta of the claim, or the local budget.
        exact: The number that the attack of this folder reaches.
        accountant: Delta of the accountant's own attack; None if there is none.
        certified: The certified delta; None if there is none.
        why_not: The reason that there is none, or "".
        verdict: Whether the claim is violated, as it is read.
        expected: The known verdict.
        judgment: The verdict on the statement, as far as this case shows it.
    """

    case: str
    bound: str
    statement: str
    source: str
    setting: str
    reading: str
    adversary: str
    epsilon: float | None
    claimed: float
    exact: float
    accountant: float | None
    certified: float | None
    why_not: str
    verdict: CourtVerdict
    expected: CourtVerdict
    judgment: ClaimVerdict

    @property
    def certificate_holds(self) -> bool:
        """Whether neither attack exceeds the certified delta."""
        # Without a certificate there is nothing to exceed.
        upper_bound = math.inf if self.certified is None else self.certified
        reached = max(self.exact, self.accountant or 0.0)
        return reached <= upper_bound * (1.0 + ROUNDING)


def judge(case: Case) -> Ruling:
    """Evaluates claim, attack and certificate; the attack alone decides."""
    claim = case.claim()
    # A claim of local privacy has no epsilon; its attack ignores the argument.
    epsilon = 0.0 if claim.epsilon is None else claim.epsilon
    exact = case.attack(epsilon)
    certificate, why_not = None, ""
    if isinstance(case.certificate, str):
        why_not = case.certificate
    else:
        certificate = case.certificate(epsilon)
    fell = exact > claim.value * (1.0 + ROUNDING)
    statement = case.statement
    return Ruling(
        case=case.name,
        bound=case.bound,
        statement=statement.name,
        source=statement.source,
        setting=case.setting,
        reading=statement.reading,
        adversary=statement.adversary,
        epsilon=claim.epsilon,
        claimed=claim.value,
        exact=exact,
        accountant=certificate.lower if certificate else None,
        certified=certificate.upper if certificate else None,
        why_not=why_not,
        verdict=CourtVerdict.VIOLATED if fell else CourtVerdict.CONSISTENT,
        expected=case.expected,
        # A case that stands shows nothing of the statement's faults elsewhere.
        judgment=statement.verdict if fell else ClaimVerdict.HOLDS,
    )


def certificate_of(
    device: LocalRandomizer, people: Population, target_user: float
) -> Callable[[float], Certificate]:
    """Returns a function that certifies the users of one level with `account`."""

    def certificate(epsilon: float) -> Certificate:
        protocol = SingleMessage(device)
        (level,) = account(
            protocol, people, epsilon=epsilon, levels=[target_user]
        ).levels
        return Certificate(level.delta_central, level.delta_central_lower)

    return certificate


def uniform_quantiles(low: float, high: float, count: int) -> list[float]:
    """Returns the middles of `count` equal parts of [low, high]."""
    return [low + (high - low) * (k + 0.5) / count for k in range(count)]
