from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from oracles.enumeration import largest_divergences

import shuffledp as sdp
from shuffledp.audit.accountant import audit_accountant, shrink
from shuffledp.audit.small_collection import (
    SmallCollection,
    random_collection,
    simplifications,
)
from shuffledp.errors import InvalidInputError


def stating(upper: float, lower: float = 0.0) -> Any:
    """An accountant that always says the same."""

    def answer(device: Any, people: sdp.Population, *, epsilon: float) -> Any:
        levels = [
            SimpleNamespace(
                epsilon_local=level, delta_central=upper, delta_central_lower=lower
            )
            for level in people.epsilons.tolist()
        ]
        return SimpleNamespace(levels=levels)

    return answer


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.5])
def test_the_truth_is_what_an_enumeration_of_all_data_says(epsilon: float) -> None:
    people = {0.5: 2, 2.0: 2}
    small = SmallCollection(sdp.KRandomizedResponse(3), tuple(people.items()), epsilon)

    truth = small.truth()

    assert truth is not None
    exact, whole = truth
    assert whole
    for level in people:
        other = largest_divergences(people, level, [epsilon], num_categories=3)
        # Sums of the same chances, in another order.
        assert exact[level] == pytest.approx(float(other[0]), rel=1e-12)


def test_our_accountant_is_never_wrong() -> None:
    found = audit_accountant(sdp.account, "ours", seconds=0.4, seed=5)

    assert found.trials >= 1
    assert found.refused == found.wrong == 0
    assert found.smallest is None
    assert found.tightest is None or found.tightest >= 1.0


# One trial each, however fast or slow the machine is.
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_too_small_a_delta_is_found_and_its_counterexample_made_small(
    seed: int,
) -> None:
    found = audit_accountant(stating(0.0), "nothing", seconds=1e-9, seed=seed)

    assert found.wrong > 0
    assert found.smallest is not None
    # However slow the machine is.
    smallest = shrink(stating(0.0), found.smallest, seconds=60.0)
    assert smallest.wrong == "upper"
    assert smallest.stated == 0.0 < smallest.exact
    # Two people at one round level, and nothing that could be left out.
    ((level, count),) = smallest.small.people
    assert count == 2
    assert level == round(level, 2)
    assert smallest.small.epsilon == 0.0
    document = replace(found, smallest=smallest).to_dict()["smallest"]
    assert document["people"] == [[level, 2]]
    assert document["mechanism"] == smallest.small.device.mechanism


def test_an_attack_that_nobody_can_make_is_found() -> None:
    found = audit_accountant(stating(1.0, lower=0.99), "boasting", seconds=0.1, seed=3)

    assert found.smallest is not None
    assert found.smallest.wrong == "lower"
    assert found.smallest.exact < 0.99 == found.smallest.stated
    assert audit_accountant(stating(1.0), "1", seconds=0.05, seed=3).wrong == 0


def test_no_number_is_wrong_and_refusals_are_counted() -> None:
    def refusing(device: Any, people: Any, *, epsilon: float) -> Any:
        raise InvalidInputError("Expected something else.")

    def silent(device: Any, people: Any, *, epsilon: float) -> Any:
        return SimpleNamespace(levels=[])

    nan = audit_accountant(stating(float("nan")), "nan", seconds=0.05)
    assert nan.wrong == nan.trials
    for accountant in (refusing, silent):
        found = audit_accountant(accountant, "shy", seconds=0.05)
        assert found.refused == found.trials >= 1
        assert found.wrong == 0


@pytest.mark.parametrize(
    "accountant",
    [
        lambda device, people: None,
        lambda device, people, epsilon: None,
        lambda device, people, epsilon: SimpleNamespace(levels=[3.0]),
        lambda device, people, epsilon: SimpleNamespace(
            levels=[SimpleNamespace(epsilon_local=99.0, delta_central=1.0)]
        ),
    ],
)
def test_what_is_no_accountant_is_refused(accountant: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected an accountant"):
        audit_accountant(accountant, "x", seconds=0.05)


def test_what_is_smaller_is_still_a_collection_of_two_people_or_more() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        small = random_collection(rng)
        for other in simplifications(small):
            assert other.population.num_users >= 2
            assert other != small
