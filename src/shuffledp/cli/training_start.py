"""Checks, data, levels and settings at the start of every `shuffledp train`."""

import math
from typing import Any, NamedTuple

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.cli import parse
from shuffledp.cli.training_output import prepare
from shuffledp.cli.waiting import progress
from shuffledp.datasets import mnist
from shuffledp.errors import InvalidInputError
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.statistics.rehearsed_collection import assign_levels
from shuffledp.types import Floats

# Data that were drawn with the same seed must not share random numbers with the noise.
_STREAM = 20_230_629


class _TrainingPictures(NamedTuple):
    """The size of a data set's training part, known before it is downloaded."""

    number: int
    pixels: int


_PICTURES = {
    "mnist": _TrainingPictures(60_000, 784),
    "qmnist": _TrainingPictures(60_000, 784),
    "digits": _TrainingPictures(1_437, 64),
}


def start(given: dict[str, Any]) -> np.random.Generator:
    """Validates options before data are loaded, and returns the source of randomness."""
    # `force` is taken out: it is not a setting of a training, and is not recorded.
    prepare(given["output"], force=given.pop("force"))
    rate = given["learning_rate"]
    # Written this way round, it refuses NaN, too; so does the next one.
    if not 0.0 < rate < math.inf:
        raise InvalidInputError(f"Expected --learning-rate > 0, got {rate:g}.")
    clients, most = given["clients"], _PICTURES[given["dataset"]].number
    if clients is not None and not 2 <= clients <= most:
        raise InvalidInputError(
            f"Expected --clients from 2 to {most:,}, one picture of {given['dataset']} "
            f"each at least, got {clients}."
        )
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


def check_share(share: float, dataset: str) -> None:
    """Raises InvalidInputError if a person would report less than one coordinate."""
    coordinates = SoftmaxRegression(_PICTURES[dataset].pixels).num_parameters
    # Written this way round, it refuses NaN, too.
    if not share * coordinates >= 1.0:
        # Rounded up: the share that is named has to be one that is accepted.
        least = math.ceil(1e6 / coordinates) / 1e6
        raise InvalidInputError(
            f"Expected --share of at least {least:g}, one of {coordinates:,} coordinates, "
            f"got {share:g}."
        )


def settings_of(framework: str, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of a training, for its record."""
    settings = {name: value for name, value in given.items() if name != "as_json"}
    return {"framework": framework, **settings}
