"""Executors randomize all levels in one call where nobody's message depends on it."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp_services.spark.frame_randomizer import FrameRandomizer

pa = pytest.importorskip("pyarrow")

PEOPLE = 400
ALIKE: list[Any] = [
    sdp.KRandomizedResponse(9),
    sdp.SubsetSelection(9, 3),
    sdp.HadamardResponse(9),
    sdp.LocalHashing(9, 3),
    sdp.UnaryEncoding(9),
]
OTHERS: list[Any] = [sdp.Laplace(0, 1), sdp.ClipLaplace(0.5)]


class CountedCalls:
    """A protocol that counts how often devices are simulated."""

    def __init__(self, protocol: Any) -> None:
        self._protocol, self.randomizer = protocol, protocol.randomizer
        self.calls: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def randomize(self, values: Any, levels: Any, *, rng: Any) -> Any:
        self.calls.append(levels.size)
        return self._protocol.randomize(values, levels, rng=rng)


def messages_of(protocol: Any, rows: Any = slice(None)) -> tuple[Any, list[int]]:
    """Returns the messages of some of 400 people of as many levels, and calls for them."""
    rng = np.random.default_rng(1)
    levels = rng.uniform(0.05, 4.0, PEOPLE)
    if isinstance(protocol, sdp.Mean):
        values: Any = rng.random(PEOPLE)
    else:
        values = rng.integers(0, 9, PEOPLE)
    counted = CountedCalls(protocol)
    people = pa.array(np.arange(PEOPLE)[rows])
    randomizer = FrameRandomizer.of(counted, b"x" * 32)
    # The type of messages is taken from those of nobody.
    counted.calls.clear()
    return randomizer.messages(people, values[rows], levels[rows]), counted.calls


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    "protocol",
    [sdp.Mean(0, 1), *(sdp.Frequency(9, randomizer=each) for each in ALIKE)],
    ids=lambda protocol: str(protocol.randomizer.mechanism),
)
def test_all_levels_take_one_call_and_give_the_same_messages(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, calls = messages_of(protocol)

    monkeypatch.setattr(type(protocol.randomizer), "draws_alike", False)
    apart, one_by_one = messages_of(protocol)

    assert calls == [PEOPLE]
    assert one_by_one == [1] * PEOPLE
    assert np.array_equal(together, apart)


@pytest.mark.slow
@pytest.mark.parametrize("randomizer", OTHERS)
def test_noise_is_drawn_level_by_level(randomizer: Any) -> None:
    protocol = sdp.Mean(0, 1, randomizer=randomizer)

    everyone, calls = messages_of(protocol)
    some, _ = messages_of(protocol, slice(200, None))

    assert calls == [1] * PEOPLE
    assert np.array_equal(everyone[200:], some)


def test_a_subclass_is_not_taken_to_draw_alike() -> None:
    class Own(sdp.KRandomizedResponse):
        pass

    _, calls = messages_of(sdp.Frequency(9, randomizer=Own(9)))

    assert calls == [1] * PEOPLE
