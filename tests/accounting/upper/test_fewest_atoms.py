"""Of the numbers of values that are tried for a loss, the smallest that will do."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms

SIZES = (64, 128, 192, 256, 384, 512, 768, 1_200)
CASES = 12


def loss_of(seed: int) -> Atoms:
    """A loss of 800 to 2,000 values, some of them equal, of several shapes."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(800, 2_000))
    values = np.sort(rng.normal(size=size)) if seed % 2 else np.linspace(-1, 1, size)
    if seed % 3 == 0:
        values[: size // 4] = values[size // 4]
    masses = rng.exponential(size=size) * np.exp(-(values**2))
    return Atoms(values, masses / masses.sum(), 1.0, size)


def added_by(loss: Atoms, nodes: np.ndarray) -> float:
    """By how much splitting onto these nodes raises the mean square, value by value."""
    right = np.clip(np.searchsorted(nodes, loss.losses), 1, nodes.size - 1)
    below = loss.losses - nodes[right - 1]
    return float(loss.masses @ (below * (nodes[right] - loss.losses)))


@pytest.mark.parametrize("seed", range(CASES))
def test_no_smaller_number_of_values_that_is_tried_would_do(seed: int) -> None:
    loss = loss_of(seed)
    mean = float(loss.masses @ loss.losses)
    variance = float(loss.masses @ (loss.losses - mean) ** 2)
    values, where = np.unique(loss.losses, return_inverse=True)
    masses = np.bincount(where, weights=loss.masses)
    costs = np.cbrt(0.5 * (masses[:-1] + masses[1:]) * np.diff(values) ** 2)
    costs = np.concatenate([[0.0], np.cumsum(costs)])

    few = fewer_atoms(loss).losses.size

    for size in (size for size in SIZES if size < few):
        marks = np.linspace(0.0, costs[-1], size)
        nodes = values[
            np.unique(np.searchsorted(costs, marks).clip(0, values.size - 1))
        ]
        nodes[0], nodes[-1] = values[0], values[-1]
        assert added_by(loss, nodes) > 2e-5 * variance


def test_gaussian_noise_of_many_people_in_rounds_is_certified_at_a_large_budget() -> (
    None
):
    # Of its losses a few are far above all others, and it takes few of their values.
    promise = sdp.Promise(sdp.Gaussian(), 1e-9, rounds=12)
    people = sdp.Population.from_counts({12.9499: 100_000_000})

    assert promise.delta_of(people, 0, 0.24394) < 2e-7
