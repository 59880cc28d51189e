"""`shuffledp account`: the certified central guarantee of each privacy level."""

import json
from pathlib import Path
from typing import Any

import click

from shuffledp.accounting.account import account
from shuffledp.accounting.exposure import Certifiable, single_messages
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.cli import parse
from shuffledp.cli.console import show, show_json
from shuffledp.cli.mechanism import (
    circumstance_options,
    num_absent,
    people_options,
    protocol_options,
    read_people,
)
from shuffledp.cli.number_types import NUMBER, Share
from shuffledp.cli.shared_options import force_option, json_option, spark_option
from shuffledp.cli.waiting import working
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require, require_feature
from shuffledp.file_writing import check_new, write_paths
from shuffledp.matplotlib_picture import picture_kind
from shuffledp.population import Population
from shuffledp.report.profile_picture import profile_picture
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.single_message import SingleMessage


@click.command("account")
@protocol_options
@people_options
@click.option(
    "--report-levels",
    metavar="EPSILON,...",
    help="Report these budgets only [all; with --budgets minimum, quartiles, maximum].",
)
@click.option("--delta", type=NUMBER, help="Ask for epsilon at this delta.")
@click.option("--epsilon", type=NUMBER, help="Ask for delta at this epsilon.")
@circumstance_options
@click.option(
    "--method",
    metavar="NAME|all",
    help="Compare with a published bound, or with all of them: what papers claim for "
    "everybody, beside the certificate. One round, one coordinate, nobody absent.",
)
@click.option(
    "--s-apes",
    "selection",
    metavar="B/D",
    help="With clip-laplace: say what Liu et al. (2023) state for a person who sends the "
    "B largest of D coordinates, such as 1570/7850.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.json",
    help="Write the guarantee, for `shuffledp verify`.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Draw the privacy profile of every reported level, with the band between attack "
    "and certificate, as .svg, .png or .pdf.",
)
@force_option
@spark_option
@json_option
def account_command(
    protocol: Certifiable | LocalRandomizer,
    levels: str | None,
    budgets: str | None,
    column: str | None,
    report_levels: str | None,
    delta: float | None,
    epsilon: float | None,
    absent: int | Share,
    rounds: int,
    coordinates: int,
    method: str | None,
    selection: str | None,
    certificate: Path | None,
    picture: Path | None,
    force: bool,
    spark: str | None,
    as_json: bool,
) -> None:
    """Certify the central guarantee of each privacy level after the shuffle.

    Prints, per level, a proven upper bound and a lower bound from a concrete attack.

    \b
    Examples:
      shuffledp account --categories 17 --levels 0.5:2500,1.0:5000,2.0:2500 --delta 1e-6
      shuffledp account --categories 2 --budgets people.csv --column epsilon --epsilon 0.1
      shuffledp account --mechanism laplace --levels 1:10000 --delta 1e-6 --rounds 10
      shuffledp account --mechanism clip-laplace --levels 0.5:5000,1:5000 --delta 1e-6 \\
        --coordinates 7850 --absent 10%
      shuffledp account --statistic "frequency(num_categories=17)" \\
        --statistic "mean(low=0, high=10)" --levels 1:5000,2:5000 --delta 1e-6
      shuffledp account --categories 2 --levels 1:10000 --delta 1e-6 --method all
      shuffledp account --mechanism clip-laplace --levels 0.5:5000,1:5000 \\
        --delta 3.6e-5 --s-apes 1570/7850
    """
    if (delta is None) == (epsilon is None):
        got = "neither" if delta is None else "both"
        raise click.UsageError(f"Expected either --delta or --epsilon, got {got}.")
    if method is not None and (absent or rounds * coordinates > 1):
        raise InvalidInputError(
            "Expected --method without --absent, --rounds and "
            "--coordinates: published bounds speak of one collection."
        )
    if selection is not None and (absent or rounds != 1 or coordinates != 1):
        raise click.UsageError(
            "Expected --s-apes without --absent, --rounds and "
            "--coordinates: Proposition 1 speaks of one collection, B/D says of how many "
            "coordinates."
        )
    papers: Any = None
    if method is not None or selection is not None:
        if not isinstance(protocol, SingleMessage):
            raise InvalidInputError(
                "Expected --method and --s-apes with --mechanism: papers speak of one "
                "message."
            )
        option = "--s-apes" if method is None else "--method"
        papers = require_feature("account-claims", what=option)
    # Before the certificate is computed: files that exist, unknown endings, no matplotlib.
    check_new((certificate, picture), force=force)
    if picture is not None:
        picture_kind(picture)
        require("matplotlib", extra="report", what="A picture")
    people = _population_of(levels, budgets, column, spark)
    if picture is not None:
        single_messages(protocol, people)
    left_out = num_absent(absent, people.num_users)
    # Before the certificate: the proposition may not apply to these people.
    selected = (
        None
        if selection is None
        else papers.stated_of_selection(selection, protocol, people, delta=delta)
    )
    statements = (
        None
        if report_levels is None
        else parse.number_list(report_levels, "--report-levels")
    )
    with working("certify"):
        guarantee = account(
            protocol,
            people,
            delta=delta,
            epsilon=epsilon,
            levels=statements,
            # A file of budgets may have a level per person: report quantiles of them.
            quantiles=(budgets is not None or None) if statements is None else None,
            absent=left_out,
            rounds=rounds,
            coordinates=coordinates,
        )
    drawing = None
    if picture is not None:
        with working("draw"):
            profiles = [
                privacy_profile(
                    protocol,
                    people,
                    level,
                    absent=left_out,
                    rounds=rounds,
                    coordinates=coordinates,
                )
                # Quantiles of few levels repeat them: one profile for each.
                for level in dict.fromkeys(e.chosen for e in guarantee.levels)
            ]
            drawing = profile_picture(profiles)
    compared = None
    if method is not None:
        with working("compare"):
            # None compares with all published bounds.
            names = None if method == "all" else [method]
            compared = papers.claims(
                protocol, people, delta=delta, epsilon=epsilon, names=names
            )
    if as_json:
        published = {}
        if compared is not None:
            published["published"] = [claim.to_dict() for claim in compared]
        # A key of its own: what a paper states is not part of the guarantee.
        beside = {} if selected is None else {"s_apes": selected.to_dict()}
        show_json(guarantee.to_dict() | published | beside)
    else:
        if compared is None:
            show(guarantee_table(guarantee))
        else:
            show(papers.claims_table(guarantee, compared))
        if selected is not None:
            show(f"\n{selected}")
    # Shown before it is written: a full disk does not take it away.
    contents: dict[Path, str | bytes] = {}
    if certificate is not None:
        contents[certificate] = json.dumps(guarantee.to_dict(), indent=2) + "\n"
    if picture is not None and drawing is not None:
        contents[picture] = drawing.content(picture_kind(picture))
    write_paths(contents)
    if not as_json:
        for path in contents:
            show(f"\nWritten: {path}")


def _population_of(
    levels: str | None, budgets: str | None, column: str | None, spark: str | None
) -> Population:
    if spark is None:
        with working("read"):
            return read_people(levels, budgets, column)
    if budgets is None or levels is not None:
        raise InvalidInputError(
            "Expected --budgets FILE with --spark, and no --levels."
        )
    engine = require_feature("spark", what="--spark")
    people: Population = engine.people_on_spark(spark, budgets, column)
    return people
