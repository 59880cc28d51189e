import math
from collections.abc import Callable
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from shuffledp.accounting.lower import score_attack, score_sum, visible_points
from shuffledp.accounting.lower.score_attack import ScoreBound, ScoreIntegrand
from shuffledp.cover import ScoreAttack
from shuffledp.types import Complexes, Floats

# The attack gives away 1e-10 on purpose, and what rounding may cost.
TIGHTNESS = 1 - mp.mpf("1e-6")


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(60):
        yield


def exact_row(row: ArrayLike, *, total: int = 1) -> list[Any]:
    """The chances as given; doubles do not sum to 1, so that score 0 takes the rest."""
    numbers = [mp.mpf(float(p)) for p in np.asarray(row)]
    return [total - mp.fsum(numbers[1:]), *numbers[1:]]


def product(left: list[Any], right: list[Any]) -> list[Any]:
    result = [mp.mpf(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result


def exact_differences(
    attack: ScoreAttack, counts: list[int], epsilon: float, rounds: int = 1
) -> list[Any]:
    """P(sum >= a) - e^epsilon Q(sum >= a) for every a; `counts` is without the victim."""
    second = exact_row(attack.second)
    change = exact_row(attack.difference, total=0)
    first = [p + q for p, q in zip(second, change, strict=True)]
    on_x, on_other = [mp.mpf(1)], [mp.mpf(1)]
    for _ in range(rounds):
        for row, count in zip(attack.others, counts, strict=True):
            for _ in range(count):
                on_x = product(on_x, exact_row(row))
                on_other = product(on_other, exact_row(row))
        on_x, on_other = product(on_x, first), product(on_other, second)
    found, total = [], mp.mpf(0)
    for p, q in zip(reversed(on_x), reversed(on_other), strict=True):
        total += p - mp.exp(mp.mpf(epsilon)) * q
        found.append(total)
    return found[::-1]


def bound_of(attack: ScoreAttack, counts: list[int], rounds: int = 1) -> ScoreBound:
    others = score_sum.score_sum(attack.others, np.array(counts))
    return score_attack.score_bound(attack, others, rounds)


def binary_attack(budget: float, *, others_hold_x: bool = False) -> ScoreAttack:
    flip = 1.0 / (1.0 + math.exp(budget))
    gap = math.tanh(budget / 2.0)
    second = np.array([1.0 - flip, flip])
    others = second[::-1] if others_hold_x else second
    return ScoreAttack(others[None, :], second, np.array([-gap, gap]))


def exact_binary(attack: ScoreAttack, num_others: int, epsilon: float) -> Any:
    """The best threshold's divergence for one level, from the binomial distribution."""
    chance = mp.mpf(float(attack.others[0, 1]))
    weights = [(1 - chance) ** num_others]
    for i in range(num_others):
        weights.append(weights[-1] * (num_others - i) / (i + 1) * chance / (1 - chance))
    flip, gap = mp.mpf(attack.second[1]), mp.mpf(attack.difference[1])
    growth = mp.exp(mp.mpf(epsilon))
    gain = flip + gap - growth * flip
    cost = growth * (1 - flip) - (1 - flip - gap)
    best = total = gain * weights[-1]
    for here, below in zip(weights[::-1], weights[-2::-1], strict=False):
        total += gain * below - cost * here
        best = max(best, total)
    return best


def smallest_epsilon(
    delta: Callable[[float], float], target: float, top: float
) -> float:
    low, high = 0.0, top
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if delta(middle) > target else (low, middle)
    return low


MIXED = np.array(
    [
        [0.4, 0.3, 0.15, 0.1, 0.05],
        [0.25, 0.25, 0.2, 0.2, 0.1],
        [0.7, 0.0, 0.0, 0.0, 0.3],
    ]
)
SECOND = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
DIFFERENCE = SECOND[::-1] - SECOND


@pytest.mark.few_cases(10)
@pytest.mark.parametrize("top", [1, 2, 4])
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("counts", [[0, 0, 0], [1, 0, 0], [0, 0, 3], [3, 2, 2]])
def test_attack_reaches_the_best_threshold(
    top: int, rounds: int, counts: list[int]
) -> None:
    folded = [MIXED, SECOND[None, :], DIFFERENCE[None, :]]
    rows, second, difference = (
        np.stack([table[:, part].sum(axis=1) for part in parts], axis=1)
        for table in folded
        for parts in [np.array_split(np.arange(5), top + 1)]
    )
    attack = ScoreAttack(rows, second[0], difference[0])

    bound = bound_of(attack, counts, rounds)

    for epsilon in (0.0, 0.05, 0.4, 1.0, 1.9):
        lower = bound.delta(epsilon)
        exact = max(exact_differences(attack, counts, epsilon, rounds))
        assert lower <= max(exact, 0)
        if exact > 1e-12:
            assert lower >= exact * TIGHTNESS


@pytest.mark.few_cases(2)
@covering(
    ("others_hold_x", [False, True]),
    (("num_others", "budget"), [(100, 3.0), (100, 30.0), (1000, 1.0), (10_000, 7.0)]),
    ("target", [0.1, 1e-6, 1e-50, 1e-200]),
)
def test_binary_attack_agrees_with_the_binomial_distribution(
    num_others: int, budget: float, target: float, *, others_hold_x: bool
) -> None:
    attack = binary_attack(budget, others_hold_x=others_hold_x)
    bound = bound_of(attack, [num_others])
    epsilon = smallest_epsilon(bound.delta, target, budget)

    lower = bound.delta(epsilon)

    exact = exact_binary(attack, num_others, epsilon)
    assert lower <= exact
    # Close to the local budget, p and e^eps q are the same but for their last digits; with
    # a flip of e^-30, the terms of a result of 1e-200 nearly cancel.
    if epsilon < 0.999 * budget:
        assert lower >= exact * (TIGHTNESS if budget < 10.0 else mp.mpf("0.99"))


def test_ten_thousand_people_at_budget_one() -> None:
    attack = binary_attack(1.0, others_hold_x=True)
    others = score_sum.score_sum(attack.others, np.array([10_000]))
    bound = score_attack.score_bound(attack, others.without(attack.others[0]))

    epsilon = smallest_epsilon(bound.delta, 1e-6, 1.0)

    # Known from an independent attack that counts the messages x.
    assert epsilon == pytest.approx(0.0356588, abs=5e-8)


@pytest.mark.parametrize("num_others", [10**6, 10**10])
@pytest.mark.parametrize("chance", [0.05, 0.4999])
@pytest.mark.parametrize("gap", [0.8, 1e-9])
@pytest.mark.parametrize("deviations", [0.0, 0.5, 3.0, 9.0])
def test_attack_agrees_with_the_binomial_tail_at_any_size(
    num_others: int, chance: float, gap: float, deviations: float
) -> None:
    others = np.array([[1.0 - chance, chance]])
    attack = ScoreAttack(others, np.array([0.9, 0.1]), np.array([-gap, gap]))
    spread = math.sqrt(num_others * chance * (1.0 - chance))
    epsilon = gap * deviations / spread

    lower = bound_of(attack, [num_others]).delta(epsilon)

    # All sums m with gain Pr(m - 1) >= cost Pr(m) speak for x; together they are worth
    # gain Pr(a - 1) - expm1(eps) Pr(>= a).
    n, p = mp.mpf(num_others), mp.mpf(chance)
    growth = mp.expm1(mp.mpf(epsilon))
    gain = gap - growth * mp.mpf(0.1)
    cost = gain + growth
    odds = cost / gain * p / (1 - p)
    a = int(mp.ceil(odds * (n + 1) / (1 + odds)))
    log_weight = mp.loggamma(n + 1) - mp.loggamma(a) - mp.loggamma(n - a + 2)
    log_weight += (a - 1) * mp.log(p) + (n - a + 1) * mp.log(1 - p)
    # Enough terms for the tail to fall by e^-40; doubles lose 1e-10 of it.
    i = np.arange(a, a + int(min(40.0 / (deviations + 0.1), 9.0) * spread), dtype=float)
    ratios = (num_others - i + 1.0) / i * (chance / (1.0 - chance))
    tail = mp.mpf(float(np.exp(np.cumsum(np.log(ratios))).sum()))
    exact = mp.exp(log_weight) * (gain - growth * tail)
    # Where the two nearly cancel, the tail's rounding shows.
    assert exact * (1 - mp.mpf("1e-5")) <= lower <= exact * (1 + mp.mpf("1e-8"))


@covering(
    (
        ("rounds", "budget"),
        [(1, 1.0), (10, 2.0), (100, 0.5), (1000, 0.2), (10_000, 0.05)],
    ),
    ("share", [0.0, 0.1, 0.5, 0.95]),
)
def test_repeated_without_others_it_is_the_exact_binomial_test(
    rounds: int, budget: float, share: float
) -> None:
    attack = binary_attack(budget)
    alone = score_sum.score_sum(attack.others, np.array([1])).without(attack.others[0])
    flip, gap = mp.mpf(attack.second[1]), mp.mpf(attack.difference[1])
    epsilon = share * min(rounds * budget, 6.0 * budget * math.sqrt(rounds))

    lower = score_attack.score_bound(attack, alone, rounds).delta(epsilon)

    best = total = mp.mpf(0)
    log_gain, log_cost = (
        mp.log((flip + gap) / flip),
        mp.log((1 - flip - gap) / (1 - flip)),
    )
    weight = flip**rounds
    for m in range(rounds, -1, -1):
        log_ratio = m * log_gain + (rounds - m) * log_cost
        total += weight * (mp.exp(log_ratio) - mp.exp(mp.mpf(epsilon)))
        best = max(best, total)
        weight *= (1 - flip) / flip * m / (rounds - m + 1)
    assert best * TIGHTNESS <= lower <= best


chances = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(chances, min_size=1, max_size=3),
    first=chances,
    second=chances,
    count=st.integers(0, 3),
    rounds=st.integers(1, 2),
    epsilon=st.floats(0.0, 8.0),
)
def test_attack_never_exceeds_the_exact_divergence(
    rows: list[list[float]],
    first: list[float],
    second: list[float],
    count: int,
    rounds: int,
    epsilon: float,
) -> None:
    table = np.array([first, second, *rows]) + 1e-12
    table /= table.sum(axis=1, keepdims=True)
    attack = ScoreAttack(table[2:], table[1], table[0] - table[1])
    counts = [count] * len(rows)

    lower = bound_of(attack, counts, rounds).delta(epsilon)

    exact = max(exact_differences(attack, counts, epsilon, rounds))
    assert lower <= max(exact, 0)


def assert_below_everywhere(integrand: ScoreIntegrand, exact: list[Any]) -> None:
    """At no threshold a lower bound may exceed the exact difference."""
    offsets = np.arange(len(exact), dtype=np.float64) - integrand.center
    found = integrand.differences(offsets) * math.exp(integrand.level)
    assert np.isfinite(found).any()
    assert all(lower <= value for lower, value in zip(found, exact, strict=True))


WITHOUT_ZERO = ScoreAttack(MIXED[:2], SECOND, DIFFERENCE)


@pytest.mark.parametrize("negligible", [-2.5, 0.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3, 1.0, 2.0])
def test_copies_are_paid_for_at_every_threshold(
    monkeypatch: pytest.MonkeyPatch, negligible: float, epsilon: float
) -> None:
    monkeypatch.setattr(score_attack, "_NEGLIGIBLE", negligible)
    bound = bound_of(WITHOUT_ZERO, [6, 6])

    integrand = ScoreIntegrand(bound, epsilon, bound._tilt(epsilon) or 0.0)

    assert_below_everywhere(integrand, exact_differences(WITHOUT_ZERO, [6, 6], epsilon))


@pytest.mark.parametrize("enough", [0.0, 0.2, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("counts", [[0, 1], [6, 6]])
def test_skipped_points_are_paid_for_at_every_threshold(
    monkeypatch: pytest.MonkeyPatch, enough: float, epsilon: float, counts: list[int]
) -> None:
    monkeypatch.setattr(visible_points, "_FEW_NODES", 1)
    bound = bound_of(WITHOUT_ZERO, counts)
    integrand = ScoreIntegrand(bound, epsilon, bound._tilt(epsilon) or 0.0)
    all_points = integrand.z.size

    integrand.enough = enough - math.log(integrand.nodes)
    integrand._evaluate_factors()

    assert integrand.z.size < all_points or enough > 0.2
    assert_below_everywhere(integrand, exact_differences(WITHOUT_ZERO, counts, epsilon))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("half", [32, 300])
def test_sums_from_threshold_to_threshold_are_those_of_exponentials(
    epsilon: float, half: int
) -> None:
    bound = bound_of(WITHOUT_ZERO, [600, 400])
    integrand = ScoreIntegrand(bound, epsilon, bound._tilt(epsilon) or 0.0)
    offsets = np.round(np.linspace(-half, half, 65))

    sums = integrand._sums(offsets)

    z, terms = integrand.z.tolist(), integrand.terms.tolist()
    # What is paid for: operations with each term, those of their sum, and products z a.
    allowed = [280 + len(z) + 8 * half * abs(point) for point in z]
    with mp.workdps(40):
        for offset, found in zip(offsets.tolist(), sums.tolist(), strict=True):
            exact = [
                mp.mpc(term) * mp.exp(-mp.mpc(point) * offset)
                for term, point in zip(terms, z, strict=True)
            ]
            error = sum(
                operations * abs(term)
                for operations, term in zip(allowed, exact, strict=True)
            )
            assert abs(sum(exact).real - found) <= 2.5e-16 * error


@pytest.mark.parametrize("what", ["others", "ratio", "second"])
@pytest.mark.parametrize("digit", [1e-9, 1e-3])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3, 1.0])
def test_errors_of_logarithms_are_paid_for_at_every_threshold(
    monkeypatch: pytest.MonkeyPatch, what: str, digit: float, epsilon: float
) -> None:
    rng = np.random.default_rng(3)
    log_generating, victim = score_sum.ScoreSum.log_generating, ScoreBound.target_user

    def off(values: Complexes, errors: Floats, name: str) -> tuple[Complexes, Floats]:
        if name != what:
            return values, errors
        signs = rng.choice([-digit, digit], values.shape)
        return values + signs, errors + digit

    def rough_others(
        self: score_sum.ScoreSum, z: Complexes
    ) -> tuple[Complexes, Floats]:
        return off(*log_generating(self, z), "others")

    def rough_victim(
        self: ScoreBound, z: Complexes
    ) -> tuple[Complexes, Complexes, Floats, Floats]:
        ratio, second, ratio_error, error = victim(self, z)
        ratio, ratio_error = off(ratio, ratio_error, "ratio")
        second, error = off(second, error, "second")
        return ratio, second, ratio_error, error

    bound = bound_of(WITHOUT_ZERO, [6, 6])
    tilt = bound._tilt(epsilon) or 0.0
    monkeypatch.setattr(score_sum.ScoreSum, "log_generating", rough_others)
    monkeypatch.setattr(ScoreBound, "target_user", rough_victim)

    integrand = ScoreIntegrand(bound, epsilon, tilt)

    assert_below_everywhere(integrand, exact_differences(WITHOUT_ZERO, [6, 6], epsilon))


def graded_rows(budgets: Floats, top: int) -> Floats:
    weights = np.exp(-np.multiply.outer(budgets, np.arange(top + 1.0)) / top)
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows


def ungrouped(rows: Floats, counts: Floats) -> score_sum.ScoreSum:
    scores = rows.shape[1]
    nothing = np.zeros((rows.shape[0], scores, scores))
    return score_sum.ScoreSum(rows, counts, nothing, np.zeros_like(rows))


@pytest.mark.parametrize("epsilon", [0.0, 0.001, 0.02, 0.1, 0.2])
def test_grouping_costs_little_and_gains_nothing(epsilon: float) -> None:
    rows = graded_rows(np.sort(np.random.default_rng(5).uniform(0.2, 6.0, 2000)), 16)
    victim = rows[700]
    attack = ScoreAttack(rows, victim, victim[::-1] - victim)
    grouped = score_sum.score_sum(rows, np.full(2000, 2))
    single = ungrouped(rows, np.full(2000, 2.0))

    found = score_attack.score_bound(attack, grouped.without(victim)).delta(epsilon)

    exact = score_attack.score_bound(attack, single.without(victim)).delta(epsilon)
    assert grouped.counts.size <= 64
    assert 0.999 * exact <= found <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("groups", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.05, 0.2])
def test_coarse_groups_stay_below(
    monkeypatch: pytest.MonkeyPatch, groups: int, epsilon: float
) -> None:
    monkeypatch.setattr(score_sum, "MAX_GROUPS", groups)
    rows = graded_rows(np.linspace(0.2, 6.0, 300) ** 2 / 6.0, 2)
    attack = ScoreAttack(rows, rows[-1], rows[-1, ::-1] - rows[-1])
    grouped = score_sum.score_sum(rows, np.full(300, 1))

    found = score_attack.score_bound(attack, grouped.without(rows[-1])).delta(epsilon)

    single = ungrouped(rows[:-1], np.ones(299))
    exact = score_attack.score_bound(attack, single).delta(epsilon)
    assert found <= exact * (1.0 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 2, 5, 64])
def test_grouped_generating_function_is_as_accurate_as_it_says(
    monkeypatch: pytest.MonkeyPatch, groups: int
) -> None:
    monkeypatch.setattr(score_sum, "MAX_GROUPS", groups)
    rows = graded_rows(np.linspace(0.5, 4.0, 300), 4)
    z = 0.3 + 1j * np.linspace(0.0, 0.6, 300)

    found, error = score_sum.score_sum(rows, np.full(300, 1)).log_generating(z)

    known = np.flatnonzero(np.isfinite(error))
    assert known.size >= 10
    for place in known[:: known.size // 10]:
        exact = mp.mpf(0)
        for row in rows:
            chances = enumerate(exact_row(row))
            exact += mp.log(
                mp.fsum(p * mp.exp(mp.mpc(z[place]) * s) for s, p in chances)
            )
        off = mp.mpc(found[place]) - exact
        # Logarithms are only used in exponents: whole turns do not matter.
        off -= 2j * mp.pi * mp.nint(off.imag / (2 * mp.pi))
        assert abs(off) <= error[place]


@pytest.mark.parametrize("num_people", [1, 10**5, 10**10])
@pytest.mark.parametrize("size", [1e-7, 1e-3, 0.3, 20.0])
def test_logarithms_are_as_accurate_as_they_say(num_people: int, size: float) -> None:
    z = size * np.exp(1j * np.linspace(0.0, 1.5, 20))
    others = score_sum.score_sum(MIXED, np.array([num_people, 3, num_people]))
    second = MIXED[0]
    bound = ScoreBound(second, 1e-9 * (second[::-1] - second), others, 1)

    values, errors = others.without(MIXED[1]).log_generating(z)
    ratios, seconds, ratio_errors, second_errors = bound.target_user(z)

    counts = [num_people, 2, num_people]
    for place, point in enumerate(z):
        powers = [mp.exp(mp.mpc(point) * s) for s in range(5)]
        logs = [mp.log(mp.fdot(exact_row(row), powers)) for row in MIXED]
        change = mp.fdot(exact_row(bound.difference, total=0), powers)
        pairs = [
            (values, mp.fdot(counts, logs), errors),
            (
                ratios,
                mp.log(1 + change / mp.fdot(exact_row(second), powers)),
                ratio_errors,
            ),
            (seconds, logs[0], second_errors),
        ]
        for found, exact, error in pairs:
            off = mp.mpc(found[place]) - exact
            off -= 2j * mp.pi * mp.nint(off.imag / (2 * mp.pi))
            assert abs(off) <= error[place]


@pytest.mark.parametrize("levels", [3, 200])
def test_without_leaves_out_one_person(levels: int) -> None:
    rows = graded_rows(np.linspace(0.5, 3.0, levels), 4)
    counts = np.full(levels, 3)
    z = np.array([0.2 + 0.1j, 0.02j])

    for victim in (0, levels // 2, levels - 1):
        total = score_sum.score_sum(rows, counts)
        found, error = total.without(rows[victim]).log_generating(z)

        rest = counts.copy()
        rest[victim] -= 1
        exact, exact_error = ungrouped(rows, rest.astype(float)).log_generating(z)
        assert np.all(np.abs(found - exact) <= error + exact_error)
        # Both errors are far below what decides anything.
        assert np.all(error <= 1e-4)


@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize(("levels", "groups"), [(3, 64), (200, 64), (200, 2)])
def test_function_falls_as_fast_as_its_coincidences_say(
    monkeypatch: pytest.MonkeyPatch, levels: int, groups: int, tilt: float
) -> None:
    monkeypatch.setattr(score_sum, "MAX_GROUPS", groups)
    rows = graded_rows(np.linspace(0.5, 3.0, levels), 4)
    total = score_sum.score_sum(rows, np.full(levels, 3)).without(rows[1])
    counts = np.full(levels, 3.0)
    counts[1] -= 1.0
    heights = np.linspace(0.0, math.pi, 100)

    sines = np.sin(np.multiply.outer(heights, np.arange(1, 5)) / 2.0) ** 2
    fall = 2.0 * sines @ total.coincidences(tilt)

    values, _ = ungrouped(rows, counts).log_generating(tilt + 1j * heights)
    exact = values.real[0] - values.real
    # Rounding of sums of 600 logarithms.
    assert np.all(fall <= exact + 1e-9)
    if groups > 2:
        assert np.all(fall >= 0.4 * np.minimum(exact, fall.max()))


def test_scores_with_gaps_repeat_along_the_circle() -> None:
    # Scores 0 and 4 only: four equal peaks, none of which may be skipped.
    row = np.array([0.8, 0.0, 0.0, 0.0, 0.2])
    wide = ScoreAttack(row[None, :], row, row[::-1] - row)
    narrow = ScoreAttack(row[None, [0, 4]], row[[0, 4]], (row[::-1] - row)[[0, 4]])

    for epsilon in (0.0, 0.01, 0.1, 1.0):
        found = bound_of(wide, [10_000]).delta(epsilon)
        exact = bound_of(narrow, [10_000]).delta(epsilon)
        # Both are lower bounds, 1e-10 below the truth.
        assert found == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("epsilon", [1.001, 5.0, 700.0])
def test_attack_beyond_the_local_budget_finds_nothing(epsilon: float) -> None:
    assert bound_of(binary_attack(1.0), [50]).delta(epsilon) == 0.0


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_scores_that_tell_nothing_or_the_opposite_find_nothing(factor: float) -> None:
    attack = ScoreAttack(MIXED, SECOND, factor * DIFFERENCE)

    assert bound_of(attack, [3, 2, 1]).delta(0.0) == 0.0
    assert bound_of(attack, [3, 2, 1]).delta(0.3) == 0.0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("budget", [50.0, 300.0, 650.0])
def test_attack_stays_below_at_extreme_budgets(budget: float, share: float) -> None:
    attack = binary_attack(budget)
    epsilon = share * budget

    lower = bound_of(attack, [5]).delta(epsilon)

    with mp.workdps(700):
        exact = exact_binary(attack, 5, epsilon)
    assert lower <= exact
    if exact > 1e-280:
        assert lower >= exact * TIGHTNESS
