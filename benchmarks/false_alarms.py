"""False-alarm rate of `check_randomizer` on correct mechanisms.

One false alarm in a million cannot be counted. Instead, the p-values of all comparisons of
draws are tested: the smallest of a check, times the number of comparisons, must be below 1%
in at most 1% of all checks of correct mechanisms.

    python benchmarks/false_alarms.py --runs 100
"""

import argparse

import numpy as np
from machine import describe
from scipy.stats import binom

import shuffledp as sdp
from shuffledp.testing.batch_queries import BatchQueries
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.sampling_check import sampling_comparisons

DEVICES = (
    sdp.KRandomizedResponse(2),
    sdp.KRandomizedResponse(8),
    sdp.OneBit(),
    sdp.SubsetSelection(5, 2),
    sdp.HadamardResponse(6),
    sdp.LocalHashing(4, 2),
    sdp.UnaryEncoding(6),
    sdp.Rappor(8, 2),
    sdp.ClipLaplace(cells=64),
    sdp.Laplace(cells=64),
    sdp.Gaussian(delta_local=1e-3, cells=64),
)
LEVELS = (0.5, 2.0)
ALPHAS = (0.01, 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    print(describe())
    print("| mechanism | smallest | law < 0.01 | < 0.1 | batches < 0.01 | < 0.1 |")
    print("|---|---|---|---|---|---|")
    below = np.zeros((2, len(ALPHAS)))
    for device in DEVICES:
        smallest = np.array([_smallest(device, seed) for seed in range(runs)])
        counts = np.array([[np.sum(row < a) for a in ALPHAS] for row in smallest.T])
        below += counts
        cells = " | ".join(f"{count:.0f}" for count in counts.ravel())
        print(
            f"| {device.mechanism} | {smallest.min():.2g} | {cells} |",
            flush=True,
        )
    total = runs * len(DEVICES)
    for row, name in zip(below, ("law", "batches"), strict=True):
        for count, alpha in zip(row.tolist(), ALPHAS, strict=True):
            chance = float(binom.sf(count - 1, total, alpha))
            print(
                f"{name}: {count:.0f} of {total} below {alpha:g}; as many or more with "
                f"chance {chance:.2g} if that were the rate"
            )


def _smallest(device: object, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    distributions = tabulate(device, LEVELS)
    drawn = sampling_comparisons(distributions, rng=rng)
    assert drawn is not None
    own = np.random.default_rng([seed, 1])
    batches = list(BatchQueries(distributions, rng, own).comparisons())
    law, other = (
        min(comparison.p_value for comparison in part) * len(part)
        for part in (drawn[0], batches)
    )
    return law, other


if __name__ == "__main__":
    main()
