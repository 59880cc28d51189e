import numpy as np
import pytest

from shuffledp import InvalidInputError
from shuffledp.randomizers.bloom import Strings, bloom_filters, bloom_positions

# What any other implementation must reproduce: string, cohort, positions of 128 with two
# hashes.
VECTORS = [
    ("", 0, [50, 25]),
    ("", 1, [66, 6]),
    ("", 65_535, [47, 100]),
    ("", 4_294_967_295, [31, 37]),
    ("a", 0, [121, 35]),
    ("a", 1, [92, 43]),
    ("a", 65_535, [35, 126]),
    ("a", 4_294_967_295, [12, 86]),
    ("shuffle", 0, [116, 127]),
    ("shuffle", 1, [69, 115]),
    ("shuffle", 65_535, [12, 41]),
    ("shuffle", 4_294_967_295, [99, 99]),
    ("Zürich", 0, [96, 122]),
    ("Zürich", 1, [111, 88]),
    ("Zürich", 65_535, [46, 38]),
    ("Zürich", 4_294_967_295, [59, 86]),
]


@pytest.mark.parametrize(("text", "cohort", "positions"), VECTORS)
def test_positions_are_those_of_every_other_device(
    text: str, cohort: int, positions: list[int]
) -> None:
    (found,) = bloom_positions([text], [cohort], num_bits=128, num_hashes=2)
    (bits,) = bloom_filters([text], [cohort], num_bits=128, num_hashes=2)

    assert found.tolist() == positions
    assert np.flatnonzero(bits).tolist() == sorted(set(positions))


def test_people_with_one_string_share_a_filter_within_their_cohort_only() -> None:
    texts = np.array(["x", "y", "x", "x"])

    bits = bloom_filters(texts, [3, 3, 3, 4], num_bits=1024, num_hashes=4)

    assert np.array_equal(bits[0], bits[2])
    assert not np.array_equal(bits[0], bits[1])
    assert not np.array_equal(bits[0], bits[3])
    assert bits.sum(axis=1).max() <= 4


def test_positions_are_uniform() -> None:
    texts = [f"person {number}" for number in range(20_000)]

    positions = bloom_positions(texts, [7] * 20_000, num_bits=10, num_hashes=2)

    for column in positions.T:
        counts = np.bincount(column, minlength=10)
        # Chi-square with 9 degrees of freedom: a false alarm in 1e-6 of all texts.
        assert ((counts - 2000) ** 2 / 2000).sum() < 45.1


def test_nobody_has_no_filters() -> None:
    bits = bloom_filters([], [], num_bits=16, num_hashes=2)

    assert bits.shape == (0, 16)


@pytest.mark.parametrize(
    ("texts", "cohorts", "num_hashes"),
    [
        ("ab", [0, 0], 2),
        ([b"a"], [0], 2),
        ([None], [0], 2),
        (["a", "b"], [0], 2),
        (["a"], [-1], 2),
        (["a"], [2**32], 2),
        (["a"], [0.5], 2),
        (["a"], [0], 0),
        (["a"], [0], 9),
        (7, [0], 2),
    ],
)
def test_what_is_no_string_or_no_cohort_is_refused(
    texts: Strings, cohorts: list[int], num_hashes: int
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        bloom_filters(texts, cohorts, num_bits=16, num_hashes=num_hashes)


def test_a_string_that_cannot_be_encoded_is_refused_without_being_quoted() -> None:
    with pytest.raises(InvalidInputError, match="UTF-8") as caught:
        bloom_filters(["secret\ud800"], [0], num_bits=16, num_hashes=2)

    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
