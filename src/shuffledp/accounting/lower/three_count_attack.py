"""Lower bound by three counts, which is larger than that by two in small populations.

All others hold a third value z. Besides a and b, the messages on x and on x', the
adversary counts e, those on none of x, x' and z. Let w(t, e) be the probability that of
the others t send x or x' and e send neither of the three. With t = a + b the divergence
is

    sum_{t, e} w(t - 1, e) gap (1 + e^eps) / t  E[(D_t - tau_{t, e})_+],
    tau_{t, e} = tanh(eps / 2) / gap  t (2 flip + gap
                 + (stray w(t, e - 1) + flip w(t, e)) / w(t - 1, e)),

stray being the target user's probability to send none of the three: the two-count
attack, with more cells. It matters where few blanket messages are expected.
"""

import numpy as np

from shuffledp.accounting.lower.two_count_attack import TwoCountBound
from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.accounting.sums.random_walk import RandomWalks
from shuffledp.cover import TwoCountAttack
from shuffledp.types import Floats, Ints

# In larger populations the third count tells little more, and costs much.
_MAX_OTHERS = 300
_MAX_LEVELS = 40
# Relative error of the spectrum, and of the transform, per value.
_SPECTRUM = 1e-12


def is_small(counts: Ints) -> bool:
    """Returns whether the attack may beat that of two counts, and is affordable."""
    return int(counts.sum()) <= _MAX_OTHERS and counts.size <= _MAX_LEVELS


def three_count_bound(
    attack: TwoCountAttack, stray_others: Floats, counts: Ints
) -> TwoCountBound:
    """Prepares the attack.

    Args:
        attack: The two counts, with the target user's `stray`.
        stray_others: Probability of a person of each level to send none of x, x', z,
            shape (levels,).
        counts: The others at each level, few enough (`is_small`), shape (levels,).
    """
    joint, error = _joint(2.0 * attack.hit_probabilities, stray_others, counts)
    current, beyond = joint[:-1], joint[1:]
    aside = np.pad(beyond, ((0, 0), (1, 0)))[:, :-1]
    t = np.arange(1.0, joint.shape[0])[:, None]
    visible = current > 100.0 * error
    telling = 2.0 * attack.flip + attack.gap
    # Lower weights and higher thresholds, by the error, only weaken the attack.
    weights = current - error
    evidence = telling * (current + error)
    evidence += attack.stray * (aside + error) + attack.flip * (beyond + error)
    drift = t * evidence / (attack.gap * np.where(visible, weights, 1.0))
    steps = np.broadcast_to(t, current.shape)[visible]
    return TwoCountBound(
        attack.gap,
        RandomWalks(steps),
        (weights / t)[visible],
        drift[visible] * (1.0 + 1e-12),
    )


def _joint(telling: Floats, stray: Floats, counts: Ints) -> tuple[Floats, float]:
    """Returns the probabilities of all (t, e), and a bound of each one's error."""
    size = int(counts.sum()) + 2
    turn = np.exp(-2j * np.pi * np.arange(size) / size) - 1.0
    logs = np.zeros((size, size), dtype=np.complex128)
    for probability, other, count in zip(telling, stray, counts, strict=True):
        if count:
            logs += count * log1p(probability * turn[:, None] + other * turn[None, :])
    spectrum = np.exp(logs)
    joint: Floats = np.fft.ifft2(spectrum).real
    return np.maximum(joint, 0.0), _SPECTRUM * float(np.abs(spectrum).mean())
