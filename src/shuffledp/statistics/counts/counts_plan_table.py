"""Tables of a plan of counts for a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.format_number import plain
from shuffledp.planning.collection_design import CollectionDesign
from shuffledp.statistics.counts.counts_plan import CountsPlan

_MOST_LEVELS = 4


def counts_plan_tables(plan: CountsPlan) -> RenderableType:
    """Returns a table of designs, and one of what others would reach."""
    return Group(
        _designs(plan),
        _yardsticks(plan),
        Text(
            f"\nRecommended: {plan.reason}",
            style="bold",
        ),
        Text(
            "The shuffler and the analyst together see single reports, which show the "
            "answers: noise hides them in the counts only."
            + (
                ""
                if plan.single is None
                else " One randomized message keeps something."
            ),
            style="yellow",
        ),
        *(Text(caution, style="yellow") for caution in plan.best.guarantee.cautions),
        *(Text(f"Left out: {line}", style="dim") for line in plan.left_out),
    )


def _designs(plan: CountsPlan) -> Table:
    several = f", up to {plan.most:,} of a person" if plan.most > 1 else ""
    table = Table(
        title=f"Counts of {plan.buckets:,} buckets{several}, "
        f"{plan.wish.num_users:,} people, at delta = {plain(plan.wish.delta)}",
        title_justify="left",
    )
    table.add_column("noise")
    table.add_column("error of a count\n(people)", justify="right", style="bold")
    table.add_column("times a\ncurator's", justify="right")
    table.add_column("messages\nper person", justify="right")
    table.add_column("bytes", justify="right")
    table.add_column("report\nsize")
    table.add_column("answers\nsent", justify="right")
    table.add_column("central epsilon\n(certified)", justify="right", style="green")
    table.add_column("(attack\nshows)", justify="right")
    table.add_column("local epsilon\n(coalition)", justify="right")
    for design in plan.designs:
        levels = design.guarantee.levels
        table.add_row(
            design.name,
            f"{design.standard_error:.3g}",
            f"{design.standard_error / plan.curator:.3g}",
            f"{design.messages:.3g}",
            f"{design.messages * plan.message_bits / 8.0:.3g}",
            "constant" if design.is_constant else "varies",
            _lines([f"{rate:.3g}" for rate in design.protocol.rates]),
            _lines([plain(level.epsilon_central) for level in levels]),
            _lines([plain(level.epsilon_central_lower) for level in levels]),
            "none",
            style="on grey15" if design is plan.best else "",
            end_section=True,
        )
    if plan.single is not None:
        _add_single(table, plan, plan.single)
    return table


def _add_single(table: Table, plan: CountsPlan, single: CollectionDesign) -> None:
    error, levels = single.error * plan.wish.num_users, single.guarantee.levels
    table.add_row(
        f"one message: {single.name}",
        f"{error:.3g}",
        f"{error / plan.curator:.3g}",
        "1",
        f"{single.bits / 8.0:.3g}",
        "constant",
        "",
        _lines([plain(level.epsilon_central) for level in levels]),
        _lines([plain(level.epsilon_central_lower) for level in levels]),
        _lines([f"{level.chosen:.3g}" for level in levels]),
    )


def _yardsticks(plan: CountsPlan) -> Table:
    table = Table(title="Yardsticks, at the same targets", title_justify="left")
    table.add_column("model")
    table.add_column("error of a count\n(people)", justify="right")
    table.add_column("")
    table.add_row(
        "trusted curator",
        f"{plan.curator:.3g}",
        "is trusted with all answers, and adds discrete Laplace or Gaussian noise",
    )
    if plan.shuffler is not None:
        table.add_row(
            "noise from the shuffler",
            f"{plan.shuffler:.3g}",
            "one message per answer, if the shuffler itself is trusted to add the noise",
        )
    return table


def _lines(texts: list[str]) -> str:
    if len(texts) <= _MOST_LEVELS:
        return "\n".join(texts)
    return "\n".join([texts[0], "...", texts[-1]])
