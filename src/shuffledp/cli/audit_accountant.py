"""`shuffledp audit accountant`: certificates and formulas against enumerated truth."""

import sys
from typing import Any

import click

from shuffledp.accounting.account import account
from shuffledp.audit.accountant import (
    Accountant,
    AccountantAudit,
    WrongBound,
    audit_accountant,
)
from shuffledp.audit.isolated_process import Send, run_isolated
from shuffledp.audit.target import callable_target
from shuffledp.cli.console import show, show_json
from shuffledp.cli.number_types import NumberRange, WholeRange
from shuffledp.cli.shared_options import json_option
from shuffledp.cli.waiting import share_bar
from shuffledp.extras import require_feature

_OWN = "shuffledp"
# For the trial that was begun before time was up, and for loading the module.
_SECONDS_LEFT = 60.0


@click.command("accountant")
@click.argument("name", metavar="[MODULE:NAME|BOUND]", default=_OWN)
@click.option(
    "--seconds",
    type=NumberRange(0.0, 1e6, min_open=True),
    default=30.0,
    show_default=True,
    help="How long new collections are tried; a counterexample is made smaller for as long "
    "at most.",
)
@click.option(
    "--seed",
    type=WholeRange(0),
    default=1,
    show_default=True,
    help="A trial is reproduced by seed and number.",
)
@json_option
def accountant_command(name: str, seconds: float, seed: int, as_json: bool) -> None:
    """Test an accountant on small collections whose truth is enumerated.

    Two to six people, one to three levels, a randomizer and an epsilon are drawn at random;
    the exact divergence of the shuffled messages, over all values that people may hold, is
    compared with the delta that is stated. Without a name it is our own accountant; BOUND
    is a published one, as `shuffledp account --method` names it; MODULE:NAME is called as
    ours, with a randomizer, people and epsilon, and answers with levels that have
    epsilon_local and delta_central. Exit code 1 says that it is wrong, or stated nothing.
    MODULE runs in a process of its own, which is ended a minute after twice --seconds: its
    output goes to the error output, and its exit code is not a verdict.

    \b
    Examples:
      shuffledp audit accountant
      shuffledp audit accountant eapes --seconds 10
      shuffledp audit accountant mymodule:account --seed 7 --json
    """
    results: list[AccountantAudit] = []
    with share_bar("audit") as on_share:

        def work(send: Send) -> None:
            audit = audit_accountant(
                # In here: MODULE is imported in the other process only.
                _accountant(name),
                name,
                seconds=seconds,
                seed=seed,
                on_share=lambda share: send(("share", share)),
            )
            send(("audit", audit))

        def receive(event: tuple[str, Any]) -> None:
            kind, content = event
            if kind == "share":
                on_share(content)
            else:
                results.append(content)

        # Third-party Python in this process could print, or exit, as this command.
        if ":" in name:
            # Twice: for the trials, and for making a counterexample smaller.
            run_isolated(work, receive, seconds=2.0 * seconds + _SECONDS_LEFT)
        else:
            work(receive)
    (audit,) = results
    if as_json:
        show_json(audit.to_dict())
    else:
        show(*_audit_lines(audit))
    # An accountant that refused every trial was not tested: no success.
    sys.exit(0 if not audit.wrong and audit.refused < audit.trials else 1)


def _accountant(name: str) -> Accountant:
    if name == _OWN:
        return account
    if ":" in name:
        box: Accountant = callable_target(name).box
        return box
    accountant: Accountant = require_feature(
        "published-bound", what=f"The published bound {name!r}"
    )(name)
    return accountant


def _audit_lines(audit: AccountantAudit) -> list[str]:
    lines = [
        f"{audit.trials:,} collections were compared with the truth; {audit.name} said "
        f"nothing of {audit.refused:,}, and was wrong about {audit.wrong:,}."
    ]
    if audit.tightest is not None:
        lines.append(
            f"The smallest delta that it stated was {audit.tightest:.6g} times the exact "
            "one."
        )
    if audit.smallest is None:
        stated = audit.refused < audit.trials
        lines.append(
            "That nothing was found is not a proof."
            if stated
            else "Nothing was tested."
        )
        return lines
    return [*lines, "", *_program(audit.smallest, audit.name)]


def _program(wrong: WrongBound, name: str) -> list[str]:
    small = wrong.small
    people = ", ".join(f"{count} at {level:g}" for level, count in small.people)
    # An upper bound is wrong if the truth is above it, an attack if it is below.
    side = "at least" if wrong.wrong == "upper" else "at most"
    claim = (
        "delta is stated" if wrong.wrong == "upper" else "an attack is said to reach"
    )
    return [
        f"The smallest counterexample, made smaller from trial {wrong.trial}:",
        f"  devices: {small.device!r}",
        f"  people:  {people}; the victim is at {wrong.level:g}",
        f"  at epsilon {small.epsilon:g}, {claim} as {wrong.stated:.9g} by {name};",
        f"  the exact divergence is {side} {wrong.exact:.9g}.",
    ]
