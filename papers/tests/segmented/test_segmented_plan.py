"""The paper's plan: what it states, and what is proven of the same parameters."""

import numpy as np
import pytest

from shuffledp.population import Population
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.court.item_attack import item_divergence
from shuffledp_papers.segmented.privacy import SegmentedPrivacy
from shuffledp_papers.segmented.published_plan import published_plan


def test_a_lone_careful_person_is_worth_less_than_stated() -> None:
    people = Population.from_counts({0.5: 1, 2.0: 4_999})

    plan = published_plan(people, num_items=128, set_size=1, delta=2e-6, blanket=1.0)

    careful = plan.guarantees[0]
    exact = item_divergence(
        num_users=5_000,
        num_items=128,
        blanket_messages=1,
        items_per_user=1,
        sampling_rate=careful.rate,
        epsilon=0.5,
    )
    assert careful.stated <= 2e-6 * (1.0 + 1e-9)
    assert careful.least is not None
    assert careful.proven is not None
    assert careful.least <= exact <= careful.proven
    # Stated is too small, by a factor of 450.
    assert exact > 400.0 * careful.stated
    assert plan.to_dict()["certified"] is False


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("blanket", [None, 0.7, 3.0])
def test_chances_are_those_of_the_theorem(blanket: float | None) -> None:
    people = Population.from_counts({0.5: 500, 1.0: 1_000, 2.0: 500})

    plan = published_plan(people, num_items=30, set_size=2, delta=5e-6, blanket=blanket)

    assert blanket is None or plan.protocol.blanket == blanket
    for guarantee in plan.guarantees:
        bound = SegmentedPrivacy(30, plan.protocol.blanket, 2, guarantee.rate)
        assert guarantee.stated == bound.delta(Setting(people), guarantee.target)
        assert guarantee.stated <= 5e-6 * (1.0 + 1e-9)
        assert guarantee.least is guarantee.proven is None
    signal = float(people.counts @ np.array(plan.protocol.rates))
    bound_on_error = (2_000 * plan.protocol.blanket + 2 * signal) / signal**2
    assert plan.error_bound == pytest.approx(bound_on_error, rel=1e-12)


def test_proven_is_never_below_proposition_1() -> None:
    people = Population.from_counts({0.5: 300, 1.0: 300, 2.0: 300})

    for blanket in (0.4, 1.0, 2.5):
        plan = published_plan(
            people, num_items=20, set_size=1, delta=1e-5, blanket=blanket
        )
        for guarantee in plan.guarantees:
            assert guarantee.least is not None
            assert guarantee.proven is not None
            assert guarantee.least <= guarantee.proven * (1.0 + 1e-9) + 1e-30
