"""Counting support: against every message and category, one by one."""

import numpy as np
import pytest
from oracles.favored_sets import all_messages, favors, oracles
from oracles.finite_messages import Senders, affine_hashes

from shuffledp import InvalidInputError
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.types import Ints

DEVICES = [pytest.param(*case, id=repr(case[0])) for case in oracles()]


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_counts_agree_with_those_of_every_message(
    device: FrequencyOracle, sends: Senders
) -> None:
    favored = favors(sends)
    known = all_messages(device, favored.shape[1])
    rng = np.random.default_rng(6)
    drawn = rng.integers(0, len(known), 700)
    # Nobody is in group 1.
    groups = np.array([0, 2, 3])[rng.integers(0, 3, 700)]
    messages = known[drawn]

    device.check_messages(messages)
    together = device.support_counts(messages, None, 1)
    apart = device.support_counts(messages, groups, 4)

    for group in range(4):
        expected = favored[:, drawn[groups == group]].sum(axis=1)
        assert np.array_equal(apart[group], expected)
    assert together.tolist() == [favored[:, drawn].sum(axis=1).tolist()]


@pytest.mark.parametrize(("k", "g"), [(30, 3), (60, 7), (60, 61), (9, 3)])
def test_hashes_are_counted_right_over_many_batches_and_groups(k: int, g: int) -> None:
    device, n, num_groups = LocalHashing(k, g), 70_000, 900
    rng = np.random.default_rng(7)
    groups = rng.integers(0, num_groups, n)
    digits = [[v // g**i % g for i in range(device.num_digits)] for v in range(k)]

    messages = device.randomize(rng.integers(0, k, n), np.ones(n), rng=rng)
    counts = device.support_counts(messages, groups, num_groups)

    rows = messages.astype(np.int64)
    for value in range(0, k, 7):
        hashes = (rows[:, :-2] @ np.array(digits[value]) + rows[:, -2]) % g
        hits = groups[hashes == rows[:, -1]]
        expected = np.bincount(hits, minlength=num_groups)
        assert np.array_equal(counts[:, value], expected)
    everybody = device.support_counts(messages, None, 1)
    assert np.array_equal(everybody[0], counts.sum(axis=0))


def test_functions_are_those_of_the_textbook() -> None:
    device = LocalHashing(7, 3)
    functions = affine_hashes(7, 3)
    known = all_messages(device, 3**4)

    for message, row in enumerate(known):
        hashes, bucket = functions[message // 3], message % 3
        counts = device.support_counts(row[None, :], None, 1)
        assert counts[0].tolist() == [int(hashed == bucket) for hashed in hashes]


@pytest.mark.parametrize(
    ("device", "messages"),
    [
        (KRandomizedResponse(5), np.array([0, 5])),
        (KRandomizedResponse(5), np.array([0, -1])),
        (KRandomizedResponse(5), np.array([[0, 1]])),
        (KRandomizedResponse(5), np.array(3)),
        (KRandomizedResponse(5), np.array([0.0, np.nan])),
        (SubsetSelection(5, 2), np.array([0, 1])),
        (SubsetSelection(5, 2), np.array([[0, 1, 2]])),
        (SubsetSelection(5, 2), np.array([[0, 5]])),
        (SubsetSelection(5, 2), np.array([[-1, 2]])),
        (SubsetSelection(5, 2), np.array([[2, 2]])),
        (SubsetSelection(5, 2), np.array([[2, 1]])),
        (SubsetSelection(5, 2), np.array([[1.0, 2.0]])),
        (SubsetSelection(5, 2), np.array([[True, False]])),
        (HadamardResponse(5), np.array([8])),
        (HadamardResponse(5), np.array([-1])),
        (HadamardResponse(5), np.array(["1"])),
        (HadamardResponse(5), np.array([[1]])),
        (LocalHashing(5, 3), np.array([[0, 1, 2]])),
        (LocalHashing(5, 3), np.array([[0, 1, 2, 3]])),
        (LocalHashing(5, 3), np.array([[0, 1, 2, -1]])),
        (LocalHashing(5, 3), np.array([0, 1, 2, 2])),
        (LocalHashing(5, 3), np.array([[0, 1, 2, None]])),
    ],
)
def test_messages_that_no_device_sends_are_refused(
    device: FrequencyOracle, messages: Ints
) -> None:
    with pytest.raises(InvalidInputError, match="messages"):
        device.check_messages(messages)
