"""Parts of people, counted apart, tell the truth about all of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.analyzer.dependence import Dependence
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.frequency.frequency_collection import collect_frequency
from shuffledp.statistics.frequency.rehearsal import partial_frequency
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.mean.rehearsal import collect_mean, partial_mean
from shuffledp.statistics.partial_rehearsal import (
    PartialRehearsal,
    PartitionedStatistic,
)
from shuffledp.statistics.request import Request
from shuffledp.statistics.sum.rehearsal import SumStatistic, collect_sum, partial_sum
from shuffledp.types import Floats

NUM_USERS = 3_000


def people(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Values, and levels that depend on them."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, NUM_USERS)
    levels = np.where(values == 1, 0.5, rng.choice([0.5, 1.0, 2.0], NUM_USERS))
    return values, levels


def counted(
    parts: PartialRehearsal, values: pl.Series, levels: np.ndarray, num: int
) -> Any:
    """The sums of the counts of `num` machines, and the groups."""
    groups = parts.groups(sdp.Population.from_budgets(levels))
    total: Any = 0
    for some in np.array_split(np.arange(len(levels)), num):
        read = parts.truth.values(values[some.tolist()])
        indices = groups.group_indices(levels[some])
        total = total + parts.truth.count(read, indices, groups.num_groups)
    return total, groups


@pytest.mark.slow
@pytest.mark.parametrize("num", [1, 7])
@pytest.mark.parametrize("name", ["frequency", "mean", "sum"])
def test_sums_of_parts_are_the_truth_and_its_dependence(name: str, num: int) -> None:
    values, levels = people()
    rng, delta = np.random.default_rng(1), 1e-6
    cases: dict[str, Callable[[], tuple[PartialRehearsal, pl.Series, Any]]] = {
        "frequency": lambda: (
            partial_frequency(sdp.Frequency(4), ("a", "b", "c", "d")),
            pl.Series(list("abcd"))[values],
            collect_frequency(
                values, levels, protocol=sdp.Frequency(4), delta=delta, rng=rng
            ),
        ),
        "mean": lambda: (
            partial_mean(sdp.Mean(-1, 5)),
            pl.Series(values / 3.0),
            collect_mean(
                values / 3.0, levels, protocol=sdp.Mean(-1, 5), delta=delta, rng=rng
            ),
        ),
        "sum": lambda: (
            partial_sum(sdp.BinarySum()),
            pl.Series(values == 1),
            collect_sum(
                (values == 1).astype(int),
                levels,
                protocol=sdp.BinarySum(),
                delta=delta,
                rng=rng,
            ),
        ),
    }
    parts, column, own = cases[name]()

    counts, groups = counted(parts, column, levels, num)
    truth, dependence = parts.truth.evaluate(counts, groups, own.people)

    # Means are added up in steps of 1e-12 of half their range.
    np.testing.assert_allclose(truth, own.truth, rtol=1e-11)
    assert dependence is not None
    assert own.dependence is not None
    assert dependence.suspected
    np.testing.assert_allclose(dependence.bias, own.dependence.bias, rtol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [2.0**600, 2.0**1023])
def test_dependence_has_the_same_digits_in_wide_ranges(scale: float) -> None:
    _, levels = people(4)
    numbers = np.random.default_rng(5).uniform(-1, 1, NUM_USERS)
    crowd = sdp.Population.from_budgets(levels)

    def evaluated(factor: float) -> tuple[Floats, Dependence]:
        parts = partial_mean(sdp.Mean(-factor, factor))
        counts, groups = counted(parts, pl.Series(numbers * factor), levels, 1)
        truth, dependence = parts.truth.evaluate(counts, groups, crowd)
        assert dependence is not None
        return truth, dependence

    (mean, narrow), (wide_mean, wide) = evaluated(1.0), evaluated(scale)

    assert wide_mean == mean * scale
    assert wide.bias == narrow.bias * scale
    assert wide.p_value == narrow.p_value


def test_sums_are_the_same_however_people_are_divided() -> None:
    _, levels = people(4)
    numbers = pl.Series(np.random.default_rng(5).uniform(-1, 5, NUM_USERS))

    first, second = (
        counted(partial_mean(sdp.Mean(-1, 5)), numbers, levels, num)[0]
        for num in (1, 13)
    )

    assert first.tolist() == second.tolist()


def test_many_levels_are_put_into_groups_of_neighbors() -> None:
    levels = np.random.default_rng(6).uniform(0.1, 2.0, 5_000)
    crowd = sdp.Population.from_budgets(levels)

    groups = LevelGroups.of(crowd, most=1_000)
    counts, _ = groups.averages(crowd.epsilons, crowd)

    assert groups.num_groups == 100
    assert counts.tolist() == [50.0] * 100
    assert np.bincount(groups.group_indices(levels)).tolist() == [50] * 100


def test_what_is_no_value_is_refused_as_in_a_table() -> None:
    named = partial_frequency(sdp.Frequency(2), ("yes", "no")).truth
    with pytest.raises(InvalidInputError, match="one of the 2 categories"):
        named.values(pl.Series(["yes", "maybe"]))
    with pytest.raises(InvalidInputError, match="are outside"):
        partial_mean(sdp.Mean(0, 1)).truth.values(pl.Series([0.5, 1.5]))
    with pytest.raises(DataError, match="0 or 1"):
        partial_sum(sdp.BinarySum()).truth.values(pl.Series([0, 2]))
    with pytest.raises(InvalidInputError, match="Expected 3 names"):
        partial_frequency(sdp.Frequency(3), ("yes", "no"))
    assert not isinstance(object(), PartitionedStatistic)


def test_categories_of_each_group_are_counted() -> None:
    truth = partial_frequency(sdp.Frequency(3)).truth

    counts = truth.count(np.array([0, 2, 2, 1]), np.array([0, 1, 1, 0]), 2)

    # One row per group, one column per category.
    assert counts.tolist() == [[1, 1, 0], [0, 0, 2]]


def test_true_means_far_from_zero_keep_their_digits() -> None:
    parts = partial_mean(sdp.Mean(1e9, 1e9 + 1.0, "stratified"))
    levels = np.array([0.5, 0.5, 1.0, 2.0])

    # Binary fractions: all of these numbers, and their mean, are exact.
    counts, groups = counted(parts, 1e9 + pl.Series([0.0, 0.25, 0.5, 1.0]), levels, 2)
    truth, _ = parts.truth.evaluate(counts, groups, sdp.Population.from_budgets(levels))

    assert truth.tolist() == [1e9 + 0.4375]


def test_only_clipped_means_are_said_to_be_clipped() -> None:
    (caveat,) = partial_mean(sdp.Mean(0, 1), clip=True).caveats

    assert "mean of the clipped values" in caveat
    assert partial_mean(sdp.Mean(0, 1)).caveats == ()


def test_parts_of_a_sum_have_levels_and_no_common_target() -> None:
    levels = Request(value="bit", level="epsilon")

    assert SumStatistic().partial_rehearsal(levels, tuple).protocol == sdp.BinarySum()
    with pytest.raises(InvalidInputError, match="no --central"):
        SumStatistic().partial_rehearsal(replace(levels, given={"central": 1.0}), tuple)
