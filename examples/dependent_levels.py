"""Who has something to hide chooses a stricter level: agnostic estimates are then off.

One person in twenty holds a sensitive category. Nine in ten of them ask for epsilon = 0.5,
like one in five of the others; all the others are content with 2. Messages whose level is
not known cannot show it: the category hides behind more noise than the analyst believes,
and its share comes out too small, by an amount that a rehearsal on known values predicts.
Messages that carry their level do not mind, and hide people among their own level only.

    python examples/dependent_levels.py
"""

import numpy as np

from shuffledp.statistics.frequency.frequency_collection import collect_frequency
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.types import Mode

NUM_USERS, SHARES, SENSITIVE = 200_000, (0.5, 0.3, 0.15, 0.05), 3
STRICT, LIBERAL, DELTA = 0.5, 2.0, 1e-7
MODES: tuple[Mode, ...] = ("agnostic", "stratified")


def main() -> None:
    """Prints the truth, both estimates, and the bias that was to be expected."""
    rng = np.random.default_rng(1)
    values = rng.choice(len(SHARES), size=NUM_USERS, p=SHARES)
    chance_of_strict = np.where(values == SENSITIVE, 0.9, 0.2)
    levels = np.where(rng.random(NUM_USERS) < chance_of_strict, STRICT, LIBERAL)

    print(f"truth      {100 * np.mean(values == SENSITIVE):6.2f}%")
    for mode in MODES:
        collection = collect_frequency(
            values, levels, protocol=Frequency(len(SHARES), mode), delta=DELTA, rng=rng
        )
        estimate = collection.estimate
        low, high = estimate.interval(0.95)[SENSITIVE]
        print(
            f"{mode:10} {100 * estimate.value[SENSITIVE]:6.2f}%, 95% interval "
            f"{100 * low:.2f} to {100 * high:.2f}%, certified epsilon at most "
            f"{collection.guarantee.worst.epsilon_central:g}"
        )
        if collection.dependence is not None:
            bias = 100 * collection.dependence.bias[SENSITIVE]
            print(f"expected   {bias:+6.2f} percentage points of bias")


if __name__ == "__main__":
    main()
