"""Full display of a task on a terminal, for the parties who sign it."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.cautions import (
    delta_caution,
    epsilon_caution,
    local_caution,
    people_caution,
)
from shuffledp.asked_question import described
from shuffledp.cli.console import show, width
from shuffledp.format_number import plain
from shuffledp.statistics.survey import terms_of

if TYPE_CHECKING:
    from shuffledp_services.wire.notice import Translation
    from shuffledp_services.wire.task import Task

_LEVELS_APART = (
    "agnostic: answers are apart from levels. People hide among everybody; the analyst "
    "learns how many chose each level, and the level of no message."
)
_TARGETS_APART = (
    "agnostic: answers are apart from targets. People hide among everybody; the analyst "
    "sees which targets were chosen, shuffled, and the target of no message."
)
_LEVELS_SHOWN = (
    "stratified: every answer stays with its level. The analyst sees the level of every "
    "message; people hide among those of their own level alone."
)

_DUMMIES = (
    "the shuffler adds the noise, and devices add none: it is trusted to draw its dummies "
    "as it should, to add all of them, and to keep them to itself. If it does not, nothing "
    "is left of the promises against the analyst"
)


def show_task(task: "Task") -> None:
    """Prints all parts of a task, with the texts that people read."""
    click.echo()
    _show_rows([*_agreed(task)])
    for entry in task.notice.translations:
        click.echo()
        _show_rows([*_translated(entry)])
    click.echo()
    show_promises(task)


def show_promises(task: "Task") -> None:
    """Prints the promises of a task, cautions about them, and its digest."""
    table = Table(title=Text(f"{task.name} ({task.identity})"))
    minimum_title = (
        "people needed" if task.choices_are_levels else "people needed in all"
    )
    for title in (task.choice_word, minimum_title, "promised per epoch", "allowance"):
        table.add_column(title, justify="right")
    # If choices are not named, one minimum counts for all together.
    num_choices = len(task.choices)
    minima = task.minimum if task.choices_are_levels else task.minimum[:1] * num_choices
    # Numbers as they are: what is signed is not rounded. The last of an allowance's 12
    # digits only covers sums in floating point.
    for choice, people, epsilon, allowance in zip(
        task.choices, minima, task.promise, task.allowance, strict=True
    ):
        numbers = (plain(choice), f"{people:,}", plain(epsilon), f"{allowance:.11g}")
        table.add_row(*numbers)
    show(table, f"Central epsilons, at delta {plain(task.delta)} per epoch.")
    if task.dummy_commitment is not None:
        show(Text(f"Caution: {_DUMMIES}.", style="yellow"))
    for caution in _cautions(task):
        show(Text(caution, style="yellow"))
    # Whole on one line: it is compared with what others see.
    click.echo(f"sha256 of task.json: {task.fingerprint}")


def _cautions(task: "Task") -> list[str]:
    """Returns cautions about the smallest possible epoch, in sentences."""
    # Targets are central: local levels follow from a plan.
    levels = task.choices if task.choices_are_levels else ()
    cautions = (
        delta_caution(task.delta, sum(task.minimum)),
        epsilon_caution(max(task.promise)),
        local_caution(levels),
        people_caution(sum(task.minimum)),
    )
    return [caution for caution in cautions if caution is not None]


def tolerance_text(task: "Task") -> str:
    """Returns sentences about absent people and spoiled reports, and their costs."""
    from shuffledp_services.collection.planning import STAY_AWAY, slack

    away = (
        ""
        if task.choices_are_levels
        else f"After their targets, {STAY_AWAY:.0%} of the people may stay away: close "
        f"that step with {math.ceil(task.minimum[0] / (1.0 - STAY_AWAY)):,}.\n"
    )
    return (
        f"{away}Promises hold for the smallest crowd if {task.absent:,} of its people hide "
        f"nobody and up to {slack(task.minimum):,} reports turn out to be spoiled.\n"
        "If more are spoiled, the epoch is withheld, and what it cost is spent.\n"
        "If too few people come, skip the epoch; nothing is spent."
    )


def _agreed(task: "Task") -> Iterator[tuple[str, str]]:
    notice, question, protocol = task.notice, task.question, task.protocol.record
    yield "who asks", notice.asker
    yield "contact", notice.contact
    yield "name", task.name
    yield "question", question.text
    yield from _answers(question.texts[1:])
    yield "consent", notice.consent
    yield "language", notice.language
    yield "statistic", f"{question.survey.words.name}: {question.survey.words.asked}"
    yield "mechanism", str(protocol["mechanism"])
    for name, value in terms_of(question.survey).items():
        # Tuples are answers, shown above; so is the mechanism.
        if not isinstance(value, tuple) and name != "mechanism":
            yield name.replace("_", " "), _term_text(value)
        if name == "questions":
            yield from described(value)
    if task.dummy_commitment is not None:
        yield "dummies", _DUMMIES
        yield "commitment to dummies", task.dummy_commitment.hex()
    if question.linked:
        yield "mode", _LEVELS_SHOWN
    else:
        yield "mode", _LEVELS_APART if task.choices_are_levels else _TARGETS_APART
    yield (
        "absent",
        f"{task.absent:,} of the people who answer may collude or send noise: "
        "they hide nobody",
    )
    yield "suite", f"{task.suite.value}: messages are sealed with {task.suite.words}"
    yield (
        "epochs",
        f"the allowance pays for {task.epochs:,}; numbers go up to "
        f"{task.last_epoch:,}, as some may be skipped",
    )


def _translated(entry: "Translation") -> Iterator[tuple[str, str]]:
    yield "language", entry.language
    yield "name", entry.name
    yield "question", entry.question
    yield from _answers(entry.answers)
    yield "consent", entry.consent


def _answers(texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    # Numbered: a translation is matched with the answer of the same number. Of several
    # questions, the text of each stands before its answers.
    for number, text in enumerate(texts, start=1):
        yield f"answer {number}", text


def _term_text(value: Any) -> str:
    return plain(value) if isinstance(value, float) else str(value)


def _show_rows(rows: list[tuple[str, str]]) -> None:
    """Prints rows of a name and a text, whole on a terminal of any width."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        # As Text: rich would take [brackets] of people's texts for styles.
        table.add_row(Text(name), Text(text))
    # Not `show`, which may turn rows into blocks: long texts fold beside their names.
    Console(width=width()).print(table)
