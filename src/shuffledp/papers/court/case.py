"""A claim, an attack on it, and a certificate of the same collection: one case."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shuffledp.accounting.account import account
from shuffledp.cover import LocalRandomizer
from shuffledp.papers.bounds.bound import PublishedBound, Setting
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
class Printed:
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
    """

    name: str
    bound: str
    source: str
    setting: str
    claim: Callable[[], Claim]
    attack: Callable[[float], float]
    certificate: Callable[[float], Certificate] | str
    expected: CourtVerdict
    printed: Printed = Printed()


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
        exact: The largest one reached by an attack.
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
    certified: float | None
    why_not: str
    verdict: CourtVerdict
    expected: CourtVerdict

    @property
    def certificate_holds(self) -> bool:
        """Is nothing reached beyond what was certified?"""
        most = math.inf if self.certified is None else self.certified
        return self.exact <= most * (1.0 + ROUNDING)


def judge(case: Case) -> Ruling:
    """Evaluates claim, attack and certificate."""
    claim = case.claim()
    where = 0.0 if claim.epsilon is None else claim.epsilon
    exact, certified = case.attack(where), None
    if not isinstance(case.certificate, str):
        certificate = case.certificate(where)
        exact, certified = max(exact, certificate.lower), certificate.upper
    return Ruling(
        case=case.name,
        bound=case.bound,
        source=case.source,
        setting=case.setting,
        epsilon=claim.epsilon,
        claimed=claim.value,
        exact=exact,
        certified=certified,
        why_not=case.certificate if isinstance(case.certificate, str) else "",
        verdict=(
            CourtVerdict.VIOLATED
            if exact > claim.value * (1.0 + ROUNDING)
            else CourtVerdict.CONSISTENT
        ),
        expected=case.expected,
    )


def at_epsilon(
    bound: PublishedBound, setting: Setting, epsilon: float
) -> Callable[[], Claim]:
    """Returns the delta that a bound states at this epsilon."""
    return lambda: Claim(epsilon, bound.delta(setting, epsilon))


def at_delta(
    bound: PublishedBound, setting: Setting, delta: float
) -> Callable[[], Claim]:
    """Returns the epsilon that a bound states at this delta, and what it states there."""

    def claim() -> Claim:
        epsilon = bound.epsilon(setting, delta)
        return Claim(epsilon, bound.delta(setting, epsilon))

    return claim


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
