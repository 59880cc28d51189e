"""Notice to participants before they answer: asker, contact and consent."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.near_duplicate_labels import near_duplicates
from shuffledp_services.wire.canonical import is_text
from shuffledp_services.wire.refusal import Reason, Refusal

MAX_TRANSLATIONS = 50
LONGEST_CONSENT = 2000

_NAMES = frozenset({"asker", "contact", "consent", "language", "translations"})
_TRANSLATED = frozenset({"name", "question", "answers", "consent"})
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
# Unicode categories of white space and of invisible format characters.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cf"})
# Bidirectional controls reorder letters: an address could be displayed as another one.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_shown_as_written(text: str) -> bool:
    """Tells whether a text has no control characters that change its display."""
    return not any(
        unicodedata.category(letter) == "Cc" or letter in _TURNING for letter in text
    )


def check_answers(texts: Sequence[str], name: str) -> None:
    """Checks that answers can be distinguished on a screen.

    Args:
        texts: All answers.
        name: Name of the answers in errors.

    Raises:
        InvalidInputError: If one begins or ends with an invisible character, or two look
            alike.
    """
    for text in texts:
        if any(unicodedata.category(end) in _UNSEEN for end in (text[:1], text[-1:])):
            raise InvalidInputError(
                f"Expected {name} without spaces or characters that are not seen at "
                f"their ends, got {text[:40]!a}."
            )
    # Look-alikes would let a participant answer something else than they read.
    if alike := near_duplicates(texts):
        first, second, *_ = alike[0]
        raise InvalidInputError(
            f"Expected {name} that do not look alike, got {first[:40]!a} and "
            f"{second[:40]!a}."
        )


@dataclass(frozen=True)
class Translation:
    """Texts of a task in another language.

    Attributes:
        language: Such as "de" or "pt-BR".
        name: Of the task.
        question: The question.
        answers: In the order of the question's answers; empty if it has none. Of several
            questions: the text of each, and then its answers.
        consent: The statement of consent.
    """

    language: str
    name: str
    question: str
    answers: tuple[str, ...]
    consent: str

    def __post_init__(self) -> None:
        _check_language(self.language)
        _check((self.name,), 100, "a translated name")
        _check((self.question, *self.answers), 500, "translated questions and answers")
        _check((self.consent,), LONGEST_CONSENT, "a translated consent")

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, without the language."""
        return {
            "name": self.name,
            "question": self.question,
            "answers": list(self.answers),
            "consent": self.consent,
        }

    @classmethod
    def from_dict(cls, language: object, value: object) -> "Translation":
        """Parses the output of `to_dict`.

        Raises:
            Refusal: If a member is missing, unknown, or not of its type.
            InvalidInputError: If a text cannot be displayed.
        """
        if not isinstance(value, dict) or set(value) != _TRANSLATED:
            raise Refusal(
                Reason.MALFORMED, f"Expected a translation of {sorted(_TRANSLATED)}."
            )
        answers, language = value["answers"], _text(language)
        if not isinstance(answers, list):
            raise Refusal(Reason.MALFORMED, "Expected translated answers as a list.")
        return cls(
            language,
            _text(value["name"]),
            _text(value["question"]),
            tuple(map(_text, answers)),
            _text(value["consent"]),
        )


@dataclass(frozen=True)
class Notice:
    """Asker, contact and statement of consent, with translations.

    Attributes:
        asker: The person or organization that asks.
        contact: Contact details of the asker.
        consent: The use of the answers, to which participants consent.
        language: Of the task's own texts, such as "en".
        translations: Into other languages, in their order.
    """

    asker: str
    contact: str
    consent: str
    language: str = "en"
    translations: tuple[Translation, ...] = ()

    def __post_init__(self) -> None:
        _check((self.asker, self.contact), 200, "who asks, and a contact")
        _check((self.consent,), LONGEST_CONSENT, "a consent")
        _check_language(self.language)
        languages = self.languages
        # One order, so that equal notices have equal canonical texts and digests.
        if sorted(languages[1:]) != list(languages[1:]):
            raise InvalidInputError("Expected translations in the order of languages.")
        if len(set(languages)) != len(languages) or len(languages) > MAX_TRANSLATIONS:
            raise InvalidInputError(
                f"Expected each language once, and at most {MAX_TRANSLATIONS}."
            )

    @property
    def languages(self) -> tuple[str, ...]:
        """The language of the task, and those of the translations."""
        return (self.language, *(entry.language for entry in self.translations))

    def check_answers(self, lists: Sequence[Sequence[str]]) -> None:
        """Checks that every translation has as many answers as the question.

        Args:
            lists: Texts that a person picks from: within a list they have to differ.

        Raises:
            InvalidInputError: If a translation has fewer or more, or two look alike.
        """
        total = sum(map(len, lists))
        for entry in self.translations:
            if len(entry.answers) != total:
                raise InvalidInputError(
                    f"Expected {total} answers in {entry.language}, got "
                    f"{len(entry.answers)}."
                )
            answers = iter(entry.answers)
            for texts in lists:
                own = tuple(islice(answers, len(texts)))
                check_answers(own, f"answers in {entry.language}")

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {
            "asker": self.asker,
            "contact": self.contact,
            "consent": self.consent,
            "language": self.language,
            "translations": {
                entry.language: entry.to_dict() for entry in self.translations
            },
        }

    @classmethod
    def from_dict(cls, value: object) -> "Notice":
        """Parses the output of `to_dict`.

        Raises:
            Refusal: If a member is missing, unknown, or not of its type.
            InvalidInputError: If a text cannot be displayed.
        """
        if not isinstance(value, dict) or set(value) != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a notice of {sorted(_NAMES)}.")
        translations = value["translations"]
        if not isinstance(translations, dict):
            raise Refusal(Reason.MALFORMED, "Expected translations by language.")
        asker, contact, consent, language = (
            _text(value[name]) for name in ("asker", "contact", "consent", "language")
        )
        return cls(
            asker,
            contact,
            consent,
            language,
            tuple(
                Translation.from_dict(name, translations[name])
                # JSON objects have no order: use the canonical one.
                for name in sorted(translations)
            ),
        )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Refusal(Reason.MALFORMED, "Expected what people read as texts.")
    return value


def _check(texts: Iterable[str], longest: int, name: str) -> None:
    if not all(is_text(text, longest) and is_shown_as_written(text) for text in texts):
        raise InvalidInputError(
            f"Expected {name} of 1 to {longest} characters, without control characters."
        )


def _check_language(language: str) -> None:
    if not _LANGUAGE.fullmatch(language):
        raise InvalidInputError(
            f'Expected a language such as "de" or "pt-BR", got {language!r}.'
        )
