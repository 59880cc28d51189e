"""Terms of sums stay within the bounds that their tail probabilities assume."""

import numpy as np
import pytest

from shuffledp import KRandomizedResponse
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.tail_probabilities import compare_products, sum_tail
from shuffledp.testing.uniform_ranks import BOUND, LEAK_BOUND, UniformRanks

# Evidence of a value has the probability 0.1 + 1e-9 at the second level, 0.9 at the last:
# the least variances at which leaks are standardized.
LEVELS = (0.01, float(np.log(9.0)) - 1e-8)


def test_features_and_leaks_are_within_their_bounds() -> None:
    table = tabulate(KRandomizedResponse(2), LEVELS)
    ranks, rng = UniformRanks(table), np.random.default_rng(5)
    indices, rows = (rng.integers(2, size=(4000, 1)) for _ in range(2))
    levels = rng.integers(2, size=4000)

    features = np.abs(ranks.features(indices, rows, levels, rng=rng))
    leaks = np.abs(ranks.standard_leaks(indices, rows, levels, rng=rng))

    assert features.max() <= BOUND
    assert BOUND < leaks.max() <= LEAK_BOUND


@pytest.mark.parametrize("bound", [BOUND, LEAK_BOUND])
def test_products_are_bounded_by_the_square_of_what_bounds_terms(bound: float) -> None:
    first, second = np.full(100, bound), np.ones(100)

    compared = compare_products(first, second, "depend", bound=bound)

    assert compared.p_value == sum_tail(float(first.sum()), 100.0, bound**2)
    assert compared.about == "messages depend"
