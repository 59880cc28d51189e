"""Tables of chances: what is drawn keeps the level, to 50 digits, and hides who it says."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles.enumeration import largest_divergences

from shuffledp import (
    Frequency,
    InvalidInputError,
    KRandomizedResponse,
    Mean,
    Population,
    account,
    shuffle,
)
from shuffledp.cover import Cover
from shuffledp.randomizers import finite_cover
from shuffledp.randomizers.finite_categories import FiniteCategories
from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.randomizers.finite_numbers import FiniteNumbers
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.types import Floats

LEVELS = [
    0.0,
    1e-17,
    1e-15,
    1e-14,
    1e-13,
    1e-12,
    1e-6,
    0.1,
    0.5,
    1.0,
    3.0,
    10.0,
    30.0,
    300.0,
]


@dataclass(frozen=True)
class Response(FiniteCategories):
    """k-ary response as a table."""

    categories: int

    @property
    def mechanism(self) -> str:
        return "response"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {"categories": self.categories}

    @property
    def num_values(self) -> int:
        return self.categories

    @property
    def num_messages(self) -> int:
        return self.categories

    @property
    def supports(self) -> NDArray[np.bool_]:
        return np.eye(self.categories, dtype=np.bool_)

    def chances(self, epsilons: Floats) -> Floats:
        other = np.exp(-epsilons)[:, None, None]
        weights = np.where(np.eye(self.categories) > 0, 1.0, other)
        result: Floats = weights / weights.sum(axis=2, keepdims=True)
        return result


@dataclass(frozen=True)
class Geometric(FiniteNumbers):
    """Chances that fall geometrically around the value, cut off at the ends."""

    size: int = 5
    low: float = 0.0
    high: float = 1.0

    @property
    def mechanism(self) -> str:
        return "geometric"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {"size": self.size, "low": self.low, "high": self.high}

    @property
    def num_values(self) -> int:
        return self.size

    @property
    def num_messages(self) -> int:
        return self.size

    def chances(self, epsilons: Floats) -> Floats:
        places = np.arange(self.size)
        distance = np.abs(places[:, None] - places) / (self.size - 1)
        weights = np.exp(-epsilons[:, None, None] * distance)
        result: Floats = weights / weights.sum(axis=2, keepdims=True)
        return result


@dataclass(frozen=True)
class Table(FiniteChannel):
    """Any function of the levels."""

    table: Callable[[Floats], Any]
    shape: tuple[int, int] = (2, 2)

    @property
    def mechanism(self) -> str:
        return "table"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {}

    @property
    def num_values(self) -> int:
        return self.shape[0]

    @property
    def num_messages(self) -> int:
        return self.shape[1]

    def chances(self, epsilons: Floats) -> Floats:
        found: Floats = self.table(epsilons)
        return found


def drawn_by_coins(row: Floats) -> list[Any]:
    """The law of one coin after the other, the rarest message first, in 50 digits."""
    order = np.argsort(row, kind="stable")
    left = np.cumsum(row[order][::-1])[::-1]
    found, rest = [mp.mpf(0)] * row.size, mp.mpf(1)
    for step, message in enumerate(order.tolist()):
        if step == row.size - 1:
            found[message] = rest
            break
        coin = mp.mpf(float(row[message] / left[step])) if left[step] > 0 else mp.mpf(0)
        found[message], rest = rest * coin, rest * (1 - coin)
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "device", [Response(2), Response(5), Geometric(7), Geometric(32)], ids=repr
)
def test_what_coins_draw_keeps_the_level(device: FiniteChannel, level: float) -> None:
    mp.mp.dps = 50

    (rows,) = device.drawn(np.array([level]))
    laws = [drawn_by_coins(row) for row in rows]

    columns = zip(*laws, strict=True)
    measured = max(mp.log(max(column) / min(column)) for column in columns)
    assert measured <= mp.mpf(level)


@pytest.mark.parametrize("level", [0.1, 0.5, 1.0, 3.0, 10.0])
def test_what_is_drawn_is_a_hair_off_the_table(level: float) -> None:
    device, levels = Response(4), np.array([level])

    drawn, table = device.drawn(levels), device.chances(levels)

    assert not np.array_equal(drawn, table)
    # 16 roundings per message, over 1 - e^-level, of chances that are e^-level.
    assert np.allclose(drawn, table, rtol=1e-12, atol=0.0)


def test_draws_have_the_law_that_is_stated() -> None:
    device, size = Geometric(4), 400_000
    levels = np.repeat([0.5, 2.0], size // 2)
    values = np.full(size, 1.0 / 3.0)

    messages = device.randomize(values, levels, rng=np.random.default_rng(7))

    for place, level in enumerate((0.5, 2.0)):
        part = messages[place * size // 2 : (place + 1) * size // 2]
        shares = np.bincount(part, minlength=4) / part.size
        _, chances = device.law(level, device.law_values[1])
        # Four messages, two levels: false alarms in 5e-6 of all seeds.
        assert np.all(
            np.abs(shares - chances)
            <= 5.0 * np.sqrt(chances * (1 - chances) / part.size)
        )


def test_a_level_that_is_not_kept_is_refused_with_the_ratio() -> None:
    twice = Table(lambda levels: Response(2).chances(2.0 * levels))

    with pytest.raises(
        InvalidInputError, match=r"keep the level 1, got .* logarithm 2"
    ):
        twice.randomize(np.array([0]), np.array([1.0]), rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="keep the level"):
        account(twice, Population.from_counts({1.0: 10}), delta=1e-3)


def test_a_ratio_above_a_level_by_more_than_rounding_is_refused() -> None:
    nearly = Table(lambda levels: Response(2).chances(levels * (1.0 + 1e-9)))

    with pytest.raises(InvalidInputError, match="keep the level 1"):
        nearly.drawn(np.array([1.0]))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.5, 0.5]], "shape"),
        ([[0.5, 0.5], [0.5, 0.4]], "add up to 1"),
        ([[0.5, 0.5], [1.5, -0.5]], "from 1e-290 to 1"),
        ([[0.5, 0.5], [math.nan, 0.5]], "from 1e-290 to 1"),
        ([[1.0, 0.0], [0.5, 0.5]], "keep the level"),
        ([[1.0, 1e-300], [1.0, 1e-300]], "from 1e-290 to 1"),
    ],
)
def test_what_is_no_table_is_refused(rows: list[list[float]], words: str) -> None:
    device = Table(lambda levels: np.array([rows] * levels.size))

    with pytest.raises(InvalidInputError, match=words):
        device.drawn(np.array([1.0]))


def test_certificate_of_a_symmetric_table_is_that_of_the_randomizer() -> None:
    people = Population.from_counts({0.5: 500, 2.0: 500})

    ours = account(Response(5), people, delta=1e-6).levels
    known = account(KRandomizedResponse(5), people, delta=1e-6).levels

    assert len(Response(5).covers([1.0], people, delta=1e-6)[0]) == 1
    for mine, other in zip(ours, known, strict=True):
        # Six digits, rounded upward; the attack is by scores alone.
        assert mine.epsilon_central == pytest.approx(other.epsilon_central, rel=1e-5)
        assert mine.epsilon_central_lower <= other.epsilon_central


@pytest.mark.parametrize("counts", [{0.5: 2, 1.5: 1}, {0.3: 2, 2.0: 2}])
def test_truth_is_between_attack_and_certificate(counts: dict[float, int]) -> None:
    people = Population.from_counts(counts)
    victim = max(counts)
    epsilons = [0.0, 0.2, 0.8]

    truth = largest_divergences(counts, victim, epsilons, num_categories=3)

    for epsilon, exact in zip(epsilons, truth.tolist(), strict=True):
        found = account(Response(3), people, epsilon=epsilon).levels[-1]
        assert found.delta_central_lower <= exact + 1e-12
        assert exact <= found.delta_central
        assert found.delta_central_lower > 0.5 * exact


def test_messages_that_not_everybody_sends_are_uncovered() -> None:
    def table(levels: Floats) -> Floats:
        large = (levels > 1.0)[:, None, None]
        common = np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]])
        own = np.array([[0.5, 0.4, 0.1], [0.4, 0.5, 0.1]])
        return np.where(large, own, common)

    people = Population.from_counts({1.0: 900, 2.0: 100})

    small, large = Table(table, (2, 3)).covers([1.0, 2.0], people, delta=1e-6)

    assert all(cover.uncovered is None for cover in small)
    for cover in large:
        assert cover.uncovered is not None
        assert np.allclose(cover.uncovered, 0.1)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    values=st.integers(2, 5),
    messages=st.integers(2, 6),
    level=st.floats(0.01, 8.0),
)
def test_any_table_keeps_its_level_and_covers_what_it_promises(
    seed: int, values: int, messages: int, level: float
) -> None:
    weights = np.random.default_rng(seed).uniform(0.0, 1.0, (values, messages))
    weights /= weights.sum(axis=1, keepdims=True)

    def table(levels: Floats) -> Floats:
        # So much noise that the largest ratio is e^level at most.
        part = -np.expm1(-levels / 2.0)[:, None, None] / messages
        rows = part * weights + (1.0 - part) / messages
        return np.array(rows)

    device = Table(table, (values, messages))
    people = Population.from_counts({level: 3, level / 2.0: 5})

    rows = device.drawn(np.array([level]))[0]
    covers = device.covers([level], people, delta=1e-6)[0]

    assert np.log(rows.max(axis=0) / rows.min(axis=0)).max() <= level
    if len(covers) == 1:
        # A pair that is worse than all: every pair shows less at every epsilon.
        for here, there in itertools.permutations(rows, 2):
            for epsilon in (0.0, 0.2 * level, 0.7 * level):
                shown = np.maximum(here - np.exp(epsilon) * there, 0.0).sum()
                loss = covers[0].differences - np.expm1(epsilon) * covers[0].bases
                told = covers[0].masses @ np.maximum(loss, 0.0)
                assert shown <= told * (1.0 + 1e-9) + 1e-12
        return
    for cover in covers:
        first = cover.masses * (cover.bases + cover.differences)
        second = cover.masses * cover.bases
        # The cover's chances are those of two values, and gamma leaves room for both.
        for chances in (first, second):
            assert min(np.abs(row - chances).max() for row in rows) <= 1e-10
        gamma = cover.blanket_probabilities[1]
        assert np.all(gamma * cover.masses <= np.minimum(first, second))


def test_frequencies_of_a_table() -> None:
    device, rng = Response(3), np.random.default_rng(5)
    levels = np.repeat([1.0, 3.0], 20_000)
    values = rng.choice(3, size=40_000, p=[0.6, 0.3, 0.1])
    frequency = Frequency(3, randomizer=device)
    people = Population.from_budgets(levels)

    reports = frequency.randomize(values, levels, rng=rng)
    found = frequency.estimate(shuffle(reports, rng=rng), people)
    holders = np.array(
        [np.bincount(values[levels == e], minlength=3) for e in (1.0, 3.0)]
    )
    tally = frequency.draw_tally(holders, people, rng=rng)

    assert isinstance(device, FrequencyOracle)
    for estimate in (found, frequency.estimate(tally, people)):
        # Five standard errors, three categories: false alarms in 2e-6 of all seeds.
        assert np.all(
            np.abs(estimate.value - [0.6, 0.3, 0.1])
            <= 5.0 * estimate.standard_error + 0.02
        )


def test_categories_that_are_not_alike_have_no_densities() -> None:
    @dataclass(frozen=True)
    class Uneven(Response):
        def chances(self, epsilons: Floats) -> Floats:
            return Geometric(self.categories).chances(epsilons)

        def covers(
            self, victims: Sequence[float], crowd: Population, *, delta: float
        ) -> list[tuple[Cover, ...]]:
            # What is inherited is computed from the table above.
            return super().covers(victims, crowd, delta=delta)

    with pytest.raises(InvalidInputError, match="treats all categories alike"):
        Uneven(4).densities(np.array([1.0]))
    assert account(Uneven(4), Population.from_counts({1.0: 50}), delta=1e-3)


def test_mean_of_a_table() -> None:
    device, rng = Geometric(5, -1.0, 3.0), np.random.default_rng(6)
    levels = np.repeat([2.0, 6.0], 20_000)
    values = rng.uniform(0.0, 2.0, 40_000)
    mean = Mean(-1.0, 3.0, randomizer=device)
    people = Population.from_budgets(levels)

    found = mean.estimate(
        shuffle(mean.randomize(values, levels, rng=rng), rng=rng), people
    )

    assert isinstance(device, NumberRandomizer)
    bias = found.bias_limit
    assert abs(found.value - values.mean()) <= 5.0 * found.standard_error + bias


def test_drawn_sums_have_the_moments_that_are_stated() -> None:
    device, size = Geometric(5), 10**9
    values, levels = np.array([0.1, 0.8]), np.array([0.5, 2.0])
    counts = np.full((2, 2), size)

    sums = device.draw_sums(values, counts, levels, rng=np.random.default_rng(8))

    mean, variance = device.moments(levels, values)
    for level in range(2):
        number, total, _ = sums[level]
        assert number == 2 * size
        average = total / number * (1.0 / 4.0)
        error = math.sqrt(float(variance[level].mean()) / number)
        # False alarms in 1e-6 of all seeds.
        assert abs(average - mean[level].mean()) <= 5.0 * error


def test_unit_has_the_same_messages() -> None:
    device = Geometric(5, 2.0, 10.0)

    unit = device.unit

    assert (unit.low, unit.high) == (-1.0, 1.0)
    assert np.array_equal(unit.drawn(np.ones(1)), device.drawn(np.ones(1)))
    assert device.decode(np.array([0, 4])).tolist() == [2.0, 10.0]


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_numbers_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"in \[0, 1\]"):
        Geometric().randomize([value], [1.0], rng=np.random.default_rng(1))


@pytest.mark.slow
def test_one_pair_in_place_of_many_costs_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people, device = Population.from_counts({0.5: 500, 3.0: 50}), Geometric(6)
    (one,) = device.covers([3.0], people, delta=1e-6)
    fast = account(device, people, delta=1e-6).levels

    monkeypatch.setattr(finite_cover, "_FEW", 1000)
    (every,) = device.covers([3.0], people, delta=1e-6)
    slow = account(device, people, delta=1e-6).levels

    assert (len(one), len(every)) == (1, 15)
    # The one pair is at least as bad as each of them. Some pairs of the level of 0.5 show
    # nothing at its epsilon, which must not keep the others from being bounded.
    for single, worst in zip(fast, slow, strict=True):
        assert worst.epsilon_central <= single.epsilon_central
        assert single.epsilon_central <= 1.0001 * worst.epsilon_central
    assert fast[0].epsilon_central < 0.06


def test_pairs_of_unlike_values_keep_covers_of_their_own() -> None:
    # The favorites of some values are unlike those of others.
    rows = [[0.6, 0.2, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.4, 0.4]]
    people = Population.from_counts({2.0: 100})

    (covers,) = Table(lambda _: np.array([rows]), (3, 4)).covers(
        [2.0], people, delta=1e-6
    )

    assert len(covers) == 6


def test_very_many_pairs_are_replaced_by_one() -> None:
    rows = np.random.default_rng(4).uniform(0.5, 1.0, (1, 9, 5))
    rows /= rows.sum(axis=2, keepdims=True)
    people = Population.from_counts({2.0: 100})

    (covers,) = Table(lambda _: rows, (9, 5)).covers([2.0], people, delta=1e-6)

    (cover,) = covers
    for here in rows[0]:
        for there in rows[0]:
            for epsilon in (0.0, 0.1, 0.3):
                shown = np.maximum(here - np.exp(epsilon) * there, 0.0).sum()
                loss = cover.differences - np.expm1(epsilon) * cover.bases
                assert shown <= cover.masses @ np.maximum(loss, 0.0) + 1e-12
