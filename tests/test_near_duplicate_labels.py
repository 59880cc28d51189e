"""Names that a reader would take for the same are found, and others are not."""

import itertools

import pytest

from shuffledp.near_duplicate_labels import near_duplicates, spelling_warnings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bike", "bike"),
        ("new york", "New  York"),
        ("a b", "a\u00a0b"),
        ("straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("\ufb01ne", "fine"),
        ("\u2167", "viii"),
        ("\uff11", "1"),
        ("days", "da\u0443s"),
        ("BAHN", "\u0412\u0410\u041d\u039d"),
        ("\u0412OT", "\u0412\u041e\u0422"),
        ("cafe\u0301", "caf\u0435\u0301"),
        ("omega", "\u03bfmega"),
        ("a b", "a\u2028b"),
        ("ab", "a\u3164b"),
        ("heart", "heart\ufe0f"),
        ("\u2764", "\u2764\ufe0f"),
    ],
)
def test_case_white_space_and_form_do_not_tell_names_apart(
    one: str, other: str
) -> None:
    assert near_duplicates(["bus", other, one]) == [tuple(sorted((one, other)))]


def test_other_differences_do() -> None:
    names = ["bike", "bikes", "b ike", "b-ike", "cafe", "café", "1", "01", "1.0"]
    # "bot" and the small Cyrillic letters of "vot" do not look alike.
    names += ["bot", "\u0432\u043e\u0442"]

    assert near_duplicates(names) == []
    assert spelling_warnings(names, "Items") == ()


def test_the_warning_is_one_line_with_the_pairs() -> None:
    (warning,) = spelling_warnings(["bike", "Bus\n", "Bike", "bus\n", "BIKE"], "Items")

    assert warning == (
        "Items that look alike, or differ in case, white space or Unicode form only, are "
        "counted apart: "
        r"'BIKE' and 'Bike' and 'bike'; 'Bus\n' and 'bus\n'."
    )


def test_of_many_pairs_some_are_named_and_the_others_counted() -> None:
    names = [text for place in range(1005) for text in (f"a{place:04}", f"A{place:04}")]

    (warning,) = spelling_warnings(names, "Items")

    assert warning.endswith("'A0004' and 'a0004'; 1,000 more.")
    assert "0005" not in warning


def test_names_are_alike_through_a_third() -> None:
    # Capitals look like Latin ones, and are the capitals of the small letters.
    names = ["BOT", "\u0412\u041e\u0422", "\u0432\u043e\u0442", "bus"]

    assert near_duplicates(names) == [tuple(sorted(names[:3]))]


def test_many_spellings_of_one_name_are_grouped_quickly() -> None:
    cases = [(letter, letter.upper()) for letter in "abcdefghijk"]
    names = ["".join(name) for name in itertools.product(*cases)]

    (group,) = near_duplicates(names)

    assert len(group) == 2**11
