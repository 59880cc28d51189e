"""Time and memory of rounds of training: python benchmarks/federated.py

Ten thousand people with six synthetic pictures each, and the 7,850 weights of a softmax
regression on 784 pixels: a gradient per person, 78.5 million messages, each coordinate
shuffled, and the estimate. Medians of three rounds after one to warm up, each framework in
a process of its own.
"""

import statistics
import time

import numpy as np
from machine import describe, isolated

from shuffledp.federated.clients import Clients
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.population import Population

RUNS = 3
NUM_CLIENTS, NUM_PICTURES, NUM_PIXELS = 10_000, 6, 784
CLIP, SHARE = 0.1, 0.2
STEPS = ("collect", "estimate", "total")


def play(name: str, in_memory: int) -> list[float]:
    """Returns the median seconds of each step of a round."""
    rng = np.random.default_rng(1)
    shape = (NUM_CLIENTS, NUM_PICTURES)
    features = rng.random((*shape, NUM_PIXELS), dtype=np.float32)
    clients = Clients(features, rng.integers(10, size=shape))
    model, local = SoftmaxRegression(NUM_PIXELS), LocalTraining()
    choice, weights = FRAMEWORKS[name], model.start()
    levels = choice.levels(rng.uniform(0.05, 1.0, NUM_CLIENTS))
    people = Population.from_budgets(levels)
    protocol = TrainingRound(
        choice.framework(clip=CLIP, share=SHARE), model.num_parameters, choice.shuffled
    )
    rows = []
    for _ in range(RUNS + 1):
        times = [time.perf_counter()]
        shuffled = protocol.collect(
            lambda part: local.updates(model, weights, clients[part]),
            levels,
            rng=rng,
            in_memory=in_memory,
        )
        times.append(time.perf_counter())
        protocol.estimate(shuffled, people)
        times.append(time.perf_counter())
        rows.append([*np.diff(times).tolist(), times[-1] - times[0]])
    return [statistics.median(column) for column in zip(*rows[1:], strict=True)]


def main() -> None:
    """Prints one row per framework."""
    print(describe())
    print(
        f"{'framework':<24}{'messages':>12}"
        + "".join(f"{step:>11}" for step in STEPS)
        + f"{'peak MB':>9}"
    )
    messages = NUM_CLIENTS * SoftmaxRegression(NUM_PIXELS).num_parameters
    for name in FRAMEWORKS:
        seconds, peak = isolated(play, name, 2**40)
        row = "".join(f"{second:>11.2f}" for second in seconds)
        print(f"{name:<24}{messages:>12,}{row}{peak:>9.0f}", flush=True)
    seconds, peak = isolated(play, "apes", 0)
    row = "".join(f"{second:>11.2f}" for second in seconds)
    print(f"{'apes, in a file':<24}{messages:>12,}{row}{peak:>9.0f}")


if __name__ == "__main__":
    main()
