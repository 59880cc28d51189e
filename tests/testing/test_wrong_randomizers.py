"""Randomizers that leak in batches, calls or rare places are found, right ones pass."""

from typing import Any

import numpy as np
import pytest
from oracles.wrong_randomizers import BitsShareDraws, wrong_randomizers
from scipy.stats import kstest

from shuffledp import (
    ConformanceError,
    Gaussian,
    KRandomizedResponse,
    OneBit,
    SubsetSelection,
    UnaryEncoding,
)
from shuffledp.testing import check_randomizer
from shuffledp.testing.batch_queries import BatchQueries
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.message_sender import MessageSender, balanced_values
from shuffledp.testing.sampling_check import sampling_comparisons
from shuffledp.testing.tail_probabilities import count_tail, sum_tail
from shuffledp.testing.uniform_ranks import UniformRanks

WRONG = wrong_randomizers()
LEVELS = (0.5, 2.0)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", [name for name in WRONG if WRONG[name][1]])
def test_what_leaks_is_caught_by_the_property_that_it_breaks(name: str) -> None:
    device, broken = WRONG[name]

    with pytest.raises(ConformanceError) as error:
        check_randomizer(device, levels=(1.0,), rng=np.random.default_rng(21))

    found: Any = error.value.conformance
    assert found.failed == (broken,)


@pytest.mark.slow
def test_one_message_in_5_000_is_not_seen_and_the_result_says_what_is() -> None:
    device, broken = WRONG["1 message in 5,000 plain"]

    found = check_randomizer(device, levels=LEVELS, rng=np.random.default_rng(22))

    assert broken is None
    assert found.failed == ()
    (law,) = (one for one in found.findings if one.about == "drawn law")
    share = law.text.partition("sent in clear by ")[2].partition("%")[0]
    # 7 standard errors of a million draws.
    assert 0.2 < float(share) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("times", [2.0, 0.2])
def test_the_leak_that_is_called_visible_is(times: float) -> None:
    class Leaking(KRandomizedResponse):
        def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
            sent = super().randomize(values, epsilons, rng=rng)
            return np.where(rng.random(sent.size) < leak, values, sent)

    leak = 0.0
    rng = np.random.default_rng(23)
    right = check_randomizer(Leaking(4), levels=LEVELS, rng=rng)
    text = next(one.text for one in right.findings if one.about == "drawn law")
    leak = times * float(text.partition("in clear by ")[2].partition("%")[0]) / 100.0

    drawn = sampling_comparisons(tabulate(Leaking(4), LEVELS), rng=rng)

    assert drawn is not None
    smallest = min(one.p_value for one in drawn[0]) * len(drawn[0])
    # 14 standard errors, or one and a half.
    assert (smallest < 4e-7) is (times > 1.0)


@pytest.mark.slow
def test_bits_that_share_draws_are_seen_in_pairs_of_bits() -> None:
    with pytest.raises(ConformanceError, match="two bits of a report depend"):
        check_randomizer(
            BitsShareDraws(8), levels=(1.0,), rng=np.random.default_rng(24)
        )


@pytest.mark.parametrize("k", [70, 200])
def test_of_many_values_a_sample_and_both_ends_are_tried(k: int) -> None:
    distributions = tabulate(
        KRandomizedResponse(k), (1.0,), rng=np.random.default_rng(25)
    )

    assert len(distributions.values) == len(set(distributions.values)) == 64
    assert distributions.values[:2] == (0, 1)
    assert distributions.values[-1] == k - 1
    assert len(tabulate(KRandomizedResponse(k), (1.0,)).values) == k


@pytest.mark.slow
def test_a_response_of_many_values_passes() -> None:
    found = check_randomizer(
        KRandomizedResponse(70), levels=(1.0,), rng=np.random.default_rng(26)
    )

    assert found.failed == ()


@pytest.mark.parametrize(
    "device",
    [
        KRandomizedResponse(5),
        SubsetSelection(5, 2),
        OneBit(),
        UnaryEncoding(4, "optimized"),
        Gaussian(cells=64, delta_local=1e-3),
    ],
    ids=lambda device: type(device).__name__,
)
def test_messages_become_independent_uniform_numbers(device: Any) -> None:
    distributions, rng = tabulate(device, LEVELS), np.random.default_rng(27)
    sender, ranks = MessageSender.of(distributions), UniformRanks(distributions)
    held = balanced_values(4_000, sender.num_values, rng=rng)
    levels = rng.integers(2, size=held.size)
    rows = sender.rows(held)

    places = sender.send(held, levels, rng=rng)
    numbers = ranks.features(places, rows, levels, rng=rng).reshape(-1, 3)

    for column in (0, 2):
        uniform = (numbers[:, column] / 3.0**0.5 + 1.0) / 2.0
        # With this seed; of all seeds, one in a thousand fails, for each column.
        assert kstest(uniform, "uniform").pvalue > 1e-3
    # Legendre polynomials of one number do not correlate; 5 standard errors.
    assert np.abs(np.cov(numbers[:, :2].T) - np.eye(2)).max() < 5 / len(numbers) ** 0.5
    speaks, chance = ranks.leaks(places, rows, levels)
    errors = np.sum(speaks - chance) / np.sum(chance * (1.0 - chance)) ** 0.5
    assert abs(errors) < 5.0


@pytest.mark.slow
def test_right_devices_have_p_values_that_are_not_small() -> None:
    smallest = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        distributions = tabulate(KRandomizedResponse(3), (1.0,))
        queries = BatchQueries(distributions, rng, np.random.default_rng(seed + 100))
        chances = [one.p_value for one in queries.comparisons()]
        smallest.append(min(chances) * len(chances))

    # With these seeds; by the union bound, one in 250 of four is below.
    assert min(smallest) > 1e-3


def test_tails_are_exact_or_larger() -> None:
    # Ten throws of a coin, all alike: 2 / 2^10.
    tails = count_tail(np.array([0, 10, 5]), np.array([10] * 3), np.full(3, 0.5))
    assert tails == pytest.approx([2**-9, 2**-9, 1.0])

    # All of 20 signs are alike: 2^-19.
    assert 2.0**-19 <= sum_tail(20.0, 20.0, 1.0) < 2e-3
    assert sum_tail(0.0, 20.0, 1.0) == 1.0
