"""`shuffledp plan`: protocols with predicted errors and certified guarantees."""

from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.console import show, show_json
from shuffledp.cli.mechanism import num_absent
from shuffledp.cli.number_types import NUMBER, Share
from shuffledp.cli.parameter_option import parameter_option
from shuffledp.cli.shared_options import absent_option, json_option
from shuffledp.cli.waiting import naming
from shuffledp.errors import InvalidInputError
from shuffledp.planning.plan_declaration import PlanDeclaration
from shuffledp.planning.wish import Wish
from shuffledp.statistics.statistic_catalog import PLANS, plan_named

_LEVELS = click.option(
    "--levels",
    metavar=parse.LEVEL_COUNTS,
    help="Privacy levels (budgets on the device), and people at each.",
)
_TARGETS = click.option(
    "--targets",
    metavar=parse.LEVEL_COUNTS,
    help="Instead of --levels: central epsilons, and people at each. Every protocol "
    "gets the largest levels that keep them.",
)
_TARGETS_ALONE = click.option(
    "--targets",
    metavar=parse.LEVEL_COUNTS,
    required=True,
    help="Central epsilons that people ask for, and people at each.",
)

_DELTA = click.option(
    "--delta",
    type=NUMBER,
    default=1e-6,
    show_default=True,
    help="At which central guarantees are stated.",
)


@click.group("plan")
def plan_command() -> None:
    """Choose a protocol: predicted errors and certified guarantees, side by side.

    Give people and their levels, which hold on the device (--levels), or people and their
    central epsilons after the shuffle (--targets). The best protocol is recommended, with
    the reason; a trusted curator, the local model and one choice for all people stand
    beside it for comparison.
    """


def _subcommand(name: str, declaration: PlanDeclaration) -> click.Command:
    """Returns the command that computes the plan of one statistic."""

    def compute(
        *,
        targets: str | None,
        delta: float,
        absent: int | Share,
        as_json: bool,
        levels: str | None = None,
        **values: Any,
    ) -> None:
        wish = _wish(levels, targets, delta, absent)
        with naming("plan") as on_step:
            plan = declaration.compute(wish, on_step=on_step, **values)
        if as_json:
            show_json(plan.record())
        else:
            show(plan.tables())

    options = [
        *(
            parameter_option(
                parameter,
                f"{parameter.help}.",
                required=parameter.required,
                default=parameter.default,
            )
            for parameter in declaration.parameters
        ),
        *((_LEVELS, _TARGETS) if declaration.takes_levels else (_TARGETS_ALONE,)),
        _DELTA,
        absent_option,
        json_option,
    ]
    command: Any = compute
    # click lists options from the last decorator that was applied to the first.
    for option in reversed(options):
        command = option(command)
    return click.command(name, help=declaration.description)(command)


def _wish(
    levels: str | None, targets: str | None, delta: float, absent: int | Share
) -> Wish:
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
    # The keys are local epsilons with --levels, and central ones with --targets.
    counts = dict(zip(people.epsilons.tolist(), people.counts.tolist(), strict=True))
    return Wish(
        counts if targets is None else None,
        None if targets is None else counts,
        delta,
        num_absent(absent, people.num_users),
    )


for _name in PLANS:
    plan_command.add_command(_subcommand(_name, plan_named(_name)))
