"""Questions as people are asked them: several in one form.

A file of them is TOML, with a table for each question. `text` is read by people, by default
it is the table's name; `most` is how many options one person may pick. The same file plans
a questionnaire, so that kinds are those of its encodings.

[questions.transport]
text = "How do you get to work?"
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.papers]
text = "Which newspapers do you read?"
kind = "choice"
options = ["Times", "Post", "Star", "Sun"]
most = 2

[questions.minutes]
text = "How long does it take?"
kind = "number"
low = 0
high = 120
unit = "minutes"

[questions.age]
text = "How old are you?"
kind = "distribution"
edges = [16, 30, 45, 65, 120]
unit = "years"
skippable = true

Questions are counted together without another question: a table of two to four choices of
one option, and the mean of a number of kind "number" by such a choice.

[questions.who]
kind = "table"
attributes = ["transport", "smokers"]

[questions.how-long]
kind = "group-mean"
people = "transport"
number = "minutes"
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from shuffledp.asked_combination import MOST_COMBINED, AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.label_checks import check_label, check_labels
from shuffledp.question_tables import read_question_tables

MAX_OPTIONS = 10_000
_TERMS = frozenset({"text", "options", "most"})
_NUMBER = frozenset({"text", "unit", "low", "high", "levels"})
_SOMETIMES = frozenset({"edges", "steps", "skippable"})
_COMBINATION = frozenset({"of", "groups"})


@dataclass(frozen=True)
class AskedQuestion:
    """One question with answers to pick from.

    >>> AskedQuestion("Do you smoke?", ("yes", "no")).to_dict()
    {'text': 'Do you smoke?', 'options': ['yes', 'no'], 'most': 1}

    Attributes:
        text: As people read it.
        options: 2 to 10,000 different answers.
        most: How many of them a person may pick, from 1 to all.
    """

    text: str
    options: tuple[str, ...]
    most: int = 1

    def __post_init__(self) -> None:
        check_label(self.text, "the text of a question")
        if (
            isinstance(self.options, str)
            or not isinstance(self.options, Sequence)
            or not all(isinstance(option, str) for option in self.options)
            or len(set(self.options)) < len(self.options)
            or not 2 <= len(self.options) <= MAX_OPTIONS
        ):
            raise InvalidInputError(
                f"Expected 2 to {MAX_OPTIONS:,} different options of {self.text!r:.60}."
            )
        object.__setattr__(self, "options", check_labels(self.options, "options"))
        if type(self.most) is not int or not 1 <= self.most <= len(self.options):
            raise InvalidInputError(
                f"Expected from 1 to {len(self.options)} answers to {self.text!r:.60}, got "
                f"{self.most!r}."
            )

    @property
    def text_lists(self) -> tuple[tuple[str, ...], ...]:
        """The texts that people read, in the order of translations."""
        return ((self.text,), self.options)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {"text": self.text, "options": list(self.options), "most": self.most}


FormQuestion: TypeAlias = AskedQuestion | AskedNumber | AskedCombination


def asked_questions(value: object) -> tuple[FormQuestion, ...] | None:
    """Returns questions; None if it is no list of any.

    Args:
        value: A list of questions, or of what `to_dict` returns; or the path of a file.

    Raises:
        InvalidInputError: If one has other terms.
        DataError: If a file cannot be read, or holds other questions.
    """
    if isinstance(value, Path):
        return _from_file(value)
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return None
    return tuple(_form_question(entry) for entry in value)


def described(questions: Sequence[FormQuestion]) -> Iterator[tuple[str, str]]:
    """Yields what a form takes of a person, each with a word for it.

    >>> [*described([AskedQuestion("Smoker?", ("yes", "no"))])]
    [('answers', 'at most 1 to Smoker?')]
    """
    for asked in questions:
        if isinstance(asked, AskedQuestion):
            yield "answers", f"at most {asked.most} to {asked.text}"
        elif isinstance(asked, AskedNumber):
            unit = f" {asked.unit}" if asked.unit else ""
            sizes = ", ".join(f"{buckets:,}" for _, buckets in asked.levels)
            skips = ", the last for people who skip it" if asked.skippable else ""
            yield (
                "number",
                f"from {asked.low:g} to {asked.high:g}{unit} to {asked.text}, sent as one "
                f"of {sizes} buckets{skips}",
            )
            if asked.edges is not None:
                inner = ", ".join(f"{edge:g}" for edge in asked.edges[1:-1])
                yield "divided at", inner
        else:
            texts = (getattr(questions[index], "text", "") for index in asked.of)
            yield "counted together", " & ".join(texts)


def _form_question(entry: object) -> FormQuestion:
    if isinstance(entry, FormQuestion):
        return entry
    if isinstance(entry, Mapping):
        if set(entry) == _TERMS:
            return AskedQuestion(**entry)
        if set(entry) == _COMBINATION:
            return AskedCombination(**entry)
        # True is its only spelling on the wire: equal questions have equal digests.
        skips_as_stated = entry.get("skippable", True) is True
        if set(entry) - _SOMETIMES == _NUMBER and skips_as_stated:
            return AskedNumber(**{"edges": None, "steps": None} | dict(entry))
    raise InvalidInputError(
        f"Expected questions of {', '.join(sorted(_TERMS))}, numbers with levels, or "
        f"combinations of questions, got {entry!r:.80}."
    )


def _from_file(path: Path) -> tuple[FormQuestion, ...]:
    tables = read_question_tables(path)
    names, questions = list(tables), dict.fromkeys(tables, None)
    # Combinations last: they may stand before the questions that they combine.
    for combines in (False, True):
        for name, table in tables.items():
            terms = {"text": name, "kind": "choice", **table}
            # Of plans, and of a table with known answers: forms have none.
            for term in ("columns", "expected_mean"):
                terms.pop(term, None)
            try:
                if "interest" in terms:
                    raise InvalidInputError(
                        "Expected no interest in a form: its questions share noise "
                        "equally."
                    )
                kind = terms.pop("kind")
                if not isinstance(kind, str) or kind not in _KINDS:
                    raise InvalidInputError(
                        f"Expected a question of kind {', '.join(_KINDS)} in a form, got "
                        f"kind {kind!r:.40}: forms have no other, though plans and "
                        "rehearsals may."
                    )
                if (kind in _COMBINING) is combines:
                    questions[name] = _KINDS[kind](terms, names, questions)
            except InvalidInputError as error:
                raise DataError(f"{path}, question {name}: {error}") from error
    return tuple(asked for asked in questions.values() if asked is not None)


_Questions: TypeAlias = Mapping[str, FormQuestion | None]


def _choice(terms: dict[str, Any], *_: object) -> FormQuestion:
    return AskedQuestion(
        **_only_terms({"most": 1, **terms}, {"text", "options", "most"})
    )


def _number_question(terms: dict[str, Any], *_: object) -> FormQuestion:
    names = {"text", "low", "high"}
    return AskedNumber.in_digits(
        **_only_terms(terms, names, {"unit", "digits", "skippable"})
    )


def _distribution(terms: dict[str, Any], *_: object) -> FormQuestion:
    names = {"text", "edges"}
    optional = {"unit", "fan_out", "skippable"}
    return AskedNumber.in_intervals(**_only_terms(terms, names, optional))


def _table_question(
    terms: dict[str, Any], names: Sequence[str], questions: _Questions
) -> FormQuestion:
    attributes = _only_terms(terms, {"text", "attributes"})["attributes"]
    if not isinstance(attributes, list) or not 2 <= len(attributes) <= MOST_COMBINED:
        raise InvalidInputError(
            f"Expected attributes as the names of 2 to {MOST_COMBINED} questions."
        )
    return _combined(attributes, names, questions)


def _group_mean(
    terms: dict[str, Any], names: Sequence[str], questions: _Questions
) -> FormQuestion:
    terms = _only_terms(terms, {"text", "people", "number"})
    return _combined([terms["people"], terms["number"]], names, questions)


def _combined(
    wanted: Sequence[object], names: Sequence[str], questions: _Questions
) -> FormQuestion:
    indices = [names.index(name) for name in wanted if name in names]
    if len(indices) < len(wanted):
        raise InvalidInputError(
            f"Expected names of questions in this file, got {list(wanted)!r:.80}."
        )
    return AskedCombination.among(list(questions.values()), *indices)


def _only_terms(
    terms: dict[str, Any], needed: set[str], optional: set[str] | None = None
) -> dict[str, Any]:
    """Returns the terms; raises InvalidInputError if they are others."""
    allowed_names = needed | (optional or set())
    if not needed <= set(terms) <= allowed_names:
        raise InvalidInputError(
            f"Expected questions of {', '.join(sorted(allowed_names))}, got "
            f"{', '.join(sorted(terms))}."
        )
    return terms


_KINDS: dict[str, Callable[[dict[str, Any], Sequence[str], _Questions], FormQuestion]]
_KINDS = {
    "choice": _choice,
    "number": _number_question,
    "distribution": _distribution,
    "table": _table_question,
    "group-mean": _group_mean,
}
_COMBINING = frozenset({"table", "group-mean"})
