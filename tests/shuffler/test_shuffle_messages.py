"""Messages in random order: nothing is lost, and every order is equally likely."""

import itertools

import numpy as np
import pytest
from shuffledp.shuffler.shuffle_messages import (
    MessageReports,
    ShuffledMessages,
    shuffle_messages,
)

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.shuffler import shuffle_messages as module
from shuffledp.types import Ints


@pytest.mark.parametrize("rng", [np.random.default_rng(1), SystemRandom()])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
def test_messages_are_the_same_in_another_order(rng: Rng, kind: type) -> None:
    messages: Ints = np.arange(120).astype(kind).reshape(40, 3)

    shuffled = shuffle_messages(MessageReports(messages), rng=rng)

    assert shuffled.messages.dtype == kind
    assert (shuffled.num_users, shuffled.report_size) == (40, 3)
    assert np.array_equal(np.sort(shuffled.messages), messages.ravel())
    assert not np.array_equal(shuffled.messages, messages.ravel())


@pytest.mark.parametrize("bits", [32, 2, 0])
def test_every_order_is_equally_likely_also_among_equal_keys(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEYS", 2**bits)
    orders = list(itertools.permutations(range(4)))
    runs = 6_000
    reports = MessageReports(np.arange(4, dtype=np.int32)[None, :])

    seen = dict.fromkeys(orders, 0)
    for _ in range(runs):
        seen[
            tuple(shuffle_messages(reports, rng=SystemRandom()).messages.tolist())
        ] += 1

    # Five standard errors of 24 orders in three tests: one false alarm in 25,000.
    share = 1.0 / len(orders)
    allowed = 5.0 * np.sqrt(runs * share * (1.0 - share))
    assert all(abs(count - runs * share) < allowed for count in seen.values())


@pytest.mark.parametrize(
    "messages",
    [np.zeros(3, dtype=np.int32), np.zeros((0, 2), dtype=np.int32), np.zeros((2, 2))],
)
def test_what_is_no_report_is_refused(messages: Ints) -> None:
    with pytest.raises(InvalidInputError):
        MessageReports(messages)


def test_what_is_not_shuffled_is_refused() -> None:
    messages: Ints = np.zeros(6, dtype=np.int32)

    with pytest.raises(InvalidInputError):
        shuffle_messages(messages, rng=SystemRandom())  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        ShuffledMessages(messages, 4)
    with pytest.raises(InvalidInputError):
        ShuffledMessages(messages, 0)
    with pytest.raises(InvalidInputError):
        ShuffledMessages(messages[None, :], 1)
    with pytest.raises(InvalidInputError):
        ShuffledMessages(messages * 1.0, 2)  # type: ignore[arg-type]
