"""`shuffledp plan`: protocols with predicted errors and certified guarantees."""

import functools
from collections.abc import Callable
from typing import Any

import click

from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.cli import parse
from shuffledp.cli.console import show, show_json
from shuffledp.cli.mechanism import num_absent
from shuffledp.cli.number_types import NUMBER, WHOLE, Share
from shuffledp.cli.shared_options import absent_option, json_option
from shuffledp.cli.waiting import naming
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require_feature
from shuffledp.planning.frequency_plan import plan_frequency
from shuffledp.planning.items_table import items_plan_table, items_plan_to_dict
from shuffledp.planning.mean_plan import plan_mean
from shuffledp.planning.plan_table import plan_tables
from shuffledp.planning.protocol_plan import ProtocolPlan, Wish

Command = Callable[..., Any]

_SHARED = (
    click.option(
        "--levels",
        metavar=parse.LEVEL_COUNTS,
        help="Privacy levels (budgets on the device), and people at each.",
    ),
    click.option(
        "--targets",
        metavar=parse.LEVEL_COUNTS,
        help="Instead of --levels: central epsilons, and people at each. Every protocol "
        "gets the largest levels that keep them.",
    ),
    click.option(
        "--delta",
        type=NUMBER,
        default=1e-6,
        show_default=True,
        help="At which central guarantees are stated.",
    ),
    absent_option,
    json_option,
)


def _wish_options(command: Command) -> Command:
    """Adds the options of every plan, which arrive as `wish` and `as_json`."""

    @functools.wraps(command)
    def with_wish(
        *,
        levels: str | None,
        targets: str | None,
        delta: float,
        absent: int | Share,
        **given: Any,
    ) -> None:
        # One of them decides whether epsilons hold on the device or after the shuffle.
        if (levels is None) == (targets is None):
            raise InvalidInputError(
                "Expected either --levels (on the device) or --targets (central "
                f"epsilons), as {parse.LEVEL_COUNTS}."
            )
        # Errors name the option that was used.
        option = "--levels" if targets is None else "--targets"
        # One of them was given: "" is for the type checker alone.
        people = parse.level_counts(levels or targets or "", option)
        pairs = zip(people.epsilons.tolist(), people.counts.tolist(), strict=True)
        # The keys are local epsilons with --levels, and central ones with --targets.
        counts = dict(pairs)
        left_out = num_absent(absent, people.num_users)
        wish = Wish(
            counts if targets is None else None,
            None if targets is None else counts,
            delta,
            left_out,
        )
        command(wish=wish, **given)

    # click lists options from the last decorator that was applied to the first.
    for option in reversed(_SHARED):
        with_wish = option(with_wish)
    return with_wish


@click.group("plan")
def plan_command() -> None:
    """Choose a protocol: predicted errors and certified guarantees, side by side.

    Give people and their levels, which hold on the device (--levels), or people and their
    central epsilons after the shuffle (--targets). The best protocol is recommended, with
    the reason; a trusted curator, the local model and one choice for all people stand
    beside it for comparison.
    """


@plan_command.command("mean")
@click.option("--low", type=NUMBER, required=True, help="Smallest possible value.")
@click.option("--high", type=NUMBER, required=True, help="Largest possible value.")
@click.option(
    "--mean", type=NUMBER, help="What the mean may be [the middle of the range]."
)
@click.option(
    "--spread",
    type=NUMBER,
    default=0.0,
    help="What the standard deviation of the values may be [0: errors of one-bit messages "
    "are then the largest possible].",
)
@_wish_options
def mean_command(
    wish: Wish,
    low: float,
    high: float,
    mean: float | None,
    spread: float,
    as_json: bool,
) -> None:
    """Plan the mean of bounded numbers.

    \b
    Examples:
      shuffledp plan mean --low 20 --high 80 --levels 0.1:5400,0.5:3700,1.0:900
      shuffledp plan mean --low 0 --high 1 --targets 0.02:5400,0.05:3700 --delta 1e-8
    """
    with naming("plan") as on_step:
        plan = plan_mean(
            wish, low=low, high=high, mean=mean, spread=spread, on_step=on_step
        )
    _print(plan, as_json)


@plan_command.command("frequency")
@click.option(
    "--categories", type=WHOLE, required=True, metavar="K", help="How many values."
)
@click.option(
    "--share",
    type=NUMBER,
    help="Of the category whose error is predicted [1 / K].",
)
@_wish_options
def frequency_command(
    wish: Wish, categories: int, share: float | None, as_json: bool
) -> None:
    """Plan the frequencies of K categories.

    \b
    Examples:
      shuffledp plan frequency --categories 17 --levels 0.5:2500,1.0:5000,2.0:2500
      shuffledp plan frequency --categories 128 --targets 0.05:5000,0.1:5000 --delta 1e-8
    """
    with naming("plan") as on_step:
        plan = plan_frequency(
            wish, num_categories=categories, share=share, on_step=on_step
        )
    _print(plan, as_json)


@plan_command.command("items")
@click.option("--items", type=WHOLE, required=True, metavar="D", help="How many items.")
@click.option(
    "--set-size",
    type=WHOLE,
    required=True,
    metavar="S",
    help="The most items that anybody holds.",
)
@click.option(
    "--max-messages",
    type=WHOLE,
    metavar="B",
    help="The largest report, in messages [as many as the error asks for].",
)
@click.option(
    "--targets",
    metavar=parse.LEVEL_COUNTS,
    required=True,
    help="Central epsilons that people ask for, and people at each.",
)
@click.option("--delta", type=NUMBER, help="At which they are stated [0.01 / people].")
@absent_option
@click.option(
    "--published",
    is_flag=True,
    help="Show beside it what Wang et al. (2025) publish for the same people: the chances "
    "that their Theorem 3 states to keep the targets, at the blanket of the least error "
    "bound. Not certified.",
)
@click.option(
    "--blanket",
    type=NUMBER,
    metavar="M",
    help="With --published: blanket messages per person in the mean [the best].",
)
@json_option
def items_command(
    items: int,
    set_size: int,
    max_messages: int | None,
    targets: str,
    delta: float | None,
    absent: int | Share,
    published: bool,
    blanket: float | None,
    as_json: bool,
) -> None:
    """Plan a collection of sets: which items do people hold?

    Finds the blanket messages per person, and the probability to send an item at each
    target, that have the smallest error and keep the target of each person.

    \b
    Examples:
      shuffledp plan items --items 128 --set-size 4 --targets 0.5:1250,1:2500,2:1250
      shuffledp plan items --items 128 --set-size 1 --targets 0.5:5000 --published \\
        --blanket 1
    """
    if blanket is not None and not published:
        raise InvalidInputError("Expected --blanket only with --published.")
    if published and absent:
        raise InvalidInputError(
            "Expected --published without --absent: Theorem 3 counts everybody."
        )
    # Before the plan is computed: it may not be installed.
    papers = require_feature("items-plan", what="--published") if published else None
    people = parse.level_counts(targets, "--targets")
    # With a delta of 1 / people, publishing one person's value would be allowed.
    stated_at = 0.01 / people.num_users if delta is None else delta
    with naming("plan"):
        plan = optimize_items(
            people,
            num_items=items,
            set_size=set_size,
            delta=stated_at,
            max_messages=max_messages,
            absent=num_absent(absent, people.num_users),
        )
        paper = None
        if papers is not None:
            paper = papers.published_plan(
                people,
                num_items=items,
                set_size=set_size,
                delta=stated_at,
                blanket=blanket,
            )
    if as_json:
        beside = {} if paper is None else {"published": paper.to_dict()}
        show_json(items_plan_to_dict(plan) | beside)
        return
    show(items_plan_table(plan))
    if papers is not None:
        show("")
        show(papers.published_plan_table(paper))


def _print(plan: ProtocolPlan, as_json: bool) -> None:
    if as_json:
        show_json(plan.to_dict())
        return
    show(plan_tables(plan))
