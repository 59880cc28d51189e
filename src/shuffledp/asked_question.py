"""Questions with answers to pick from, as people are asked them: several in one form.

A file of them is TOML, with a table for each question. `text` is read by people, by default
it is the table's name; `most` is how many options one person may pick.

[questions.transport]
text = "How do you get to work?"
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.papers]
text = "Which newspapers do you read?"
kind = "choice"
options = ["Times", "Post", "Star", "Sun"]
most = 2
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.label_checks import check_label, check_labels
from shuffledp.question_tables import read_question_tables

MAX_OPTIONS = 10_000
_TERMS = frozenset({"text", "options", "most"})


@dataclass(frozen=True)
class AskedQuestion:
    """One question.

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

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {"text": self.text, "options": list(self.options), "most": self.most}


def asked_questions(value: object) -> tuple[AskedQuestion, ...] | None:
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
    return tuple(_question(entry) for entry in value)


def _question(entry: object) -> AskedQuestion:
    if isinstance(entry, AskedQuestion):
        return entry
    if not isinstance(entry, Mapping) or set(entry) != _TERMS:
        raise InvalidInputError(
            f"Expected questions of {', '.join(sorted(_TERMS))}, got {entry!r:.80}."
        )
    return AskedQuestion(**entry)


def _from_file(path: Path) -> tuple[AskedQuestion, ...]:
    questions = []
    for name, table in read_question_tables(path).items():
        terms = {"text": name, "most": 1, "kind": "choice", **table}
        # Of a table with known answers: forms have none.
        terms.pop("columns", None)
        try:
            if "interest" in terms:
                raise InvalidInputError(
                    "Expected no interest in a form: its questions share noise equally."
                )
            if (kind := terms.pop("kind")) != "choice":
                raise InvalidInputError(
                    "Expected a question of kind choice, as people pick from options (of "
                    f"numbers, ranges such as 0-17), got kind {kind!r:.40}."
                )
            questions.append(_question(terms))
        except InvalidInputError as error:
            raise DataError(f"{path}, question {name}: {error}") from error
    return tuple(questions)
