from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from shuffledp import CertificationError, Frequency, Laplace, Population, Promise
from shuffledp.accounting.calibration.kept_estimates import estimates_of

PEOPLE = Population.from_counts({0.5: 4_000, 2.0: 6_000})
TARGETS = (0.02, 0.3)


@pytest.mark.parametrize("protocol", [Frequency(3), Laplace()])
@pytest.mark.parametrize("number", [1, 2])
def test_kept_estimates_are_those_of_the_promise(protocol: object, number: int) -> None:
    promise = Promise(protocol, delta=1e-7)

    expected = promise.estimates_of(PEOPLE, TARGETS[:number])

    for _ in range(2):
        assert estimates_of(promise, PEOPLE, TARGETS[:number]) == expected


def test_other_people_targets_and_promises_have_their_own() -> None:
    promise = Promise(Frequency(3), delta=1e-7)
    others = Population.from_counts({0.5: 4_000, 2.0: 6_001})

    estimates = [
        estimates_of(promise, PEOPLE, TARGETS),
        estimates_of(promise, others, TARGETS),
        estimates_of(promise, PEOPLE, (0.02, 0.31)),
        estimates_of(Promise(Frequency(3), delta=1e-7, absent=9), PEOPLE, TARGETS),
        estimates_of(Promise(Frequency(4), delta=1e-7), PEOPLE, TARGETS),
    ]

    assert len({tuple(each) for each in estimates}) == len(estimates)


def test_what_cannot_be_estimated_is_refused_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(
        self: Promise,
        people: Population,
        targets: Sequence[float],
        *,
        in_steps: bool,
    ) -> list[float]:
        raise CertificationError("Nothing is estimated here.")

    monkeypatch.setattr(Promise, "estimates_of", refused)
    promise = Promise(Frequency(3), delta=1.5e-7)

    for _ in range(2):
        with pytest.raises(CertificationError, match="Nothing is estimated here"):
            estimates_of(promise, PEOPLE, TARGETS)


@dataclass(frozen=True)
class Unhashable(Laplace):
    """A protocol of somebody else's, with a list in it."""

    def __hash__(self) -> int:
        raise TypeError("unhashable")


def test_protocols_that_cannot_be_compared_are_estimated_anew() -> None:
    promise = Promise(Unhashable(), delta=1e-7)

    expected = Promise(Laplace(), delta=1e-7).estimates_of(PEOPLE, TARGETS)

    assert estimates_of(promise, PEOPLE, TARGETS) == expected
