"""Readings that are best for the authors: what records say of them is so."""

import itertools
import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.population import Population
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.gaussian_profile import gaussian_delta
from shuffledp_papers.bounds.two_counts import clone_count
from shuffledp_papers.court.case import NoiseAttack
from shuffledp_papers.court.case_registry import all_cases
from shuffledp_papers.court.small.programs import program_of
from shuffledp_papers.court.small.shrink import printed
from shuffledp_papers.eapes.normal_limit import normal_distances
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
    _Tests,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    laplace_clone_probabilities,
    laplace_target_error,
)

CASES = {case.name: case for case in all_cases()}


def test_lemma_2_fails_for_values_that_are_told_apart() -> None:
    first, second = np.array([0.61, 0.39]), np.array([0.6, 0.4])
    other = np.array([0.61 / math.e, 1.0 - 0.61 / math.e])
    for a, b in ((first, other), (second, other), (first, second)):
        assert np.abs(np.log(a / b)).max() <= 1.0 + 1e-12

    # Both equations add up: Q_1^0 + Q_1^1 = R(x_1^0) + R(x_1^1).
    weight = float((other / (first + second)).min())

    assert weight == pytest.approx(0.1855, abs=5e-5)
    assert weight < 1.0 / (1.0 + math.e)


@pytest.mark.parametrize("epsilon", [3.0, 5.0])
def test_no_constant_of_theorem_3_is_for_all_budgets(epsilon: float) -> None:
    needed = []
    for num_users in (1e4, 1e6, 1e8):
        # n people at ln(n - 1): one of either kind is expected, and none is seen with e^-1.
        lie = 1.0 / num_users
        none = math.exp((num_users - 1.0) * math.log1p(-lie))
        reached = none * (1.0 - lie - math.exp(epsilon) * lie)
        mu = math.sqrt(2.0 / ((num_users - 1.0) * lie))
        gaussian = gaussian_delta(mu, epsilon)
        slack = (1.0 + math.exp(epsilon)) / math.sqrt(num_users - 1.0)
        needed.append((reached - gaussian) / slack)

    for before, after in itertools.pairwise(needed):
        assert after == pytest.approx(10.0 * before, rel=0.02)


def test_theorem_2_fails_where_no_budgets_are_equal_as_well() -> None:
    case = CASES["V8c"]
    assert isinstance(case.attack, NoiseAttack)
    people = case.attack.ran.people
    epsilon = case.claim().epsilon
    assert epsilon is not None
    # < and <= agree: nobody shares the victim's budget.
    assert people.counts[-1] == 1

    # Sums from 0, and failures reveal.
    mended = HypothesisTesting(as_printed=False)

    assert case.attack(epsilon) > 30 * mended.stated_delta(case.attack.ran, epsilon)


@pytest.mark.parametrize("as_printed", [True, False])
@pytest.mark.parametrize(
    ("name", "counts"),
    [("V8c", {4.9: 74, 5.0: 1}), ("V8b", {3.0: 1, 4.9: 73, 5.0: 1})],
)
def test_five_lines_exceed_theorem_2_whatever_the_sums_and_sets_are(
    name: str, counts: dict[float, int], as_printed: bool
) -> None:
    claimed, reached = printed(program_of(name).text)
    # Alone at the largest budget, user 1: < and <= agree.
    people = Population.from_counts(counts)

    stated = HypothesisTesting(as_printed=as_printed).stated_delta(
        Setting(people, sdp.Laplace(), 5.0), math.log(1.1)
    )

    # The lines of V8b leave out that the careful person may hide the target user, too.
    assert stated <= claimed < reached
    assert claimed <= 1.03 * stated


@pytest.mark.parametrize(
    ("name", "budgets", "counts", "stated"),
    [("V8", [0.5, 2.0], [1, 9998], 0.488), ("V7b-2", [3.0], [999], 0.777)],
)
def test_with_the_printed_sign_equal_budgets_leave_a_claim_that_stands(
    name: str, budgets: list[float], counts: list[int], stated: float
) -> None:
    case = CASES[name]
    epsilon = case.claim().epsilon
    assert epsilon is not None
    clones = clone_count(
        2.0 * laplace_clone_probabilities(np.array(budgets), budgets[-1], strict=True),
        np.array(counts),
    )

    tests = _Tests(clones, laplace_target_error(budgets[-1]), 0.0, as_printed=False)

    # What the record names.
    assert tests.delta(epsilon) == pytest.approx(stated, abs=5e-4)
    assert tests.delta(epsilon) > case.attack(epsilon)


def test_the_dual_of_theorem_1_is_exceeded_as_theorem_2_is() -> None:
    case = CASES["V8c"]
    assert isinstance(case.attack, NoiseAttack)
    setting, epsilon = case.attack.ran, case.claim().epsilon
    assert epsilon is not None
    mended, printed_bound = HypothesisTesting(as_printed=False), HypothesisTesting()

    # The best slope of (5), and others.
    gain = 1.0 - 2.0 * laplace_target_error(8.0)
    best = gain / (gain + math.expm1(epsilon))
    pairs = [mended.trade_off(setting, t) for t in (best, *np.geomspace(0.1, 10, 200))]
    stated = max(1.0 - math.exp(epsilon) * alpha - beta for alpha, beta in pairs)

    # The dual of Theorem 1 is (5) with sums from 0.
    assert stated == pytest.approx(mended.stated_delta(setting, epsilon), rel=1e-6)
    assert case.attack(epsilon) > 30 * stated
    # As printed it is no trade-off function: these are 0 at 1.
    alpha, beta = printed_bound.trade_off(setting, 1e6)
    assert alpha == pytest.approx(1.0)
    assert beta == pytest.approx(1.0 - 2.0 * laplace_target_error(8.0))


def test_equations_3_and_4_are_right_of_the_decisions_of_a_test() -> None:
    step = 1e-3
    z = np.arange(-40.0, 41.0, step) + step / 2.0

    def laplace(budget: float, value: float) -> Floats:
        density: Floats = budget / 2.0 * np.exp(-budget * np.abs(z - value))
        return density * step

    zero, one = laplace(1.0, 0.0), laplace(1.0, 1.0)
    # What the test decides of either value is a mixture of x_1^0 and x_1^1.
    mistaken = zero[zero < one].sum(), one[zero >= one].sum()
    assert mistaken == pytest.approx((laplace_target_error(1.0),) * 2, abs=1e-6)

    zero, one = laplace(3.0, 0.0), laplace(3.0, 1.0)
    (weight,) = laplace_clone_probabilities(np.array([1.0]), 3.0)
    for value in np.linspace(0.0, 1.0, 5):
        other = laplace(1.0, float(value))
        taken = [
            other[(other < own) & (against < own)].sum()
            for own, against in ((zero, one), (one, zero))
        ]
        # The grid moves an edge by one cell; LO has what is left.
        assert weight <= min(taken) + step
        assert sum(taken) <= 1.0


def test_eq_5_is_not_largest_at_the_largest_budget() -> None:
    people = Population.from_counts({1.0: 1, 4.0: 40})
    device = sdp.Gaussian(delta_local=1e-10)

    careful, liberal = (
        HypothesisTesting().stated_delta(Setting(people, device, budget), 0.4)
        for budget in (1.0, 4.0)
    )

    # What the record names.
    assert careful == pytest.approx(0.0089, abs=5e-5)
    assert liberal == pytest.approx(1.5e-4, abs=5e-6)


def end_chance(budget: float, width: float) -> float:
    """Probability of a message in the last half `width` of a range, held at its start."""
    return math.expm1(budget * width / 2.0) / math.expm1(budget)


def test_theorem_4_of_apes_fails_if_the_victims_budget_is_drawn() -> None:
    liberal, careful, share, num_users, epsilon = 700.0, 0.01, 0.7, 10_000, 1.0
    many, few = round(share * num_users), round((1.0 - share) * num_users)

    def imitates(own: float, other: float) -> float:
        ratio = own / other * math.expm1(-other) / math.expm1(-own)
        return ratio * math.exp(-max(own, other))

    # The largest budget is the victim's; j runs over all n.
    total = (
        (many - 1)
        * (many * imitates(liberal, liberal) + few * imitates(liberal, careful))
        + few * (many * imitates(careful, liberal) + few * imitates(careful, careful))
    ) / num_users
    root = (math.expm1(epsilon) / math.tanh(liberal / 2.0) - 8.0 / total) / 8.0
    stated = 4.0 * math.exp(-total * root**2)
    assert total >= 16.0 * total * root**2

    # No message is at the upper end; the other people hold the lower one.
    width = 0.0075
    rare, often = end_chance(liberal, width), end_chance(careful, width)
    none = np.array(
        [
            (1.0 - rare) ** (many - 1) * (1.0 - often) ** few,
            (1.0 - rare) ** many * (1.0 - often) ** (few - 1),
        ]
    )
    low = np.array([1.0 - rare, 1.0 - often])
    high = 1.0 - np.array([end_chance(-b, width) for b in (liberal, careful)])
    drawn = np.array([share, 1.0 - share]) * none
    reached = float(drawn @ (low - math.exp(epsilon) * high))

    # What the record names.
    assert stated == pytest.approx(8.6e-18, abs=5e-20)
    assert reached == pytest.approx(6.3e-7, abs=5e-9)


@pytest.mark.parametrize("printed_curvature", [False, True])
def test_lemma_7_is_right_with_1_for_1_over_mu(printed_curvature: bool) -> None:
    random = np.random.default_rng(7)
    printed_fails = 0
    for _ in range(2_000):
        smooth, pull = random.uniform(0.1, 3.0), 10.0 ** random.uniform(-1.0, 1.5)
        # F_i(w) = a_i w^2 / 2 - b_i w; printed: curvature of at least L, so that a_i = L.
        curvature = (
            np.full(3, smooth) if printed_curvature else smooth * random.random(3)
        )
        offset, start = random.normal(size=3), random.normal()
        slopes = curvature * start - offset
        gradient = abs(float(slopes.mean()))
        unlike = math.sqrt(float((slopes**2).mean())) / gradient
        m = smooth + pull if printed_curvature else pull
        moved = float(((pull * start + offset) / (curvature + pull)).mean())
        noise = random.normal() * 10.0 ** random.uniform(-1.0, 1.0)

        def loss(w: float, a: float, b: float) -> float:
            return a * w * w / 2.0 - b * w

        terms = float(curvature.mean()), float(offset.mean())
        change = loss(moved + noise, *terms) - loss(start, *terms)
        descent = -1.0 / pull + smooth * unlike / (pull * m)
        descent += smooth * unlike**2 / (2.0 * m * m)
        rest = descent * gradient**2 + smooth / 2.0 * noise**2
        mended, printed = (
            rest + (factor + unlike * smooth / m) * gradient * abs(noise)
            for factor in (1.0, 1.0 / pull)
        )
        assert change <= mended + 1e-9
        # Of both signs of the noise, which is noise of mean 0.
        other = loss(moved - noise, *terms) - loss(start, *terms)
        assert (change + other) / 2.0 <= printed + 1e-9
        assert pull > 1.0 or change <= printed + 1e-9
        printed_fails += change > printed

    assert printed_fails > 0


def test_lemma_3_has_no_constant_for_all_budgets_even_if_rounded() -> None:
    distances = [
        normal_distances(people, math.log(people), delta=0.0).rounded
        for people in (35, 140)
    ]

    # Counts tend to Poisson numbers; with one budget it would halve.
    assert distances[1] > 0.9 * distances[0] > 0.1
