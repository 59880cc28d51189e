"""Prints errors on real and made-up data, here and elsewhere, at equal guarantees.

    pip install opendp multi-freq-ldpy pure-ldp scikit-learn statsmodels
    python benchmarks/comparison_real_data.py > docs/reference/comparison-real-data.md

50,000 people each: first pages of visits to MSNBC and labels of MNIST, from the folder that
SHUFFLEDP_DATA names; Beta(5, 2); and incomes, of which two of five are rounded to 5,000 and
one of twenty is 0. Everything is (1, 1e-6)-differentially private: after a shuffle and
certified; to anyone who sees a message (local libraries, which know no shuffle); or to
readers of a trusted curator's answer. Each row has the whole guarantee for itself.

Errors are root mean squares: of shares, over categories, in percentage points; of means
and of quantiles at 10, 25, 50, 75 and 90%, in percent of the range. Local libraries have no
means and quantiles: they are read off shares of 64 bins, as are quantiles from one message;
others have 1,000 bins or candidates. Local libraries run the better of k-ary and optimized
unary responses.
Missing packages and data are listed as such.
"""

import argparse
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import comparison_peers as peers
import numpy as np
from machine import describe

import shuffledp as sdp
from shuffledp.analyzer.projection import project
from shuffledp.datasets.mnist import load_mnist
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc
from shuffledp.types import Floats, Ints

NUM_USERS, EPSILON, DELTA = 50_000, 1.0, 1e-6
# Of shares; and of distributions, and candidates of quantiles.
BINS, FINE_BINS = 64, 1_000
SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
PEOPLE = sdp.Population.from_counts({EPSILON: NUM_USERS})
SHUFFLED, LOCAL, CURATOR = "after the shuffle", "each message", "the curator's answer"

Run = Callable[[np.random.Generator], Any]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--local-repetitions", type=int, default=3)
    repetitions = parser.parse_args()
    print("| data | estimated | who | epsilon 1 covers | error | times the first |")
    print("|---|---|---|---|---:|---:|")
    table = Table(repetitions.repetitions, repetitions.local_repetitions)
    for name, load, size in (
        ("MSNBC, 17 categories", load_msnbc, len(MSNBC_CATEGORIES)),
        ("MNIST, 10 labels", lambda: load_mnist().train_labels, 10),
    ):
        try:
            everybody = np.asarray(load())
        except sdp.DataError as error:
            print(f"| {name} | | not here: {error} | | | |")
            continue
        values = np.random.default_rng(1).permutation(everybody)[:NUM_USERS]
        shares(table, name, values.astype(np.int64), size)
    for name, numbers, high in (
        ("Beta(5, 2)", np.random.default_rng(2).beta(5, 2, NUM_USERS), 1.0),
        ("incomes with spikes", incomes(np.random.default_rng(3)), 100_000.0),
    ):
        means(table, name, numbers, high)
        quantiles(table, name, numbers, high)
    print(f"\n{describe()}.")


def incomes(rng: np.random.Generator) -> Floats:
    """Returns incomes of [0, 100,000], many of them round."""
    pay = np.minimum(rng.lognormal(math.log(30_000), 0.6, NUM_USERS), 100_000.0)
    pay = np.where(rng.random(NUM_USERS) < 0.4, 5_000.0 * np.round(pay / 5_000.0), pay)
    return np.where(rng.random(NUM_USERS) < 0.05, 0.0, pay)


class Table:
    """Prints rows; each error is compared with the first of its block."""

    def __init__(self, repetitions: int, local_repetitions: int) -> None:
        self._times = {SHUFFLED: repetitions, CURATOR: repetitions}
        self._times[LOCAL] = local_repetitions
        self._first = math.nan

    def block(
        self,
        data: str,
        estimated: str,
        error: Callable[[Any], Floats],
        runs: list[tuple[str, str, str, Run]],
    ) -> None:
        """Prints a row for each way of estimating the same.

        Args:
            data: What is estimated of.
            estimated: What is estimated.
            error: From an estimate to its errors.
            runs: Package, what ran, what the guarantee covers, and the estimate.
        """
        for index, (package, what, covers, run) in enumerate(runs):
            own = package == "shuffledp"
            known = sdp.__version__ if own else peers.installed(package)
            named = f"{package} {known}, {what}"
            if known is None:
                print(f"| {data} | {estimated} | {package}: not installed | | | |")
                continue
            rng = np.random.default_rng(2026)
            squares = [
                np.mean(np.square(error(run(rng)))) for _ in range(self._times[covers])
            ]
            size = float(np.sqrt(np.mean(squares)))
            self._first = self._first if index else size
            print(
                f"| {data} | {estimated} | {named} | {covers} | {100 * size:.3g} | "
                f"{size / self._first:.3g} |",
                flush=True,
            )


def shares(table: Table, data: str, values: Ints, size: int) -> None:
    """Prints errors of shares of categories."""
    truth = np.bincount(values, minlength=size) / NUM_USERS
    table.block(
        data,
        "shares",
        lambda estimate: np.asarray(estimate) - truth,
        [
            ("shuffledp", "several messages", SHUFFLED, several(values, size)),
            ("shuffledp", "one message", SHUFFLED, single(values, size)),
            *local_runs(values, size),
            (
                "opendp",
                "Laplace noise",
                CURATOR,
                lambda _: peers.opendp_shares(values, size, EPSILON),
            ),
        ],
    )


def means(table: Table, data: str, numbers: Floats, high: float) -> None:
    """Prints errors of a mean of numbers in [0, high]."""
    bins, edges = binned(numbers, high)
    middles = (edges[1:] + edges[:-1]) / 2.0
    asked = planned(sdp.NumberQuestion("q", 0.0, high))
    level = single_level(sdp.Mean(0.0, high))
    mean, alike = sdp.Mean(0.0, high), sdp.Population.from_counts({level: NUM_USERS})

    def one_message(rng: np.random.Generator) -> float:
        reports = mean.randomize(numbers, np.full(NUM_USERS, level), rng=rng)
        return mean.estimate(sdp.shuffle(reports, rng=rng), alike).value

    table.block(
        data,
        "mean",
        lambda estimate: np.array([(float(estimate) - numbers.mean()) / high]),
        [
            ("shuffledp", "several messages", SHUFFLED, drawn(asked, numbers, value)),
            ("shuffledp", "one message", SHUFFLED, one_message),
            *local_runs(bins, BINS, lambda found: float(possible(found) @ middles)),
            (
                "opendp",
                "Laplace noise",
                CURATOR,
                lambda _: peers.opendp_mean(numbers, 0.0, high, EPSILON),
            ),
        ],
    )


def quantiles(table: Table, data: str, numbers: Floats, high: float) -> None:
    """Prints errors of quantiles of numbers in [0, high]."""
    bins, edges = binned(numbers, high)
    fine = np.linspace(0.0, high, FINE_BINS + 1)
    asked = planned(sdp.DistributionQuestion("q", tuple(fine.tolist())))
    truth = np.quantile(numbers, SHARES, method="inverted_cdf")

    def of_bins(found: Floats) -> Floats:
        function = np.concatenate([[0.0], np.cumsum(possible(found))])
        numbers_below: Floats = np.interp(SHARES, function, edges)
        return numbers_below

    table.block(
        data,
        "quantiles",
        lambda estimate: (np.asarray(estimate) - truth) / high,
        [
            (
                "shuffledp",
                "several messages",
                SHUFFLED,
                drawn(asked, numbers, lambda estimate: estimate.quantiles(SHARES)),
            ),
            ("shuffledp", "one message", SHUFFLED, single(bins, BINS, of_bins)),
            *local_runs(bins, BINS, of_bins),
            (
                "opendp",
                "private quantiles",
                CURATOR,
                lambda _: peers.opendp_quantiles(numbers, SHARES, fine, EPSILON),
            ),
        ],
    )


def binned(numbers: Floats, high: float) -> tuple[Ints, Floats]:
    """Returns the bin of each number, and the ends of bins."""
    edges = np.linspace(0.0, high, BINS + 1)
    bins = np.searchsorted(edges, numbers, side="right") - 1
    return np.minimum(bins, BINS - 1), edges


def possible(estimated: Floats) -> Floats:
    """Returns the nearest possible shares: quantiles are not read off others."""
    return project(np.asarray(estimated, dtype=np.float64), 1.0)


def planned(question: Any) -> sdp.Questionnaire:
    """Returns a certified questionnaire of one question."""
    wish = sdp.Wish(targets={EPSILON: NUM_USERS}, delta=DELTA)
    return sdp.plan_questionnaire((question,), wish).questionnaire


def drawn(
    asked: sdp.Questionnaire, answers: Any, read: Callable[[Any], Any]
) -> Callable[[np.random.Generator], Any]:
    """Returns draws of a whole collection, from whose estimate numbers are read."""
    targets = np.full(NUM_USERS, EPSILON)

    def run(rng: np.random.Generator) -> Any:
        tally = asked.draw_tally({"q": answers}, targets, rng=rng)
        return read(asked.estimate(tally, PEOPLE)["q"])

    return run


def value(estimate: Any) -> float:
    """Returns the one number of an estimate."""
    return float(estimate.value[0])


def several(values: Ints, size: int) -> Run:
    """Returns shares from several messages of each person."""
    question = sdp.ChoiceQuestion("q", tuple(map(str, range(size))))
    return drawn(planned(question), values, lambda found: found.value / NUM_USERS)


def single_level(protocol: Any) -> float:
    """Returns the local level whose central epsilon is certified."""
    answer = sdp.largest_budget(
        sdp.Promise(protocol, delta=DELTA), PEOPLE, level=EPSILON, target=EPSILON
    )
    return float(answer.people.epsilons[0])


def single(
    values: Ints, size: int, read: Callable[[Floats], Any] = lambda found: found
) -> Run:
    """Returns what is read off shares from one k-ary response of each person."""
    protocol = sdp.Frequency(size)
    alike = sdp.Population.from_counts({single_level(protocol): NUM_USERS})
    holders = np.bincount(values, minlength=size)[None]

    def run(rng: np.random.Generator) -> Any:
        tally = protocol.draw_tally(holders, alike, rng=rng)
        return read(protocol.estimate(tally, alike).value)

    return run


def local_runs(
    values: Ints, size: int, read: Callable[[Floats], Any] = lambda found: found
) -> list[tuple[str, str, str, Run]]:
    """Returns the runs of local libraries, with the better of two responses."""
    # Wang et al., USENIX Security 2017: unary responses from 3 exp(epsilon) + 2 on.
    unary = size >= 3.0 * math.exp(EPSILON) + 2.0
    what = "optimized unary encoding" if unary else "k-ary response"
    oracles = (("multi-freq-ldpy", peers.multi_freq), ("pure-ldp", peers.pure))

    def run(oracle: Callable[..., Floats], _: np.random.Generator) -> Any:
        return read(oracle(values, size, EPSILON, unary=unary))

    return [(package, what, LOCAL, partial(run, oracle)) for package, oracle in oracles]


if __name__ == "__main__":
    main()
