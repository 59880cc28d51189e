"""Random search for claims that fall: any crowd, any bound that speaks of it.

Every trial draws a crowd and a mechanism, asks the accountant for an epsilon that its
attack violates at some delta, and every bound of the catalog what it states there. Whether
a claim falls, an attack of this folder decides, which shares no code with the accountant.
A trial is reproduced by the seed and its number alone.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError, OutsidePreconditions
from shuffledp.papers.bounds.bound import Setting, Status
from shuffledp.papers.bounds.published_bounds import PUBLISHED
from shuffledp.papers.court.case import ROUNDING
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.single_message import SingleMessage

# Of so many, all messages of k-ary response are enumerated.
_FEW_PEOPLE = 60
MECHANISMS = ("kary-response", "laplace", "clip-laplace", "gaussian")


@dataclass(frozen=True)
class Space:
    """Where trials are drawn from.

    Attributes:
        mechanisms: Names of randomizers.
        users: Fewest and most people.
        level_range: Smallest and largest level.
        most_levels: Most of them at once.
        categories: Most categories of k-ary response.
        deltas: Smallest and largest delta asked about.
    """

    mechanisms: tuple[str, ...] = MECHANISMS
    users: tuple[int, int] = (2, 20_000)
    level_range: tuple[float, float] = (0.05, 12.0)
    most_levels: int = 3
    categories: int = 100
    deltas: tuple[float, float] = (1e-10, 1e-2)


@dataclass(frozen=True)
class Finding:
    """One bound at one trial.

    Attributes:
        bound: Its name.
        seed: Of the search.
        trial: Number of the trial.
        setting: Mechanism and people, in words.
        victim: Her budget.
        epsilon: Where the attack was made.
        claimed: The delta that the bound states there.
        exact: What the attack of this folder reaches.
        accountant: What the accountant's own attack reaches.
        certified: What is certified.
    """

    bound: str
    seed: int
    trial: int
    setting: str
    victim: float
    epsilon: float
    claimed: float
    exact: float
    accountant: float
    certified: float

    @property
    def ratio(self) -> float:
        """How many times more than claimed was reached."""
        if self.exact == 0.0:
            return 0.0
        return self.exact / self.claimed if self.claimed > 0.0 else math.inf

    @property
    def violated(self) -> bool:
        """Did the claim fall?"""
        return self.exact > self.claimed * (1.0 + ROUNDING)


@dataclass
class Search:
    """What was found so far.

    Attributes:
        seed: Of all trials.
        trials: How many were made.
        worst: For each bound, the trial with the largest ratio.
        violations: Every claim that fell.
    """

    seed: int
    trials: int = 0
    worst: dict[str, Finding] = field(default_factory=dict)
    violations: list[Finding] = field(default_factory=list)

    @property
    def worst_first(self) -> list[Finding]:
        """One finding for each bound, those with the largest ratio first."""
        return sorted(self.worst.values(), key=lambda finding: -finding.ratio)

    def add(self, findings: list[Finding]) -> None:
        """Counts one trial."""
        self.trials += 1
        for finding in findings:
            worst = self.worst.get(finding.bound)
            if worst is None or finding.ratio > worst.ratio:
                self.worst[finding.bound] = finding
            if finding.violated:
                self.violations.append(finding)


def search(
    *,
    seed: int,
    seconds: float = math.inf,
    trials: int | None = None,
    space: Space | None = None,
    on_share: Callable[[float], None] | None = None,
) -> Search:
    """Tries random settings until time or trials are used up.

    Args:
        seed: Trial k of one seed is always the same.
        seconds: No trial starts later, but the first.
        trials: How many at most; None for any number.
        space: Where to draw from; None for everything.
        on_share: Called with the share that is done.
    """
    found, start = Search(seed), time.monotonic()
    while (trials is None or found.trials < trials) and (
        found.trials == 0 or time.monotonic() - start < seconds
    ):
        found.add(try_once(seed, found.trials, space or Space()))
        if on_share is not None:
            by_time = (time.monotonic() - start) / seconds
            by_count = found.trials / trials if trials else 0.0
            on_share(min(max(by_time, by_count), 1.0))
    return found


def try_once(seed: int, trial: int, space: Space) -> list[Finding]:
    """Returns what every bound states of one random setting, and what is reached.

    Asymptotic statements are left out.
    """
    rng = np.random.default_rng([seed, trial])
    device = _device(space, rng)
    people = _people(space, rng)
    victim = float(rng.choice(people.epsilons))
    delta = math.exp(rng.uniform(*np.log(space.deltas)))
    setting = Setting(people, device, victim, device.delta_local)
    protocol = SingleMessage(device)
    try:
        (level,) = account(protocol, people, delta=delta, levels=[victim]).levels
        epsilon = level.epsilon_central_lower
        (there,) = account(protocol, people, epsilon=epsilon, levels=[victim]).levels
    except CertificationError:
        # The accountant says nothing, so that nothing can be said.
        return []
    exactly = people.num_users <= _FEW_PEOPLE
    exact = trial_of(device, people, victim, exactly=exactly).attack(epsilon)
    findings = []
    for bound in PUBLISHED:
        # A limit states nothing of any one crowd, so that nothing can fall.
        if bound.proven is Status.ASYMPTOTIC:
            continue
        try:
            claimed = bound.delta(setting, epsilon)
        except OutsidePreconditions:
            continue
        findings.append(
            Finding(
                bound=bound.name,
                seed=seed,
                trial=trial,
                setting=_words(device, people),
                victim=victim,
                epsilon=epsilon,
                claimed=claimed,
                exact=exact,
                accountant=there.delta_central_lower,
                certified=there.delta_central,
            )
        )
    return findings


def _device(space: Space, rng: np.random.Generator) -> LocalRandomizer:
    name = str(rng.choice(list(space.mechanisms)))
    if name == "kary-response":
        most = math.log(space.categories + 1)
        return KRandomizedResponse(int(math.exp(rng.uniform(math.log(2), most))))
    if name == "gaussian":
        return Gaussian(delta_local=10.0 ** -float(rng.integers(4, 11)))
    return Laplace() if name == "laplace" else ClipLaplace()


def _people(space: Space, rng: np.random.Generator) -> Population:
    num_users = int(math.exp(rng.uniform(*np.log(space.users))))
    levels = int(rng.integers(1, min(space.most_levels, num_users) + 1))
    budgets = np.exp(
        rng.uniform(
            math.log(space.level_range[0]), math.log(space.level_range[1]), levels
        )
    )
    # Sometimes one person is alone at her level.
    counts = np.ones(levels, dtype=np.int64)
    shares = rng.dirichlet(np.full(levels, 0.5))
    counts += rng.multinomial(num_users - levels, shares)
    people: dict[float, int] = {}
    for budget, count in zip(
        np.round(budgets, 3).tolist(), counts.tolist(), strict=True
    ):
        people[budget] = people.get(budget, 0) + count
    return Population.from_counts(people)


def _words(device: LocalRandomizer, people: Population) -> str:
    parts = [f"{name} {value:g}" for name, value in _numbers(device).items()]
    pairs = zip(people.counts.tolist(), people.epsilons.tolist(), strict=True)
    crowd = ", ".join(f"{count} at {level:g}" for count, level in pairs)
    return f"{' '.join([device.mechanism, *parts])}; {crowd}"


def _numbers(device: LocalRandomizer) -> dict[str, float]:
    named = device.parameters.items()
    return {
        name: float(value)
        for name, value in named
        if name in ("categories", "delta_local")
    }
