"""Lists of protocols are certified as one, whichever they are, and refused otherwise."""

import json
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.exposure import SingleMessages
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.joint.joint_bounds import JointBounds
from shuffledp.accounting.joint.joint_exposure import JointExposure
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.part_losses import PartLosses
from shuffledp.cover import message_family
from shuffledp.errors import InvalidInputError, PopulationError, UnknownLevelError
from shuffledp.statistics.statistic_catalog import protocol_of

PEOPLE = sdp.Population.from_counts({0.5: 300, 1.0: 500})
TARGETS = (0.5, 1.0)
COUNTS = sdp.Counts(
    (sdp.CountGroup(5, 2, sdp.PoissonNoise(300.0)),), TARGETS, (0.4, 1.0), 800
)
LISTS: list[Any] = [
    [sdp.Frequency(4, "stratified"), sdp.Mean(0, 10)],
    pytest.param(
        [sdp.UnaryEncoding(4), sdp.Gaussian(0, 1, delta_local=1e-9)],
        marks=pytest.mark.slow,
    ),
    [sdp.Frequency(3), COUNTS],
]


def epsilons(guarantee: Guarantee) -> list[float]:
    return [level.epsilon_central for level in guarantee.levels]


@pytest.mark.slow
@pytest.mark.parametrize("protocols", LISTS)
def test_costs_more_than_each_and_no_more_than_all_added_up(
    protocols: list[Any],
) -> None:
    joint = sdp.account(protocols, PEOPLE, delta=1e-6)

    alone = [sdp.account(each, PEOPLE, delta=1e-6) for each in protocols]
    halves = [sdp.account(each, PEOPLE, delta=0.5e-6) for each in protocols]
    attacked = [
        [level.epsilon_central_lower for level in guarantee.levels]
        for guarantee in alone
    ]
    assert np.all(np.array(epsilons(joint)) >= np.max(attacked, axis=0))
    # Basic composition, at half of delta for each.
    assert np.all(np.array(epsilons(joint)) <= np.sum(list(map(epsilons, halves)), 0))
    lowers = [level.epsilon_central_lower for level in joint.levels]
    # An attack on all sees more than one on the part that tells most.
    assert np.all(np.array(lowers) > np.max(attacked, axis=0))
    assert np.all(np.array(lowers) <= np.array(epsilons(joint)))


@pytest.mark.slow
@pytest.mark.parametrize("protocols", LISTS)
def test_certificates_are_rebuilt_and_verified(protocols: list[Any]) -> None:
    guarantee = sdp.account(protocols, PEOPLE, delta=1e-6, absent=20)
    record = json.loads(json.dumps(guarantee.to_dict()))

    rebuilt = protocol_of(guarantee.protocol)

    assert rebuilt.identity == sdp.ProtocolComposition(protocols).identity
    assert sdp.verify(record, protocol=tuple(protocols)).holds


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 40.0])
def test_deltas_at_an_epsilon_are_no_smaller_than_those_of_each(epsilon: float) -> None:
    protocols: list[Any] = [sdp.Frequency(3), COUNTS]

    joint = sdp.account(protocols, PEOPLE, epsilon=epsilon)

    for each in protocols:
        alone = sdp.account(each, PEOPLE, epsilon=epsilon)
        for level, single in zip(joint.levels, alone.levels, strict=True):
            assert single.delta_central_lower <= level.delta_central_lower
            assert level.delta_central_lower <= level.delta_central


@pytest.mark.slow
def test_a_protocol_that_is_listed_twice_runs_twice() -> None:
    frequency = sdp.Frequency(4)

    listed = sdp.account([frequency] * 3, PEOPLE, delta=1e-6)

    several = sdp.account(frequency, PEOPLE, delta=1e-6, rounds=3)
    # Of one protocol it is known which of its losses decide.
    assert epsilons(listed) == pytest.approx(epsilons(several), rel=2e-4)
    assert [level.epsilon_coalition for level in listed.levels] == [
        level.epsilon_coalition for level in several.levels
    ]
    assert (
        listed.levels[1].epsilon_central_lower
        == several.levels[1].epsilon_central_lower
    )


@pytest.mark.slow
def test_rounds_repeat_every_protocol_and_order_does_not_matter() -> None:
    first, second = sdp.Frequency(4), sdp.Frequency(5)

    twice = sdp.account([first, second], PEOPLE, delta=1e-6, rounds=2)

    listed = sdp.account([second, first, first, second], PEOPLE, delta=1e-6)
    # Sums are rounded in another order.
    np.testing.assert_allclose(epsilons(twice), epsilons(listed), rtol=1e-5)
    assert max(epsilons(twice)) > max(
        epsilons(sdp.account([first, second], PEOPLE, delta=1e-6))
    )


def test_never_costs_more_than_all_local_budgets() -> None:
    people = sdp.Population.from_counts({0.5: 1, 1.0: 1})

    guarantee = sdp.account(
        [sdp.Frequency(2), sdp.SingleMessage(sdp.OneBit(0, 1), "stratified")],
        people,
        delta=1e-12,
    )

    assert epsilons(guarantee) == [1.0, 2.0]
    assert {level.rests_on for level in guarantee.levels} == {"device"}


@pytest.mark.slow
def test_budgets_against_the_coalition_add_up_if_all_have_one() -> None:
    local = sdp.account([sdp.Frequency(4), sdp.Frequency(5)], PEOPLE, delta=1e-6)
    mixed = sdp.account([sdp.Frequency(4), COUNTS], PEOPLE, delta=1e-6)

    assert [level.epsilon_coalition for level in local.levels] == [1.0, 2.0]
    assert {level.epsilon_coalition for level in mixed.levels} == {None}
    assert [level.epsilon_local for level in mixed.levels] == [None, None]
    assert [level.target for level in mixed.levels] == [0.5, 1.0]
    assert any("no local guarantee" in line for line in mixed.cautions)


@pytest.mark.parametrize(
    ("protocols", "ratio"),
    [
        ([sdp.Frequency(4), sdp.Frequency(9)], 1.002),
        pytest.param(
            [sdp.Frequency(4, "stratified"), sdp.Mean(0, 10)],
            1.01,
            marks=pytest.mark.slow,
        ),
        pytest.param([sdp.Frequency(3), COUNTS], 1.01, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("absent", [0, 20])
def test_an_attack_on_all_comes_near_the_certificate(
    protocols: list[Any], ratio: float, absent: int
) -> None:
    people = sdp.Population.from_counts({0.5: 3_000, 1.0: 5_000})

    guarantee = sdp.account(protocols, people, delta=1e-6, absent=absent)

    for level in guarantee.levels:
        attacked = level.epsilon_central_lower
        assert attacked <= level.epsilon_central <= ratio * attacked


@pytest.mark.slow
def test_messages_of_noise_only_cost_nothing() -> None:
    people = sdp.Population.from_counts({0.0: 50, 1e-280: 50, 1.0: 500})

    guarantee = sdp.account([sdp.Frequency(4), sdp.Frequency(5)], people, delta=1e-6)

    assert epsilons(guarantee)[:2] == [0.0, 0.0]
    assert epsilons(guarantee)[2] > 0.0


def test_a_list_of_one_is_that_protocol() -> None:
    guarantee = sdp.account([sdp.Frequency(4)], PEOPLE, delta=1e-6)

    assert guarantee == sdp.account(sdp.Frequency(4), PEOPLE, delta=1e-6)


@pytest.mark.slow
def test_certificates_state_the_conditions_of_all() -> None:
    guarantee = sdp.account([sdp.Frequency(4), COUNTS], PEOPLE, delta=1e-6)

    text = " ".join(guarantee.assumptions)
    assert "2 protocols run with the same people" in text
    assert "In frequency by kary-response (categories 4), agnostic: " in text
    assert "frequency by kary-response (categories 4), agnostic" in str(
        guarantee.protocol
    )


class Overridden(sdp.KRandomizedResponse):
    def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        return values


@pytest.mark.parametrize(
    "protocols",
    [
        [],
        [sdp.Frequency(4), sdp.Population.from_counts({1.0: 2})],
        [sdp.Frequency(4), sdp.Frequency],
        [sdp.Frequency(4), Overridden(4)],
        [sdp.Frequency(4), sdp.ProtocolComposition([sdp.OneBit(0, 1), COUNTS])],
        {sdp.OneBit(0, 1): 1},
    ],
)
def test_anything_else_is_refused(protocols: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        sdp.account(protocols, PEOPLE, delta=1e-6)


def test_levels_that_a_part_does_not_know_are_refused() -> None:
    people = sdp.Population.from_counts({0.5: 300, 3.0: 500})

    with pytest.raises(UnknownLevelError):
        sdp.account([sdp.Frequency(4), COUNTS], people, delta=1e-6)


def test_more_absent_people_than_there_are_are_refused() -> None:
    with pytest.raises(PopulationError):
        sdp.account([sdp.Frequency(4), COUNTS], PEOPLE, delta=1e-6, absent=800)


def test_nothing_is_searched_where_an_attack_on_one_protocol_is_certain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = sdp.Population.from_counts({4.0: 30})
    # Bounds of the composition are not even begun.
    monkeypatch.setattr(JointExposure, "bounds", None)

    protocols: list[Any] = [sdp.Frequency(4), sdp.BinarySum()]
    level = sdp.account(protocols, people, epsilon=0.0, rounds=40).worst

    assert 0.999 <= level.delta_central_lower <= level.delta_central == 1.0


def test_attacks_on_a_list_are_prepared_once_for_all_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared: list[list[int]] = []
    attacked_pairs = SingleMessages.attacked_pairs

    def counted(
        self: SingleMessages, query: AccountingQuery, *, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        prepared.append(query.positions)
        return attacked_pairs(self, query, delta=delta)

    monkeypatch.setattr(SingleMessages, "attacked_pairs", counted)
    people = sdp.Population.from_counts({0.5: 300, 1.0: 500, 2.0: 40})
    protocols: list[Any] = [sdp.Frequency(3), sdp.BinarySum()]

    together = sdp.account(protocols, people, epsilon=0.1).levels

    assert prepared == [[0, 1, 2], [0, 1, 2]]
    (alone,) = sdp.account(protocols, people, epsilon=0.1, levels=[1.0]).levels
    assert alone.delta_central == together[1].delta_central


def test_protocols_that_show_the_same_are_bounded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded = []
    part_losses = SingleMessages.part_losses

    def counted(
        self: SingleMessages, query: AccountingQuery, *, delta: float
    ) -> dict[int, PartLosses]:
        bounded.append(self.randomizer.mechanism)
        return part_losses(self, query, delta=delta)

    monkeypatch.setattr(SingleMessages, "part_losses", counted)
    # Two bits, and one beside its level.
    protocols: list[Any] = [
        sdp.Mean(0, 10),
        sdp.BinarySum(),
        sdp.Mean(0, 1, "stratified"),
    ]
    people = sdp.Population.from_counts({1.0: 10})

    together = sdp.account(protocols, people, delta=1e-2)

    assert bounded == ["one-bit", "one-bit"]
    # What each of them shows is bounded as it was alone.
    monkeypatch.setattr(SingleMessages, "message_family", property(id))
    assert epsilons(sdp.account(protocols, people, delta=1e-2)) == epsilons(together)
    assert len(bounded) == 2 + 3


@pytest.mark.parametrize(
    "name", ["drawn", "changes", "delta_local", "local_delta", "covers", "attacks"]
)
def test_a_class_with_bounds_of_its_own_shows_something_else(name: str) -> None:
    other = type("Other", (sdp.OneBit,), {name: property(lambda self: None)})

    assert message_family(sdp.OneBit()) == message_family(sdp.KRandomizedResponse(2))
    assert message_family(other()) != message_family(sdp.OneBit())
    assert message_family(other()) == message_family(other())


def test_a_delta_far_below_those_of_all_attacks_is_found_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []
    bounds = JointExposure.bounds

    def counted(
        self: JointExposure, query: AccountingQuery, delta: float, **options: Any
    ) -> dict[int, JointBounds]:
        tried.append(delta)
        return bounds(self, query, delta, **options)

    monkeypatch.setattr(JointExposure, "bounds", counted)
    people = sdp.Population.from_counts({1.0: 10**8})
    protocols: list[Any] = [sdp.Mean(0, 1), sdp.BinarySum()]

    level = sdp.account(protocols, people, epsilon=0.1).worst

    assert len(tried) == 1
    assert level.delta_central_lower == 0.0 < level.delta_central < 1e-280


def test_levels_whose_devices_keep_epsilon_are_not_composed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(JointExposure, "bounds", None)
    people = sdp.Population.from_counts({0.2: 300, 0.5: 300})
    protocols: list[Any] = [sdp.Frequency(4), sdp.Mean(0, 1)]

    guarantee = sdp.account(protocols, people, epsilon=1.0)

    assert [level.delta_central for level in guarantee.levels] == [0.0, 0.0]
    assert {level.rests_on for level in guarantee.levels} == {"device"}


def test_levels_just_below_their_budgets_are_composed() -> None:
    people = sdp.Population.from_counts({0.2: 300, 0.5: 300})
    protocols: list[Any] = [sdp.Frequency(4), sdp.Mean(0, 1)]

    guarantee = sdp.account(protocols, people, epsilon=0.99)

    first, second = guarantee.levels
    assert first.delta_central == 0.0 < second.delta_central
