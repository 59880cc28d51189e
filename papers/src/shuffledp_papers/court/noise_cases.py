"""Cases in which all users add noise of one shape, or run randomized response."""

from collections.abc import Callable
from functools import partial

import numpy as np

from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.gaussian_profile import largest_distance
from shuffledp_papers.bounds.target_user import others
from shuffledp_papers.court.attacks import (
    clip_laplace_attack,
    gaussian_attack,
    laplace_attack,
    response_attack,
)
from shuffledp_papers.court.case import NoiseAttack


def attack_on(
    device: LocalRandomizer,
    people: Population,
    target_user: float,
    *,
    enumerated: bool = False,
) -> NoiseAttack:
    """Returns the attack on one level under k-ary response or noise.

    Args:
        device: Randomizer of all users.
        people: All users, the target user included.
        target_user: The target user's budget.
        enumerated: Whether all messages are enumerated, for at most 60 users.
    """
    setting = Setting(people, device, target_user)
    epsilons, counts = others(setting)
    attack: Callable[..., float]
    own = target_user
    if isinstance(device, KRandomizedResponse):
        attack = partial(response_attack, device.num_categories, enumerated=enumerated)
    elif isinstance(device, Laplace):
        attack = laplace_attack
    elif isinstance(device, ClipLaplace):
        attack = clip_laplace_attack
    elif isinstance(device, Gaussian):
        attack = gaussian_attack
        # This attack takes standard deviations in place of budgets.
        epsilons, own_noise = (
            deviations_of(device, levels)
            for levels in (epsilons, np.array([target_user]))
        )
        own = float(own_noise[0])
    else:
        raise TypeError(f"Expected a known randomizer, got {device.mechanism}.")
    return NoiseAttack(setting, partial(attack, epsilons, counts, own))


def deviations_of(device: Gaussian, epsilons: Floats) -> Floats:
    """Returns the standard deviations of the noise for values in [0, 1]."""
    # Written down once more, so that attacks share nothing with the randomizer.
    if device.calibration == "exact":
        return 1.0 / largest_distance(epsilons, device.delta_local)
    # The textbook calibration, sqrt(2 ln(1.25 / delta)) / epsilon.
    classical: Floats = np.sqrt(2.0 * np.log(1.25 / device.delta_local)) / epsilons
    return classical
