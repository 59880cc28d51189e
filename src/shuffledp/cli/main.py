"""The `shuffledp` command."""

import logging
import os
import sys
from importlib.metadata import entry_points
from typing import Any

import click

from shuffledp.cli.former_spellings import option_successor
from shuffledp.cli.installed_commands import GROUP, LazyCommand
from shuffledp.cli.interrupt_record import InterruptRecord
from shuffledp.cli.lazy_group import LazyGroup
from shuffledp.cli.standard_streams import StandardStreams
from shuffledp.errors import ShuffledpError
from shuffledp.version import __version__

_COMMANDS = {
    # Help texts repeat the commands' own first lines, which would have to be imported.
    "quickstart": LazyCommand(
        "shuffledp.cli.quickstart_command:quickstart_command",
        "Watch a whole collection: no file, no network, a report at the end.",
    ),
    "account": LazyCommand(
        "shuffledp.cli.account_command:account_command",
        "Certify the central guarantee of each privacy level after the shuffle.",
    ),
    "mechanisms": LazyCommand(
        "shuffledp.cli.mechanisms_command:mechanisms_command",
        "List the mechanisms of devices; with NAME, explain its parameters.",
    ),
    "calibrate": LazyCommand(
        "shuffledp.cli.calibrate_command:calibrate_command",
        "Find the levels, the crowd or the rounds that keep central targets.",
    ),
    "verify": LazyCommand(
        "shuffledp.cli.verify_command:verify_command",
        "Recompute a certificate from its inputs, and compare.",
    ),
    "plan": LazyCommand(
        "shuffledp.cli.plan_command:plan_command",
        "Choose a protocol: predicted errors and certified guarantees, side by side.",
    ),
    "estimate": LazyCommand(
        "shuffledp.cli.estimate_command:estimate_command",
        "Rehearse a collection on known values: of one kind, or answers to many questions.",
    ),
    "audit": LazyCommand(
        "shuffledp.cli.audit_command:audit_group",
        "Test from outside whether promises are kept and stated guarantees are true.",
    ),
    "train": LazyCommand(
        "shuffledp.cli.train_command:train_group",
        "Train a model with personal privacy levels, in a simulation on known data.",
    ),
}


class _Root(LazyGroup):
    """The group of all commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; Ctrl-C becomes `click.Abort`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # click itself would write an empty line before it raises Abort.
            raise click.Abort from None


def _versions(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    others = [entry.dist for entry in entry_points(group=GROUP) if entry.dist]
    versions = {"shuffledp": __version__} | {each.name: each.version for each in others}
    for name, version in sorted(versions.items()):
        click.echo(f"{name}, version {version}")
    if len(set(versions.values())) > 1:
        raise click.ClickException("Expected packages of one version, got those above.")
    context.exit()


@click.group(
    cls=_Root,
    entries=_COMMANDS,
    path="",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_versions,
    help="Show the versions of the packages that are installed, and exit.",
)
def app() -> None:
    """Statistics from people who each choose their own privacy level.

    Every person's value is randomized on their own device, a shuffler removes the senders
    of the messages, the analyst still gets accurate means, frequencies and counts - and
    every level gets a certified guarantee after the shuffle.

    \b
    Start here:       shuffledp quickstart
    Only the privacy: shuffledp account --categories 17 \\
                        --levels 0.5:2500,1.0:5000,2.0:2500 --delta 1e-6
    With sliders:     shuffledp explore
    The inverse:      shuffledp calibrate --help
    Which protocol:   shuffledp plan mean --low 0 --high 100 --levels 0.5:2500,1.0:7500
    Your own data:    shuffledp estimate FILE --value COLUMN --level COLUMN
    A model:          shuffledp train apes
    The papers:       shuffledp reproduce
    Their claims:     shuffledp claims
    A black box:      shuffledp audit --help
    Real people:      shuffledp serve demo; then shuffledp task --help
    """


def main() -> None:
    """Runs the command; an error is printed in one line, with exit code 2.

    If the output was closed early, the exit code is 141 instead of 0.
    """
    # NumPy reads it when it is imported. Products here are small, and threads that share
    # them wait for each other busily: most of the processor's time on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # It tells of its caches, which errors would share their one line with.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with StandardStreams() as streams, InterruptRecord() as interrupts:
        code = _exit_code(interrupts)
        code = streams.exit_code(code)
    sys.exit(code)


def _exit_code(interrupts: InterruptRecord) -> Any:
    """Runs the command, flushes its output, and returns its exit code."""
    try:
        # Without standalone mode click raises instead of printing usage over three lines.
        try:
            return app.main(prog_name="shuffledp", standalone_mode=False)
        except SystemExit as stop:
            return stop.code
        finally:
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
    except click.NoSuchOption as error:
        successor = option_successor(error)
        if successor:
            # Without click's options of near names, which would be beside the point.
            return _refuse(f"No such option {error.option_name!r}. {successor}")
        return _refuse(error.format_message())
    except click.ClickException as error:
        return _refuse(error.format_message())
    except ShuffledpError as error:
        return _refuse(str(error))
    except OSError as error:
        where = "" if error.filename is None else f" {error.filename}"
        return _refuse(f"Could not write{where}: {error.strerror}.")
    except (click.Abort, KeyboardInterrupt) as stop:
        # Commands raise Abort with a sentence about files or messages already sent.
        return _stop(str(stop))
    except Exception:
        if not interrupts.was_interrupted():
            raise
        return _stop()
    return 2


def _refuse(message: str) -> int:
    # On one line: texts of libraries may have several.
    click.echo(f"shuffledp: {' '.join(message.split())}", err=True)
    return 2


def _stop(sentence: str = "") -> int:
    # If the interrupt left a text that was executed, as those of data classes are, Python
    # would end itself by the signal, whatever the exit code; this resets it.
    exec("")
    # A terminal has written ^C to its line.
    begin = "\n" if sys.stderr.isatty() else ""
    click.echo(f"{begin}shuffledp: stopped. {sentence}".rstrip(), err=True)
    return 130
