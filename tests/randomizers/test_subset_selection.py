import itertools
import math

import pytest

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.statistics.single_message import SingleMessage

SIZES = [(k, w) for k in (2, 3, 4, 5, 7) for w in range(1, k)]


@pytest.mark.parametrize(("k", "w"), SIZES)
def test_overlaps_are_those_of_all_subsets(k: int, w: int) -> None:
    messages = [set(message) for message in itertools.combinations(range(k), w)]

    overlaps = SubsetSelection(k, w).overlaps

    share = 1.0 / len(messages)
    both = share * sum({0, 1} <= message for message in messages)
    assert overlaps.inside == pytest.approx(
        share * sum(0 in message for message in messages), rel=1e-14
    )
    assert overlaps.both == pytest.approx(both, rel=1e-14)
    if k == 2:
        assert overlaps.third is None
    else:
        third = sum({0, 2} <= message and 1 not in message for message in messages)
        assert overlaps.third == pytest.approx(share * third, rel=1e-14)


def test_subsets_of_one_are_kary_response() -> None:
    people = Population.from_counts({0.5: 300, 2.0: 700})

    subsets, categories = (
        account(SingleMessage(device), people, delta=1e-6)
        for device in (SubsetSelection(9, 1), KRandomizedResponse(9))
    )

    for one, other in zip(subsets.levels, categories.levels, strict=True):
        # One unit of six digits.
        assert math.isclose(one.epsilon_central, other.epsilon_central, rel_tol=2e-6)
        assert one.epsilon_central_lower <= one.epsilon_central


def test_a_subset_and_what_it_leaves_out_tell_the_same_pairs_apart() -> None:
    small, large = SubsetSelection(7, 2).overlaps, SubsetSelection(7, 5).overlaps

    assert small.inside - small.both == pytest.approx(large.inside - large.both)


@pytest.mark.parametrize(
    ("k", "w"),
    [(1, 1), (2**31 + 1, 3), (5, 0), (5, 5), (5, -1), (5.0, 2), (5, 2.0), (5, True)],
)
def test_sizes_that_make_no_sense_are_refused(k: object, w: object) -> None:
    with pytest.raises(InvalidInputError, match="categories"):
        SubsetSelection(k, w)  # type: ignore[arg-type]
