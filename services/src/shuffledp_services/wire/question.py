"""Question of a task."""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.statistics.statistic_catalog import survey_named
from shuffledp.statistics.survey import Survey, survey_in, terms_of
from shuffledp_services.wire.canonical import is_text
from shuffledp_services.wire.notice import check_answers
from shuffledp_services.wire.refusal import Reason, Refusal

_NAMES = frozenset({"statistic", "text", "mode", "terms"})


@dataclass(frozen=True)
class Question:
    """Question to every participant.

    Attributes:
        text: The displayed text.
        survey: The statistic and its terms.
    """

    text: str
    survey: Survey

    def __post_init__(self) -> None:
        if not all(is_text(text, 500) for text in self.texts):
            raise InvalidInputError(
                "Expected the question and every answer as a text of 1 to 500 characters."
            )
        for texts in self.text_lists:
            check_answers(texts, "answers")

    @property
    def texts(self) -> tuple[str, ...]:
        """All displayed texts: the question, then its answers."""
        return (self.text, *(text for texts in self.text_lists for text in texts))

    @property
    def text_lists(self) -> tuple[tuple[str, ...], ...]:
        """Texts that a person picks from, list by list; of several questions these, too.

        Each list has to be different texts, and two lists may have the same ones.
        """
        lists: list[tuple[str, ...]] = []
        for parameter in self.survey.parameters:
            value = getattr(self.survey, parameter.name)
            if parameter.kind == "texts":
                lists.append(value)
            elif parameter.kind == "questions":
                for asked in value:
                    lists += asked.text_lists
        return tuple(lists)

    @property
    def linked(self) -> bool:
        """Whether an answer stays with its level."""
        return self.survey.mode == "stratified"

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        terms = terms_of(self.survey)
        return {
            "statistic": self.survey.words.name,
            "text": self.text,
            "mode": self.survey.mode,
            "terms": {name: Parameter.plain(value) for name, value in terms.items()},
        }

    @classmethod
    def from_dict(cls, value: object) -> "Question":
        """Parses the output of `to_dict`.

        Raises:
            Refusal: If a member is missing, unknown, or not of its type.
            InvalidInputError: If a value is out of range.
        """
        if not isinstance(value, dict) or set(value) != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a question of {sorted(_NAMES)}.")
        # `survey_in` checks the terms themselves.
        if not isinstance(value["terms"], dict):
            raise Refusal(Reason.MALFORMED, "Expected terms by their names.")
        kind = survey_named(value["statistic"])
        return cls(value["text"], survey_in(kind, value["terms"], value["mode"]))
