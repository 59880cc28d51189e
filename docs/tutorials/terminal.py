"""What tutorials do first: a folder of their own, and a terminal for `%%bash`."""

import os
import subprocess
import tempfile

from IPython.core.getipython import get_ipython


def prepare() -> None:
    """Goes to an empty folder; cells that begin with `%%bash` show all they print at once.

    The magic of the same name shows it in pieces of a hundred characters, and colors.
    """
    os.chdir(tempfile.mkdtemp(prefix="tutorial-"))
    for name in ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        os.environ.pop(name, None)
    os.environ |= {"COLUMNS": "90", "TERM": "dumb"}
    shell = get_ipython()
    assert shell is not None
    shell.register_magic_function(_run, "cell", "bash")


def _run(_line: str, cell: str) -> None:
    """Runs the commands of a cell; one that fails fails the cell."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", cell],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout, end="")
    done.check_returncode()
