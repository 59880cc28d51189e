"""Dashboard: HTML pages rendered on the server, without any script."""

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context
from importlib.resources import files
from typing import Any

import jinja2

from shuffledp.display_text import printable
from shuffledp.format_number import plain
from shuffledp.version import __version__
from shuffledp_services.analyst.analyst_store import EpochRecord, Former
from shuffledp_services.analyst.auditor_evidence import HEIGHT
from shuffledp_services.analyst.figures import figure_of
from shuffledp_services.analyst.ledger import ledger_of, replacements
from shuffledp_services.analyst.number_lines import number_lines
from shuffledp_services.analyst.progress import Progress
from shuffledp_services.analyst.result_picture import WIDTH, picture_of
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.wire.succession import names_of
from shuffledp_services.wire.task import Task

_PACKAGE, _FOLDER = "shuffledp_services.analyst", "dashboard"
_MODES = {
    "agnostic": "apart from levels: everybody hides among everybody",
    "stratified": "with its level: people hide among their own level",
}
# Seconds after which a browser reloads a page, while a batch is counted or collected.
_COUNTING, _COLLECTING = 3, 20


class Pages:
    """Renders pages from templates."""

    def __init__(self) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.PackageLoader(_PACKAGE, _FOLDER),
            # Names and questions are not trusted: they are text, and never HTML.
            autoescape=True,
            # A misspelled name must fail, and not leave a gap in a page.
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "plain": plain,
            "shown": printable,
            "count": count,
            "upward": upward,
            "downward": downward,
        }
        self._environment.globals |= {"version": __version__}

    @property
    def style(self) -> str:
        """The style sheet of all pages."""
        sheet = files(_PACKAGE).joinpath(_FOLDER, "dashboard.css")
        return sheet.read_text(encoding="utf-8")

    def tasks(self, states: Sequence[AnalystState]) -> str:
        """Returns the page of all tasks."""
        cards = [
            {
                "task": state.task,
                "asked": state.task.question.survey.words.asked,
                "status": status_of(state),
            }
            for state in states
        ]
        return self._render("tasks.html.j2", cards=cards, refresh=None)

    def task(
        self,
        state: AnalystState,
        records: Sequence[EpochRecord],
        record: EpochRecord | None,
        progress: Progress | None,
        *,
        shuffler_named: bool,
        formers: Sequence[Former],
        audit: dict[str, Any] | None,
    ) -> str:
        """Returns the page of one task.

        Args:
            state: State of the task.
            records: All its epochs that are over, in order.
            record: The epoch to show; None before the first.
            progress: Progress at the shuffler; None if it is not reachable.
            shuffler_named: Whether the URL of the shuffler is known.
            formers: Former tasks, whose keys were replaced, in order.
            audit: Evidence of an auditor, from `evidence_part`; None if there is none.
        """
        task = state.task
        # Delivered and skipped steps get no more reports.
        collecting = progress is not None and progress.phase in (
            "open",
            "waiting",
            "closed",
        )
        return self._render(
            "task.html.j2",
            task=task,
            asked=task.question.survey.words.asked,
            mode=_MODES[task.question.survey.mode],
            status=status_of(state),
            # Without scripts, the browser itself reloads a page.
            refresh=_COUNTING
            if state.phase is AnalystPhase.RECEIVED
            else _COLLECTING
            if collecting
            else None,
            progress=progress,
            shuffler_named=shuffler_named,
            batch_refused=progress and sentence_part(progress.batch_refused),
            exhausted=", ".join(map(plain, state.exhausted)),
            people=None if progress is None else people_of(task, progress),
            record=record,
            records=records,
            # Links to other epochs stay among the pages of the dashboard.
            path="dashboard",
            audit=audit,
            height=HEIGHT,
            **_result_part(task, record),
            ledger=ledger_of(state, records),
            replaced=[
                {"after": after, "whose": names_of(roles), "digest": former.fingerprint}
                for former, after, roles in replacements(task, formers)
            ],
        )

    def result(
        self, task: Task, records: Sequence[EpochRecord], record: EpochRecord
    ) -> str:
        """Returns the page of one epoch that is over, for links from outside.

        Args:
            task: Task of the epoch.
            records: All its epochs that are over, in order.
            record: The epoch to show.
        """
        return self._render(
            "published.html.j2",
            task=task,
            asked=task.question.survey.words.asked,
            refresh=None,
            record=record,
            records=records,
            # Links stay among the pages for visitors from outside.
            path="results",
            **_result_part(task, record),
        )

    def picture(self, task: Task, result: dict[str, Any]) -> str:
        """Returns a published result as SVG."""
        picture = picture_of(task, result)
        return self._render("picture.svg.j2", picture=picture, wide=WIDTH)

    def _render(self, template: str, **values: object) -> str:
        page: str = self._environment.get_template(template).render(values)
        return page


def _result_part(task: Task, record: EpochRecord | None) -> dict[str, Any]:
    """Returns the templates' values for an epoch that is over."""
    result = None if record is None else record.result
    return {
        "result": result,
        "figure": None if result is None else figure_of(result, task.question),
        "numbers": () if result is None else number_lines(result),
        "choices": None if result is None else choices_of(task, result),
    }


def status_of(state: AnalystState) -> dict[str, str]:
    """Returns the status of a task: a class for its color, a sign and a text."""
    epoch = f"epoch {state.epoch:,}"
    # Signs differ as well as colors, for readers who cannot tell these apart.
    if state.phase is AnalystPhase.PUBLISHED:
        return {"kind": "good", "sign": "✓", "words": f"Published: {epoch}"}
    if state.phase is AnalystPhase.WITHHELD:
        return {"kind": "bad", "sign": "✕", "words": f"Withheld: {epoch}"}
    what = f"{state.stage.name.lower()}s"
    if state.phase is AnalystPhase.RECEIVED:
        words = f"Counting {what}: {epoch}"
        return {"kind": "busy", "sign": "…", "words": words}
    return {"kind": "busy", "sign": "○", "words": f"Waiting for {what}: {epoch}"}


def people_of(task: Task, progress: Progress) -> list[dict[str, Any]]:
    """Returns the current and the needed number of participants, by choice or in total."""
    # If choices are not named, only their total is counted.
    needed = task.minimum[: len(task.counted)]
    return [
        {
            "name": task.named(choice),
            "people": people,
            "needed": minimum,
            "missing": max(minimum - people, 0),
        }
        for choice, people, minimum in zip(
            task.counted, progress.people, needed, strict=True
        )
    ]


def choices_of(task: Task, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the certificate's numbers for each choice that participants made."""
    promised = dict(zip(task.choices, task.promise, strict=True))
    # Not by `read_certificate`: results are kept for ever, and former ones have
    # certificates of formats that only former versions verify. These keys are in all.
    levels = [
        (entry["target"] if "target" in entry else entry["epsilon_local"], entry)
        for entry in result["certificate"]["levels"]
    ]
    return [
        {
            "choice": plain(chosen),
            "people": count(entry["count"]),
            "hides_among": count(entry["hides_among"]),
            "certified": plain(entry["epsilon_central"]),
            "attack": plain(entry["epsilon_central_lower"]),
            "promised": plain(promised[chosen]),
            "factor": factor(entry["epsilon_central"]),
        }
        for chosen, entry in levels
    ]


def sentence_part(text: str | None) -> str | None:
    """Returns a sentence for use after a colon, with a lower-case first letter.

    >>> sentence_part("A level has too little left"), sentence_part(None)
    ('a level has too little left', None)
    """
    return text and text[0].lower() + text[1:]


def count(number: int) -> str:
    """Returns a whole number with commas."""
    return f"{number:,}"


def upward(number: float) -> str:
    """Returns a number with six significant digits, rounded upward.

    >>> upward(0.1 + 0.2), upward(5.0), upward(0.07599421)
    ('0.3', '5', '0.0759943')
    """
    # Drops rounding errors of sums first: they must not raise the sixth digit.
    number = float(f"{number:.12g}")
    if number <= 0.0 or float(f"{number:.6g}") >= number:
        return plain(float(f"{number:.6g}"))
    # One unit of the sixth digit.
    step = 10.0 ** (math.floor(math.log10(number)) - 5)
    return plain(float(f"{float(f'{number:.6g}') + step:.6g}"))


def downward(number: float) -> str:
    """Returns a number with six significant digits, rounded downward, for allowances.

    >>> downward(0.361200000001), downward(5.0), downward(0.12345678)
    ('0.3612', '5', '0.123456')
    """
    # From the shortest decimal: the exact value of a float may lie below it.
    context = Context(prec=6, rounding=ROUND_FLOOR)
    return plain(float(context.create_decimal(repr(number))))


def factor(epsilon: float) -> str:
    """Returns exp(epsilon), rounded upward.

    >>> factor(0.0), factor(0.0253314), factor(30.0)
    ('1.00', '1.03', 'more than 1,000,000')
    """
    if epsilon > math.log(1e6):
        return "more than 1,000,000"
    return f"{math.ceil(100.0 * math.exp(epsilon)) / 100.0:,.2f}"
