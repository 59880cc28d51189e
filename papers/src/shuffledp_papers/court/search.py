"""Random search for violated claims, over populations and mechanisms.

Every trial draws a population and a mechanism, takes an epsilon from the accountant's own
lower bound, and evaluates all published bounds at it. An attack of this folder, which
shares no code with the accountant, decides. Seed and number reproduce a trial.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.bounds.bound import Setting, Status
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.court.case import ROUNDING
from shuffledp_papers.court.noise_cases import attack_on
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Up to this many users, all messages of k-ary response are enumerated.
_FEW_PEOPLE = 60
MECHANISMS = ("kary-response", "laplace", "clip-laplace", "gaussian")


@dataclass(frozen=True)
class Space:
    """Ranges from which trials are drawn.

    Attributes:
        mechanisms: Names of randomizers.
        users: Smallest and largest number of users.
        level_range: Smallest and largest level.
        most_levels: Largest number of levels.
        categories: Largest number of categories of k-ary response.
        deltas: Smallest and largest delta.
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
        bound: Name of the bound.
        seed: Seed of the search.
        trial: Number of the trial.
        setting: Description of mechanism and population.
        victim: The target user's budget.
        epsilon: The epsilon of the attack.
        claimed: The delta that the bound states at this epsilon.
        exact: The delta that the attack of this folder reaches.
        accountant: The delta that the accountant's own attack reaches.
        certified: The certified delta.
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
        """Reached delta divided by claimed delta."""
        if self.exact == 0.0:
            return 0.0
        return self.exact / self.claimed if self.claimed > 0.0 else math.inf

    @property
    def violated(self) -> bool:
        """Whether the claim is violated."""
        return self.exact > self.claimed * (1.0 + ROUNDING)


@dataclass
class Search:
    """Results of a search so far.

    Attributes:
        seed: Seed of all trials.
        trials: Number of trials.
        worst: For each bound, the trial with the largest ratio.
        violations: All violated claims.
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
        """Adds the findings of one trial."""
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
        seconds: Time after which no trial starts, except the first.
        trials: Largest number of trials; None for no limit.
        space: Ranges to draw from; None for the widest.
        on_share: Called with the share that is done.
    """
    results, start = Search(seed), time.monotonic()
    while (trials is None or results.trials < trials) and (
        results.trials == 0 or time.monotonic() - start < seconds
    ):
        results.add(try_once(seed, results.trials, space or Space()))
        if on_share is not None:
            by_time = (time.monotonic() - start) / seconds
            by_count = results.trials / trials if trials else 0.0
            on_share(min(max(by_time, by_count), 1.0))
    return results


def try_once(seed: int, trial: int, space: Space) -> list[Finding]:
    """Returns claim and attack of all bounds for one random setting."""
    # Seeded by the number, too: a trial does not depend on those before it.
    rng = np.random.default_rng([seed, trial])
    device = _device(space, rng)
    people = _people(space, rng)
    target_user = float(rng.choice(people.epsilons))
    delta = math.exp(rng.uniform(*np.log(space.deltas)))
    setting = Setting(people, device, target_user)
    protocol = SingleMessage(device)
    try:
        (level,) = account(protocol, people, delta=delta, levels=[target_user]).levels
        epsilon = level.epsilon_central_lower
        # The certificate and the lower bound of delta at the epsilon of the attack.
        (at_epsilon,) = account(
            protocol, people, epsilon=epsilon, levels=[target_user]
        ).levels
    except CertificationError:
        # Without the accountant's epsilon there is no point at which to compare.
        return []
    exactly = people.num_users <= _FEW_PEOPLE
    exact = attack_on(device, people, target_user, enumerated=exactly)(epsilon)
    findings = []
    for bound in PUBLISHED:
        # A limit states nothing of a single population, so that none can violate it.
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
                victim=target_user,
                epsilon=epsilon,
                claimed=claimed,
                exact=exact,
                accountant=at_epsilon.delta_central_lower,
                certified=at_epsilon.delta_central,
            )
        )
    return findings


def _device(space: Space, rng: np.random.Generator) -> LocalRandomizer:
    name = str(rng.choice(list(space.mechanisms)))
    if name == "kary-response":
        max_epsilon = math.log(space.categories + 1)
        return KRandomizedResponse(int(math.exp(rng.uniform(math.log(2), max_epsilon))))
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
    # Every level has a user; small Dirichlet shares often leave a level with only one.
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
    population = ", ".join(f"{count} at {level:g}" for count, level in pairs)
    return f"{' '.join([device.mechanism, *parts])}; {population}"


def _numbers(device: LocalRandomizer) -> dict[str, float]:
    named = device.parameters.items()
    return {
        name: float(value)
        for name, value in named
        if name in ("categories", "delta_local")
    }
