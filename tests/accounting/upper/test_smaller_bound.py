import math

import pytest

from shuffledp.accounting.upper.smaller_bound import SmallerByEstimate
from shuffledp.errors import CertificationError


class Told:
    """A bound that says what it was told, or refuses, and counts how often it is asked."""

    def __init__(self, size: float, estimate: float) -> None:
        self.size, self.about = size, estimate
        self.num_estimates = 0

    def delta(self, epsilon: float) -> float:
        if math.isnan(self.size):
            raise CertificationError("Nothing is known.")
        return self.size

    def estimate(self, epsilon: float) -> float:
        self.num_estimates += 1
        return self.about

    def slack(self, epsilon: float) -> float:
        return self.delta(epsilon) / 10.0


@pytest.mark.parametrize(
    ("usual", "other", "delta"),
    [
        (Told(0.5, 0.5), Told(0.3, 0.3), 0.3),
        (Told(0.3, 0.3), Told(0.5, 0.5), 0.3),
        # Nearly the same: the usual one.
        (Told(0.3, 0.3), Told(0.29, 0.299), 0.3),
        # Refused, or nothing is known of it.
        (Told(0.5, 0.5), Told(math.nan, 0.3), 0.5),
        (Told(math.nan, 0.3), Told(0.5, 0.5), 0.5),
        (Told(0.5, 0.5), Told(0.3, math.nan), 0.5),
        (Told(0.5, math.nan), Told(0.3, 0.3), 0.5),
    ],
)
def test_the_one_that_seems_smaller_is_evaluated(
    usual: Told, other: Told, delta: float
) -> None:
    bound = SmallerByEstimate(usual, lambda: other, is_composed=False)

    assert bound.delta(0.1) == delta
    assert bound.slack(0.1) == delta / 10.0


def test_nothing_is_known_if_neither_knows() -> None:
    unknown = Told(math.nan, math.nan)
    bound = SmallerByEstimate(unknown, lambda: unknown, is_composed=False)

    assert math.isnan(bound.estimate(0.1))
    with pytest.raises(CertificationError):
        bound.delta(0.1)


def test_compositions_compare_once_for_epsilons_near_each_other() -> None:
    usual, other = Told(0.5, 0.5), Told(0.3, 0.3)
    bound = SmallerByEstimate(usual, lambda: other, is_composed=True)

    deltas = [bound.delta(epsilon) for epsilon in (0.0, 0.100, 0.101, 0.102, 0.103)]

    assert deltas == [0.3] * 5
    assert usual.num_estimates == 2


def test_the_other_is_made_once_and_only_if_it_is_asked_for() -> None:
    made = []

    def make() -> None:
        made.append("other")

    bound = SmallerByEstimate(Told(0.5, 0.4), make, is_composed=False)
    assert made == []

    assert (bound.delta(0.1), bound.estimate(0.1), bound.slack(0.1)) == (0.5, 0.4, 0.05)
    assert made == ["other"]
