"""Tables of plans for a terminal."""

import math

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.cautions import LARGEST_LOCAL
from shuffledp.format_number import plain
from shuffledp.planning.collection_design import CollectionDesign
from shuffledp.planning.protocol_plan import ProtocolPlan

# Of more levels than this, only the first and the last are shown.
_MOST_LEVELS = 4
# In place of digits that promise nothing.
_ABOVE = f"above {LARGEST_LOCAL:g}"


def plan_tables(plan: ProtocolPlan) -> RenderableType:
    """Returns tables of designs and yardsticks, with the recommendation."""
    return Group(
        _design_table(plan),
        _yardstick_table(plan),
        Text(f"\nRecommended: {plan.reason}", style="bold"),
        Text(plan.assumed),
        *_notes_on_levels(plan),
        *(
            Text(caution, style="yellow")
            for caution in plan.recommended.guarantee.cautions
        ),
        *(Text(f"Left out: {line}", style="dim") for line in plan.left_out),
    )


def _design_table(plan: ProtocolPlan) -> Table:
    asked = (
        "the same levels" if plan.wish.targets is None else "the same central targets"
    )
    people = f"{plan.wish.num_users:,} people"
    table = Table(
        title=f"Protocols for the {plan.statistic} of {people}, at {asked}",
        title_justify="left",
    )
    table.add_column("protocol")
    table.add_column("mode")
    table.add_column("predicted\nerror", justify="right", style="bold")
    # This column stands only in tables with a biased design.
    biased = any(design.bias_limit for design in plan.options)
    if biased:
        table.add_column("bias\nup to", justify="right")
    others = all(design.largest_error is not None for design in plan.options)
    if others:
        table.add_column("of other\nvalues up to", justify="right")
    table.add_column("bits per\nperson", justify="right")
    table.add_column("local epsilon", justify="right")
    table.add_column(
        f"central epsilon at\ndelta = {plain(plan.wish.delta)} (certified)",
        justify="right",
        style="green",
    )
    first_choice = plan.recommended
    for design in plan.options:
        levels = design.guarantee.levels
        row = [
            design.name,
            design.mode,
            short(design.standard_error),
            *([short(design.bias_limit) if design.bias_limit else "unbiased"] * biased),
            *([short(design.largest_error or 0.0)] * others),
            f"{design.bits:.3g}",
            # One line per level in both columns: local beside central epsilon.
            "\n".join(_abbreviated(_local_texts(plan, design))),
            "\n".join(_abbreviated([plain(level.epsilon_central) for level in levels])),
        ]
        table.add_row(
            *row,
            style="on grey15" if design is first_choice else "",
            end_section=True,
        )
    return table


def _yardstick_table(plan: ProtocolPlan) -> Table:
    table = Table(
        title="Yardsticks, at the recommended protocol's guarantees",
        title_justify="left",
    )
    table.add_column("model")
    table.add_column("error", justify="right")
    table.add_column("times the\nrecommended", justify="right")
    table.add_column("")
    error = plan.recommended.error
    for yardstick in plan.yardsticks:
        times = yardstick.standard_error / error if error else math.inf
        table.add_row(
            yardstick.name,
            short(yardstick.standard_error),
            short(times),
            yardstick.meaning,
        )
    return table


def _notes_on_levels(plan: ProtocolPlan) -> list[Text]:
    """Returns the meaning of "above 20", where a table of local epsilons has it."""
    if _ABOVE not in {text for o in plan.options for text in _local_texts(plan, o)}:
        return []
    return [Text(f"Local epsilon {_ABOVE}: no privacy; --json has digits.")]


def _local_texts(plan: ProtocolPlan, design: CollectionDesign) -> list[str]:
    levels = [level.chosen for level in design.guarantee.levels]
    # Levels that people chose themselves are shown as they are.
    if plan.wish.targets is None:
        return [plain(level) for level in levels]
    return [local_text(level, plain(level)) for level in levels]


def local_text(level: float, digits: str) -> str:
    """Returns a local epsilon for a table, "above 20" where it is no privacy at all.

    >>> local_text(2.5, "2.5"), local_text(699.958, "699.958")
    ('2.5', 'above 20')

    Args:
        level: The local epsilon.
        digits: As it is written otherwise.
    """
    return digits if level <= LARGEST_LOCAL else _ABOVE


def _abbreviated(texts: list[str]) -> list[str]:
    return texts if len(texts) <= _MOST_LEVELS else [texts[0], "...", texts[-1]]


def short(number: float) -> str:
    """Formats an error with three digits: it is a prediction.

    >>> short(0.0123456), short(float("inf"))
    ('0.0123', 'infinite')
    """
    return "infinite" if math.isinf(number) else f"{number:.3g}"
