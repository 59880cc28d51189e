"""Fifty-digit evaluations of formulas, term by term, from their definitions."""

import itertools
import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]

mp.mp.dps = 50
Number = Any


def exact_blanket_probability(epsilon: float, num_categories: int) -> Number:
    return num_categories / (mp.exp(mp.mpf(epsilon)) + num_categories - 1)


def bernoulli_sum(probabilities: list[Number]) -> list[Number]:
    """Returns P(0), ..., P(n) of a sum of independent Bernoulli variables."""
    result = [mp.mpf(1)]
    for p in probabilities:
        stay = [(1 - p) * weight for weight in result] + [mp.mpf(0)]
        step = [mp.mpf(0)] + [p * weight for weight in result]
        result = [a + b for a, b in zip(stay, step, strict=True)]
    return result


def budgets_of(population: dict[float, int]) -> list[float]:
    return [level for level, count in population.items() for _ in range(count)]


class BlanketSum:
    """sum_m P(M = m) / (m + 1) E[(L_1 + ... + L_{m+1})_+] for k-ary response.

    The sum runs over all numbers of messages on x, on x' and on other categories, with the
    three values of the loss: it uses no random walk and no tail function.
    """

    def __init__(
        self, population: dict[float, int], victim: float, num_categories: int
    ) -> None:
        others = budgets_of(population)
        others.remove(victim)
        k, self.k = mp.mpf(num_categories), num_categories
        blanket = bernoulli_sum(
            [exact_blanket_probability(e, num_categories) for e in others]
        )
        self.keep = mp.exp(victim) / (mp.exp(victim) + k - 1)
        self.flip = 1 / (mp.exp(victim) + k - 1)
        self.terms = []
        for m, probability in enumerate(blanket):
            messages = m + 1
            for on_x in range(messages + 1):
                for on_other in range(messages - on_x + 1):
                    elsewhere = messages - on_x - on_other
                    if num_categories == 2 and elsewhere:
                        continue
                    ways = math.comb(messages, on_x) * math.comb(
                        messages - on_x, on_other
                    )
                    weight = probability * ways * (k - 2) ** elsewhere
                    weight = weight / k**messages / messages
                    self.terms.append((weight, on_x, on_other, elsewhere))

    def delta(self, epsilon: float) -> Number:
        growth = mp.exp(mp.mpf(epsilon))
        on_x = self.k * (self.keep - growth * self.flip)
        on_other = self.k * (self.flip - growth * self.keep)
        elsewhere = self.k * self.flip * (1 - growth)
        total = mp.mpf(0)
        for weight, a, b, c in self.terms:
            loss = a * on_x + b * on_other + c * elsewhere
            if loss > 0:
                total += weight * loss
        return total


def counterexample_divergence(
    num_users: int, num_categories: int, budget: float, epsilon: float
) -> Number:
    """Returns the exact divergence if all others hold a third value y.

    Counts of messages on x, on x', on y and on the other k - 3 values are sufficient:
    those k - 3 are equally likely for both values of the target user.
    """
    others, k = num_users - 1, num_categories
    keep = mp.exp(budget) / (mp.exp(budget) + k - 1)
    flip = 1 / (mp.exp(budget) + k - 1)
    growth = mp.exp(epsilon)
    probabilities: dict[tuple[int, int, int], Number] = {}
    for a in range(others + 1):
        for b in range(others - a + 1):
            for c in range(others - a - b + 1):
                ways = math.factorial(others)
                for part in (a, b, c, others - a - b - c):
                    ways //= math.factorial(part)
                rare = flip ** (a + b) * ((k - 3) * flip) ** c
                probabilities[a, b, c] = ways * rare * keep ** (others - a - b - c)

    def others_at(a: int, b: int, c: int) -> Number:
        return probabilities.get((a, b, c), mp.mpf(0))

    total = mp.mpf(0)
    for a in range(num_users + 1):
        for b in range(num_users - a + 1):
            for c in range(num_users - a - b + 1):
                excess = (
                    (keep - growth * flip) * others_at(a - 1, b, c)
                    + (flip - growth * keep) * others_at(a, b - 1, c)
                    + (1 - growth) * (k - 3) * flip * others_at(a, b, c - 1)
                    + (1 - growth) * flip * others_at(a, b, c)
                )
                if excess > 0:
                    total += excess
    return total


def variation_ratio_divergence(
    num_users: int, *, p: Number, beta: Number, q: Number, epsilon: float
) -> Number:
    """Returns the published divergence of (A + D1, C - A + D2) from its mirror image."""
    clone = 2 * beta * p / ((p - 1) * q)
    first = beta * p / (p - 1)
    second = (1 - first) * beta / (p - 1 - beta * p)
    distribution: dict[tuple[int, int], Number] = {}
    for c, weight in enumerate(bernoulli_sum([clone] * (num_users - 1))):
        for a in range(c + 1):
            pairs = weight * math.comb(c, a) / mp.mpf(2) ** c
            for outcome, share in (
                ((a + 1, c - a), first),
                ((a, c - a + 1), second),
                ((a, c - a), 1 - first - second),
            ):
                distribution[outcome] = (
                    distribution.get(outcome, mp.mpf(0)) + pairs * share
                )
    growth = mp.exp(epsilon)
    excesses = [
        distribution[a, b] - growth * distribution.get((b, a), mp.mpf(0))
        for a, b in distribution
    ]
    return mp.fsum(excess for excess in excesses if excess > 0)


def one_count_divergence(
    others: list[Number], *, flip: Number, gap: Number, epsilon: float
) -> Number:
    """Returns the divergence of one count, given the distribution of the others' part."""
    growth = mp.exp(epsilon)
    padded = [mp.mpf(0), *others, mp.mpf(0)]
    keep = flip + gap
    total = mp.mpf(0)
    for before, after in itertools.pairwise(padded):
        holds = keep * before + (1 - keep) * after
        lacks = flip * before + (1 - flip) * after
        if holds > growth * lacks:
            total += holds - growth * lacks
    return total


def two_count_divergence(
    others: list[Number], *, flip: Number, gap: Number, epsilon: float
) -> Number:
    """Returns the divergence of counts on x and x', by the others' sum."""
    keep, growth = flip + gap, mp.exp(epsilon)
    miss = 1 - keep - flip

    def at(a: int, b: int) -> Number:
        if a < 0 or b < 0 or a + b >= len(others):
            return mp.mpf(0)
        return others[a + b] * math.comb(a + b, a) / mp.mpf(2) ** (a + b)

    total = mp.mpf(0)
    for a in range(len(others) + 1):
        for b in range(len(others) + 1 - a):
            holds = keep * at(a - 1, b) + flip * at(a, b - 1) + miss * at(a, b)
            lacks = flip * at(a - 1, b) + keep * at(a, b - 1) + miss * at(a, b)
            if holds > growth * lacks:
                total += holds - growth * lacks
    return total


def binomial_weight(x: int, trials: int, probability: float) -> Number:
    p = mp.mpf(probability)
    log_ways = (
        mp.loggamma(trials + 1) - mp.loggamma(x + 1) - mp.loggamma(trials - x + 1)
    )
    return mp.exp(log_ways + x * mp.log(p) + (trials - x) * mp.log1p(-p))


def fair_tail(first: int, trials: int) -> Number:
    """P(Binomial(trials, 1/2) >= first) for first > trials / 2, in 60-digit integers."""
    unit = 10**60
    term = total = unit
    for x in range(first, trials):
        term = term * (trials - x) // (x + 1)
        total += term
        if term == 0:
            break
    return binomial_weight(first, trials, 0.5) * mp.mpf(total) / unit


def walk_excess(steps: int, threshold: float) -> Number:
    """E[(D - threshold)_+] of a simple random walk, from E[D; D > threshold]."""
    tau = mp.mpf(threshold)
    first = int(mp.floor((steps + tau) / 2)) + 1
    if first > steps:
        return mp.mpf(0)
    return first * binomial_weight(first, steps, 0.5) - tau * fair_tail(first, steps)


def walk_excess_by_summing(steps: int, threshold: float) -> Number:
    """Returns the same by definition, for short walks."""
    tau = mp.mpf(threshold)
    return (
        mp.fsum(
            math.comb(steps, a) * max(2 * a - steps - tau, mp.mpf(0))
            for a in range(steps + 1)
        )
        / mp.mpf(2) ** steps
    )
