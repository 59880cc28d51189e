"""A collection of sets, as services run it: the pool of messages is counted by item."""

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.items.survey import ItemsRun, ItemsSurvey

ITEMS, DUMMY = 4, 4
RUN = ItemsRun(Items(ITEMS, 2, (1.0,), (0.5,), 1.5, 5), Choices((1.0,)))


def test_a_pool_is_counted_by_item_without_dummies() -> None:
    # Two reports of five messages, in one pile.
    pool = np.array([3, 0, DUMMY, 0, 1, DUMMY, 3, 3, DUMMY, DUMMY])

    tally = RUN.tally(pool, None)

    assert tally.identity == RUN.identity
    assert tally.num_users == 2
    assert tally.counts.ravel().tolist() == [2, 1, 0, 3]


def test_devices_send_whole_reports_of_codes() -> None:
    sets, targets = np.array([[0, 1], [2, 3], [0, 3]]), np.ones(3)

    sent = RUN.randomize(sets, targets, rng=np.random.default_rng(1))

    assert sent.shape == (3, RUN.messages_per_report)
    assert 0 <= sent.min() <= sent.max() < RUN.code.count == ITEMS + 1
    tally = RUN.tally(sent.ravel(), None)
    expected = np.bincount(sent.ravel(), minlength=ITEMS + 1)[:ITEMS]
    assert tally.counts.ravel().tolist() == expected.tolist()


def test_dummy_items_of_devices_are_no_items() -> None:
    sets = np.array([[1, ITEMS], [ITEMS, ITEMS + 1]])

    answers = RUN.answers(sets, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="from 0 to 3, or -1 for no item"):
        RUN.randomize(sets + 2, np.ones(2), rng=np.random.default_rng(1))

    assert answers.tolist() == [[1, -1], [-1, -1]]


def test_an_estimate_needs_the_targets_of_the_stage_before() -> None:
    with pytest.raises(InvalidInputError, match="targets that people chose before"):
        RUN.estimate(RUN.tally(np.zeros(10, dtype=np.int64), None), None)


def test_questions_take_one_item_and_no_answer_twice() -> None:
    assert ItemsSurvey(("a", "b"), 1).form.most == 1
    with pytest.raises(InvalidInputError, match="from 1 to 256, got 0"):
        ItemsSurvey(("a", "b"), 0)
    with pytest.raises(InvalidInputError, match="different texts"):
        FrequencySurvey(("a", "a"))
