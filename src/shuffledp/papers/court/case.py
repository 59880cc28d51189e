"""A claim, an attack on it, and a certificate of the same collection: one case.

The verdict is the attack's alone, which shares no code with the accountant. What the
accountant certifies, and what its own attack reaches, stand beside it and decide nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shuffledp.accounting.account import account
from shuffledp.cover import LocalRandomizer
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.papers.bounds.equal_noise import check_equal, query_of
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage

# Claims that are exact must not fall to the last digits of an attack.
ROUNDING = 1e-9


class CourtVerdict(StrEnum):
    """What an attack says about a claim."""

    VIOLATED = "violated"
    CONSISTENT = "consistent"


@dataclass(frozen=True)
class Claim:
    """What a paper states.

    Attributes:
        epsilon: Where; None for a claim of pure local privacy.
        value: The delta stated there, or else the local budget.
    """

    epsilon: float | None
    value: float


@dataclass(frozen=True, eq=False)
class BoundClaim:
    """Evaluates what a bound states, at a delta or at an epsilon.

    Attributes:
        bound: The bound.
        setting: What it is told.
        delta: Where its epsilon is asked for, or None.
        epsilon: Where its delta is asked for, or None.
    """

    bound: PublishedBound
    setting: Setting
    delta: float | None = None
    epsilon: float | None = None

    def __call__(self) -> Claim:
        """Returns an epsilon, and the delta that is stated there."""
        epsilon = self.epsilon
        if epsilon is None:
            epsilon = self.bound.epsilon(self.setting, self.delta or 0.0)
        return Claim(epsilon, self.bound.delta(self.setting, epsilon))


@dataclass(frozen=True, eq=False)
class NoiseAttack:
    """An attack that knows what it attacks.

    Attributes:
        ran: What the devices run, and who they are.
        reach: (epsilon) -> delta reached.
    """

    ran: Setting
    reach: Callable[[float], float]

    def __call__(self, epsilon: float) -> float:
        """Returns the delta that is reached."""
        return self.reach(epsilon)


@dataclass(frozen=True)
class Certificate:
    """What the accountant says at the claim's epsilon.

    Attributes:
        upper: A delta that is certified.
        lower: A delta that its own attack reaches.
    """

    upper: float
    lower: float


@dataclass(frozen=True)
class PrintedNumbers:
    """The same numbers in the report of an earlier audit, digit by digit; "" if none.

    Attributes:
        epsilon: Where the claim was tried.
        claimed: The claim.
        exact: What was reached.
    """

    epsilon: str = ""
    claimed: str = ""
    exact: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """One claim to be tried.

    Attributes:
        name: Such as "V8"; those of violations start with "V", the others with "C".
        bound: What the bound is called here.
        source: Authors, year and theorem.
        setting: Who takes part, in words.
        claim: Evaluates the published formula.
        attack: Given the claim's epsilon, what an exact attack reaches; given 0 for a
            claim of local privacy, the loss of one output.
        certificate: Given the claim's epsilon, what the accountant says; or in words why
            it says nothing.
        expected: How the case is known to end.
        printed: What an earlier audit found.

    Raises:
        InvalidInputError: If the claim is about other noise or other people than are
            attacked.
    """

    name: str
    bound: str
    source: str
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
    """How a case ended.

    Attributes:
        case: Its name.
        bound: What the bound is called here.
        source: Authors, year and theorem.
        setting: Who takes part, in words.
        epsilon: Where the claim was tried; None for a claim of pure local privacy.
        claimed: The delta of the claim, or the local budget.
        exact: What the attack of this folder reaches.
        accountant: What the accountant's own attack reaches; None if there is none.
        certified: The certified delta; None if there is none.
        why_not: Why there is none, or "".
        verdict: Whether the claim fell.
        expected: How the case is known to end.
    """

    case: str
    bound: str
    source: str
    setting: str
    epsilon: float | None
    claimed: float
    exact: float
    accountant: float | None
    certified: float | None
    why_not: str
    verdict: CourtVerdict
    expected: CourtVerdict

    @property
    def certificate_holds(self) -> bool:
        """Does neither attack reach beyond what was certified?"""
        most = math.inf if self.certified is None else self.certified
        reached = max(self.exact, self.accountant or 0.0)
        return reached <= most * (1.0 + ROUNDING)


def judge(case: Case) -> Ruling:
    """Evaluates claim, attack and certificate; the attack alone decides."""
    claim = case.claim()
    where = 0.0 if claim.epsilon is None else claim.epsilon
    exact = case.attack(where)
    certificate, why_not = None, ""
    if isinstance(case.certificate, str):
        why_not = case.certificate
    else:
        certificate = case.certificate(where)
    return Ruling(
        case=case.name,
        bound=case.bound,
        source=case.source,
        setting=case.setting,
        epsilon=claim.epsilon,
        claimed=claim.value,
        exact=exact,
        accountant=certificate.lower if certificate else None,
        certified=certificate.upper if certificate else None,
        why_not=why_not,
        verdict=(
            CourtVerdict.VIOLATED
            if exact > claim.value * (1.0 + ROUNDING)
            else CourtVerdict.CONSISTENT
        ),
        expected=case.expected,
    )


def certificate_of(
    device: LocalRandomizer, people: Population, victim: float
) -> Callable[[float], Certificate]:
    """Returns what `account` says of people of one level."""

    def certificate(epsilon: float) -> Certificate:
        protocol = SingleMessage(device)
        (level,) = account(protocol, people, epsilon=epsilon, levels=[victim]).levels
        return Certificate(level.delta_central, level.delta_central_lower)

    return certificate


def uniform_quantiles(low: float, high: float, count: int) -> list[float]:
    """Returns the middles of `count` equal parts of [low, high]."""
    return [low + (high - low) * (k + 0.5) / count for k in range(count)]
