"""Whether anything became slower than it was, on any machine: python benchmarks/guard.py

Times are compared with those of a fixed computation that is run beside each setting (a
Fourier transform, a sort and a loop), in CPU seconds of the program itself: the kernel's,
which hands out memory, differ tenfold between runs. The least ratio of several pairs of
runs counts. Beside programs that take the caches of the machine it may reach twice what it
is alone; where it exceeds the stored one, in guard.toml, by more than a factor of 3, this
ends with an error.

    python benchmarks/guard.py            compares with the stored ratios
    python benchmarks/guard.py --write    stores those of this machine

Threads that wait for each other count as work: OPENBLAS_NUM_THREADS=1 keeps them out.
"""

import argparse
import resource
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from machine import describe

import shuffledp as sdp

STORED = Path(__file__).with_name("guard.toml")
# A ratio may exceed the stored one by this factor.
LIMIT = 3.0
# Pairs of runs; more if the limit is exceeded, as another program may have interfered.
PAIRS, MORE_PAIRS = 4, 12
DELTA = 1e-6
LEVELS = np.array([0.5, 1.0, 2.0])


def reference() -> None:
    """Takes about a twentieth of a second, in equal parts of three kinds."""
    numbers = np.random.default_rng(0).random(1 << 18)
    for _ in range(2):
        np.fft.irfft(np.fft.rfft(numbers))
    np.sort(numbers)
    total = 0
    for number in range(150_000):
        total += number % 7


def levels_of(count: int) -> dict[float, int]:
    """Returns three levels, the middle one of half of the people."""
    quarter = count // 4
    return {0.5: quarter, 1.0: 2 * quarter, 2.0: quarter}


def people(count: int) -> sdp.Population:
    """Returns people at three levels."""
    return sdp.Population.from_counts(levels_of(count))


def certify(protocol: sdp.Frequency | sdp.BinarySum | sdp.Laplace, count: int) -> None:
    """Certifies the guarantee of three levels."""
    sdp.account(protocol, people(count), delta=DELTA)


def randomize(protocol: sdp.Frequency, count: int) -> None:
    """Randomizes, shuffles, counts and estimates a frequency."""
    rng = np.random.default_rng(1)
    population = people(count)
    levels = rng.permutation(population.budgets())
    values = rng.integers(0, protocol.num_categories, count)
    reports = protocol.randomize(values, levels, rng=rng)
    tally = protocol.tally(sdp.shuffle(reports, rng=rng))
    protocol.estimate(tally, population)


def flip(device: sdp.UnaryEncoding, count: int) -> None:
    """Randomizes bits, and counts them."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, device.num_categories, count)
    bits = device.randomize(values, rng.choice(LEVELS, count), rng=rng)
    device.support_counts(bits, None, 1)


def plan(count: int) -> None:
    """Lets protocols for a frequency compete."""
    sdp.plan_frequency(sdp.Wish(levels_of(count), delta=DELTA), num_categories=17)


def verify(count: int) -> None:
    """Certifies, and recomputes the certificate."""
    assert sdp.verify(sdp.account(sdp.Frequency(17), people(count), delta=DELTA)).holds


def certify_counts(count: int) -> None:
    """Certifies counts among geometric noise, for three targets, for ten populations."""
    group = sdp.CountGroup(100, 1, sdp.GeometricNoise(0.7, pairs=1_000.0))
    # One takes too little time to be measured.
    for honest in range(10 * count, 10 * count + 40, 4):
        counts = sdp.Counts((group,), (0.5, 1.0, 2.0), (0.5, 1.0, 1.0), honest=honest)
        sdp.account(counts, people(honest), delta=DELTA)


SETTINGS: dict[str, tuple[Callable[[int], None], int]] = {
    "certify 17 categories, 10^6 people": (partial(certify, sdp.Frequency(17)), 10**6),
    "certify a sum of bits, 10^4 people": (partial(certify, sdp.BinarySum()), 10**4),
    "certify Laplace noise, 10^4 people": (
        partial(certify, sdp.Laplace(0.0, 1.0)),
        10**4,
    ),
    "certify counts of 100 buckets, 10^5 people": (certify_counts, 10**4),
    "certify and verify, 10^3 people": (verify, 10**3),
    "plan a frequency, 10^4 people": (plan, 10**4),
    "collect 17 categories, 10^6 people": (
        partial(randomize, sdp.Frequency(17)),
        10**6,
    ),
    "flip 128 bits, 10^5 people": (partial(flip, sdp.UnaryEncoding(128)), 10**5),
}


def seconds(run: Callable[[], None]) -> float:
    """Returns CPU seconds of one run, without those of the kernel."""
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    run()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - start


def ratio(run: Callable[[int], None], count: int, pairs: int) -> float:
    """Returns the least ratio of a setting's time to that of the reference beside it."""
    # Other people each time, so that nothing that was computed before is found again.
    others = (count + 4 * pair for pair in range(1, pairs + 1))
    times = [(seconds(partial(run, other)), seconds(reference)) for other in others]
    return min(setting / fixed for setting, fixed in times)


def main() -> None:
    """Compares all settings, or stores their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="Store the ratios.")
    write = parser.parse_args().write
    stored = tomllib.loads(STORED.read_text()) if not write else {}
    if not write and stored.keys() != SETTINGS.keys():
        sys.exit(f"Expected the settings of {STORED.name} to be these: use --write.")
    print(describe())
    print("| setting | times the reference | stored |")
    print("|---|---:|---:|")
    measured, slower = {}, []
    for name, (run, count) in SETTINGS.items():
        # What is imported and built at the first run is not measured.
        run(count)
        measured[name] = ratio(run, count, PAIRS)
        if not write and measured[name] > LIMIT * stored[name]:
            measured[name] = min(measured[name], ratio(run, count, MORE_PAIRS))
            if measured[name] > LIMIT * stored[name]:
                slower.append(name)
        before = "" if write else f"{stored[name]:.3g}"
        print(f"| {name} | {measured[name]:.3g} | {before} |", flush=True)
    if write:
        lines = (f'"{name}" = {value:.3g}\n' for name, value in measured.items())
        STORED.write_text("".join(lines))
    if slower:
        sys.exit(f"Slower by more than a factor of {LIMIT:g}: {'; '.join(slower)}.")


if __name__ == "__main__":
    main()
