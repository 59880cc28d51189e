"""What people who lie can do, and what shuffler and analyst see together, by statistic.

10,000 people at level 1, or who ask for a central epsilon of 1. A person who lies sends any
report that the analyst accepts. "Left" is the local epsilon that remains if shuffler
and analyst work together; a set of items has none.

    python examples/dishonest_people.py
"""

from typing import Any

import numpy as np

import shuffledp as sdp

NUM_USERS, DELTA = 10_000, 1e-6
PEOPLE = sdp.Population.from_counts({1.0: NUM_USERS})
# One percent.
LIARS = NUM_USERS // 100
# Of the category, string or item, and of people who say yes.
SHARE = 0.1


def left(protocol: Any) -> str:
    """Returns the epsilon that is left against shuffler and analyst together."""
    epsilon = sdp.account(protocol, PEOPLE, delta=DELTA).worst.epsilon_coalition
    return "none" if epsilon is None else f"{epsilon:g}"


def row(name: str, shifts: tuple[float, float], error: float, remains: str) -> str:
    """Returns a line of the table."""
    one, many = shifts
    return (
        f"{name:34}{one:>12.3g}{one / error:>8.2g}{many:>12.3g}{many / error:>8.2g}"
        f"{remains:>6}"
    )


def main() -> None:
    """Prints the table."""
    print(f"{NUM_USERS:,} people{'one person':>32}{'':8}{LIARS:>12,}")
    print(
        f"{'':34}{'moves by':>12}{'errors':>8}{'move by':>12}{'errors':>8}{'left':>6}"
    )
    for k, oracle in (
        (4, sdp.KRandomizedResponse(4)),
        (100, sdp.KRandomizedResponse(100)),
        (100, sdp.HadamardResponse(100)),
    ):
        shares = sdp.Frequency(k, "agnostic", oracle)
        one, many = (shares.manipulation(PEOPLE, m)[0] for m in (1, LIARS))
        error = shares.predicted_error(PEOPLE, share=SHARE)
        name = f"share of {k}, {oracle.mechanism}"
        print(row(name, (one, many), error, left(shares)))
    for randomizer in (sdp.OneBit(0.0, 10.0), sdp.Laplace(0.0, 10.0)):
        mean = sdp.Mean(0.0, 10.0, "agnostic", randomizer)
        both = mean.manipulation(PEOPLE), mean.manipulation(PEOPLE, LIARS)
        error = mean.predicted_error(PEOPLE)
        name = f"mean in [0, 10], {randomizer.mechanism}"
        print(row(name, both, error, left(mean)))
    total, bits = sdp.BinarySum(), sdp.Mean(0.0, 1.0)
    both = total.manipulation(PEOPLE), total.manipulation(PEOPLE, LIARS)
    spread = (SHARE * (1.0 - SHARE)) ** 0.5
    error = NUM_USERS * bits.predicted_error(PEOPLE, mean=SHARE, spread=spread)
    print(row("sum of bits", both, error, left(total)))
    names, rng = [f"string {i}" for i in range(10)], np.random.default_rng(1)
    strings = sdp.Strings()
    reports = strings.randomize(names * 1_000, PEOPLE.budgets(), rng=rng)
    seen = sdp.shuffle(reports, rng=rng)
    found = strings.estimate(seen, PEOPLE, candidates=names)
    one, many = (
        float(strings.manipulation(PEOPLE, m, estimate=found)[0]) for m in (1, LIARS)
    )
    error = float(found.standard_error[0])
    print(row("share of 10 strings, rappor", (one, many), error, left(strings)))
    framework = sdp.ItemsFramework(20, 4, (1.0,), DELTA)
    chosen = framework.count_choices(
        sdp.shuffle(framework.report_choices(np.ones(NUM_USERS), rng=rng), rng=rng)
    )
    items = framework.plan(chosen).protocol
    one, many = (float(items.manipulation(PEOPLE, m)[0]) for m in (1, LIARS))
    error = float(items.predicted_errors(PEOPLE, np.full(20, SHARE))[0])
    name = f"item of 20, {items.randomizer.report_size} messages"
    print(row(name, (one, many), error, left(items)))


if __name__ == "__main__":
    main()
