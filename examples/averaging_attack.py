"""Why devices memoize: 100 honest answers to one question give the answer away.

Each person holds one bit and answers the same question every day at epsilon = ln 3: the
truth with probability 3/4, the opposite otherwise. With fresh noise every day, an
observer of one person's answers takes the majority and knows; 100 days compose to
100 ln 3. With one permanent answer, drawn once and repeated, day 100 says what day 1 said.

    python examples/averaging_attack.py
"""

import numpy as np
from scipy.stats import binom

import shuffledp as sdp

EPSILON, DAYS, NUM_USERS = float(np.log(3.0)), (1, 10, 100), 10_000


def guessed_right(
    answers: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    bits: np.ndarray[tuple[int], np.dtype[np.bool_]],
    coin: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> float:
    """Returns the share of people whose bit is that of most answers; a coin at a tie."""
    yes, days = answers.sum(axis=1), answers.shape[1]
    guess = np.where(2 * yes == days, coin, 2 * yes > days)
    return float((guess == bits).mean())


def main() -> None:
    """Prints what an adversary gets right with and without memoization."""
    rng = np.random.default_rng(1)
    randomizer = sdp.KRandomizedResponse(2)
    bits = rng.random(NUM_USERS) < 0.5
    coin = rng.random(NUM_USERS) < 0.5
    last = max(DAYS)

    def answer() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        levels = np.full(NUM_USERS, EPSILON)
        return randomizer.randomize(bits.astype(int), levels, rng=rng).astype(bool)

    fresh = np.stack([answer() for _ in range(last)], axis=1)
    permanent = np.repeat(answer()[:, None], last, axis=1)

    tail = binom.sf(74, 100, 0.25)
    print(f"P(75 or more yes of 100 | no)      {tail:.3e}")
    print(f"local epsilon of 100 fresh answers {100 * EPSILON:.1f}")
    print(f"local epsilon of a permanent one   {EPSILON:.4f}")
    print(f"{'days':>6}{'fresh':>10}{'permanent':>12}")
    for days in DAYS:
        once = guessed_right(fresh[:, :days], bits, coin)
        kept = guessed_right(permanent[:, :days], bits, coin)
        print(f"{days:>6}{once:>10.4f}{kept:>12.4f}")


if __name__ == "__main__":
    main()
