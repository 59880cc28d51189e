"""`shuffledp audit randomizer`: messages of a black-box mechanism against its promise."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from shuffledp.audit.audit_plan import AuditPlan, plan_audit
from shuffledp.audit.audit_result import AuditVerdict, RandomizerAudit
from shuffledp.audit.device_targets import device_target, guaranteed_delta, usual_values
from shuffledp.audit.isolated_process import Send, run_isolated
from shuffledp.audit.process_target import ProcessTarget
from shuffledp.audit.randomizer import audit_randomizer
from shuffledp.audit.target import CallableTarget, Target, callable_target
from shuffledp.cli import parse
from shuffledp.cli.audit_table import findings, powers
from shuffledp.cli.console import show, show_json
from shuffledp.cli.number_types import NUMBER, WHOLE, NumberRange, WholeRange
from shuffledp.cli.shared_options import json_option
from shuffledp.cli.waiting import duration, share_bar, working
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.mechanism_text import read_mechanism


@click.command("randomizer")
@click.argument("target", metavar="COMMAND|MODULE:NAME|MECHANISM")
@click.option(
    "--levels",
    required=True,
    metavar="EPSILON,...",
    help="The local budgets that it promises to keep, when asked for them.",
)
@click.option(
    "--values",
    metavar="VALUE,...",
    help="What people may hold: numbers or texts, or a list in JSON. All pairs are tried. "
    "Of devices that say which values they take, a few of them by default.",
)
@click.option(
    "--delta",
    type=NUMBER,
    help="What it promises with every level [default: 0, or what a device says].",
)
@click.option(
    "--samples",
    type=WHOLE,
    default=100_000,
    show_default=True,
    help="Messages per value and level: half of them, or 200,000, to learn from, the "
    "others to test with.",
)
@click.option(
    "--confidence",
    type=NUMBER,
    default=0.99,
    show_default=True,
    help="Of everything that is said to be broken, together.",
)
@click.option(
    "--seed",
    type=WholeRange(0),
    help="Of the order of questions, and of boxes that take randomness [default: none].",
)
@click.option(
    "--timeout",
    type=NumberRange(0.0, 86_400.0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds that a program may take for an answer.",
)
@json_option
def randomizer_command(
    target: str,
    levels: str,
    values: str | None,
    delta: float | None,
    samples: int,
    confidence: float,
    seed: int | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Test any program or function that maps a value and a level to a message.

    It is one of our mechanisms, such as "subset-selection(categories=9, subset_size=3)"; a
    Python function, class or object, as MODULE:NAME, called with values, levels and, if it
    takes one, rng; or a command, which reads {"values": [...], "levels": [...]} and answers
    {"messages": [...]}, one line each. Messages are numbers, texts, lists of numbers, or
    sets.

    From one part of the messages it learns, for each pair of values, an event that tells
    them apart; on the others it tests it, with exact intervals. The result is a lower bound
    of the epsilon, and of the delta, that can be promised. Exit code 1 says that a promise
    is broken, or that so few samples cannot show anything.

    \b
    Examples:
      shuffledp audit randomizer "kary-response(categories=4)" --levels 0.5,1,2
      shuffledp audit randomizer mymodule:client --values '"yes","no"' --levels 1
      shuffledp audit randomizer "node client.js" --values 0,1 --levels 1 --json
    """
    started = time.monotonic()

    def work(send: Send) -> None:
        # In here: for a Python target, its import runs in the other process.
        box = _target(target, timeout)
        plan = plan_audit(
            _audited_values(values, box),
            parse.level_list(levels),
            delta=_delta(delta, box),
            samples=samples,
            confidence=confidence,
        )
        # Before the test: what it can find is said independently of its result.
        send(("plan", (plan, box.name)))
        audit = audit_randomizer(
            box,
            plan,
            rng=np.random.default_rng(seed),
            on_share=lambda share: send(("share", share)),
        )
        send(("audit", audit))

    plans: list[tuple[AuditPlan, str]] = []
    results: list[RandomizerAudit] = []
    with ExitStack() as stack:
        # Before a fork there must be no thread that holds the locks of a terminal.
        if not _is_python(target):
            stack.enter_context(working("first messages"))
        # Empty until the plan is printed: the bar begins below it.
        on_share: list[Callable[[float], None]] = []

        def receive(event: tuple[str, Any]) -> None:
            kind, content = event
            if kind == "plan":
                plans.append(content)
            elif kind == "audit":
                results.append(content)
            else:
                if not on_share:
                    # The box has answered: values or answers that are refused leave no
                    # heading.
                    stack.close()
                    if not as_json:
                        show(*powers(*plans[0]))
                    on_share.append(stack.enter_context(share_bar("audit")))
                on_share[0](content)

        # Third-party Python in this process could print, or exit, as this command.
        if _is_python(target):
            run_isolated(work, receive)
        else:
            work(receive)
    (audit,) = results
    if as_json:
        show_json({"seed": seed} | audit.to_dict())
    else:
        show(*findings(audit), f"\nAfter {duration(time.monotonic() - started)}")
    # A test that could not see anything is not a success either.
    sys.exit(0 if audit.verdict is AuditVerdict.NOTHING_FOUND else 1)


def _target(target: str, timeout: float) -> Target:
    if target.partition("(")[0].strip() in MECHANISMS:
        mechanism = read_mechanism(target)
        return device_target(build(mechanism.name, mechanism.parameters))
    if _is_python(target):
        return callable_target(target)
    return ProcessTarget(target, timeout)


def _is_python(target: str) -> bool:
    # MODULE:NAME, and no command such as "node a:b.js".
    module, colon, name = target.partition(":")
    dotted = (*module.split("."), *name.split("."))
    return bool(colon) and all(part.isidentifier() for part in dotted)


def _audited_values(values: str | None, box: Target) -> list[Any]:
    if values is not None:
        return parse.value_list(values)
    # A command cannot be asked which values it takes.
    usual = usual_values(box.box) if isinstance(box, CallableTarget) else None
    if usual is None:
        raise InvalidInputError(
            "Expected --values: this box does not say what it takes."
        )
    return usual


def _delta(delta: float | None, box: Target) -> float:
    if delta is not None:
        return delta
    # A command cannot be asked: it is held to pure privacy.
    return guaranteed_delta(box.box) if isinstance(box, CallableTarget) else 0.0
