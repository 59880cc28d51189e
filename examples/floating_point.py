"""Why messages are cells of a grid: the last bits of plain noise give people away.

Two people hold 0 and 1 and add Laplace noise at epsilon 1, the textbook way in double
precision: value +- log(u), u a random multiple of 2^-53. The true densities differ by a
factor of e at most. Yet of the doubles that one of them sends, many are no value + noise
of the other's at all: who sees one of these knows which of the two sent it (Mironov 2012).

    python examples/floating_point.py
"""

import numpy as np

from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats

NUM_MESSAGES = 20_000
UNIT = 2.0**-53


def plain(value: float, rng: np.random.Generator) -> Floats:
    """Returns messages of the textbook kind."""
    uniform = 1.0 - rng.random(NUM_MESSAGES)
    signs = np.where(rng.random(NUM_MESSAGES) < 0.5, -1.0, 1.0)
    messages: Floats = value + signs * np.log(uniform)
    return messages


def possible(messages: Floats, value: float) -> Floats:
    """Returns 1 for each message that `value` can send, too, and 0 for the others."""
    nearest = np.rint(np.exp(-np.abs(messages - value)) / UNIT)
    found = np.zeros(messages.shape, dtype=np.bool_)
    for step in range(-8, 9):
        uniform = np.clip(nearest + step, 1.0, 1.0 / UNIT) * UNIT
        for sign in (-1.0, 1.0):
            found |= value + sign * np.log(uniform) == messages
    return found.astype(np.float64)


def main() -> None:
    """Prints how many messages of one value the other one can send as well."""
    rng = np.random.default_rng(2012)
    shares = [possible(plain(own, rng), 1.0 - own).mean() for own in (0.0, 1.0)]
    print(f"plain noise: {shares[0]:.0%} of 0's messages, {shares[1]:.0%} of 1's")

    ratios = []
    for point in (0, STEPS):
        values = np.full(NUM_MESSAGES, point / STEPS)
        cells = Laplace().randomize(values, np.ones(NUM_MESSAGES), rng=rng)
        # A cell d steps from a point has a chance proportional to e^(-d / 4096), never 0.
        own, other = (
            np.where(cells >= start, cells - start, start - 1 - cells)
            for start in (point, STEPS - point)
        )
        ratios.append(float(np.exp(np.abs(other - own) / STEPS).max()))
    print(f"cells of a grid: all of both, at most {max(ratios):.4f} times as often")


if __name__ == "__main__":
    main()
