"""Tables of `train`: certified guarantees, with the claims of a paper beside them."""

import math
from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.cautions import epsilon_caution, local_caution
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.federated.local_guarantee import LocalGuarantee
from shuffledp.federated.sgd_guarantee import SgdGuarantee
from shuffledp.federated.training_guarantee import TrainingGuarantee
from shuffledp.format_number import plain

# The epsilons that a paper states at a level: per coordinate, and for a whole training.
StatedEpsilons = Callable[[float], tuple[float | None, float | None]]

_COLUMNS = (
    "Of one message, of all messages on the device, of one coordinate's shuffle, of "
    "everything (certified; shown by an attack{}).\n"
)
_STATED = "; stated by the paper"


def training_guarantee_table(
    guarantee: TrainingGuarantee,
    stated: StatedEpsilons | None,
    after_one_round: TrainingGuarantee | None,
) -> RenderableType:
    """Returns the guarantee of each level.

    Args:
        guarantee: After all rounds.
        stated: The paper's claims at each level, if they are installed.
        after_one_round: After one round, if there are more.
    """
    local, central = guarantee.local, guarantee.central
    if local is None:
        return Text(guarantee.note)
    rounds = "1 round" if guarantee.rounds == 1 else f"{guarantee.rounds} rounds"
    table = Table(
        title=f"Guarantee: epsilon after {rounds} of {local.coordinates:,} "
        f"coordinates, at delta = {plain(guarantee.delta)}",
        title_justify="left",
    )
    # Short headings: the table should fit into 80 columns.
    quantiles = any(level.quantile for level in local.levels)
    table.add_column("budget" if quantiles else "people", justify="right")
    table.add_column("local,\nmessage", justify="right")
    table.add_column("local,\nall", justify="right")
    if central is not None:
        table.add_column("central,\nshuffle", justify="right")
        table.add_column("central,\ncertified", justify="right", style="bold green")
        table.add_column("central,\nattack", justify="right")
    if stated is not None:
        table.add_column("stated,\nunproven", justify="right", style="dim")
    for level, numbers in zip(local.levels, _central_cells(guarantee), strict=True):
        table.add_row(
            level.quantile or f"{level.count:,}",
            four_digits(level.epsilon_local),
            # Certified, and so rounded upward; what the paper states is not.
            _upward(level.epsilon_all),
            *numbers,
            # [0] is stated of one coordinate, [1] of the whole training.
            *(() if stated is None else (four_digits(stated(level.epsilon_local)[1]),)),
        )
    text = Text(guarantee.note)
    if central is not None:
        columns = _COLUMNS.format("" if stated is None else _STATED)
        text = Text(columns + guarantee.note)
    if after_one_round is not None:
        text.append(f"\nAfter the first round, {_spent(after_one_round, local)}.")
    text.append(f"\nAfter {rounds}, {_spent(guarantee, local)}.")
    cautions = _cautions(guarantee, local)
    return Group(table, text, *(Text(caution, style="yellow") for caution in cautions))


def _cautions(guarantee: TrainingGuarantee, local: LocalGuarantee) -> tuple[str, ...]:
    """Returns cautions about the guarantee, in sentences."""
    # Without a certificate of the shuffle, only the devices' own guarantee holds.
    if guarantee.central is not None:
        return guarantee.central.cautions
    return _present(
        epsilon_caution(local.worst.epsilon_all, "local"),
        local_caution(level.epsilon_local for level in local.levels),
    )


def _present(*cautions: str | None) -> tuple[str, ...]:
    return tuple(caution for caution in cautions if caution is not None)


def stated_record(
    guarantee: TrainingGuarantee, stated: StatedEpsilons | None
) -> dict[str, list[dict[str, Any]]]:
    """Returns the paper's unproven claims for the levels of a guarantee, for JSON."""
    if stated is None:
        return {}
    levels = () if guarantee.local is None else guarantee.local.levels
    records = []
    for level in levels:
        coordinate, training = stated(level.epsilon_local)
        records.append(
            {
                "epsilon_local": level.epsilon_local,
                "coordinate": coordinate,
                "training": training,
            }
        )
    return {"stated": records}


def sgd_guarantee_table(guarantee: SgdGuarantee, claim: str | None) -> RenderableType:
    """Returns the guarantee of each level of clients, and the claim of a paper, if any."""
    table = Table(
        title=f"Guarantee: local epsilon after {guarantee.epochs} epochs, "
        f"at delta = {plain(guarantee.delta)}",
        title_justify="left",
    )
    # Green stands for proven numbers only.
    style = "bold green" if guarantee.certified else "dim"
    for heading in ("local, one step", "clients", "noise"):
        table.add_column(heading, justify="right")
    for heading in ("one example", "all of a client"):
        table.add_column(heading, justify="right", style=style)
    levels, last = guarantee.levels, len(guarantee.levels) - 1
    # Quantiles, where every client may have a level of their own.
    indices = (
        range(last + 1) if last < 8 else (0, last // 4, last // 2, 3 * last // 4, last)
    )
    for level in (levels[index] for index in indices):
        table.add_row(
            four_digits(level.epsilon_local),
            f"{level.num_clients:,}",
            four_digits(level.deviation),
            _upward(level.example_epsilon),
            _upward(level.client_epsilon),
        )
    text = guarantee.note if claim is None else f"{guarantee.note}\n{claim}"
    cautions = _present(
        epsilon_caution(max(level.client_epsilon for level in levels), "local"),
        local_caution(level.epsilon_local for level in levels),
    )
    return Group(
        table, Text(text), *(Text(caution, style="yellow") for caution in cautions)
    )


def four_digits(number: float | None) -> str:
    """Returns a number that is not a certified bound, in four digits."""
    if number is None:
        return "nothing"
    if math.isinf(number):
        return "infinite"
    return f"{number:,.0f}" if 1e3 <= number < 1e6 else f"{number:.4g}"


def _central_cells(guarantee: TrainingGuarantee) -> list[tuple[str, ...]]:
    """Returns the cells of central guarantees at each level; none if none is proven."""
    if guarantee.central is None:
        return [() for _ in (guarantee.local.levels if guarantee.local else ())]
    # `also` starts with the certificate of a single coordinate's shuffle.
    one_shuffle = guarantee.central.also[0]
    return [
        (
            _upward(shuffle.epsilon_central),
            _upward(everything.epsilon_central),
            # All digits: a lower bound must not be rounded upward.
            plain(everything.epsilon_central_lower),
        )
        for shuffle, everything in zip(
            one_shuffle.levels, guarantee.central.levels, strict=True
        )
    ]


def _spent(guarantee: TrainingGuarantee, shown_levels: LocalGuarantee) -> str:
    local = guarantee.local or shown_levels
    central = guarantee.central
    kind = "local" if central is None else "central"
    # Where no shuffle is certified, the devices' own guarantee is all there is.
    spent = (
        local.worst.epsilon_all if central is None else central.worst.epsilon_central
    )
    quantiles = any(level.quantile for level in local.levels)
    whose = "of the people shown" if quantiles else "of anybody"
    return f"the largest {kind} epsilon {whose} is {_upward(spent)}"


def _upward(number: float) -> str:
    """Returns a certified number in six digits, rounded upward."""
    return four_digits(number) if math.isinf(number) else plain(round_up(number))
