"""A bound that can bring nothing is not evaluated."""

from dataclasses import dataclass

import numpy as np
import pytest

from shuffledp.accounting.two_messages.binary_population import BinaryPopulation
from shuffledp.accounting.two_messages.two_message_bound import TwoMessageBound
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.randomizers.one_bit import OneBit


@dataclass(frozen=True, eq=False)
class Stated:
    """A bound whose estimate is right."""

    size: float

    def delta(self, epsilon: float) -> float:
        del epsilon
        return self.size

    def estimate(self, epsilon: float) -> float:
        del epsilon
        return self.size

    def slack(self, epsilon: float) -> float:
        del epsilon
        return 0.0


@dataclass(frozen=True, eq=False)
class Slow(TwoMessageBound):
    """A bound of many bands."""

    size: float = 0.0

    @property
    def num_bands(self) -> int:
        return 100

    def estimate(self, epsilon: float) -> float:
        del epsilon
        return self.size

    def delta(self, epsilon: float) -> float:
        # The divergence at the worst data, and a little more.
        return self.estimate(epsilon) * 1.01

    def settles(self, epsilon: float) -> bool:
        del epsilon
        return True


class Hopeless(Slow):
    """One that is not to be evaluated."""

    def delta(self, epsilon: float) -> float:
        raise AssertionError(f"Nothing is gained at epsilon {epsilon}.")


def populations() -> tuple[BinaryPopulation, ...]:
    bands = np.array([0.1, 0.2, 0.3])
    return (BinaryPopulation(bands, bands, np.ones(3), 0.5, 0.2),)


def profile(two_messages: TwoMessageBound, blanket: float) -> UpperProfile:
    bounds = {"two messages": two_messages, "blanket": Stated(blanket)}
    return UpperProfile(bounds, OneBit(), 3.0, 1.0)  # type: ignore[arg-type]


def test_a_slow_bound_is_left_out_where_data_are_worse_than_another_bound() -> None:
    hopeless = profile(Hopeless(populations(), True, size=0.02), 0.01)

    assert hopeless.delta(0.5) == 0.01
    assert hopeless.rests_on(0.5) == "blanket"


@pytest.mark.parametrize("blanket", [0.0202, 0.03, 0.9])
def test_a_slow_bound_is_evaluated_where_it_may_be_smaller(blanket: float) -> None:
    better = profile(Slow(populations(), True, size=0.0199), blanket)

    assert better.delta(0.5) == 1.01 * 0.0199
    assert better.rests_on(0.5) == "two messages"


def test_slow_searches_of_compositions_end_where_they_found_too_little() -> None:
    searched = []

    class Loose(Slow):
        """A bound far above the divergence that it finds."""

        def delta(self, epsilon: float) -> float:
            searched.append(epsilon)
            return 2.0 * self.size

        def settles(self, epsilon: float) -> bool:
            del epsilon
            return False

    beaten = profile(Loose(populations(), True, size=0.01), 0.01)

    deltas = [beaten.delta(epsilon) for epsilon in (0.0, 0.2, 0.4, 0.3, 0.1)]

    assert deltas == [0.01] * 5
    # Beyond an epsilon where they did, none is made.
    assert searched == [0.0, 0.2, 0.1]
