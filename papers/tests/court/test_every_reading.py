"""False under every reading: each other reading that a record names is tried, too."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import shuffledp as sdp
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats
from shuffledp_papers.apes.amplification import ApesClosed
from shuffledp_papers.court.case import BoundClaim, NoiseAttack
from shuffledp_papers.court.case_registry import all_cases
from shuffledp_papers.court.enumeration import enumerated_divergence
from shuffledp_papers.court.worlds import Worlds
from shuffledp_papers.eapes.process import probabilities
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions
from shuffledp_papers.segmented.privacy import SegmentedPrivacy

CASES = {case.name: case for case in all_cases()}


@pytest.mark.parametrize(("half", "own_half"), [(1.0, 1.0), (0.5, 1.0), (0.5, 0.5)])
def test_no_reading_of_the_counts_of_theorem_1_says_what_the_messages_say(
    half: float, own_half: float
) -> None:
    budgets, counts = np.array([0.1, 6.0]), np.array([199, 1])
    stated = []
    # The budget of D_0, and the place that the sum omits; the proof halves the chances.
    for own, omitted in itertools.product(range(2), repeat=2):
        lie = probabilities(budgets[own])[0]
        first = np.array([own_half * (1.0 - lie), own_half * lie, 1.0 - own_half])
        pairs = half * np.array([probabilities(b)[:2] for b in budgets])
        others = np.column_stack([pairs, 1.0 - pairs.sum(axis=1)])
        left = counts - np.eye(2, dtype=int)[omitted]
        worlds = Worlds(first, first[[1, 0, 2]], others[left > 0], left[left > 0])
        stated.append(enumerated_divergence(worlds, 1.0))

    assert CASES["V15"].attack(1.0) > 7e-4
    # What the record names.
    assert max(stated) <= 2.3e-7


@pytest.mark.parametrize("name", ["V8", "V8-2"])
def test_theorem_2_fails_with_the_victims_own_budget_too(name: str) -> None:
    case = CASES[name]
    assert isinstance(case.attack, NoiseAttack)
    epsilon = case.claim().epsilon
    assert epsilon is not None

    own = HypothesisTesting(as_printed=False).delta(case.attack.ran, epsilon)

    assert case.attack(epsilon) > own


def test_the_most_liberal_people_are_certified_to_be_hidden_better() -> None:
    case = CASES["V8"]
    assert isinstance(case.attack, NoiseAttack)
    epsilon = case.claim().epsilon
    assert epsilon is not None

    (liberal,) = sdp.account(
        SingleMessage(sdp.Laplace()),
        case.attack.ran.people,
        epsilon=epsilon,
        levels=[2.0],
    ).levels

    # What the record names.
    assert case.attack(epsilon) > 0.0134
    assert liberal.delta_central <= 7.5e-5


@pytest.mark.parametrize("name", ["V4", "V4-2", "V4-3"])
def test_theorem_4_states_nothing_with_the_victims_own_clones(name: str) -> None:
    claim = CASES[name].claim
    assert isinstance(claim, BoundClaim)

    with pytest.raises(OutsidePreconditions, match="16 ln"):
        replace(claim, bound=ApesClosed(as_printed=False))()


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("V11")])
def test_theorem_3_is_tried_where_theorem_1_is_stated(name: str) -> None:
    claim = CASES[name].claim
    # Larger cases look for the largest rate when they are tried.
    if not isinstance(claim, BoundClaim):
        assert claim().value > 0.0
        return
    assert isinstance(claim.bound, SegmentedPrivacy)
    assert claim.bound.num_items * claim.bound.sampling_rate >= 1.0

    fewer = replace(claim.bound, sampling_rate=0.9 / claim.bound.num_items)
    with pytest.raises(OutsidePreconditions, match="d lambda >= 1"):
        replace(claim, bound=fewer)()


@pytest.mark.parametrize(("sets", "name"), [(1, "V11-small"), (2, "V11b-small")])
def test_theorem_3_fails_with_one_blanket_message_more(sets: int, name: str) -> None:
    case = CASES[name]
    assert isinstance(case.claim, BoundClaim)
    bound = case.claim.bound
    assert isinstance(bound, SegmentedPrivacy)
    assert bound.items_per_user == sets
    claim = replace(case.claim, bound=replace(bound, as_printed=False))()
    assert claim.epsilon is not None

    assert case.attack(claim.epsilon) > claim.value


def test_lemma_7_fails_with_the_mended_curvature_and_lemma_8_stands_of_gradients() -> (
    None
):
    # F(w) = w^2 / 2, mu = 10, from w = 1, noise 1; m = mu in place of 1 + mu.
    mended = -1 / 10 + 1 / 100 + 1 / 200 + (1 / 10 + 1 / 10) + 1 / 2
    assert CASES["V18"].attack(0.0) > mended > CASES["V18"].claim().value
    # Noise 1 in the gradient moves the model by 1 / 10.
    assert CASES["V19"].claim().value > 0.5 * (10 / 11 + 1 / 10) ** 2


def laplace(budget: float, value: float, z: Floats) -> Floats:
    density: Floats = budget / 2.0 * np.exp(-budget * np.abs(z - value))
    return density


def gaussian(budget: float, value: float, z: Floats) -> Floats:
    density: Floats = norm.pdf(z, value, 4.0 / budget)
    return density


@pytest.mark.parametrize("noise", [laplace, gaussian])
def test_the_worst_value_is_at_an_end_for_the_noise_that_the_paper_runs(
    noise: object,
) -> None:
    assert callable(noise)
    z = np.arange(-60.0, 61.0, 2e-3)
    for own, other in itertools.product((0.5, 1.0, 3.0), (0.4, 0.9, 2.0, 4.0)):
        pair = noise(own, 0.0, z), noise(own, 1.0, z)
        errors = []
        for value in np.linspace(0.0, 1.0, 6):
            density = noise(other, value, z)
            masks = [(density < a) & (b < a) for a, b in (pair, pair[::-1])]
            errors.append(min(density[mask].sum() * 2e-3 for mask in masks))

        # The grid moves an edge by one cell, which weighs at most this.
        assert min(errors[0], errors[-1]) <= min(errors) + 5e-3


def test_the_weights_of_mixtures_are_those_of_a_grid() -> None:
    z = np.arange(-30.0, 31.0, 1e-3)
    one, zero, other = laplace(3.0, 1.0, z), laplace(3.0, 0.0, z), laplace(1.0, 0.0, z)

    largest = float((other / (zero + one)).min())

    assert 1.0 - CASES["V25"].attack(0.0) == pytest.approx(largest, rel=1e-9)
    ratio = float((laplace(1.0, 0.0, z) / laplace(1.0, 1.0, z)).max())
    assert CASES["V24"].attack(0.0) == pytest.approx(ratio / (1.0 + ratio), rel=1e-9)
    assert math.isclose(CASES["V24"].claim().value, 1.0 - math.exp(-0.5) / 2.0)
