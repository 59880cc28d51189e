"""Codes of messages: each message has one spelling, and other bytes are not known."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.randomizers.message_code import NumberCode, SubsetCode
from shuffledp.randomizers.subset_selection import SubsetSelection


@pytest.mark.parametrize("size", [1, 2, 9])
def test_of_all_bytes_only_the_sets_themselves_are_known(size: int) -> None:
    code = SubsetCode(10, size)
    every = np.arange(2**16, dtype=">u2").view(code.entry)
    sets = np.array(list(combinations(range(10), size)))

    known = every[code.known(every)]

    # The first element has the highest bit, so that sets are in falling order.
    assert np.array_equal(code.unpack(known[::-1]), sets)
    assert code.pack(sets).tobytes() == known[::-1].tobytes()


@given(st.integers(2, 70), st.data())
def test_what_was_drawn_comes_back_in_as_many_bytes_whatever_it_is(
    num_categories: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, num_categories - 1))
    oracle, rng = SubsetSelection(num_categories, size), np.random.default_rng(1)
    code = SubsetCode(num_categories, size)
    drawn = oracle.randomize(
        rng.integers(0, num_categories, 20), np.full(20, 1.0), rng=rng
    )

    packed = code.pack(drawn)

    assert packed.shape == (20,)
    assert packed.dtype.itemsize == -(-num_categories // 8)
    assert code.known(packed).all()
    assert np.array_equal(code.unpack(packed), drawn)
    oracle.check_messages(code.unpack(packed))


def test_numbers_are_known_below_their_count() -> None:
    code = NumberCode(3)

    known = code.known(np.array([-(2**63), -1, 0, 2, 3, 2**63 - 1]))

    assert known.tolist() == [False, False, True, True, False, False]
    assert code.pack(np.array([2], dtype=np.uint8)).dtype == np.int64


@pytest.mark.parametrize("code", [NumberCode(3), SubsetCode(10, 2)])
def test_nothing_is_read_of_no_messages(code: NumberCode | SubsetCode) -> None:
    none = np.empty(0, dtype=code.entry)

    assert code.known(none).tolist() == []
    assert len(code.unpack(none)) == 0
