"""`shuffledp train`: models trained with personal privacy levels, on known data."""

from typing import Any

import click

from shuffledp.cli.number_types import NUMBER
from shuffledp.cli.training_guarantee_tables import sgd_guarantee_table
from shuffledp.cli.training_options import (
    data_options,
    result_options,
    round_options,
    sgd_options,
)
from shuffledp.cli.training_output import accuracy_table, deliver, training_bar
from shuffledp.cli.training_rounds import PLAIN, train_rounds
from shuffledp.cli.training_start import levels_of, load, settings_of, start
from shuffledp.errors import InvalidInputError
from shuffledp.extras import installed_feature
from shuffledp.federated import shuffled_sgd
from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.population import Population

_SGD_CLIENTS = 100


class _TrainGroup(click.Group):
    """The group of ways to train; some are values of --framework."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the command; a framework's name is refused with its spelling."""
        name = args[0]
        if name not in self.commands and name in {*FRAMEWORKS, PLAIN}:
            raise click.UsageError(
                f"No such command {name!r}. Write {ctx.command_path} apes --framework "
                f"{name}."
            )
        return super().resolve_command(ctx, args)


@click.group("train", cls=_TrainGroup)
def train_group() -> None:
    """Train a model with personal privacy levels, in a simulation on known data.

    \b
    Messages shuffled per coordinate:  shuffledp train apes
    Noisy steps in a random order:     shuffledp train shuffled-sgd

    Seconds on small data:
      shuffledp train apes --dataset digits --levels 1:0.5,4:0.5 --rounds 3
    """


@train_group.command("apes")
@data_options(PAPER_SETTINGS.distribution)
@round_options
@click.option(
    "--framework",
    type=click.Choice([*FRAMEWORKS, PLAIN]),
    default="apes",
    show_default=True,
    help="What devices send: Clip-Laplace messages (apes), one bit per coordinate "
    "(one-bit-apes), or noise around 0 but for a share of the coordinates: those far "
    "enough from 0 (s-apes-threshold), each person's largest, as published, without a "
    "central certificate (s-apes), or some drawn at random (random-sparsification). Or "
    "what they are compared with: Laplace noise at the smallest level of all (ldp-min), "
    "at each person's own (pldp), the same shuffled (unis), or no privacy (non-private).",
)
@click.option(
    "--share",
    type=NUMBER,
    help="Of the coordinates that s-apes-threshold, s-apes or random-sparsification "
    f"reports; by default {PAPER_SETTINGS.share:g}.",
)
@result_options
def apes_command(**given: Any) -> None:
    """Every coordinate of every update randomized, and shuffled on its own.

    A person's level is the epsilon of one message: one coordinate in one round. The table
    has the guarantee of all their messages together after the shuffle.

    \b
    Examples:
      shuffledp train apes --seed 1
      shuffledp train apes --framework one-bit-apes --levels 0.1:0.5,1:0.5
      shuffledp train apes --framework s-apes --share 0.1
      shuffledp train apes --dataset digits --levels 1:0.5,4:0.5 --rounds 3
    """
    framework, share = given.pop("framework"), given.pop("share")
    if share is None:
        share = PAPER_SETTINGS.share
    elif framework == PLAIN or not FRAMEWORKS[framework].sparse:
        sparse = [name for name, method in FRAMEWORKS.items() if method.sparse]
        raise InvalidInputError(
            f"Expected --share only with one of {', '.join(sparse)}, got it with "
            f"{framework}, which reports every coordinate."
        )
    train_rounds(framework, given, share=share)


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
    # In this order: `start` checks the folder that is then taken out.
    rng, output = start(given), given.pop("output")
    given["clients"] = given["clients"] or _SGD_CLIENTS
    levels = levels_of(given, rng)
    people = Population.from_budgets(levels)
    # Last, as it may be a download: all options are checked by then.
    images = load(given["dataset"])
    public = given["public_components"]
    with training_bar("epoch", given["epochs"]) as tell:
        training = shuffled_sgd.train(
            images,
            levels,
            rng=rng,
            epochs=given["epochs"],
            clip=given["clip"],
            learning_rate=given["learning_rate"],
            delta=given["delta"],
            components=(
                # None fits them on clients' own pictures: nothing is certified then.
                shuffled_sgd.components_of(images.test_features) if public else None
            ),
            # Accuracy on the test set: no guarantee covers that on the clients'
            # pictures.
            on_epoch=lambda done, _, test: tell(
                done, lambda: f"accuracy {100 * test:.2f} %"
            ),
        )
    state = installed_feature("descent")
    claim, record = None, {}
    if state is not None:
        stated = state(people, epochs=given["epochs"], delta=given["delta"])
        claim, record = str(stated), {"stated": stated.to_dict()}
    curves = {"training": training.train_accuracy, "test": training.test_accuracy}
    deliver(
        {
            "settings": settings_of("shuffled-sgd", given),
            **training.to_dict(),
            **record,
        },
        [
            accuracy_table(curves, "epoch"),
            sgd_guarantee_table(training.guarantee, claim),
        ],
        curves=curves,
        step="epoch",
        output=output,
        as_json=given["as_json"],
    )
