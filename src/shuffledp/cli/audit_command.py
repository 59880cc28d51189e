"""`shuffledp audit`: evidence from outside."""

import click

from shuffledp.cli.installed_commands import LazyCommand
from shuffledp.cli.lazy_group import LazyGroup

_COMMANDS = {
    "randomizer": LazyCommand(
        "shuffledp.cli.audit_randomizer:randomizer_command",
        "Test any program or function that maps a value and a level to a message.",
    ),
    "accountant": LazyCommand(
        "shuffledp.cli.audit_accountant:accountant_command",
        "Test an accountant on small collections whose truth is enumerated.",
    ),
}


@click.group("audit", cls=LazyGroup, entries=_COMMANDS, path="audit")
def audit_group() -> None:
    """Test from outside whether promises are kept and stated guarantees are true.

    \b
    Our devices:        shuffledp audit randomizer laplace --levels 0.5,1
    A Python function:  shuffledp audit randomizer mymodule:client --levels 1 --values 0,1
    Any other program:  shuffledp audit randomizer "node client.js" --levels 1 --values 0,1
    An accountant:      shuffledp audit accountant
    A collection:       shuffledp audit canaries --help, then shuffledp audit collection

    A test that finds a broken promise proves it. A test that finds nothing proves nothing;
    the violations that it could find are listed before it starts.
    """
