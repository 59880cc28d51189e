"""The last message there is counts; the one after it, or before the first, is refused."""

import numpy as np
import pytest

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Ints

ITEMS = Items(5, 2, (0.5, 1.0), (0.4, 0.8), 3.0)
SIZE = ITEMS.randomizer.report_size
CHOICES = Choices((0.5, 1.0, 2.0))


def items_of(message: int) -> Ints:
    messages = np.full((2, SIZE), message, dtype=np.int32)
    reports = ShuffledReports(ITEMS.identity, messages, None, "pool")
    counts: Ints = ITEMS.tally(reports).counts[0, 0]
    return counts


def test_every_item_counts_and_dummies_do_not() -> None:
    for item in range(5):
        assert items_of(item).tolist() == [
            2 * SIZE * (place == item) for place in range(5)
        ]
    assert not items_of(5).any()
    for message in (-1, 6):
        with pytest.raises(InvalidInputError):
            items_of(message)


@pytest.mark.parametrize("shape", [(0, 1), (3, 1)])
def test_choices_count_from_the_first_to_the_last(shape: tuple[int, int]) -> None:
    for choice in range(3):
        messages = np.full(shape, choice, dtype=np.int32)
        reports = ShuffledReports(CHOICES.identity, messages, None, "pool")
        found = CHOICES.tally(reports).counts[0, 0]
        assert found.tolist() == [shape[0] * (place == choice) for place in range(3)]


def test_what_changes_in_two_places_is_shuffled_in_columns() -> None:
    rng = np.random.default_rng(1)

    cases: list[tuple[LocalRandomizer, str]] = [
        (KRandomizedResponse(4), "rows"),
        (UnaryEncoding(4), "columns"),
    ]
    for randomizer, arrangement in cases:
        sent = SingleMessage(randomizer).randomize([0, 3], [1.0, 1.0], rng=rng)
        assert sent.arrangement == arrangement
