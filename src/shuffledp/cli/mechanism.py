"""Options for the mechanism of the devices and for the population."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from shuffledp.accounting.exposure import Certifiable
from shuffledp.accounting.joint.protocol_composition import (
    ProtocolComposition,
    one_protocol,
)
from shuffledp.cli import parse
from shuffledp.cli.number_types import WHOLE, Share
from shuffledp.cli.shared_options import absent_option
from shuffledp.cover import LocalRandomizer
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.mechanism_text import MechanismText
from shuffledp.randomizers.parameters import parameters_of
from shuffledp.statistics.message_text import MessageText, read_message
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.statistics.statistic_text import read_statistic

Command = Callable[..., Any]


class _MessageType(click.ParamType):  # type: ignore[type-arg]
    """A mechanism with its parameters and its mode, as `read_message` takes it."""

    name = "mechanism"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> MessageText:
        """Returns the mechanism and its mode, or fails with the reason."""
        # click also passes values that were converted before.
        if isinstance(value, MessageText):
            return value
        try:
            return read_message(value)
        except InvalidInputError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Returns the mechanisms whose names begin so."""
        return [
            CompletionItem(name) for name in MECHANISMS if name.startswith(incomplete)
        ]


def _mechanism_option(**usual: Any) -> Callable[[Command], Command]:
    return click.option(
        "--mechanism",
        type=_MessageType(),
        metavar="NAME(PARAMETER=VALUE,...)",
        help="What the devices run, with its parameters, such as "
        '"laplace(low=0, high=4)"; shuffledp mechanisms lists them. With '
        "mode=stratified among these, levels travel with messages, and not apart.",
        **usual,
    )


_CATEGORIES = click.option(
    "--categories",
    type=WHOLE,
    metavar="K",
    help="In place of categories=K with --mechanism.",
)
_STATISTIC = click.option(
    "--statistic",
    "statistics",
    multiple=True,
    metavar="NAME(PARAMETER=VALUE,...)",
    help="In place of --mechanism: a statistic with the parameters of its class in Python "
    "(`randomizer` is `mechanism` here), such as "
    '"frequency(num_categories=17)" or "mean(low=0, high=10, '
    'mechanism=laplace)"; a mechanism; or FILE.json, the protocol of a certificate of one '
    "round. Given several times: all of them with the same people, certified together.",
)
rounds_option = click.option(
    "--rounds",
    type=WHOLE,
    default=1,
    show_default=True,
    help="How often the same people take part.",
)
coordinates_option = click.option(
    "--coordinates",
    type=WHOLE,
    default=1,
    show_default=True,
    help="Messages per person and round, each shuffled apart.",
)

_PEOPLE = (
    click.option(
        "--levels",
        metavar=parse.LEVEL_COUNTS,
        help="Privacy levels and people at each.",
    ),
    click.option(
        "--budgets",
        type=click.Path(),
        metavar="FILE",
        help="Instead of --levels: one epsilon per person, as text, .npy, CSV or Parquet.",
    ),
    click.option(
        "--column", metavar="NAME", help="The column of a CSV or Parquet file."
    ),
)


def message_option(command: Command) -> Command:
    """Adds --mechanism, which arrives as a protocol of one message, `protocol`."""

    @functools.wraps(command)
    def with_protocol(*, mechanism: MessageText, **given: Any) -> None:
        named, mode = mechanism
        randomizer = build(named.name, named.parameters)
        command(protocol=SingleMessage(randomizer, mode), **given)

    return _mechanism_option(required=True)(with_protocol)


def protocol_options(command: Command) -> Command:
    """Adds --statistic, --mechanism and --categories; they arrive as `protocol`."""

    @functools.wraps(command)
    def with_protocol(
        *,
        statistics: tuple[str, ...],
        mechanism: MessageText,
        categories: int | None,
        **given: Any,
    ) -> None:
        if statistics:
            command(protocol=_composed(statistics), **given)
            return
        named, mode = mechanism
        command(protocol=SingleMessage(_built(named, categories), mode), **given)

    usual = _mechanism_option(default=MECHANISMS[0], show_default=True)
    return _with_options((_STATISTIC, usual, _CATEGORIES), with_protocol)


def _composed(statistics: tuple[str, ...]) -> Certifiable | LocalRandomizer:
    """Returns the statistics, certified together.

    Raises:
        InvalidInputError: If the mechanism of one message is given, too.
    """
    context = click.get_current_context()
    for name in ("mechanism", "categories"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise InvalidInputError(
                f"Expected --statistic without --{name}, which is one of its "
                'parameters: "frequency(num_categories=4, mode=stratified)".'
            )
    parts: list[Any] = []
    for protocol in map(read_statistic, statistics):
        # A certificate may be about several protocols itself.
        if isinstance(protocol, ProtocolComposition):
            parts += protocol.parts
        else:
            parts.append(protocol)
    # One that is listed once is that statistic, as in Python.
    return one_protocol(parts)


def _built(mechanism: MechanismText, categories: int | None) -> LocalRandomizer:
    """Returns a mechanism whose number of categories may be an option of its own.

    Raises:
        InvalidInputError: If parameters are missing, out of range or given twice.
    """
    # --categories is another spelling of the mechanism's parameter of this name.
    further_terms = {} if categories is None else {"categories": categories}
    if "categories" in mechanism.parameters and further_terms:
        raise InvalidInputError(f"Expected {mechanism} without --categories.")
    kinds = parameters_of(mechanism.name)
    needed_names = {parameter.name for parameter in kinds if parameter.default is None}
    if "categories" in needed_names - {*mechanism.parameters, *further_terms}:
        raise InvalidInputError(
            f"Expected --categories K, the number of categories, with --mechanism "
            f"{mechanism.name}."
        )
    return build(mechanism.name, {**mechanism.parameters, **further_terms})


def circumstance_options(command: Command) -> Command:
    """Adds --absent, --rounds and --coordinates."""
    return _with_options((absent_option, rounds_option, coordinates_option), command)


def people_options(command: Command) -> Command:
    """Adds --levels, --budgets and --column; `read_people` reads them."""
    return _with_options(_PEOPLE, command)


def read_people(
    levels: str | None, budgets: str | None, column: str | None
) -> Population:
    """Returns the population that --levels or --budgets describe."""
    if column is not None and budgets is None:
        raise InvalidInputError("Expected --column only together with --budgets.")
    if (levels is None) == (budgets is None):
        got = "neither" if levels is None else "both"
        raise InvalidInputError(f"Expected either --levels or --budgets, got {got}.")
    if budgets is None:
        # --levels was given: "" is for the type checker alone.
        return parse.level_counts(levels or "")
    return Population.from_budgets(read_budgets(Path(budgets), column))


def num_absent(absent: int | Share, num_users: int) -> int:
    """Returns the number of people who may be absent or collude."""
    return absent.of(num_users) if isinstance(absent, Share) else absent


def _with_options(
    options: tuple[Callable[[Command], Command], ...], command: Command
) -> Command:
    # click lists options from the last decorator that was applied to the first.
    for option in reversed(options):
        command = option(command)
    return command
