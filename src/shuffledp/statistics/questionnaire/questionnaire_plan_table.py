"""Tables of a plan of a questionnaire for a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.format_number import plain
from shuffledp.statistics.questionnaire.questionnaire_plan import QuestionnairePlan

_MOST_ROWS = 8


def questionnaire_plan_tables(plan: QuestionnairePlan) -> RenderableType:
    """Returns a table of questions, and one of guarantees."""
    return Group(
        _questions(plan),
        _guarantees(plan),
        Text(
            "The shuffler and the analyst together see single reports, which show the "
            "answers: noise hides them in the counts only.",
            style="yellow",
        ),
        *(Text(caution, style="yellow") for caution in plan.guarantee.cautions),
    )


def _questions(plan: QuestionnairePlan) -> Table:
    num_users, number = plan.guarantee.num_users, len(plan.expected)
    questions = "1 question" if number == 1 else f"{number} questions"
    size = (
        "reports of varying size"
        if plan.report_size is None
        else f"reports of {plan.report_size:,}"
    )
    table = Table(
        title=f"{questions} to {num_users:,} people: {plan.name}, "
        f"{plan.messages:.3g} messages per person in the mean, {size}",
        title_justify="left",
    )
    table.add_column("question")
    table.add_column("estimate of")
    table.add_column("standard error", justify="right", style="bold")
    for name, estimate in plan.expected.items():
        rows = list(zip(estimate.labels, estimate.standard_error.tolist(), strict=True))
        for index, (label, error) in enumerate(rows[:_MOST_ROWS]):
            table.add_row("" if index else name, label, f"{error:.3g}")
        if len(rows) > _MOST_ROWS:
            table.add_row("", f"{len(rows) - _MOST_ROWS:,} more", "")
        table.add_section()
    return table


def _guarantees(plan: QuestionnairePlan) -> Table:
    delta = "" if plan.guarantee.delta is None else plain(plan.guarantee.delta)
    table = Table(
        title=f"Guarantees for all questions together, at delta = {delta}",
        title_justify="left",
    )
    table.add_column("target", justify="right")
    table.add_column("people", justify="right")
    table.add_column("central epsilon\n(certified)", justify="right", style="green")
    table.add_column("(attack\nshows)", justify="right")
    for level in plan.guarantee.levels:
        table.add_row(
            plain(level.target or 0.0),
            f"{level.count:,}",
            plain(level.epsilon_central),
            plain(level.epsilon_central_lower),
        )
    return table
