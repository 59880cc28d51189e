import itertools

import numpy as np
import pytest
from scipy.linalg import hadamard

from shuffledp import InvalidInputError
from shuffledp.randomizers.hadamard_response import HadamardResponse


@pytest.mark.parametrize("k", [2, 3, 4, 7, 8, 15])
def test_overlaps_are_those_of_the_matrix(k: int) -> None:
    order = next(2**j for j in range(1, 9) if 2**j > k)
    favored = hadamard(order)[1 : k + 1] > 0

    overlaps = HadamardResponse(k).overlaps

    assert np.all(favored.mean(axis=1) == overlaps.inside)
    for x, other in itertools.combinations(range(k), 2):
        both = favored[x] & favored[other]
        assert both.mean() == overlaps.both
    if k > 2:
        # Values 0 and 1 have a third that never hits what only one of them favors.
        least = min(
            max(
                (favored[z] & favored[0] & ~favored[1]).mean(),
                (favored[z] & favored[1] & ~favored[0]).mean(),
            )
            for z in range(2, k)
        )
        assert overlaps.third == least == 0.0
    else:
        assert overlaps.third is None


@pytest.mark.parametrize("k", [1, 0, -2, 2**31 + 1, 3.0, True, "3", None])
def test_numbers_of_categories_that_make_no_sense_are_refused(k: object) -> None:
    with pytest.raises(InvalidInputError, match="categories"):
        HadamardResponse(k)  # type: ignore[arg-type]
