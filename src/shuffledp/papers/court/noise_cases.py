"""Cases of one kind: everybody adds noise of one shape, or runs randomized response."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq

from shuffledp.cover import LocalRandomizer
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.court.attacks import (
    clip_laplace_attack,
    gaussian_attack,
    laplace_attack,
    response_attack,
)
from shuffledp.papers.court.case import Certificate, certificate_of
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.normal_divergence import normal_divergence
from shuffledp.types import Floats, Ints

# Nominal budgets at which the exactly calibrated noise is looked for.
_LEAST, _MOST = 1e-9, 100.0


@dataclass(frozen=True, eq=False)
class Trial:
    """A collection, ready to be claimed about, attacked and certified.

    Attributes:
        setting: What the published bound is told.
        attack: (epsilon) -> delta reached.
        certificate: (epsilon) -> what the accountant says; or why it says nothing.
    """

    setting: Setting
    attack: Callable[[float], float]
    certificate: Callable[[float], Certificate] | str


def trial_of(
    device: LocalRandomizer,
    people: Population,
    victim: float,
    *,
    exactly: bool = False,
) -> Trial:
    """Returns the trial of one level under k-ary response, Laplace or Clip-Laplace noise.

    Args:
        device: What everybody runs.
        people: The victim included.
        victim: Her budget.
        exactly: Whether the law of all messages is enumerated, for 60 people at most.
    """
    epsilons, counts = without(people, victim)
    attack: Callable[..., float]
    if isinstance(device, KRandomizedResponse):
        attack = partial(response_attack, device.num_categories, exactly=exactly)
    elif isinstance(device, Laplace):
        attack = laplace_attack
    elif isinstance(device, ClipLaplace):
        attack = clip_laplace_attack
    else:
        raise TypeError(f"Expected a known randomizer, got {device.mechanism}.")
    return Trial(
        Setting(people, device, victim),
        partial(attack, epsilons, counts, victim),
        certificate_of(device, people, victim)
        if people.num_users > 1
        else "nobody to hide among",
    )


def classical_gaussian(people: Population, victim: float, delta_local: float) -> Trial:
    """Returns the trial of one level under textbook noise for values in [0, 1].

    Its standard deviation is sqrt(2 ln(1.25 / delta_local)) / epsilon. The accountant
    calibrates exactly: it is told budgets at which its noise has the same deviation.
    """
    epsilons, counts = without(people, victim)
    device = Gaussian(delta_local=delta_local)

    def certificate(epsilon: float) -> Certificate:
        levels = people.epsilons.tolist()
        nominal = [nominal_budget(level, delta_local) for level in levels]
        sizes = dict(zip(nominal, people.counts.tolist(), strict=True))
        own = nominal[levels.index(victim)]
        return certificate_of(device, Population.from_counts(sizes), own)(epsilon)

    return Trial(
        Setting(people, device, victim),
        partial(
            gaussian_attack,
            classical_deviation(epsilons, delta_local),
            counts,
            float(classical_deviation(np.array(victim), delta_local)),
        ),
        certificate,
    )


def classical_deviation(epsilons: Floats, delta_local: float) -> Floats:
    """Returns sqrt(2 ln(1.25 / delta_local)) / epsilon."""
    deviations: Floats = np.sqrt(2.0 * np.log(1.25 / delta_local)) / epsilons
    return deviations


def nominal_budget(epsilon: float, delta_local: float) -> float:
    """Returns the budget whose exactly calibrated noise is the textbook's for epsilon."""
    wanted = 1.0 / float(classical_deviation(np.array(epsilon), delta_local))

    def excess(budget: float) -> float:
        shown = normal_divergence(np.array(wanted), np.array(budget))
        return float(np.log(np.maximum(shown, 1e-300) / delta_local))

    return float(brentq(excess, _LEAST, _MOST, xtol=1e-14, rtol=1e-14))


def without(people: Population, victim: float) -> tuple[Floats, Ints]:
    """Returns everybody's budgets and how many have each, without the victim."""
    counts = np.array(people.counts)
    counts[people.level_indices([victim])] -= 1
    return people.epsilons, counts
