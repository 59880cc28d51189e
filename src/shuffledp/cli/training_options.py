"""Options of the commands of `train`."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.number_types import NUMBER, WHOLE, WholeRange
from shuffledp.cli.shared_options import force_option, json_option
from shuffledp.federated.apes_settings import PAPER_SETTINGS

Command = Callable[..., Any]


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    # Reversed: click lists options from the last decorator applied to the first.
    return lambda command: functools.reduce(
        lambda made, option: option(made), reversed(options), command
    )


def data_options(distribution: str) -> Callable[[Command], Command]:
    """Returns options of data, clients and levels, by default those of a distribution."""
    return _together(
        click.option(
            "--dataset",
            type=click.Choice(["mnist", "qmnist", "digits"]),
            default="mnist",
            show_default=True,
            help="MNIST is read from the folder that SHUFFLEDP_DATA names, or downloaded "
            "once; QMNIST is read from there; digits are those of scikit-learn.",
        ),
        click.option(
            # No default here: it depends on the data set.
            "--clients",
            type=WHOLE,
            metavar="N",
            help="How many people the pictures are dealt out to, evenly.",
        ),
        click.option(
            "--levels",
            metavar=f"{parse.LEVEL_SHARES}|NAME",
            default=distribution,
            show_default=True,
            help="Privacy levels and the share of people at each, dealt out at random; or "
            "a distribution of the literature, such as apes/uniform1 or e-apes/gauss1.",
        ),
    )


def _folder(
    context: click.Context, option: click.Parameter, path: Path | None
) -> Path | None:
    # click refuses regular files in place of a folder, but not devices or pipes.
    if path is not None and path.exists() and not path.is_dir():
        raise click.BadParameter(f"{path} is not a folder.", context, option)
    return path


result_options = _together(
    click.option(
        "--seed",
        type=WholeRange(0),
        help="Repeat a simulation; by default, fresh randomness.",
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        callback=_folder,
        metavar="FOLDER",
        help="Where accuracy.svg and training.json go: a new or empty folder; by default "
        "nowhere.",
    ),
    force_option,
    json_option,
)

# Defaults are those of the paper's figures on MNIST.
round_options = _together(
    click.option(
        "--rounds",
        type=WholeRange(1),
        default=PAPER_SETTINGS.rounds,
        show_default=True,
        help="How often each person reports. Each round costs privacy.",
    ),
    click.option(
        "--clip",
        type=NUMBER,
        default=PAPER_SETTINGS.clip,
        show_default=True,
        help="C: each coordinate of an update is clipped to [-C, C]. The noise grows with "
        "it.",
    ),
    click.option(
        "--learning-rate",
        type=NUMBER,
        default=PAPER_SETTINGS.server_rate,
        show_default=True,
        help="The model moves by this times the estimated mean update.",
    ),
    click.option(
        "--local-steps",
        type=WholeRange(1),
        default=PAPER_SETTINGS.local_training.steps,
        show_default=True,
        help="Of gradient descent on each device, per round.",
    ),
    click.option(
        "--local-rate",
        type=NUMBER,
        default=PAPER_SETTINGS.local_training.learning_rate,
        show_default=True,
        help="Learning rate of these steps.",
    ),
    click.option(
        "--proximal",
        type=NUMBER,
        default=PAPER_SETTINGS.local_training.proximal,
        show_default=True,
        help="FedProx's mu, which keeps devices from running away from each other.",
    ),
    click.option(
        "--delta",
        type=NUMBER,
        default=PAPER_SETTINGS.delta,
        show_default=True,
        help="Of one person's guarantee for the whole training.",
    ),
)

# Defaults are those of E-APES, Table 2.
sgd_options = _together(
    click.option(
        "--epochs",
        type=WholeRange(1),
        default=50,
        show_default=True,
        help="How often each person takes a step. Each epoch costs privacy.",
    ),
    click.option(
        "--clip",
        type=NUMBER,
        default=2.0,
        show_default=True,
        help="The largest norm of one example's gradient.",
    ),
    click.option(
        "--learning-rate",
        type=NUMBER,
        default=0.05,
        show_default=True,
        help="The model moves by this times each noisy gradient.",
    ),
    click.option(
        "--delta",
        type=NUMBER,
        default=1e-5,
        show_default=True,
        help="Of each step, and of the guarantee.",
    ),
    click.option(
        "--public-components",
        is_flag=True,
        help="Fit the principal components on the test pictures, without their labels, "
        "and not on the clients' own. It assumes that the test pictures are public; only "
        "then is anything certified.",
    ),
)
