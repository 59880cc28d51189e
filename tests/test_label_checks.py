"""Labels are refused that a reader cannot see as they are, or cannot tell apart."""

from collections.abc import Callable
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.asked_question import AskedQuestion
from shuffledp.display_text import printable
from shuffledp.label_checks import check_label, check_labels
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.items.survey import ItemsSurvey


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("a\u200bb", r"ZERO WIDTH SPACE \(U\+200B\)"),
        ("\u3164", r"HANGUL FILLER \(U\+3164\)"),
        ("a\u3164", r"HANGUL FILLER \(U\+3164\)"),
        ("a\u2028b", r"LINE SEPARATOR \(U\+2028\)"),
        ("a\u202eb", r"RIGHT-TO-LEFT OVERRIDE \(U\+202E\)"),
        ("a\u2069", r"POP DIRECTIONAL ISOLATE \(U\+2069\)"),
        ("a\u200e", r"LEFT-TO-RIGHT MARK \(U\+200E\)"),
        ("bus\ufe0f", r"VARIATION SELECTOR-16 \(U\+FE0F\)"),
        ("\ufe0f", r"VARIATION SELECTOR-16 \(U\+FE0F\)"),
        ("\u2764\ufe0f\ufe0f", r"VARIATION SELECTOR-16 \(U\+FE0F\)"),
        ("b\u200dus", r"ZERO WIDTH JOINER \(U\+200D\)"),
        ("\u0646\u200c", r"ZERO WIDTH NON-JOINER \(U\+200C\)"),
        ("a\u00adb", r"SOFT HYPHEN \(U\+00AD\)"),
        ("a\U000e0041", r"TAG LATIN CAPITAL LETTER A \(U\+E0041\)"),
        ("a\nb", r"a control character \(U\+000A\)"),
        ("a\ud800", r"a control character \(U\+D800\)"),
    ],
)
def test_a_character_that_is_not_seen_is_named(label: str, name: str) -> None:
    with pytest.raises(sdp.InvalidInputError, match=name):
        check_label(label, "an option")
    assert "\ufffd" in printable(label)


@pytest.mark.parametrize(
    "label",
    [
        "café au lait",
        "a\u00a0b",
        # A red heart, a family, and a Persian and a Hindi word with their joiners.
        "\u2764\ufe0f love",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u0434\u0430",
    ],
)
def test_what_is_seen_is_kept(label: str) -> None:
    assert check_label(label, "an option") == label
    assert printable(label) == label


MAKERS: dict[str, Callable[[Any], object]] = {
    "choice": lambda labels: sdp.ChoiceQuestion("a", tuple(labels)),
    "groups": lambda labels: sdp.GroupMeanQuestion("a", tuple(labels), 0, 1),
    "table": lambda labels: sdp.TableQuestion(
        "a", {"b": tuple(labels), "c": ("x", "y")}
    ),
    "pairs": lambda labels: sdp.PairsQuestion("a", dict.fromkeys(labels, ("x", "y"))),
    "asked": lambda labels: AskedQuestion("Which?", tuple(labels)),
    "frequency": lambda labels: FrequencySurvey(tuple(labels)),
    "items": lambda labels: ItemsSurvey(tuple(labels), 1),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_labels_of_one_question_are_told_apart(
    maker: Callable[[Any], object],
) -> None:
    maker(["bus", "train"])
    for other in ("Bus", "b\u03c5s", "\uff42us"):
        with pytest.raises(sdp.InvalidInputError, match="do not look alike"):
            maker(["bus", other])
    with pytest.raises(sdp.InvalidInputError, match="HANGUL FILLER"):
        maker(["bus", "bus\u3164"])


def test_equal_labels_are_left_to_the_caller() -> None:
    assert check_labels(["a", "a"], "options") == ("a", "a")
