"""`shuffledp calibrate`: levels, people or rounds that keep central targets."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import click

from shuffledp.accounting.calibration.calibrated_population import (
    Calibration,
    level_records,
)
from shuffledp.accounting.calibration.calibration import (
    largest_budget,
    largest_budgets,
    largest_scale,
    most_rounds,
    smallest_crowd,
)
from shuffledp.accounting.calibration.kept_rounds import composable_rounds
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.cli import parse
from shuffledp.cli.console import show, show_json
from shuffledp.cli.mechanism import (
    coordinates_option,
    message_option,
    num_absent,
    rounds_option,
)
from shuffledp.cli.number_types import NUMBER, Share
from shuffledp.cli.shared_options import absent_option, json_option
from shuffledp.cli.waiting import working
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.population import Population
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.single_message import SingleMessage

Command = Callable[..., Any]
_CHANGE = "LEVEL:EPSILON"
_DELTA = click.option(
    "--delta",
    type=NUMBER,
    required=True,
    help="At which central guarantees are stated.",
)
_TARGETS = click.option(
    "--targets",
    required=True,
    metavar="EPSILON,...",
    help="Central epsilon of each level, in ascending order of the levels; or one for all.",
)
_LEVELS = click.option(
    "--levels",
    required=True,
    metavar=parse.LEVEL_COUNTS,
    help="Privacy levels and people at each.",
)


def _shared_options(command: Command) -> Command:
    # The last decorator that is applied is the first in --help.
    for option in (json_option, coordinates_option, absent_option, _DELTA):
        command = option(command)
    return message_option(command)


@click.group("calibrate")
def calibrate_command() -> None:
    """Find the levels, the crowd or the rounds that keep central targets.

    Every answer is certified: the bound was evaluated for the answer itself.

    \b
    Examples:
      shuffledp calibrate levels --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --targets 0.01:2500,0.02:5000,0.05:2500
      shuffledp calibrate people --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --levels 0.5:25,1.0:50,2.0:25 --targets 0.01,0.02,0.05
    """


@calibrate_command.command("levels")
@_shared_options
@rounds_option
@click.option(
    "--targets",
    required=True,
    metavar=parse.LEVEL_COUNTS,
    help="Central epsilons that people ask for, and people at each.",
)
def levels_command(
    protocol: SingleMessage, targets: str, as_json: bool, **given: Any
) -> None:
    """Largest levels that keep the central targets.

    The cover of each person depends on the levels of all. At the answer no level alone can
    be raised without breaking its own target (with unbounded noise all may be scaled by
    one factor, and a caution says what is left).

    \b
    Example: 2,500 people want 0.01 after the shuffle, 5,000 want 0.02
      shuffledp calibrate levels --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --targets 0.01:2500,0.02:5000
    """
    # Written as levels are; these epsilons are central ones.
    target_counts = parse.level_counts(targets, "--targets")
    promise = _promise(protocol, target_counts.num_users, **given)
    with working("calibrate"):
        calibration = largest_budgets(
            promise,
            dict(
                zip(
                    target_counts.epsilons.tolist(),
                    target_counts.counts.tolist(),
                    strict=True,
                )
            ),
        )
    # In full: a level that is rounded upward could break its target.
    levels = ", ".join(plain(epsilon) for epsilon in calibration.people.epsilons)
    _show(calibration, f"Levels: {levels}", as_json)


@calibrate_command.command("scale")
@_shared_options
@rounds_option
@_LEVELS
@_TARGETS
def scale_command(
    protocol: SingleMessage, levels: str, targets: str, as_json: bool, **given: Any
) -> None:
    """Largest common factor of all levels that keeps every target.

    \b
    Example:
      shuffledp calibrate scale --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --levels 0.5:2500,1:5000 --targets 0.01,0.03
    """
    people, wanted_epsilons = _people_and_targets(levels, targets)
    promise = _promise(protocol, people.num_users, **given)
    with working("calibrate"):
        factor, calibration = largest_scale(promise, people, wanted_epsilons)
    _show(calibration, f"Scale all levels by {plain(factor)}", as_json, scale=factor)


@calibrate_command.command("level")
@_shared_options
@rounds_option
@_LEVELS
@click.option(
    "--change",
    required=True,
    metavar=_CHANGE,
    help="The level to change, and its central epsilon.",
)
def level_command(
    protocol: SingleMessage,
    levels: str,
    change: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Largest that one level can be and keep its target, all others fixed.

    With noise mechanisms larger ones may keep it again: this is the first end.

    \b
    Example:
      shuffledp calibrate level --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --levels 0.5:2500,1:5000 --change 1:0.05
    """
    people = parse.level_counts(levels)
    changed, target = parse.number_pair(change, _CHANGE, "--change")
    promise = _promise(protocol, people.num_users, **given)
    with working("calibrate"):
        calibration = largest_budget(promise, people, changed, target)
    # The level that was changed is the only new one, unless it stayed as it was.
    new = set(calibration.people.epsilons.tolist()) - set(people.epsilons.tolist())
    (level,) = new or {changed}
    _show(calibration, f"Level {plain(changed)} may become {plain(level)}", as_json)


@calibrate_command.command("people")
@_shared_options
@rounds_option
@_LEVELS
@_TARGETS
def people_command(
    protocol: SingleMessage, levels: str, targets: str, as_json: bool, **given: Any
) -> None:
    """Smallest crowd, with the same shares of levels, that keeps every target.

    \b
    Example:
      shuffledp calibrate people --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --levels 0.5:1,1:2 --targets 0.01,0.03
    """
    people, wanted_epsilons = _people_and_targets(levels, targets)
    absent = given["absent"]
    share = absent.part if isinstance(absent, Share) else Fraction(0)
    # A share is one of the crowd that is found, not of the people who state its shares.
    given |= {"absent": 0} if share else {}
    promise = _promise(protocol, people.num_users, **given)
    with working("calibrate"):
        calibration = smallest_crowd(
            promise, people, wanted_epsilons, absent_share=share
        )
    _show(calibration, f"{calibration.people.num_users:,} people are enough", as_json)


@calibrate_command.command("rounds")
@_shared_options
@_LEVELS
@_TARGETS
def rounds_command(
    protocol: SingleMessage, levels: str, targets: str, as_json: bool, **given: Any
) -> None:
    """How often the same people can take part before a target is exceeded.

    \b
    Example:
      shuffledp calibrate rounds --mechanism "kary-response(categories=17)" \\
        --delta 1e-6 --levels 0.5:2500,1:5000 --targets 0.5
    """
    people, wanted_epsilons = _people_and_targets(levels, targets)
    promise = _promise(protocol, people.num_users, **given)
    with working("calibrate"):
        rounds, calibration = most_rounds(promise, people, wanted_epsilons)
    answer = f"{rounds:,} rounds"
    if rounds == composable_rounds(promise, people):
        answer += (
            ", the most that one certificate states: more may keep the targets, too"
        )
    _show(calibration, answer, as_json)


def _promise(
    protocol: SingleMessage,
    num_users: int,
    *,
    delta: float,
    absent: int | Share,
    coordinates: int,
    rounds: int = 1,
) -> Promise:
    left_out = num_absent(absent, num_users)
    return Promise(protocol, delta, left_out, rounds, coordinates)


def _people_and_targets(levels: str, targets: str) -> tuple[Population, list[float]]:
    people = parse.level_counts(levels)
    wanted_epsilons = parse.number_list(targets, "--targets")
    if len(wanted_epsilons) == 1:
        # One target for all levels.
        wanted_epsilons *= people.num_levels
    if len(wanted_epsilons) != people.num_levels:
        raise InvalidInputError(
            f"Expected one target, or {people.num_levels} in ascending order of the "
            f"levels, got {len(wanted_epsilons)}."
        )
    return people, wanted_epsilons


def _show(calibration: Calibration, words: str, as_json: bool, **more: float) -> None:
    if as_json:
        show_json(
            {"levels": level_records(calibration.people, calibration.targets)}
            | more
            | ({"caution": calibration.caution} if calibration.caution else {})
            | {"guarantee": calibration.guarantee.to_dict()}
        )
        return
    table = guarantee_table(calibration.guarantee, calibration.targets)
    show(f"{words}\n", table)
    if calibration.caution:
        show(f"\n{calibration.caution}")
