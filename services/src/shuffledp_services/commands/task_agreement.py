"""`shuffledp task init`, `create` and `sign`: the agreement of three parties on a task."""

from pathlib import Path
from typing import Any, get_args

import click

from shuffledp.cli import parse
from shuffledp.cli.number_types import NUMBER, WHOLE
from shuffledp.cli.waiting import working
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.statistic_catalog import SURVEYS
from shuffledp.types import Mode
from shuffledp_services.commands.task_display import (
    show_promises,
    show_task,
    tolerance_text,
)
from shuffledp_services.commands.task_rotation import replaced
from shuffledp_services.commands.task_terms import (
    KINDS,
    choices_of,
    minimum_of,
    notice_of,
    question_of,
    question_options,
)

FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))


@click.command("init")
@click.argument("role", type=click.Choice(["analyst", "shuffler", "enroller"]))
@FOLDER
@click.option(
    "--suite",
    type=click.Choice(["x25519", "x-wing"]),
    help="The analyst's: how messages are sealed; x-wing also against quantum "
    "computers, and 20 times longer [x25519].",
)
@click.option(
    "--dummies",
    is_flag=True,
    help="The shuffler's, for tasks with --noise shuffler: also draw dummies.json, the "
    "secret of the noise that it adds.",
)
def init_command(role: str, folder: Path, suite: str | None, *, dummies: bool) -> None:
    """Draw the keys of one party, on its own machine.

    Writes ROLE.json, which is secret and stays where it is, and ROLE.public.json: the
    analyst needs those of the shuffler and the enroller to make a task.
    """
    # Imported here: services need an extra.
    from shuffledp_services.operator.task_signatures import draw_keys
    from shuffledp_services.wire.parties import Role
    from shuffledp_services.wire.sealing import Suite

    if suite is not None and role != "analyst":
        raise InvalidInputError(
            "Expected no --suite: messages are sealed for the analyst."
        )
    if dummies and role != "shuffler":
        raise InvalidInputError("Expected no --dummies: the shuffler draws them.")
    # Not a default of the option: others may not give --suite at all.
    secret, public = draw_keys(
        folder, Role(role), Suite(suite or "x25519"), dummies=dummies
    )
    click.echo(f"{secret} is secret, and stays on this machine.")
    if dummies:
        click.echo(
            f"{folder / 'dummies.json'} is secret, too: who reads it can subtract the "
            "noise. Keep a copy of it where the shuffler keeps its keys."
        )
    click.echo(f"{public} is for the other parties.")


@click.command("create")
@FOLDER
@click.option("--name", required=True, help="What people call it.")
@click.option(
    "--asker", required=True, help="Who asks, as people read it before they answer."
)
@click.option(
    "--contact", required=True, help="How to reach them: an address, a telephone."
)
@click.option(
    "--consent",
    required=True,
    metavar="TEXT",
    help="What people agree to: what for, who gets results, how long they are kept.",
)
@click.option("--question", required=True, metavar="TEXT", help="As people read it.")
@click.option(
    "--language", default="en", show_default=True, help="Of these texts: en, de, pt-BR."
)
@click.option(
    "--translation",
    "translations",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Them in another language, such as de.json: language, name, question, answers "
    "(a list in the order of the options; of several questions the text of each, and then "
    "its options), consent.",
)
@click.option(
    "--statistic",
    type=click.Choice(SURVEYS),
    default=SURVEYS[0],
    show_default=True,
    # Statistics describe themselves: a new one appears here by itself.
    help=f"{'; '.join(kind.asks for kind in KINDS.values()).capitalize()}.",
)
@question_options
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="agnostic",
    show_default=True,
    help="Agnostic: people hide among everybody, and the analyst learns how many chose a "
    "level, no more. Stratified: among their own level.",
)
@click.option(
    "--levels",
    metavar="EPSILON,...",
    help="Privacy levels on offer: local budgets.",
)
@click.option(
    "--targets",
    metavar="EPSILON,...",
    help=f"Instead, for {', '.join(n for n, kind in KINDS.items() if kind.central)}: "
    "central epsilons on offer.",
)
@click.option(
    "--minimum",
    required=True,
    metavar="PEOPLE[,...]",
    help="Nothing is released before every level has so many people: one number for "
    "all levels, or one for each. With --targets: in all.",
)
@click.option(
    "--promise",
    metavar="EPSILON,...",
    help="Central epsilon that each level is promised per epoch [what the minimum keeps].",
)
@click.option(
    "--delta",
    type=NUMBER,
    default=1e-6,
    show_default=True,
    help="At which promises are stated: far below one in the number of people.",
)
@click.option(
    "--absent",
    type=WHOLE,
    help="How many of those who answer may collude or send noise; they hide nobody [a "
    "hundredth of the smallest minimum]. As many reports as that default may turn out to "
    "be spoiled besides.",
)
@click.option(
    "--epochs",
    type=WHOLE,
    default=10,
    show_default=True,
    help="How often it may be asked: the allowance is as many promises.",
)
@click.option(
    "--shuffler",
    "shuffler_part",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The shuffler's public part: shuffler.public.json.",
)
@click.option(
    "--enroller",
    "enroller_part",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The enroller's public part: enroller.public.json.",
)
def create_command(folder: Path, **given: Any) -> None:
    """Make a task in the analyst's FOLDER, and sign it.

    \b
    Examples
      shuffledp task create commuting --name Commuting \\
        --asker "City of Example" --contact mobility@city.example \\
        --consent "Shares are published; the city plans bike lanes with them." \\
        --question "How do you get to work?" \\
        --category bike --category train --category car --category walk \\
        --levels 0.5,1,2 --minimum 1000 --epochs 12 \\
        --shuffler shuffler.public.json --enroller enroller.public.json
      shuffledp task create sleep --name Sleep --statistic mean --low 0 --high 14 \\
        --asker "Sleep Lab" --contact lab@uni.example --translation de.json \\
        --consent "The average is published in a study of sleep." \\
        --question "How many hours did you sleep?" --levels 0.5,1 --minimum 2000,500 \\
        --promise 0.05,0.15 --delta 1e-7 \\
        --shuffler shuffler.public.json --enroller enroller.public.json

    Promises that the smallest number of people cannot keep are refused.
    """
    # Imported here: services need an extra.
    from shuffledp_services.operator.task_setup import create_task
    from shuffledp_services.operator.task_signatures import (
        load_dummy_commitment,
        load_public_part,
    )
    from shuffledp_services.wire.parties import Role

    choices = choices_of(given)
    promise = given["promise"]
    with working("certify the smallest number of people"):
        task = create_task(
            folder,
            name=given["name"],
            notice=notice_of(given),
            question=question_of(given),
            choices=choices,
            minimum=minimum_of(given["minimum"], len(choices)),
            # None asks for the smallest promises that the minimum keeps.
            promise=promise and tuple(parse.number_list(promise, "--promise")),
            delta=given["delta"],
            absent=given["absent"],
            epochs=given["epochs"],
            shuffler_key=load_public_part(given["shuffler_part"], Role.SHUFFLER),
            enroller_key=load_public_part(given["enroller_part"], Role.ENROLLER),
            dummy_commitment=load_dummy_commitment(given["shuffler_part"]),
        )
    show_promises(task)
    click.echo(tolerance_text(task))
    click.echo(
        f"{folder / 'task.json'} is for everybody; shuffler and enroller sign it, too: "
        "shuffledp task sign."
    )


@click.command("sign")
@FOLDER
def sign_command(folder: Path) -> None:
    """Show all of the task in FOLDER, and sign it with the keys that are there.

    Compare the sha256 with that of the other parties. FOLDER needs task.json and the
    party's own keys; the signature, task.ROLE.sig, is for the other two. A task that
    replaces keys needs former.task.json, too, and may differ from it in nothing else.
    """
    # Imported here: services need an extra.
    from shuffledp_services.operator.task_signatures import (
        load_former,
        roles_in,
        sign,
        signature_file,
        unsigned,
    )
    from shuffledp_services.storage.key_files import load_task
    from shuffledp_services.wire.succession import check_succession

    task, roles = load_task(folder), roles_in(folder)
    former = load_former(folder, task)
    if not roles:
        hint = "" if former is None else ", or a copy of yours if the task keeps them"
        raise DataError(f"Expected keys in {folder}: shuffledp task init{hint}.")
    # First the signatures of the others: a false one is refused before we sign.
    missing = unsigned(folder, task)
    if former is not None:
        # Refused here if it changes more than keys: people agreed to the rest.
        click.echo(replaced(former, check_succession(task, former)))
    # Before the signature: a party signs what it has seen whole.
    show_task(task)
    for role in roles:
        if role in missing:
            click.echo(f"{sign(folder, role)} is for the other parties.")
    # Read again: our own signatures are there by now.
    for role in unsigned(folder, task):
        click.echo(f"{signature_file(role)} is still missing.")
