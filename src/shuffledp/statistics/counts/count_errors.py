"""Predicted errors of counts, of any noise and of a trusted curator."""

import math

import numpy as np

from shuffledp.planning.yardsticks import weighted_curator_error
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.types import Floats

# Sizes of a trusted curator's noise that are tried, with several targets.
_CURATOR_STEPS = 100


def count_error(
    variance: float, rates: Floats, counts: Floats, *, share: float
) -> float:
    """Returns the standard error of a bucket's number of people.

    Args:
        variance: Of the noise in its count.
        rates: Probability to send an answer, of each target, shape (targets,).
        counts: People of each target, shape (targets,).
        share: The share of people in the bucket, in [0, 1].
    """
    n, signal = float(counts.sum()), float(counts @ rates)
    if signal <= 0.0:
        return math.inf
    sampling = float(counts @ (rates * (1.0 - rates)))
    spread = float(counts @ (rates - signal / n) ** 2)
    dealt = spread * n / max(n - 1.0, 1.0) * share * (1.0 - share)
    return math.sqrt(sampling * share + variance + dealt) * n / signal


def curator_size(target: float, changed: float, *, delta: float) -> float:
    """Returns the deviation of a trusted curator's noise in each bucket.

    Args:
        target: Central epsilon, at least 0.
        changed: How many counts an answer changes by 1.
        delta: In (0, 1).
    """
    mu = float(sensitivity_per_deviation(np.array([target]), delta)[0])
    laplace = math.sqrt(2.0) * changed / target if target > 0.0 else math.inf
    return min(laplace, math.sqrt(changed) / mu)


def curator_count_error(
    people: Population, *, buckets: int, most: int, share: float, delta: float
) -> float:
    """Returns the error of a trusted curator who knows the answers, in people.

    The curator adds discrete Laplace or Gaussian noise and, with several targets, samples
    answers as devices do, weights them, or gives all people the smallest target.

    Args:
        people: How many people have each target.
        buckets: Of the question.
        most: Buckets of a person.
        share: The share of people in the bucket, in [0, 1].
        delta: In (0, 1).
    """
    num_changed = 1.0 if buckets == 1 else 2.0 * most
    targets, counts = people.epsilons, people.counts.astype(np.float64)
    weighted = weighted_curator_error(
        targets,
        counts,
        delta=delta,
        reach_l1=num_changed,
        reach_l2=math.sqrt(num_changed),
        spread=math.sqrt(share * (1.0 - share)),
    )
    errors = [weighted * people.num_users]
    # From the noise at which all answers of the smallest target are sent, to that of
    # the largest one, in steps of a few percent.
    steps = 1 if targets.size == 1 else _CURATOR_STEPS
    for target in np.geomspace(targets[0], targets[-1], steps).tolist():
        decay = math.exp(-target / num_changed)
        laplace = math.sqrt(2.0 * decay) / (1.0 - decay)
        mu = float(sensitivity_per_deviation(np.array([target]), delta)[0])
        normal = 1.0 / (mu / math.sqrt(num_changed))
        grown = np.expm1(targets)
        # Sampling with q keeps log(1 + q (e^target - 1)): amplification. Laplace
        # noise on two buckets keeps less, as nothing may be sent in either world.
        general = grown / math.expm1(target)
        exact = general
        if buckets > 1:
            half = math.exp(0.5 * target)
            exact = grown / (half - 1.0 + (grown + 1.0) * (1.0 - 1.0 / half))
        for noise, sent in ((laplace, exact), (normal, general)):
            rates = np.minimum(sent, 1.0)
            errors.append(count_error(noise**2, rates, counts, share=share))
    return min(errors)
