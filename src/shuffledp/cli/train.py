"""`shuffledp train`: models trained with personal privacy levels, on known data."""

import math
from typing import Any

import click
import numpy as np

from shuffledp.accounting.account import account
from shuffledp.budget_distributions import draw_budgets
from shuffledp.cli import parse
from shuffledp.cli.console import progress, working
from shuffledp.cli.training_options import (
    data_options,
    result_options,
    round_options,
    sgd_options,
)
from shuffledp.cli.training_output import (
    accuracy_table,
    deliver,
    prepare,
    training_bar,
)
from shuffledp.cli.training_tables import (
    promise_table,
    sgd_guarantee_table,
    stated_record,
)
from shuffledp.datasets import mnist
from shuffledp.errors import InvalidInputError
from shuffledp.federated import shuffled_sgd
from shuffledp.federated.clients import partition
from shuffledp.federated.frameworks import FRAMEWORKS
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.settings import PAPER_SETTINGS
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import train
from shuffledp.federated.training_promise import promise_of
from shuffledp.population import Population
from shuffledp.report.words import plain
from shuffledp.statistics.collection import assign_levels
from shuffledp.types import Floats

# People who made up their data with the same seed must not meet the same random numbers.
_STREAM = 20_230_629
_DIGITS_CLIENTS = 479
_SGD_CLIENTS = 100
# Updates as they are: what privacy is paid for with is compared with this.
_PLAIN = "non-private"
_APES = (*(name for name, choice in FRAMEWORKS.items() if not choice.kept), _PLAIN)
# What `s-apes` keeps by, and how the frameworks are called.
_KEEPS = {choice.kept: name for name, choice in FRAMEWORKS.items() if choice.kept}


@click.group("train")
def train_group() -> None:
    """Train a model with personal privacy levels, in a simulation on known data.

    \b
    Messages shuffled per coordinate:  shuffledp train apes
    The same, with fewer that speak:   shuffledp train s-apes
    Noisy steps in a random order:     shuffledp train shuffled-sgd

    Seconds on small data:
      shuffledp train apes --dataset digits --levels 1:0.5,4:0.5 --rounds 3
    """


@train_group.command("apes")
@data_options(PAPER_SETTINGS.distribution)
@round_options
@click.option(
    "--framework",
    type=click.Choice(_APES),
    default="apes",
    show_default=True,
    help="What devices send: Clip-Laplace cells (apes) or one bit per coordinate; or what "
    "they are compared with: Laplace noise at the smallest level of all (ldp-min), at "
    "everybody's own (pldp), the same shuffled (unis), or no privacy.",
)
@result_options
def apes_command(**given: Any) -> None:
    """Every coordinate of every update randomized, and shuffled on its own.

    A person's level is the epsilon of one message: one coordinate in one round. The table
    says what all her messages together are worth after the shuffle.

    \b
    Examples:
      shuffledp train apes --seed 1
      shuffledp train apes --framework one-bit-apes --levels 0.1:0.5,1:0.5
      shuffledp train apes --dataset digits --levels 1:0.5,4:0.5 --rounds 3
    """
    _train_rounds(given.pop("framework"), given, share=PAPER_SETTINGS.share)


@train_group.command("s-apes")
@data_options(PAPER_SETTINGS.distribution)
@round_options
@click.option(
    "--framework",
    type=click.Choice(list(_KEEPS)),
    default="threshold",
    show_default=True,
    help="Which messages are kept, before the others become noise around 0: those far "
    "enough from 0; each person's largest, as published, without a central certificate; "
    "or coordinates drawn at random.",
)
@click.option(
    "--share",
    type=float,
    default=PAPER_SETTINGS.share,
    show_default=True,
    help="Of the messages kept.",
)
@result_options
def sparsified_command(**given: Any) -> None:
    """Like apes, but most messages are replaced by noise around 0.

    \b
    Examples:
      shuffledp train s-apes --seed 1
      shuffledp train s-apes --framework top-b --share 0.1
    """
    framework = _KEEPS[given.pop("framework")]
    _train_rounds(framework, given, share=given.pop("share"))


@train_group.command("shuffled-sgd")
@data_options("e-apes/uniform1")
@sgd_options
@result_options
def sgd_command(**given: Any) -> None:
    """Clients in a random order, each with one noisy step of a small neural network.

    A client's level is the epsilon of one example in one step.

    \b
    Example:
      shuffledp train shuffled-sgd --epochs 5 --seed 1 --public-components
    """
    rng, output = _start(given), given.pop("output")
    images = _load(given["dataset"])
    given["clients"] = given["clients"] or _SGD_CLIENTS
    levels = _levels(given, "e-apes/uniform1", rng)
    public = given["public_components"]
    with training_bar("epoch", given["epochs"]) as tell:
        result = shuffled_sgd.train(
            images,
            levels,
            rng=rng,
            epochs=given["epochs"],
            clip=given["clip"],
            learning_rate=given["learning_rate"],
            delta=given["delta"],
            components=(
                shuffled_sgd.components_of(images.test_features) if public else None
            ),
            on_epoch=lambda done, _, test: tell(
                done, lambda: f"accuracy {100 * test:.2f} %"
            ),
        )
    from shuffledp.papers.bounds.eapes_training import stated_by_eapes

    stated = stated_by_eapes(
        Population.from_budgets(levels), epochs=given["epochs"], delta=given["delta"]
    )
    curves = {"training": result.train_accuracy, "test": result.test_accuracy}
    claim = {
        "mu": stated.mu,
        "epsilon": stated.epsilon,
        "status": stated.status.value,
    }
    deliver(
        {
            "settings": _settings("shuffled-sgd", given),
            **result.to_dict(),
            "stated": claim,
        },
        [
            accuracy_table(curves, "epoch"),
            sgd_guarantee_table(result.guarantee, stated),
        ],
        curves=curves,
        step="epoch",
        output=output,
        as_json=given["as_json"],
    )


def _train_rounds(name: str, given: dict[str, Any], *, share: float) -> None:
    rng, output = _start(given), given.pop("output")
    local = LocalTraining(given["local_steps"], given["local_rate"], given["proximal"])
    images = _load(given["dataset"])
    digits = given["dataset"] == "digits"
    given["clients"] = given["clients"] or (
        _DIGITS_CLIENTS if digits else PAPER_SETTINGS.num_clients
    )
    levels = _levels(given, PAPER_SETTINGS.distribution, rng)
    features, labels = images.train_features, images.train_labels
    clients = partition(features, labels, levels.size, rng=rng)
    model = SoftmaxRegression(features.shape[1])
    rounds, delta = given["rounds"], given["delta"]
    protocol = None
    if name != _PLAIN:
        choice = FRAMEWORKS[name]
        levels = choice.levels(levels)
        framework = choice.framework(clip=given["clip"], share=share)
        protocol = TrainingRound(framework, model.num_parameters, choice.shuffled)
    people = Population.from_budgets(levels)
    with working("certify"):
        promises = {
            counted: promise_of(protocol, people, delta=delta, rounds=counted)
            for counted in {1, rounds}
        }
    one, promise = promises[1], promises[rounds]
    with training_bar("round", rounds) as tell:
        finished = 0

        def on_share(done: float) -> None:
            tell(finished + done, None)

        def on_round(done: int, accuracy: float) -> None:
            def words() -> str:
                spent = _spent_words(protocol, people, delta, done)
                return f"accuracy {100 * accuracy:.2f} %{spent}"

            nonlocal finished
            finished = done
            tell(done, words)

        trained = train(
            model,
            clients,
            levels,
            test_features=images.test_features,
            test_labels=images.test_labels,
            protocol=protocol,
            rounds=rounds,
            server_rate=given["learning_rate"],
            rng=rng,
            local_training=local,
            on_round=on_round,
            on_share=on_share,
        )
    from shuffledp.papers.bounds.apes_training import stated_by_apes

    stated = stated_by_apes(
        name,
        people,
        coordinates=model.num_parameters,
        rounds=rounds,
        delta=delta,
        share=share,
    )
    curves = {"test": trained.accuracy}
    settings = {**_settings(name, given), "share": share}
    deliver(
        {
            "settings": settings,
            "accuracy": list(trained.accuracy),
            **promise.to_dict(),
            "after_one_round": one.to_dict(),
            "stated": stated_record(promise, stated),
        },
        [
            accuracy_table(curves, "round"),
            promise_table(promise, stated, one if rounds > 1 else None),
        ],
        curves=curves,
        step="round",
        output=output,
        as_json=given["as_json"],
    )


def _spent_words(
    protocol: TrainingRound | None, people: Population, delta: float, rounds: int
) -> str:
    """Returns what the most liberal people have spent, if that is certified."""
    if protocol is None or protocol.uncertified:
        return ""
    level = float(people.epsilons[-1])
    # The first statement of the round's certificate, and none of the others.
    guarantee = account(
        protocol.device,
        people,
        delta=delta,
        levels=[level],
        coordinates=protocol.num_coordinates,
        rounds=rounds,
    )
    return f", epsilon {plain(guarantee.level(level).epsilon_central)} spent"


def _start(given: dict[str, Any]) -> np.random.Generator:
    """Checks what can be checked at once, and returns the source of randomness."""
    prepare(given["output"])
    rate = given["learning_rate"]
    if not 0.0 < rate < math.inf:
        raise InvalidInputError(f"Expected --learning-rate > 0, got {rate:g}.")
    if given["levels"] and given["distribution"]:
        raise InvalidInputError("Expected either --levels or --distribution, not both.")
    seed = given["seed"]
    return np.random.default_rng(None if seed is None else [seed, _STREAM])


def _load(dataset: str) -> mnist.LabeledImages:
    if dataset == "digits":
        return mnist.load_digits()
    if dataset == "qmnist":
        return mnist.load_qmnist()
    with progress("read") as (on_bytes, _):
        return mnist.load_mnist(progress=on_bytes)


def _levels(
    given: dict[str, Any], distribution: str, rng: np.random.Generator
) -> Floats:
    clients = given["clients"]
    if given["levels"]:
        return assign_levels(parse.level_shares(given["levels"]), clients, rng=rng)
    given["distribution"] = given["distribution"] or distribution
    return draw_budgets(given["distribution"], clients, rng=rng)


def _settings(framework: str, given: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in given.items() if name != "as_json"}
    return {"framework": framework, **kept}
