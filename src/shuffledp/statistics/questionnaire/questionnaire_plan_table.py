"""Tables of a plan of a questionnaire for a terminal."""

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.display_text import printable
from shuffledp.format_number import plain
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.questionnaire.questionnaire_plan import QuestionnairePlan

_MOST_ROWS = 8


def questionnaire_plan_tables(
    plan: QuestionnairePlan, units: Mapping[str, str]
) -> RenderableType:
    """Returns a table of questions, and one of guarantees.

    Args:
        plan: That was computed.
        units: Of numbers, by question.
    """
    notes = [each for each in (plan.assumption, plan.strict) if each is not None]
    return Group(
        _questions(plan, units),
        _guarantees(plan),
        *(Text(sentence) for sentence in _strictest(plan)),
        *(Text(each.meaning) for each in notes),
        *(Text(caution, style="yellow") for caution in plan.guarantee.cautions),
    )


def _questions(plan: QuestionnairePlan, units: Mapping[str, str]) -> Table:
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
        rows = list(estimate.predicted_errors.items())
        for index, (label, error) in enumerate(rows[:_MOST_ROWS]):
            unit = _unit(estimate, units.get(name, ""))
            table.add_row("" if index else name, label, f"{error:.3g}{unit}")
        if len(rows) > _MOST_ROWS:
            table.add_row("", f"{len(rows) - _MOST_ROWS:,} more", "")
        table.add_section()
    return table


def _strictest(plan: QuestionnairePlan) -> tuple[str, ...]:
    """Returns the meaning of the smallest of several targets for all people."""
    targets = [level.target or 0.0 for level in plan.guarantee.levels]
    if len(targets) == 1:
        return ()
    return (
        f"In every question all people get the noise that the smallest target, "
        f"{plain(min(targets))}, needs: those who ask for a larger one get the same "
        "guarantee, and their targets reduce no error.",
    )


def _unit(estimate: QuestionEstimate, unit: str) -> str:
    """Returns the unit of an estimate's error, after a space, if it has one."""
    if estimate.counts_people:
        return " people"
    return f" {printable(unit)}" if unit else ""


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
