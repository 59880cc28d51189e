import numpy as np
import pytest
from covering import covering

from shuffledp import (
    BinarySum,
    InvalidInputError,
    Population,
    ShuffledReports,
    account,
    shuffle,
)
from shuffledp.types import Floats, Ints, Mode

MODES: tuple[Mode, ...] = ("agnostic", "stratified")
PEOPLE = Population.from_counts({1.0: 200, 3.0: 200})


@pytest.mark.parametrize("level", [0.01, 0.5, 2.0, 20.0])
@pytest.mark.parametrize("ones", [0, 1, 300, 1000])
def test_the_estimate_is_equation_9_5_with_n_p_over_2(level: float, ones: int) -> None:
    n, bits = 1000, np.zeros(1000, dtype=np.uint8)
    bits[:ones] = 1
    levels, people = np.full(n, level), Population.from_counts({level: n})

    estimate = BinarySum().estimate(
        ShuffledReports(BinarySum().identity, bits, levels), people
    )

    p = 2.0 / (np.exp(level) + 1.0)
    expected = (ones - n * p / 2.0) / (1.0 - p)
    # Rounding, amplified where 1 - p is small; absolute where the sum is nearly 0.
    assert estimate.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert BinarySum().noise_share([level]) == pytest.approx([p], rel=1e-12)


@pytest.mark.slow
# Agnostic estimates are biased if levels depend on values.
@covering(
    (
        ("mode", "dependent"),
        [("agnostic", False), ("stratified", False), ("stratified", True)],
    ),
    ("ones", [30, 200]),
)
def test_sums_have_the_error_and_the_coverage_they_state(
    mode: Mode, ones: int, *, dependent: bool
) -> None:
    rng, runs, protocol = np.random.default_rng(71), 2_000, BinarySum(mode)
    bits = np.tile(np.arange(400) < ones, (runs, 1))
    levels = np.tile(PEOPLE.budgets(), (runs, 1))
    levels = levels if dependent else rng.permuted(levels, axis=1)

    reports = protocol.randomize(bits.ravel(), levels.ravel(), rng=rng)
    sent = reports.messages.reshape(runs, 400)
    estimates = [
        protocol.estimate(ShuffledReports(reports.identity, row, own), PEOPLE)
        for row, own in zip(sent, levels, strict=True)
    ]

    values = np.array([estimate.value for estimate in estimates])
    ends = np.array([estimate.interval() for estimate in estimates])
    deviation = values.std(ddof=1)
    # Four standard errors: a false alarm in 6e-5 of all seeds.
    assert abs(values.mean() - ones) < 4.0 * deviation / np.sqrt(runs)
    errors = np.array([estimate.standard_error for estimate in estimates])
    # 2,000 runs know a deviation to 1.6%: 6% is 3.8 times that.
    assert abs(np.sqrt(np.mean(errors**2)) / deviation - 1.0) < 0.06
    # And a coverage of 95% to 0.5%.
    held = np.mean((ends[:, 0] <= ones) & (ones <= ends[:, 1]))
    assert 0.93 < held < 0.97


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64])
def test_bits_may_be_truth_values_or_integers(kind: type) -> None:
    bits, levels = (np.arange(400) % 3 == 0), PEOPLE.budgets()

    sent = BinarySum().randomize(
        bits.astype(kind), levels, rng=np.random.default_rng(72)
    )
    listed = BinarySum().randomize(bits.tolist(), levels, rng=np.random.default_rng(72))

    assert np.array_equal(sent.messages, listed.messages)


@pytest.mark.slow
@pytest.mark.parametrize("absent", [0, 100])
def test_calibrate_keeps_targets_with_hardly_more_noise_than_needed(
    absent: int,
) -> None:
    protocol, targets = BinarySum(), {0.2: 600, 0.22: 400}

    answer = protocol.calibrate(targets, delta=1e-6, absent=absent)

    certified = account(protocol, answer.people, delta=1e-6, absent=absent).levels
    for level, target in zip(certified, (0.2, 0.22), strict=True):
        # Certified numbers are rounded upward, in the sixth digit.
        assert level.epsilon_central <= target * (1.0 + 1.1e-5)
    noise = protocol.noise_share(answer.people.epsilons)
    for index, target in enumerate((0.2, 0.22)):
        # With 1% less noise at one level, its people get less than they asked for.
        less = noise.copy()
        less[index] *= 0.99
        people = Population(np.log(2.0 / less - 1.0), answer.people.counts)
        worse = account(protocol, people, delta=1e-6, absent=absent).levels[index]
        assert worse.epsilon_central > target


@pytest.mark.parametrize(
    ("bits", "levels"),
    [
        ([0, 2], [1.0, 1.0]),
        ([0, -1], [1.0, 1.0]),
        ([0.0, 1.0], [1.0, 1.0]),
        ([0, 1], [1.0]),
        (["0", "1"], [1.0, 1.0]),
        ([[0, 1]], [1.0, 1.0]),
        ([0, None], [1.0, 1.0]),
        ([0, 1], [1.0, np.nan]),
        ([0, 1], [1.0, -1.0]),
    ],
)
def test_bad_bits_and_levels_are_refused(bits: Ints, levels: Floats) -> None:
    with pytest.raises(InvalidInputError):
        BinarySum().randomize(bits, levels, rng=np.random.default_rng(1))


def test_other_bad_input_is_refused() -> None:
    people, rng = Population.from_counts({0.0: 3}), np.random.default_rng(73)
    nothing = shuffle(BinarySum().randomize([0, 1, 1], [0.0] * 3, rng=rng), rng=rng)

    with pytest.raises(InvalidInputError, match="mode"):
        BinarySum("both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="above 0"):
        BinarySum().estimate(nothing, people)
    for levels in ([-1.0], [np.nan], ["a"], [701.0]):
        with pytest.raises(InvalidInputError):
            BinarySum().noise_share(levels)
    for targets in ({}, {0.0: 5}, {0.1: 0}, {np.nan: 5}):
        with pytest.raises(InvalidInputError):
            BinarySum().calibrate(targets, delta=1e-6)
    for delta in (0.0, 1.0, np.nan):
        with pytest.raises(InvalidInputError):
            BinarySum().calibrate({0.1: 5}, delta=delta)
