"""Checks, data, levels and settings at the start of every `shuffledp train`."""

import math
from typing import Any

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.cli import parse
from shuffledp.cli.training_output import prepare
from shuffledp.cli.waiting import progress
from shuffledp.datasets import mnist
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.rehearsed_collection import assign_levels
from shuffledp.types import Floats

# Data that were drawn with the same seed must not share random numbers with the noise.
_STREAM = 20_230_629


def start(given: dict[str, Any]) -> np.random.Generator:
    """Validates options before data are loaded, and returns the source of randomness."""
    # `force` is taken out: it is not a setting of a training, and is not recorded.
    prepare(given["output"], force=given.pop("force"))
    rate = given["learning_rate"]
    # Written this way round, it refuses NaN, too; so does the next one.
    if not 0.0 < rate < math.inf:
        raise InvalidInputError(f"Expected --learning-rate > 0, got {rate:g}.")
    if not 0.0 < given["delta"] < 1.0:
        raise InvalidInputError(f"Expected 0 < --delta < 1, got {given['delta']:g}.")
    seed = given["seed"]
    return np.random.default_rng(None if seed is None else [seed, _STREAM])


def load(dataset: str) -> mnist.LabeledImages:
    """Reads a data set by name, with a bar while MNIST is downloaded."""
    if dataset == "digits":
        return mnist.load_digits()
    if dataset == "qmnist":
        return mnist.load_qmnist()
    with progress("read") as (on_bytes, _):
        return mnist.load_mnist(progress=on_bytes)


def levels_of(given: dict[str, Any], rng: np.random.Generator) -> Floats:
    """Draws every client's privacy level from --levels."""
    levels, clients = given["levels"], given["clients"]
    # Names of distributions start with their paper.
    if "/" in levels:
        return draw_budgets(levels, clients, rng=rng)
    return assign_levels(parse.level_shares(levels), clients, rng=rng)


def settings_of(framework: str, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of a training, for its record."""
    settings = {name: value for name, value in given.items() if name != "as_json"}
    return {"framework": framework, **settings}
