"""Numbers on the command line are written in the digits 0 to 9."""

from collections.abc import Iterator

import click
import pytest
from command_line import Command

from shuffledp.cli.main import app
from shuffledp.cli.number_types import NUMBER, WHOLE, NumberRange, WholeRange

FULL_WIDTH, DEVANAGARI = "\uff11\uff10\uff10", "\u0967\u0966\u0966"
ACCOUNT = ("account", "--categories", "5", "--levels", "1:100", "--delta", "1e-6")
ACCOUNT_OF_ANY = ("account", "--levels", "1:100", "--delta", "1e-6")
CALIBRATED = ("--mechanism", "one-bit", "--levels", "1:100", "--delta", "1e-6")


def commands(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    if not isinstance(command, click.Group):
        yield command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from commands(found, click.Context(found, parent=context))


@pytest.mark.parametrize("number", [FULL_WIDTH, DEVANAGARI, "1_00"])
@pytest.mark.parametrize(
    "arguments",
    [
        (*ACCOUNT, "--levels", "1:{}"),
        (*ACCOUNT, "--levels", "{}:100"),
        (*ACCOUNT, "--rounds", "{}"),
        (*ACCOUNT, "--delta", "{}e-9"),
        ("quickstart", "--people", "{}"),
        ("calibrate", "rounds", *CALIBRATED, "--targets", "{}"),
        ("train", "apes", "--dataset", "digits", "--rounds", "{}"),
        ("train", "apes", "--dataset", "digits", "--levels", "1:0.{},2:0.9"),
    ],
    ids=range(8),
)
def test_numbers_in_other_digits_are_refused(
    arguments: tuple[str, ...], number: str, command: Command
) -> None:
    outcome = command(*(part.format(number) for part in arguments))

    assert outcome.is_refusal
    assert "Expected" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        (*ACCOUNT, "--levels", "1e-400:100"),
        (*ACCOUNT, "--levels", "1:100", "--epsilon", "1e-400"),
        ("train", "apes", "--dataset", "digits", "--levels", "1:1,2:.1E-999"),
    ],
    ids=range(3),
)
def test_numbers_are_not_read_as_0_for_being_small(
    arguments: tuple[str, ...], command: Command
) -> None:
    outcome = command(*arguments)

    assert outcome.is_refusal
    assert "from 5e-324" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        (*ACCOUNT[:-2], "--epsilon", "{}"),
        (*ACCOUNT_OF_ANY, "--mechanism", "one-bit(low={})"),
        (*ACCOUNT_OF_ANY, "--statistic", "mean(low={}, high=1)"),
        ("plan", "mean", "--low", "{}", "--high", "1", "--levels", "1:1000"),
    ],
    ids=range(4),
)
def test_minus_zero_is_written_as_0(
    arguments: tuple[str, ...], command: Command
) -> None:
    of_zero, of_minus_zero = (
        command(*(part.format(zero) for part in arguments), "--json")
        for zero in ("0", "-0")
    )

    assert of_minus_zero.out == of_zero.out != ""


def test_every_number_of_every_command_is_of_these_types() -> None:
    click_only = []
    for found in commands(app, click.Context(app)):
        for option in found.params:
            kind = option.type
            ours = isinstance(
                kind, type(WHOLE) | type(NUMBER) | NumberRange | WholeRange
            )
            numeric = isinstance(
                kind, click.types.IntParamType | click.types.FloatParamType
            )
            if numeric and not ours:
                click_only.append((found.name, option.name))

    assert click_only == []
