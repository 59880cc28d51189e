"""`shuffledp audit`: evidence from outside."""

import click

from shuffledp.cli.audit_accountant import accountant_command
from shuffledp.cli.audit_canaries import canaries_command
from shuffledp.cli.audit_collection import collection_command
from shuffledp.cli.audit_randomizer import randomizer_command


@click.group("audit")
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


audit_group.add_command(randomizer_command)
audit_group.add_command(accountant_command)
audit_group.add_command(canaries_command)
audit_group.add_command(collection_command)
