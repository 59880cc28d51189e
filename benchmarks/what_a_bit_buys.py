"""Gain of the two-message bound: errors at equal central guarantees.

For one level of n people and a central target at delta = 1e-6: the largest local budget
that meets it by the blanket alone, and by the bound of docs/theory/two-messages.md; and the
standard error of the analyst's estimate. RAPPOR's target holds for any number of
reports from one permanent response; the error is that of one. Prints a Markdown table.

    python benchmarks/what_a_bit_buys.py
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import shuffledp as sdp
from shuffledp.accounting.calibration.calibration_search import excess_of, largest
from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.rappor import Rappor

DELTA = 1e-6


def largest_budget(
    device: LocalRandomizer, num_users: int, target: float, *, blanket_alone: bool
) -> float:
    """Returns the largest local budget whose certificate is at most the target."""

    def excess(level: float) -> float:
        people = sdp.Population.from_counts({level: num_users})
        (upper,) = upper_profiles(device, people, [0], delta=DELTA / device.changes)
        if blanket_alone:
            upper = replace(upper, bounds={"blanket": upper.bounds["blanket"]})
        return excess_of(composed_profile(upper, 1, DELTA)(target), DELTA)

    return largest(excess, 2.0 * target, 50.0, 1e-4)


def mean_error(level: float, num_users: int) -> float:
    """Returns the error of the mean of values in [0, 1], one bit each, at worst."""
    return 0.5 / math.tanh(level / 2.0) / math.sqrt(num_users)


def sum_error(level: float, num_users: int) -> float:
    """Returns the error of the number of people who hold a 1, at worst."""
    return mean_error(level, num_users) * num_users


def string_error(level: float, num_users: int) -> float:
    """Returns the error of the share of people whose filter has a bit, at worst."""
    p_set, p_unset = STRINGS.effective_probabilities(np.array([level]))
    return float(0.5 / (p_set[0] - p_unset[0]) / math.sqrt(num_users))


STRINGS = Rappor(num_bits=128, num_hashes=1)
ROWS: list[tuple[str, LocalRandomizer, Callable[[float, int], float]]] = [
    ("one-bit mean of [0, 1]", sdp.OneBit(0, 1), mean_error),
    ("sum of bits", sdp.KRandomizedResponse(2), sum_error),
    ("RAPPOR, share of a bit", STRINGS.permanent, string_error),
]


def main() -> None:
    """Prints the table."""
    print("| statistic | people | central epsilon | local budget | standard error |")
    print("|---|---:|---:|---:|---:|")
    for name, device, error in ROWS:
        for num_users, target in ((10**4, 0.1), (10**6, 0.1), (10**6, 0.01)):
            before, after = (
                largest_budget(device, num_users, target, blanket_alone=alone)
                for alone in (True, False)
            )
            errors = [error(level, num_users) for level in (before, after)]
            print(
                f"| {name} | {num_users:,} | {target:g} | {before:.3f} -> {after:.3f} "
                f"| {errors[0]:.4g} -> {errors[1]:.4g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
