"""Why two counts are not enough: an exact divergence that the variation ratio misses.

30 people, 100 categories, all at epsilon 4, divergence at epsilon 2. All others
hold one value y; the victim holds x or x'. Counted are the messages on x, on x', on the
other 97 values and on y: that is all that the shuffled messages say about the victim.
Every combination is enumerated. An analysis that looks at the first two counts only
(variation ratio; also our own two-count attack) stays below; the certificate must not.

    python examples/counterexample.py

Two people and four categories are enough, as five lines of Python without a library show:

    shuffledp claims --case V10b --python | python
"""

import math
from itertools import product

import shuffledp as sdp

NUM_USERS, NUM_CATEGORIES, BUDGET, EPSILON = 30, 100, 4.0, 2.0


def exact_divergence() -> tuple[float, float]:
    """Returns the divergence of all counts, and that of the counts on x and x' alone."""
    others, k, growth = NUM_USERS - 1, NUM_CATEGORIES, math.exp(EPSILON)
    flip = 1.0 / (math.exp(BUDGET) + k - 1)
    keep = math.exp(BUDGET) * flip
    # One other person's message: on x, on x', on the 97 values, on y.
    chances = (flip, flip, (k - 3) * flip, keep)

    def multinomial(counts: tuple[int, int, int]) -> float:
        last = others - sum(counts)
        if min(*counts, last) < 0:
            return 0.0
        ways = math.factorial(others) / math.factorial(last)
        result: float = ways * chances[3] ** last
        for count, chance in zip(counts, chances[:3], strict=True):
            result *= chance**count / math.factorial(count)
        return result

    everything = 0.0
    pairs: dict[tuple[int, int], float] = {}
    for a, b, c in product(range(NUM_USERS + 1), repeat=3):
        if a + b + c > NUM_USERS:
            continue
        on_x, on_other = multinomial((a - 1, b, c)), multinomial((a, b - 1, c))
        rest = (k - 3) * flip * multinomial((a, b, c - 1)) + flip * multinomial(
            (a, b, c)
        )
        difference = (keep * on_x + flip * on_other + rest) - growth * (
            flip * on_x + keep * on_other + rest
        )
        everything += max(difference, 0.0)
        pairs[a, b] = pairs.get((a, b), 0.0) + difference
    return everything, sum(max(difference, 0.0) for difference in pairs.values())


def main() -> None:
    """Prints the exact divergence between what misses it and what covers it."""
    everything, two_counts = exact_divergence()
    people = sdp.Population.from_counts({BUDGET: NUM_USERS})
    guarantee = sdp.account(sdp.Frequency(NUM_CATEGORIES), people, epsilon=EPSILON)
    (level,) = guarantee.levels
    print(f"counts on x and x' only    {two_counts:.4e}")
    print(f"exact, all counts          {everything:.4e}")
    print(f"certified                  {level.delta_central:.4e}")


if __name__ == "__main__":
    main()
