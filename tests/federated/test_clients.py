"""Dealing examples out to people."""

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients, partition
from shuffledp.randomness import Rng, SystemRandom


def examples(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Examples that differ, each with its own label."""
    features = np.linspace(0.0, 1.0, 3 * count, dtype=np.float32).reshape(count, 3)
    return features, np.arange(count, dtype=np.int64)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(1), SystemRandom()], ids=["seeded", "system"]
)
def test_every_example_goes_to_one_person_with_its_own_label(rng: Rng) -> None:
    features, labels = examples(12)

    clients = partition(features, labels, 4, rng=rng)

    assert clients.num_clients == 4
    assert clients.features.shape == (4, 3, 3)
    assert sorted(clients.labels.ravel()) == list(range(12))
    np.testing.assert_array_equal(clients.features, features[clients.labels])


def test_everybody_gets_the_same_number_and_the_rest_is_left_out() -> None:
    features, labels = examples(14)

    clients = partition(features, labels, 4, rng=np.random.default_rng(2))

    assert clients.labels.shape == (4, 3)
    assert len(set(clients.labels.ravel())) == 12


def test_the_order_is_random_but_repeats_with_the_seed() -> None:
    features, labels = examples(20)

    dealt = [
        partition(features, labels, 5, rng=np.random.default_rng(seed)).labels
        for seed in (1, 1, 2)
    ]

    np.testing.assert_array_equal(dealt[0], dealt[1])
    assert np.any(dealt[0] != dealt[2])


def test_a_slice_holds_the_same_people_and_copies_nothing() -> None:
    features, labels = examples(12)
    clients = partition(features, labels, 6, rng=np.random.default_rng(3))

    some = clients[2:5]

    assert some.num_clients == 3
    np.testing.assert_array_equal(some.labels, clients.labels[2:5])
    assert np.shares_memory(some.features, clients.features)


@pytest.mark.parametrize("num_clients", [0, -1, 5])
def test_numbers_of_people_that_cannot_be_are_refused(num_clients: int) -> None:
    features, labels = examples(4)

    with pytest.raises(InvalidInputError, match="clients"):
        partition(features, labels, num_clients, rng=np.random.default_rng(4))


@pytest.mark.parametrize(
    "change", ["nan", "above 1", "below 0", "double", "labels", "shape", "nobody"]
)
def test_examples_that_cannot_be_are_refused(change: str) -> None:
    features = np.full((2, 3, 4), 0.5, dtype=np.float32)
    labels = np.zeros((2, 3), dtype=np.int64)
    if change in ("nan", "above 1", "below 0"):
        features[1, 2, 3] = {"nan": np.nan, "above 1": 1.5, "below 0": -0.1}[change]
    elif change == "double":
        features = features.astype(np.float64)
    elif change == "labels":
        labels[0, 0] = -1
    elif change == "shape":
        labels = labels[:, :2]
    else:
        features, labels = features[:0], labels[:0]

    with pytest.raises(InvalidInputError, match="Expected"):
        Clients(features, labels)
