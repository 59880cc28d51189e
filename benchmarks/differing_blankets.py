"""Certified epsilons of noise among several levels: one blanket, and blankets that differ.

Prints, for each population, level and kind of noise, what a single blanket certifies, what
`account` does, and what an attack reaches.

    python benchmarks/differing_blankets.py
"""

import time

import numpy as np
from machine import describe

import shuffledp as sdp
from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.accounting.upper.blanket import blanket_bounds
from shuffledp.cover import LocalRandomizer

_DELTA = 1e-6
_POPULATIONS = {
    "1,000 at 0.1, 5,000 at 0.5, 4,000 at 1": sdp.Population.from_counts(
        {0.1: 1_000, 0.5: 5_000, 1.0: 4_000}
    ),
    "1,250 at each of eight levels": sdp.Population.from_counts(
        dict.fromkeys((0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0), 1_250)
    ),
    "10,000 uniform in [0.05, 1]": sdp.Population.from_budgets(
        np.random.default_rng(1).uniform(0.05, 1.0, 10_000)
    ),
}


def with_one_blanket(
    randomizer: LocalRandomizer, people: sdp.Population, level: float
) -> float:
    """Returns the epsilon of one level by the best single blanket."""
    target = int(np.searchsorted(people.epsilons, level))
    covers = randomizer.covers([level], people, delta=_DELTA)
    (bound,) = blanket_bounds(covers, people.counts, [target], tail=1e-12 * _DELTA)
    return smallest_certified_epsilon(
        bound.delta, _DELTA, ceiling=level, guess=0.1 * level
    )


def main() -> None:
    """Prints a table."""
    print(describe())
    print(f"delta = {_DELTA:g}: one blanket, certified, attacked, certified / attacked")
    for name, people in _POPULATIONS.items():
        for randomizer in (sdp.Laplace(), sdp.Gaussian()):
            start = time.process_time()
            levels = sdp.account(randomizer, people, delta=_DELTA).levels
            seconds = time.process_time() - start
            print(f"{randomizer.mechanism}, {name}, {seconds:.1f} s")
            for level in levels:
                alone = with_one_blanket(randomizer, people, level.chosen)
                attacked = level.epsilon_central_lower
                print(
                    f"{level.chosen:10.4g} {alone:11.6g} {level.epsilon_central:11.6g} "
                    f"{attacked:11.6g} {level.epsilon_central / attacked:6.2f}"
                )


if __name__ == "__main__":
    main()
