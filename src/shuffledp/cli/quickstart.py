"""`shuffledp quickstart`: the whole thing on made-up people, without file or network."""

import click

from shuffledp.cli import parse
from shuffledp.cli.options import Settings, collection_options
from shuffledp.cli.run import run
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES
from shuffledp.datasets.synthetic import draw_msnbc_like
from shuffledp.report.summary import Summary
from shuffledp.statistics.collection import assign_levels
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.frequency.rehearsal import rehearse_frequency
from shuffledp.statistics.stage import Stage


@click.command("quickstart")
@click.option(
    "--people",
    "num_users",
    type=click.IntRange(2, 10**9),
    default=100_000,
    show_default=True,
    help="How many people to make up.",
)
@click.option(
    "--levels",
    metavar=parse.LEVEL_SHARES,
    default="0.5:0.25,1.0:0.5,2.0:0.25",
    show_default=True,
    help="Privacy levels and the share of people at each.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Of the simulation."
)
@collection_options
def quickstart_command(
    num_users: int,
    levels: str,
    settings: Settings,
) -> None:
    """Watch a whole collection: no file, no network, a report at the end.

    Makes up people whose first page of the day follows the published frequencies of a
    news site, lets a quarter, a half and a quarter of them choose three privacy levels,
    randomizes, shuffles, estimates and certifies.

    \b
    Example:
      shuffledp quickstart --people 1000000 --delta 1e-8
    """

    def rehearse(stage: Stage) -> Summary:
        values = draw_msnbc_like(num_users, rng=stage.rng)
        shares = parse.level_shares(levels)
        return rehearse_frequency(
            stage,
            values,
            MSNBC_CATEGORIES,
            assign_levels(shares, num_users, rng=stage.rng),
            f"{num_users:,} made-up visitors of a news site",
            Frequency(len(MSNBC_CATEGORIES), stage.mode),
        )

    run(rehearse, settings)
