"""Losses on whole numbers, and bounds for them by adding up all messages' losses."""

import math
from collections.abc import Callable

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.types import Floats


def lattice_loss(shift: int, rare: float) -> Atoms:
    """A loss on whole numbers, most near 0, whose largest value is rare and far above."""
    values = np.arange(-120.0, 61.0) - shift
    masses = np.exp(-((values + shift + 20.0) ** 2) / 800.0)
    masses *= (1.0 - rare) / masses.sum()
    return Atoms(np.append(values, 900.0 - shift), np.append(masses, rare), 400.0, 182)


def on_lattice(loss: Atoms) -> tuple[int, Floats]:
    """The smallest loss, and the probability of each whole number from it on."""
    low = int(loss.losses.min())
    masses = np.zeros(int(loss.losses.max()) - low + 1)
    np.add.at(masses, (loss.losses - low).astype(int), loss.masses)
    return low, masses


def exact_bound(loss: Atoms, probability: float, others: int) -> float:
    """The mean of (L_1 + ... + L_{m+1})_+ / (m + 1) over m messages of others."""
    low, once = on_lattice(loss)

    def part(messages: int, sums: Floats) -> float:
        values = (messages + 1) * low + np.arange(float(sums.size))
        return float(np.maximum(values, 0.0) @ sums) / (messages + 1)

    return _mean(part, once, once, probability, others)


def exact_rare_part(
    usual: Atoms, rare: Atoms, probability: float, others: int
) -> float:
    """The mean of (J + U_1 + ... + U_m)_+ over m messages of others, J being rare."""
    low, once = on_lattice(usual)
    least, first = on_lattice(rare)

    def part(messages: int, sums: Floats) -> float:
        values = messages * low + least + np.arange(float(sums.size))
        return float(np.maximum(values, 0.0) @ sums)

    return _mean(part, first, once, probability, others)


def _mean(
    part: Callable[[int, Floats], float],
    first: Floats,
    once: Floats,
    probability: float,
    others: int,
) -> float:
    """The mean of a part over m, of sums of one loss and of m others; no term cancels."""
    total, sums = 0.0, first
    for messages in range(others + 1):
        chance = math.comb(others, messages) * probability**messages
        chance *= (1.0 - probability) ** (others - messages)
        total += chance * part(messages, sums)
        sums = np.convolve(sums, once)
    return total
