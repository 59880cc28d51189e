"""Adaptive processes, enumerated, against the claimed and the proven bounds."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.two_counts import clone_count, divergence
from shuffledp_papers.court.worlds import hockey_stick
from shuffledp_papers.eapes.adaptive_process import AdaptiveProcess, LocalLaw
from shuffledp_papers.eapes.eapes_theorem import EapesCorollary
from shuffledp_papers.eapes.imitation import components, printed_weight, weight
from shuffledp_papers.eapes.process import (
    counted_trade_off,
    printed_probabilities,
    probabilities,
)
from shuffledp_papers.eapes.slots import response_divergence, slot_divergence
from shuffledp_papers.outside_preconditions import OutsidePreconditions

EPSILONS = (0.0, 0.3, 0.9, 2.0)


def normalized(weights: Floats) -> Floats:
    found: Floats = weights / weights.sum()
    return found


def random_randomizer(budget: float, cells: int, seed: int) -> LocalLaw:
    """Anything that is private: after each history another law, some of them extreme."""

    def law(history: tuple[int, ...], value: int) -> Floats:
        rng = np.random.default_rng([seed, len(history), *history])
        kind, base = rng.integers(3), rng.dirichlet(np.full(cells, 0.4))
        places = rng.permutation(cells)
        weights = np.ones((3, cells))
        if kind == 0:
            base = np.ones(cells)
            weights[np.arange(3), places[np.arange(3) % cells]] = math.exp(budget)
        elif kind == 1:
            # Half of the budget goes into weights, the other half into their sum.
            weights = np.exp(0.5 * budget * rng.integers(0, 2, (3, cells)))
        else:
            weights = np.exp(0.5 * budget * rng.random((3, cells)))
        return normalized(base * weights[value])

    return law


def response(budget: float, cells: int) -> LocalLaw:
    """k-ary response to a question that depends on the messages so far."""

    def law(history: tuple[int, ...], value: int) -> Floats:
        found = np.ones(cells)
        found[(value * (1 + sum(history) % 2) + sum(history)) % cells] = math.exp(
            budget
        )
        return normalized(found)

    return law


def both_worlds(
    process: AdaptiveProcess, others: Sequence[int]
) -> tuple[Floats, Floats]:
    return process.distribution([0, *others]), process.distribution([1, *others])


def test_random_randomizers_keep_their_budgets() -> None:
    for seed in range(30):
        law = random_randomizer(0.7, 3, seed)
        rows = np.array([law((1, 0), value) for value in range(3)])
        assert np.max(np.log(rows.max(axis=0) / rows.min(axis=0))) <= 0.7 + 1e-12


@pytest.mark.slow
def test_adaptive_processes_with_budgets_of_places_keep_what_is_proven() -> None:
    rng = np.random.default_rng(1)
    shares = []
    for trial in range(60):
        n, cells = int(rng.integers(1, 5)), int(rng.integers(2, 4))
        budgets = rng.choice([0.1, 0.5, 1.0, 2.0, 4.0], n).tolist()
        randomizers = [
            random_randomizer(budget, cells, 100 * trial + place)
            for place, budget in enumerate(budgets)
        ]
        process = AdaptiveProcess(tuple(randomizers), cells, "place")
        worlds = both_worlds(process, rng.integers(0, 3, n - 1).tolist())
        for epsilon in EPSILONS:
            exact = hockey_stick(*worlds, epsilon)
            bound = slot_divergence(Counter(budgets), epsilon)
            # Sums of some hundred numbers below 1.
            assert exact <= bound * (1.0 + 1e-12) + 1e-14
            shares.append(exact / bound if bound > 1e-12 else 0.0)
    # A bound that nothing comes near to would pass, too.
    assert max(shares) > 0.95


def test_response_at_places_is_the_enumerated_process() -> None:
    budgets = (0.5, 3.0, 0.5, 1.0)

    def plain(budget: float) -> LocalLaw:
        def law(_history: tuple[int, ...], value: int) -> Floats:
            found = np.ones(3)
            found[value] = math.exp(budget)
            return normalized(found)

        return law

    process = AdaptiveProcess(tuple(map(plain, budgets)), 3, "place")
    worlds = both_worlds(process, (2, 2, 2))

    for epsilon in EPSILONS:
        found = response_divergence(Counter(budgets), epsilon)
        assert found == pytest.approx(hockey_stick(*worlds, epsilon), abs=1e-14)
        assert found <= slot_divergence(Counter(budgets), epsilon) + 1e-14


@pytest.mark.parametrize("epsilon", [0.2, 0.7, 1.2])
def test_for_one_budget_theorem_1_is_what_is_proven(epsilon: float) -> None:
    budget, people = 1.3, 12
    lie = 1.0 / (1.0 + math.exp(budget))

    proven = slot_divergence({budget: people}, epsilon)

    counts = clone_count(np.array([2.0 * lie]), np.array([people - 1]))
    stated = divergence(counts, same=1.0 - lie, other=lie, epsilon=epsilon)
    assert proven == pytest.approx(stated, rel=1e-12)
    enumerated = counted_trade_off(np.full(people, budget)).delta(epsilon)
    assert proven == pytest.approx(enumerated, rel=1e-10)


def test_theorem_1_is_false_where_places_differ() -> None:
    places = {6.0: 1, 0.1: 199}
    people = sdp.Population.from_counts(places)

    exact = response_divergence(places, 1.0)
    stated = counted_trade_off(people.budgets()).delta(1.0)
    limit = EapesCorollary().delta(Setting(people), 1.0)

    # 199 times out of 200 somebody else is at the liberal place, and lies 1 time in 200.
    assert 7e-4 < exact <= slot_divergence(places, 1.0) < 7.6e-4
    assert stated < 1e-11
    assert limit < 1e-11


def test_a_budget_of_a_place_is_not_that_of_who_comes_there() -> None:
    # Alone at the places of a careful and of a liberal person.
    process = AdaptiveProcess((response(0.1, 3), response(5.0, 3)), 3, "place")
    own = AdaptiveProcess((response(0.1, 3), response(5.0, 3)), 3, "person")

    worlds, kept = (both_worlds(each, (2,)) for each in (process, own))

    # The first person chose 0.1: at that epsilon her own budget hides her altogether.
    assert hockey_stick(*kept, 0.1) < 1e-15
    assert hockey_stick(*worlds, 0.1) > 0.4


def test_questions_may_depend_on_earlier_messages_with_a_common_blanket() -> None:
    budgets = (1.0, 0.3, 2.0, 2.0, 0.3)
    people = sdp.Population.from_budgets(np.array(budgets))
    protocol = sdp.SingleMessage(sdp.KRandomizedResponse(3))
    process = AdaptiveProcess(tuple(response(b, 3) for b in budgets), 3, "person")
    shares = []
    for others in ((2, 2, 2, 2), (0, 1, 2, 0), (1, 1, 1, 1)):
        worlds = both_worlds(process, others)
        for epsilon in (0.05, 0.2, 0.5):
            guarantee = sdp.account(protocol, people, epsilon=epsilon, levels=[1.0])
            certified = guarantee.levels[0].delta_central

            exact = hockey_stick(*worlds, epsilon)

            assert exact <= certified
            shares.append(exact / certified)
    assert max(shares) > 0.5


def test_what_devices_remember_of_their_noise_breaks_composition() -> None:
    # Two rounds of one bit. In the second a device sends whether it lied in the first:
    # that alone says nothing of its value, and both together say everything.
    lie = 0.25
    first = np.array([[1.0 - lie, 0.0], [0.0, lie]])
    second = np.array([[0.0, lie], [1.0 - lie, 0.0]])

    assert hockey_stick(first.sum(axis=0), second.sum(axis=0), 0.0) == 0.0
    assert hockey_stick(first.sum(axis=1), second.sum(axis=1), math.log(3.0)) == 0.0
    assert hockey_stick(first, second, math.log(3.0)) == 1.0


def test_lemma_2_holds_for_the_pair_and_not_for_a_third_value() -> None:
    x, other = np.array([0.6, 0.4]), np.array([0.6 / math.e, 1.0 - 0.6 / math.e])
    response_of = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])

    # All three are 1-private of each other.
    assert np.max(np.abs(np.log(x / other))) <= 1.0 + 1e-12
    assert weight(x, x, other) < 0.7 * printed_weight(1.0)
    # Never less than privacy gives, which response with many values nearly reaches.
    assert weight(x, x, other) >= 0.5 * math.exp(-1.0) - 1e-12
    q, other_q = components(response_of[0], response_of[1], math.log(2.0))
    assert (2.0 * q + other_q) / 3.0 == pytest.approx(response_of[0])
    assert (q + 2.0 * other_q) / 3.0 == pytest.approx(response_of[1])
    assert weight(*response_of) < printed_weight(math.log(2.0)) + 1e-12
    with pytest.raises(sdp.InvalidInputError, match="differ by at most"):
        components(response_of[0], response_of[1], 0.5)


def test_printed_chances_of_theorem_1_are_no_law() -> None:
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.1), (2.0, 0.0)):
        assert printed_probabilities(epsilon, delta).sum() < 0.9
        assert probabilities(epsilon, delta).sum() == pytest.approx(1.0, abs=1e-15)
    assert counted_trade_off(np.array([1.0, 1.0]), 0.1).delta(50.0) < 1e-15


def test_bad_processes() -> None:
    law = response(1.0, 3)
    with pytest.raises(sdp.InvalidInputError, match="a few randomizers"):
        AdaptiveProcess((law,) * 30, 3, "place")
    with pytest.raises(sdp.InvalidInputError, match="Expected 2 values, got 1"):
        AdaptiveProcess((law, law), 3, "place").distribution([0])
    with pytest.raises(sdp.InvalidInputError, match="finite epsilon"):
        slot_divergence({1.0: 3}, math.nan)
    with pytest.raises(sdp.InvalidInputError, match="outcomes"):
        slot_divergence({1.0: 10_000, 2.0: 10_000}, 0.1)
    with pytest.raises(OutsidePreconditions, match="at least 2 people"):
        counted_trade_off(np.array([1.0]))
    with pytest.raises(sdp.InvalidInputError, match="delta < 1"):
        counted_trade_off(np.array([1.0, 1.0]), 1.0)
