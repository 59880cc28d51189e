"""Whose keys make a plan that devices and the shuffler follow, for any parties together."""

from itertools import combinations

import pytest
from hostile_plans import changed, device_follows, made, shuffler_follows
from service_parties import publish

from shuffledp.identity import Identity
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Reason
from shuffledp_services.wire.signed_plan import PublishedPlan

REFUSED, FORGED = Reason.PLAN_REFUSED.value, Reason.SIGNATURE_FORGED.value
TOGETHER = [roles for size in (1, 2, 3) for roles in combinations(Role, size)]


def without_noise() -> Identity:
    """A plan that sends every item as it is: counts would be exact."""
    return changed(rates=(1.0, 1.0, 1.0), blanket=0.0)


def plans_of(
    together: tuple[Role, ...], protocol: Identity | None
) -> list[PublishedPlan]:
    """The plan, signed with every key that these parties have."""
    keys = [made().signing_keys[role] for role in together]
    if Role.ANALYST in together:
        keys.append(made().analyst.private_key)
    return [publish(made().task, key, protocol) for key in keys]


@pytest.mark.parametrize("together", TOGETHER, ids=" and ".join)
def test_the_analyst_alone_makes_plans_that_devices_follow(
    together: tuple[Role, ...],
) -> None:
    reasons = {
        device_follows(plan.to_dict()) for plan in plans_of(together, protocol=None)
    }

    assert (None in reasons) is (Role.ANALYST in together)
    assert reasons <= {None, FORGED}


@pytest.mark.parametrize("together", TOGETHER, ids=" and ".join)
def test_no_keys_make_anybody_follow_a_plan_without_noise(
    together: tuple[Role, ...],
) -> None:
    documents = [plan.to_dict() for plan in plans_of(together, without_noise())]

    reasons = [device_follows(document) for document in documents]

    assert reasons == [shuffler_follows(document) for document in documents]
    assert set(reasons) <= {REFUSED, FORGED}
    # Her own signature does not help.
    assert (REFUSED in reasons) is (Role.ANALYST in together)
