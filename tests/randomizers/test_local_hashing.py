import itertools
from collections import Counter

import pytest
from oracles.finite_messages import affine_hashes

from shuffledp import InvalidInputError
from shuffledp.randomizers.local_hashing import LocalHashing

FAMILIES = [(2, 2), (3, 2), (4, 2), (7, 2), (3, 3), (9, 3), (7, 3), (5, 5), (6, 5)]


@pytest.mark.parametrize(("k", "g"), FAMILIES)
def test_hashes_of_two_values_are_independent_and_uniform(k: int, g: int) -> None:
    functions = affine_hashes(k, g)

    for x, other in itertools.combinations(range(k), 2):
        pairs = Counter((function[x], function[other]) for function in functions)

        assert len(pairs) == g * g
        assert set(pairs.values()) == {len(functions) // g**2}


@pytest.mark.parametrize(("k", "g"), FAMILIES)
def test_overlaps_are_those_of_all_functions_and_buckets(k: int, g: int) -> None:
    functions = affine_hashes(k, g)
    messages = list(itertools.product(functions, range(g)))

    overlaps = LocalHashing(k, g).overlaps

    inside = sum(function[0] == bucket for function, bucket in messages)
    both = sum(f[0] == f[1] == bucket for f, bucket in messages)
    assert overlaps.inside == pytest.approx(inside / len(messages), rel=1e-14)
    assert overlaps.both == pytest.approx(both / len(messages), rel=1e-14)
    if k == 2:
        assert overlaps.third is None
    else:
        third = min(
            sum(f[0] == f[z] == bucket != f[1] for f, bucket in messages)
            for z in range(2, k)
        )
        assert overlaps.third == third / len(messages)


@pytest.mark.parametrize("g", [4, 6, 9, 15, 25, 49, 1001, 10**6])
def test_composite_numbers_of_buckets_are_refused(g: int) -> None:
    with pytest.raises(InvalidInputError, match="prime"):
        LocalHashing(10, g)


@pytest.mark.parametrize(
    ("k", "g"), [(1, 2), (2**31 + 1, 2), (5, 1), (5, 1_000_033), (5, 3.0), (5.0, 3)]
)
def test_sizes_that_make_no_sense_are_refused(k: object, g: object) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        LocalHashing(k, g)  # type: ignore[arg-type]


def test_largest_prime_is_accepted() -> None:
    assert LocalHashing(2**31, 1_000_003).overlaps.third == 0.0
