"""The same survey by this library and by others, with what each states about privacy.

    pip install opendp pipeline-dp dp-accounting multi-freq-ldpy
    pip install pure-ldp scikit-learn statsmodels
    python benchmarks/comparison.py > docs/reference/comparison-numbers.md

The last two are undeclared dependencies of pure-ldp.

10,000 people, 16 categories. Local randomizers run at level 1; a curator who sees all
values adds the noise of the central epsilon that shuffledp certifies for level 1 after the
shuffle. Neighbors differ in one person's value: libraries for added and removed people get
the noise that this requires. A second table has the statements of accountants and published
bounds on the first of these surveys. Missing packages are listed as not installed.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from comparison_peers import installed, multi_freq, opendp_shares, pure
from machine import describe

import shuffledp as sdp
from shuffledp.types import Floats, Ints
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.outside_preconditions import OutsidePreconditions

NUM_USERS, NUM_CATEGORIES, LEVEL, DELTA, REPETITIONS = 10_000, 16, 1.0, 1e-6, 20
MIXED = {0.5: 2_500, 1.0: 5_000, 2.0: 2_500}
LABELS = range(NUM_CATEGORIES)


@dataclass(frozen=True)
class Peer:
    """A library's way of running the survey.

    Attributes:
        package: Its name in the package index.
        what: The function that is used, as a phrase.
        seen_by: The party that sees people's values without noise.
        states: Its statement about privacy.
        estimate: From values, shape (n,), to shares, shape (k,).
    """

    package: str
    what: str
    seen_by: str
    states: str
    estimate: Callable[[Ints], Floats]


def main() -> None:
    """Prints both tables."""
    surveys()
    print("\n## What is stated of the first survey\n")
    accountants()
    print(f"\n{describe()}.")


def surveys() -> None:
    """Prints the error of every peer."""
    alike = sdp.Population.from_counts({LEVEL: NUM_USERS})
    mixed = sdp.Population.from_counts(MIXED)
    central = certified(alike)[0]
    levels = ", ".join(f"{level:g}" for level in MIXED)
    local = f"{LEVEL:g} to anyone who sees a message"
    epsilons = ", ".join(f"{epsilon:.4f}" for epsilon in certified(mixed))
    curator = f"{central:.4f}, if the curator is trusted"
    grr = partial(multi_freq, categories=NUM_CATEGORIES, epsilon=LEVEL)
    de = partial(pure, categories=NUM_CATEGORIES, epsilon=LEVEL)
    peers = (
        Peer(
            "shuffledp",
            "`Frequency`, all at 1",
            "no one",
            f"{local}; {central:.4f} after the shuffle, certified",
            partial(ours, alike),
        ),
        Peer(
            "shuffledp",
            f"`Frequency`, each at their own of {levels}",
            "no one",
            f"own level to anyone who sees a message; {epsilons} after the shuffle, "
            "certified",
            partial(ours, mixed),
        ),
        Peer(
            "multi-freq-ldpy",
            "`GRR_Client`",
            "no one",
            local,
            grr,
        ),
        Peer("pure-ldp", "`DEClient`", "no one", local, de),
        Peer("opendp", "`make_randomized_response`", "no one", local, opendp_local),
        Peer(
            "opendp",
            "`make_count_by_categories`, Laplace noise",
            "the curator",
            curator,
            partial(opendp_shares, categories=NUM_CATEGORIES, epsilon=central),
        ),
        Peer(
            "pipeline-dp",
            "`DPEngine.aggregate`, Laplace noise",
            "the curator",
            curator,
            partial(pipeline, central),
        ),
    )
    print(
        "| library | what ran | who sees values | epsilon that is stated | error | CPU |"
    )
    print("|---|---|---|---|---:|---:|")
    for peer in peers:
        print(row(peer))
    print(
        f"\nEpsilons at delta {DELTA:g}; error: root mean square over {NUM_CATEGORIES} "
        f"shares and {REPETITIONS} surveys, in percentage points; CPU: of one survey."
    )


def accountants() -> None:
    """Prints central epsilons of all people at level 1, once and 16 times."""
    people = sdp.Population.from_counts({LEVEL: NUM_USERS})
    print("| who states it | what is known of it | epsilon, once | 16 times |")
    print("|---|---|---:|---:|")
    frequency = sdp.Frequency(NUM_CATEGORIES)
    levels = [
        sdp.account(frequency, people, delta=DELTA, rounds=rounds).levels[0]
        for rounds in (1, 16)
    ]
    once, often = (level.epsilon_central for level in levels)
    print(f"| shuffledp | certified | {once:.5f} | {often:.4f} |")
    once, often = (level.epsilon_central_lower for level in levels)
    print(
        f"| shuffledp | an attack: no smaller number holds | {once:.5f} | {often:.4f} |"
    )
    setting = Setting(people, mechanism=sdp.KRandomizedResponse(NUM_CATEGORIES))
    for bound in PUBLISHED:
        try:
            stated = f"{bound.epsilon(setting, DELTA):.5f}"
        except OutsidePreconditions:
            continue
        print(f"| {bound.source} | {bound.proven} | {stated} | |")
    known = installed("dp-accounting")
    if known is None:
        print("| dp-accounting | not installed | | |")
        return
    named = f"dp-accounting {known}"
    losses = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    random = NUM_CATEGORIES / (np.exp(LEVEL) + NUM_CATEGORIES - 1)
    lone = losses.from_randomized_response(float(random), NUM_CATEGORIES)
    once, often = (
        lone.self_compose(rounds).get_epsilon_for_delta(DELTA) for rounds in (1, 16)
    )
    print(f"| {named} | proven, without a shuffle | {once:.5f} | {often:.4f} |")


def certified(people: sdp.Population) -> list[float]:
    """Returns the central epsilon of every level."""
    guarantee = sdp.account(sdp.Frequency(NUM_CATEGORIES), people, delta=DELTA)
    return [level.epsilon_central for level in guarantee.levels]


def row(peer: Peer) -> str:
    """Runs a peer, and returns its line of the table."""
    # Not the version that was installed from this folder at some time.
    own = peer.package == "shuffledp"
    known = sdp.__version__ if own else installed(peer.package)
    if known is None:
        return f"| {peer.package} | {peer.what} | {peer.seen_by} | not installed | | |"
    named = f"{peer.package} {known}"
    rng = np.random.default_rng(1)
    weights = 1.0 / np.arange(1, NUM_CATEGORIES + 1)
    squares, begun = [], time.process_time()
    for _ in range(REPETITIONS):
        values = rng.choice(NUM_CATEGORIES, NUM_USERS, p=weights / weights.sum())
        truth = np.bincount(values, minlength=NUM_CATEGORIES) / NUM_USERS
        squares.append(np.mean((np.asarray(peer.estimate(values)) - truth) ** 2))
    seconds = (time.process_time() - begun) / REPETITIONS
    error = 100.0 * np.sqrt(np.mean(squares))
    return (
        f"| {named} | {peer.what} | {peer.seen_by} | {peer.states} "
        f"| {error:.2f} | {seconds:.2g} s |"
    )


def ours(people: sdp.Population, values: Ints) -> Floats:
    """Runs devices, shuffler and analyst of shuffledp, message by message."""
    rng = np.random.default_rng()
    frequency = sdp.Frequency(NUM_CATEGORIES)
    levels = rng.permutation(people.budgets())
    reports = frequency.randomize(values, levels, rng=rng)
    return frequency.estimate(sdp.shuffle(reports, rng=rng), people).value


def opendp_local(values: Ints) -> Floats:
    """OpenDP's randomized response, with an estimator, which it lacks."""
    opendp = importlib.import_module("opendp.prelude")
    opendp.enable_features("contrib")
    keep = float(np.exp(LEVEL) / (np.exp(LEVEL) + NUM_CATEGORIES - 1))
    device = opendp.m.make_randomized_response(list(LABELS), keep)
    messages = np.bincount([device(int(v)) for v in values], minlength=NUM_CATEGORIES)
    other = (1.0 - keep) / (NUM_CATEGORIES - 1)
    return (messages / NUM_USERS - other) / (keep - other)


def pipeline(epsilon: float, values: Ints) -> Floats:
    """PipelineDP's counts at half the budget: a replacement is two changes."""
    module = importlib.import_module("pipeline_dp")
    accountant = module.NaiveBudgetAccountant(epsilon / 2.0, DELTA)
    engine = module.DPEngine(accountant, module.LocalBackend())
    counted = engine.aggregate(
        list(enumerate(values.tolist())),
        module.AggregateParams(
            metrics=[module.Metrics.COUNT],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            noise_kind=module.NoiseKind.LAPLACE,
        ),
        module.DataExtractors(
            privacy_id_extractor=lambda person: person[0],
            partition_extractor=lambda person: person[1],
            value_extractor=lambda person: 1,
        ),
        public_partitions=list(LABELS),
    )
    accountant.compute_budgets()
    counts = dict(counted)
    return np.array([counts[label].count for label in LABELS]) / NUM_USERS


if __name__ == "__main__":
    main()
