"""`shuffledp explore`: an interactive page of levels, people and guarantees."""

import webbrowser

import click

from shuffledp.cli.number_types import WholeRange
from shuffledp.cli.waiting import working


@click.command("explore")
@click.option(
    "--port",
    type=WholeRange(0, 65535),
    default=0,
    help="Of 127.0.0.1 [any that is free].",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
def explore_command(port: int, no_browser: bool) -> None:
    """Play with levels and people on a page, and see the certified guarantees.

    Sliders set the number of people at each level; beside them stand the certified epsilon
    after the shuffle, the lower bound of an attack, and the error to expect. The address
    holds the settings; certificate, Python and command line can be copied. The page is
    served to this machine only, and nothing leaves it.

    \b
    Examples:
      shuffledp explore
      shuffledp explore --port 8080 --no-browser
    """
    # The import is slow enough for a spinner.
    with working("start"):
        from shuffledp_services.explore.explore_server import (
            run_explore,  # Needs the extra.
        )

    def started(url: str) -> None:
        click.echo(f"{url}/ - Ctrl-C ends it.")
        if not no_browser:
            webbrowser.open(f"{url}/")

    run_explore(port, started)
