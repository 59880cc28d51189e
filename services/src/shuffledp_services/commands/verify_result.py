"""`shuffledp verify --task`: checks a published result of a service as a whole."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from shuffledp.cli.console import show, show_json
from shuffledp.cli.verify_command import show_verification
from shuffledp.cli.waiting import working
from shuffledp.errors import ShuffledpError
from shuffledp.statistics.certificate_parts import WHOLE
from shuffledp.statistics.verify_certificate import verify
from shuffledp.strict_json import read_json_file
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.storage.key_files import load_task


def verify_result(result: Path, path: Path, *, as_json: bool) -> NoReturn:
    """Checks a published result as a whole, prints the verdict, and exits."""
    task, record = load_task(path), read_json_file(result)
    verification = None
    with working("certify"):
        problems = problems_in(record, task)
        try:
            # All else in it was compared above.
            verification = replace(verify(record), file=str(result), parts=(WHOLE,))
        except ShuffledpError as error:
            problems += (f"its certificate: {error}",)
    unproven = () if verification is None else verification.problems
    is_false = bool(problems or unproven)
    if as_json:
        answer = {"file": str(result), "parts": [WHOLE]}
        if verification is not None:
            answer |= verification.to_dict()
        show_json(answer | {"holds": not is_false, "problems": [*problems, *unproven]})
        sys.exit(1 if is_false else 0)
    if is_false:
        click.echo("The result does NOT hold:")
        # Not `show`, which would wrap them: scripts count and search lines.
        for problem in (*problems, *unproven):
            click.echo(f"  - {problem}")
        sys.exit(1)
    assert verification is not None  # A failed verification is one of `problems`.
    show(
        "The result holds: the task's analyst signed it, its estimate follows from its "
        "tally, and the spent epsilons follow from its certificate. Only the analyst can "
        "know that the tally counts what people sent; whether a message was counted: "
        "shuffledp device check.\n"
    )
    show_verification(verification)
    sys.exit(0)
