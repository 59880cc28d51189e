import math
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.bound import PublishedBound, Setting, Status, status_in
from shuffledp_papers.bounds.published_bounds import (
    PUBLISHED,
    published_bound,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

PEOPLE = sdp.Population.from_counts({0.2: 1000, 0.4: 3000})


@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: bound.name)
def test_every_bound_says_what_it_is(bound: Any) -> None:
    words = f"{bound.title} {bound.source} {bound.applies_to} {bound.note}"

    assert isinstance(bound.proven, Status)
    assert bound.name == bound.name.lower().replace(" ", "-").replace("_", "-")
    assert published_bound(bound.name) is bound
    assert "certified" not in words.lower()
    assert "certified" not in (type(bound).__doc__ or "").lower()


def test_names_are_distinct() -> None:
    names = [bound.name for bound in PUBLISHED]

    assert len(set(names)) == len(names)
    with pytest.raises(sdp.InvalidInputError, match="erlingsson2019"):
        published_bound("nobody2000")


def applying_to(setting: Setting) -> set[str]:
    names = set()
    for bound in PUBLISHED:
        with suppress(OutsidePreconditions):
            bound.check(setting)
            names.add(bound.name)
    return names


def test_bounds_check_whether_they_apply() -> None:
    pure = applying_to(Setting(PEOPLE))
    loose = applying_to(Setting(PEOPLE, delta_local=1e-6))
    kary = applying_to(Setting(PEOPLE, sdp.KRandomizedResponse(5)))

    assert {"erlingsson2019", "feldman2021-closed", "balle2019-hoeffding"} <= pure
    assert "feldman2023-kary" not in pure
    assert "feldman2023-kary" in kary
    assert not {"erlingsson2019", "feldman2021-closed", "girgis2021-sum"} & loose


@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: bound.name)
@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, math.nan, "1e-6", True])
def test_deltas_out_of_range_are_refused(bound: Any, delta: Any) -> None:
    with pytest.raises(sdp.InvalidInputError, match="delta"):
        bound.epsilon(Setting(PEOPLE, sdp.OneBit()), delta)


@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: bound.name)
@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf, "0.1"])
def test_epsilons_out_of_range_are_refused(bound: Any, epsilon: Any) -> None:
    with pytest.raises(sdp.InvalidInputError, match="epsilon"):
        bound.delta(Setting(PEOPLE, sdp.OneBit()), epsilon)


ALL = [
    None,
    sdp.OneBit(),
    sdp.KRandomizedResponse(10),
    sdp.Laplace(),
    sdp.ClipLaplace(),
]
# Theorems that do not speak of every randomizer, given or not.
ONLY_FOR: dict[str, tuple[type, ...]] = {
    "balle2019-blanket": tuple(type(one) for one in ALL if one is not None),
    "feldman2023-kary": (sdp.KRandomizedResponse,),
    "apes": (sdp.ClipLaplace,),
    "apes-numerical": (sdp.ClipLaplace,),
    "hypothesis-testing": tuple(type(one) for one in ALL if one is not None),
    # Of randomizers that may fail, which none of these is.
    "feldman2023-approximate": (),
}
DELTAS = [0.3, 0.03, 1e-3, 1e-9, 1e-10, 1e-30, 1e-250]
# Theorems that ask for a delta that is small, or not too small for these people.
SILENT_AT = {
    "erlingsson2019": {0.3, 0.03},
    "feldman2021-closed": {1e-250},
    "feldman2023-closed": {1e-250},
    "apes": {0.3, 1e-250},
    "apes-uniform": {1e-250},
}
# Nobody may be a clone with a chance above that.
SILENT_WITH = {("hypothesis-testing", sdp.KRandomizedResponse): {1e-250}}


@pytest.mark.slow
@pytest.mark.parametrize("bound", PUBLISHED, ids=lambda bound: bound.name)
@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_epsilon_is_a_number_that_falls_with_delta_wherever_the_theorem_speaks(
    bound: Any, mechanism: Any
) -> None:
    setting = Setting(PEOPLE, mechanism, target_user=0.4)
    about_it = isinstance(mechanism, ONLY_FOR.get(bound.name, object))
    silent = SILENT_AT.get(bound.name, set())
    silent = silent | SILENT_WITH.get((bound.name, type(mechanism)), set())
    spoken = [delta for delta in DELTAS if delta not in silent]

    for delta in DELTAS:
        if not (about_it and delta in spoken):
            with pytest.raises(OutsidePreconditions):
                bound.epsilon(setting, delta)
    found = [bound.epsilon(setting, delta) for delta in spoken if about_it]

    assert len(found) == about_it * len(spoken)
    assert all(0.0 <= epsilon < math.inf for epsilon in found)
    for epsilon, smaller in pairwise(found):
        assert epsilon <= smaller * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target_user": 0.3}, "privacy level"),
        ({"people": {0.2: 10}}, "Expected a Population"),
        ({"delta_local": 1.0}, "delta_local < 1, got 1"),
        ({"delta_local": math.nan}, "delta_local"),
    ],
)
def test_settings_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(sdp.InvalidInputError, match=message):
        Setting(**({"people": PEOPLE} | change))


@pytest.mark.parametrize(
    ("name", "claim"),
    [("feldman2021-numerical", 0.1305), ("balle2019-hoeffding", 0.1455)],
)
def test_what_is_proven_for_equal_budgets_fails_for_mixed_ones(
    name: str, claim: float
) -> None:
    people = sdp.Population.from_counts({0.5: 1, 2.0: 9999})
    bound, setting = published_bound(name), Setting(people, sdp.Laplace())

    epsilon = bound.epsilon(setting, 1e-5)

    assert epsilon == pytest.approx(claim, rel=1e-3)
    protocol = sdp.SingleMessage(sdp.Laplace())
    careful = sdp.account(protocol, people, epsilon=epsilon, levels=[0.5]).levels[0]
    assert careful.delta_central_lower > 100 * 1e-5
    assert bound.proven == Status.PROVEN
    assert status_in(bound, setting) == Status.UNPROVEN


def test_a_status_other_than_proven_stays() -> None:
    alike = sdp.Population.from_counts({1.0: 10})

    for bound in PUBLISHED:
        assert status_in(bound, Setting(alike)) == bound.proven
        assert status_in(bound, Setting(PEOPLE)) != Status.PROVEN or bound.mixed


def test_every_published_bound_has_a_row_of_its_own() -> None:
    rows = {bound.name: type(bound).__name__ for bound in PUBLISHED}

    assert len(rows) == len(PUBLISHED)
    for bound in PUBLISHED:
        # Attributes of the class: also of a bound that is not made.
        assert type(bound).title
        assert isinstance(type(bound).proven, Status)
        assert bound.applies_to
        assert "$" not in bound.note


def test_a_bound_without_a_row_is_refused_where_it_is_declared() -> None:
    with pytest.raises(KeyError, match="no-such-row"):

        class Unlisted(PublishedBound, row="no-such-row"):
            """A bound that bounds.toml does not know."""
