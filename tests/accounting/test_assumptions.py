"""How often people send is said as it is: once, by coordinate, by round, or both."""

import pytest

from shuffledp.accounting.assumptions import assumptions_of
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.unary_encoding import UnaryEncoding

ONCE = "Each person sends one {what}, once."
OFTEN = {
    (3, 1): "Each person sends one message in each of 3 rounds, independently.",
    (1, 4): "4 messages, each shuffled apart, once, with independent randomness.",
    (3, 4): "4 messages, each shuffled apart, in each of 3 rounds, with",
}


def test_one_message_is_sent_once() -> None:
    said = assumptions_of(KRandomizedResponse(3), "agnostic", 0, 1, 1)
    assert ONCE.format(what="message") in said
    assert ONCE.format(what="report") in assumptions_of(
        UnaryEncoding(3), "agnostic", 0, 1, 1
    )


@pytest.mark.parametrize(("times", "words"), OFTEN.items())
def test_more_than_one_is_counted(times: tuple[int, int], words: str) -> None:
    said = assumptions_of(KRandomizedResponse(3), "agnostic", 0, *times)

    (sentence,) = (each for each in said if "independent" in each and "sends" in each)
    assert words.replace(",", "") in sentence.replace(",", "")


@pytest.mark.parametrize("absent", [0, 1, 1200])
def test_who_is_absent_is_counted(absent: int) -> None:
    said = assumptions_of(KRandomizedResponse(3), "stratified", absent, 1, 1)[0]

    assert (f"but {absent:,} of the others" in said) == (absent > 0)
