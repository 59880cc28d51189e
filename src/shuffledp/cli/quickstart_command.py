"""`shuffledp quickstart`: a collection from made-up people, without file or network."""

import math
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.collection_run import run
from shuffledp.cli.number_types import WHOLE
from shuffledp.cli.options import Settings, collection_options
from shuffledp.number_text import is_plain
from shuffledp.population import MAX_USERS
from shuffledp.statistics.statistic_catalog import made_up_rehearsal


# ParamType takes no type argument in the oldest click that is supported.
class People(click.ParamType):  # type: ignore[type-arg]
    """A number of people, such as 100000 or 1e10."""

    name = "people"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Returns the number of people as an integer."""
        try:
            # As a float first, so that 1e10 is a number of people, too.
            num_people = float(value) if is_plain(str(value)) else math.nan
        except ValueError:
            num_people = math.nan
        # Written this way round, it refuses NaN, too.
        if not (2 <= num_people <= MAX_USERS and num_people == int(num_people)):
            self.fail(
                f"Expected a whole number from 2 to {MAX_USERS:g}, got {value!r}.",
                param,
                ctx,
            )
        return int(num_people)


@click.command("quickstart")
@click.option(
    "--people",
    "num_users",
    type=People(),
    default=100_000,
    show_default=True,
    metavar="N",
    help="How many people to make up, up to 1e10. Of more than 1e7 the numbers of "
    "messages are drawn, which have the same law, and not the messages.",
)
@click.option(
    "--levels",
    metavar=parse.LEVEL_SHARES,
    default="0.5:0.25,1.0:0.5,2.0:0.25",
    show_default=True,
    help="Privacy levels and the share of people at each.",
)
@click.option(
    "--seed", type=WHOLE, default=1, show_default=True, help="Of the simulation."
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
      shuffledp quickstart --people 1e10 --delta 1e-12
    """
    run(made_up_rehearsal(num_users, parse.level_shares(levels)), settings)
