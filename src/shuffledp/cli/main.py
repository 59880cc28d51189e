"""The `shuffledp` command."""

import sys

import click

from shuffledp.cli.account import account_command
from shuffledp.cli.calibrate import calibrate_command
from shuffledp.cli.court import court_command
from shuffledp.cli.device import device_group
from shuffledp.cli.enrol import enrol_command
from shuffledp.cli.estimate import estimate_command
from shuffledp.cli.plan import plan_command
from shuffledp.cli.quickstart import quickstart_command
from shuffledp.cli.reproduce import reproduce_command
from shuffledp.cli.serve import serve_group
from shuffledp.cli.task import task_group
from shuffledp.cli.train import train_group
from shuffledp.cli.verify import verify_command
from shuffledp.errors import ShuffledpError
from shuffledp.version import __version__


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96}
)
@click.version_option(__version__, prog_name="shuffledp")
def app() -> None:
    """Statistics from people who each choose their own privacy level.

    Every person's value is randomized on her own device, a shuffler removes who sent
    what, the analyst still gets accurate means, frequencies and counts - and every level
    gets a certified statement of what it is worth after the shuffle.

    \b
    Start here:       shuffledp quickstart
    Only the privacy: shuffledp account --categories 17 \\
                        --levels 0.5:2500,1.0:5000,2.0:2500 --delta 1e-6
    The inverse:      shuffledp calibrate --help
    Which protocol:   shuffledp plan mean --low 0 --high 100 --levels 0.5:2500,1.0:7500
    Your own data:    shuffledp estimate FILE --value COLUMN --level COLUMN
    A model:          shuffledp train apes
    The papers:       shuffledp reproduce
    Their claims:     shuffledp court
    Real people:      shuffledp serve demo; then shuffledp task --help
    """


app.add_command(quickstart_command)
app.add_command(account_command)
app.add_command(calibrate_command)
app.add_command(verify_command)
app.add_command(plan_command)
app.add_command(estimate_command)
app.add_command(reproduce_command)
app.add_command(court_command)
app.add_command(train_group)
app.add_command(task_group)
app.add_command(enrol_command)
app.add_command(serve_group)
app.add_command(device_group)


def main() -> None:
    """Runs the command; what goes wrong is said in one line, with exit code 2."""
    try:
        # Without standalone mode click raises instead of printing usage over three lines.
        code = app.main(prog_name="shuffledp", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        code = _refuse(error.format_message())
    except ShuffledpError as error:
        code = _refuse(str(error))
    except OSError as error:
        where = "" if error.filename is None else f" {error.filename}"
        code = _refuse(f"Could not write{where}: {error.strerror}.")
    except (click.Abort, KeyboardInterrupt):
        click.echo("shuffledp: stopped; nothing was written.", err=True)
        code = 130
    sys.exit(code)


def _refuse(message: str) -> int:
    click.echo(f"shuffledp: {' '.join(message.split())}", err=True)
    return 2
