"""`shuffledp enrol`: tokens for the people who may take part."""

from pathlib import Path

import click

from shuffledp.cli.task import FOLDER


@click.command("enrol")
@FOLDER
@click.option(
    "--count", type=click.IntRange(1, 10**8), required=True, help="How many people."
)
@click.option(
    "--epoch",
    type=click.IntRange(1, 2**32 - 1),
    default=1,
    show_default=True,
    help="When they may answer.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("tokens.txt"),
    show_default=True,
    help="A new file, which you alone can read.",
)
def enrol_command(folder: Path, count: int, epoch: int, output: Path) -> None:
    """Write one token per person: each may answer once in its epoch.

    A token is base64url, one per line; a person gets it as a link, say, to the page
    where she takes part. Do not note who got which one: the shuffler sees tokens.

    FOLDER needs task.json and shuffler.json.
    """
    from shuffledp.service.secrets import (  # Needs the extra.
        SHUFFLER_FILE,
        ShufflerSecrets,
        load_task,
        write_new,
    )
    from shuffledp.service.shuffler.hosted import ShufflerHost
    from shuffledp.service.wire.canonical import to_text
    from shuffledp.service.wire.tokens import issue_tokens

    task = load_task(folder)
    # Refuses the keys of another task: its shuffler would refuse every token.
    secrets = ShufflerHost(task, ShufflerSecrets.load(folder / SHUFFLER_FILE)).secrets
    tokens = issue_tokens(secrets.token_key, task.task_id, epoch, count)
    write_new(output, "".join(f"{to_text(token)}\n" for token in tokens), mode=0o600)
    click.echo(f"{count:,} tokens for epoch {epoch} are in {output}.")
