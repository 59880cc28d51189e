"""Vectors of messages: the chances of each, what is kept, and what the sums tell."""

import itertools
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from scipy.stats import chi2

from shuffledp.errors import InvalidInputError
from shuffledp.federated.baseline_vectors import LaplaceVectors, OneBitVectors
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.coordinate_messages import draw_messages, message_type
from shuffledp.federated.framework_catalog import FRAMEWORKS
from shuffledp.federated.simulated_cells import clip_laplace_cells
from shuffledp.federated.sparsified_vectors import (
    RandomVectors,
    ThresholdVectors,
    TopVectors,
)
from shuffledp.population import Population
from shuffledp.randomness import Rng, SystemRandom

# Chance of a false alarm of each test of randomness.
ALARM = 1e-6
CLIP, SHARE = 0.25, 0.2
RANDOMIZERS = (
    ClipLaplaceVectors(CLIP),
    ThresholdVectors(CLIP, SHARE),
    TopVectors(CLIP, SHARE),
    RandomVectors(CLIP, SHARE),
    OneBitVectors(CLIP),
    LaplaceVectors(CLIP),
)
UNBIASED = [r for r in RANDOMIZERS if not isinstance(r, TopVectors)]
# So large that messages are next to their values.
NEXT_TO_NO_NOISE = 690.0


def send(
    framework: Any, updates: np.ndarray, levels: np.ndarray, *, rng: Rng
) -> np.ndarray:
    """What people send with a framework, shape (k, d)."""
    return draw_messages(framework, framework.device, updates, levels, rng=rng)


class Scripted:
    """Stands in for a generator: values do not move up, and uniform numbers are given."""

    def __init__(self, numbers: np.ndarray) -> None:
        self._numbers = numbers

    def random(self, *, out: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
        out[...] = 0.0 if dtype == np.float32 else self._numbers
        return out


def edges_by_mpmath(level: float, point: int, edges: range) -> list[mpmath.mpf]:
    """The chance of a message below each edge of cells, in 40 digits."""
    rate = mpmath.mpf(level) / 4096

    def area(edge: int) -> mpmath.mpf:
        away = -mpmath.expm1(-rate * abs(edge - point))
        return away if edge >= point else -away

    whole = area(4096) - area(0)
    return [(area(edge) - area(0)) / whole for edge in edges]


def cell_chances(level: float, value: float) -> np.ndarray:
    """The chance of every cell, for a value as a share of the clip range."""
    position = 2048.0 * (value + 1.0)
    below = min(int(position), 4095)
    chances = np.zeros(4096)
    for point, weight in ((below, below + 1 - position), (below + 1, position - below)):
        cells = np.arange(4096)
        away = np.where(cells >= point, cells - point, point - 1 - cells)
        density = np.exp(-level / 4096 * away)
        chances += weight * density / density.sum()
    return chances


def assert_drawn_from(chances: np.ndarray, cells: np.ndarray) -> None:
    """A G-test on groups of neighboring cells, each of 50 draws or more."""
    expected = chances * cells.size
    seen = np.bincount(cells.ravel(), minlength=chances.size)
    group = np.minimum(np.cumsum(expected) // 50, expected.sum() // 50 - 1).astype(int)
    expected = np.bincount(group, expected)
    seen = np.bincount(group, seen)
    expected, seen = expected[expected > 0], seen[expected > 0]
    some = seen > 0
    statistic = 2.0 * np.sum(seen[some] * np.log(seen[some] / expected[some]))
    assert statistic < chi2.isf(ALARM, expected.size - 1)


@pytest.mark.few_cases(1)
@covering(("level", [1e-9, 0.05, 1.0, 6.0]), ("point", [0, 1, 1000, 2048, 4095, 4096]))
def test_simulated_chances_are_off_by_less_than_a_billionth(
    level: float, point: int
) -> None:
    with mpmath.workdps(40):
        edges = edges_by_mpmath(level, point, range(4097))
        # Just inside of either end of each cell's part of [0, 1).
        inside = [
            (low + (high - low) * mpmath.mpf("0.5e-9"), high - (high - low) * 5e-10)
            for low, high in itertools.pairwise(edges)
        ]
        numbers = np.array([[float(end) for end in pair] for pair in inside]).T
    value = np.float32(CLIP * (point / 2048 - 1.0))
    updates = np.full((1, 2 * 4096), value)

    cells = clip_laplace_cells(
        updates,
        np.array([level]),
        clip=CLIP,
        rng=Scripted(numbers.ravel()),  # type: ignore[arg-type]
    )

    expected = np.tile(np.arange(4096), 2)
    np.testing.assert_array_equal(cells[0], expected)


@pytest.mark.parametrize("level", [0.0, 0.05, 1.0, 6.0, 40.0])
@pytest.mark.parametrize("value", [-1.0, -0.31, 0.0, 0.9999])
def test_simulated_cells_follow_the_exact_chances(level: float, value: float) -> None:
    updates = np.full((40, 5_000), CLIP * value, dtype=np.float32)

    cells = send(
        ClipLaplaceVectors(CLIP),
        updates,
        np.full(40, level),
        rng=np.random.default_rng(11),
    )

    assert_drawn_from(cell_chances(level, float(updates[0, 0]) / CLIP), cells)


def test_devices_draw_the_same_chances_with_the_randomness_of_the_system() -> None:
    updates = np.full((4, 5_000), 0.1, dtype=np.float32)

    cells = send(ClipLaplaceVectors(CLIP), updates, np.full(4, 3.0), rng=SystemRandom())

    assert_drawn_from(cell_chances(3.0, 0.4), cells)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(12), SystemRandom()], ids=["seeded", "system"]
)
def test_laplace_cells_are_spread_as_laplace_noise_is(rng: Rng) -> None:
    updates = np.full((4, 5_000), 0.1, dtype=np.float32)

    cells = send(LaplaceVectors(CLIP), updates, np.full(4, 2.0), rng=rng)

    # Of the noise around 2867.2, in scales: below 0 half; beyond -t and t half of e^-t.
    noise = (cells.ravel() + 0.5 - 2048 * 1.4) * 2.0 / 4096
    for tail in (0.0, 0.5, 2.0):
        chance = np.exp(-tail) / 2.0
        allowed = 5.0 * np.sqrt(chance / noise.size) + 1e-3
        assert np.mean(noise < -tail) == pytest.approx(chance, abs=allowed)
        assert np.mean(noise > tail) == pytest.approx(chance, abs=allowed)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(13), SystemRandom()], ids=["seeded", "system"]
)
def test_bits_come_up_with_the_stated_chance(rng: Rng) -> None:
    updates = np.tile(np.array([-9.0, 0.05, 0.25], np.float32), (20_000, 1))
    levels = np.full(20_000, 1.5)

    bits = send(OneBitVectors(CLIP), updates, levels, rng=rng)

    keep = np.exp(1.5) / (np.exp(1.5) + 1.0)
    for column, share in enumerate((0.0, 0.6, 1.0)):
        chance = keep * share + (1.0 - keep) * (1.0 - share)
        # Five standard deviations: a false alarm once in 1.7 million.
        allowed = 5.0 * np.sqrt(chance * (1.0 - chance) / 20_000)
        assert bits[:, column].mean() == pytest.approx(chance, abs=allowed)


def test_messages_beyond_the_threshold_are_kept_and_others_replaced() -> None:
    values = np.linspace(-1.0, 1.0, 401)
    updates = np.tile((CLIP * values).astype(np.float32), (3, 1))

    cells = send(
        ThresholdVectors(CLIP, SHARE),
        updates,
        np.full(3, NEXT_TO_NO_NOISE),
        rng=np.random.default_rng(14),
    )

    # At this level noise has a scale of 6 cells: 1 - share of the range, give or take.
    kept = np.abs(values) > 0.9
    dummies = np.abs(values) < 0.7
    sent = (cells + 0.5) / 2048 - 1.0
    assert np.all(np.abs(sent - values)[:, kept] < 0.1)
    assert np.all(np.abs(sent)[:, dummies] < 0.1)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(21), SystemRandom()], ids=["seeded", "system"]
)
def test_dummies_and_kept_messages_have_their_chances(rng: Rng) -> None:
    updates = np.full((4, 5_000), 0.1, dtype=np.float32)

    cells = send(ThresholdVectors(CLIP, SHARE), updates, np.full(4, 3.0), rng=rng)

    # Kept is the outer fifth; for all others a cell is drawn around 0.
    chances = cell_chances(3.0, 0.4)
    kept = np.abs(np.arange(4096) - 2047.5) > 0.8 * 2048
    dummies = chances[~kept].sum() * cell_chances(3.0, 0.0)
    assert_drawn_from(np.where(kept, chances, 0.0) + dummies, cells)


def test_the_largest_messages_of_each_person_are_kept() -> None:
    rng = np.random.default_rng(15)
    magnitudes = np.linspace(0.3, 1.0, 50) * rng.choice([-1.0, 1.0], 50)
    values = np.stack([rng.permutation(magnitudes) for _ in range(40)])

    cells = send(
        TopVectors(CLIP, SHARE),
        (CLIP * values).astype(np.float32),
        np.full(40, NEXT_TO_NO_NOISE),
        rng=rng,
    )

    sent = np.abs((cells + 0.5) / 2048 - 1.0)
    assert np.all(np.sum(sent > 0.15, axis=1) == 10)
    largest = np.abs(values) > 0.93
    assert np.all(sent[largest] > 0.85)
    assert np.all(sent[np.abs(values) < 0.78] < 0.15)


def test_among_equal_messages_no_coordinate_is_preferred() -> None:
    updates = np.full((4_000, 10), CLIP, dtype=np.float32)

    cells = send(
        TopVectors(CLIP, SHARE),
        updates,
        np.full(4_000, 700.0),
        rng=np.random.default_rng(16),
    )

    # Five standard deviations of a share of 4,000 people.
    kept = np.mean(cells > 3_000, axis=0)
    np.testing.assert_allclose(kept, 0.2, atol=5 * np.sqrt(0.2 * 0.8 / 4_000))


def test_coordinates_drawn_at_random_are_kept() -> None:
    updates = np.full((4_000, 10), CLIP, dtype=np.float32)

    cells = send(
        RandomVectors(CLIP, SHARE),
        updates,
        np.full(4_000, NEXT_TO_NO_NOISE),
        rng=np.random.default_rng(17),
    )

    # Each by a coin of its own: variances of sums of ten, within five standard errors.
    kept = cells > 3_000
    assert kept.sum(axis=1).var() == pytest.approx(
        1.6, abs=5 * 1.6 * (2 / 4_000) ** 0.5
    )
    np.testing.assert_allclose(
        kept.mean(axis=0), 0.2, atol=5 * np.sqrt(0.2 * 0.8 / 4_000)
    )


@pytest.mark.parametrize("randomizer", UNBIASED, ids=lambda r: r.name)
@pytest.mark.parametrize("share", [-0.5, 0.0, 0.3])
def test_estimates_are_right_on_average(randomizer: Any, share: float) -> None:
    people, coordinates, value = 3_000, 60, CLIP * share
    rng = np.random.default_rng(18)
    levels = rng.uniform(0.5, 4.0, people)
    updates = np.full((people, coordinates), value, dtype=np.float32)

    messages = send(randomizer, updates, levels, rng=rng)
    totals = messages.sum(axis=0, dtype=np.float64)
    estimates = randomizer.estimate(totals, Population.from_budgets(levels))

    # Five standard errors of independent coordinates: a false alarm once in 1.7 million.
    # A bent response adds a bias in the order of an estimate's variance.
    error = 5 * estimates.std() / coordinates**0.5 + estimates.var() / CLIP + 1e-7
    assert estimates.mean() == pytest.approx(value, abs=error)
    assert messages.dtype == message_type(randomizer.messages)


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: r.name)
def test_values_beyond_the_clip_range_say_no_more_than_its_ends(
    randomizer: Any,
) -> None:
    inside = np.tile(np.array([CLIP, -CLIP] * 5, np.float32), (50, 1))

    ends, beyond = (
        send(
            randomizer, updates, np.full(50, 2.0), rng=np.random.default_rng(19)
        ).tolist()
        for updates in (inside, np.float32(1e6) * inside)
    )

    assert ends == beyond


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: r.name)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(randomizer: Any, bad: float) -> None:
    updates = np.array([[0.0, bad]], dtype=np.float32)

    with pytest.raises(InvalidInputError, match="finite"):
        send(randomizer, updates, np.ones(1), rng=np.random.default_rng(1))


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: r.name)
@pytest.mark.parametrize("levels", [[1.0, 1.0], [-1.0], [np.nan]], ids=str)
def test_levels_that_make_no_sense_are_refused(
    randomizer: Any, levels: list[float]
) -> None:
    updates = np.zeros((1, 4), dtype=np.float32)

    with pytest.raises(InvalidInputError):
        send(randomizer, updates, np.array(levels), rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "build",
    [
        lambda: ClipLaplaceVectors(0.0),
        lambda: OneBitVectors(-1.0),
        lambda: LaplaceVectors(float("nan")),
        lambda: ThresholdVectors(1.0, 1.0),
        lambda: TopVectors(1.0, 0.0),
        lambda: RandomVectors(1.0, 1.5),
    ],
    ids=["clip", "bit", "laplace", "threshold", "top", "random"],
)
def test_parameters_out_of_range_are_refused(build: Any) -> None:
    with pytest.raises(InvalidInputError):
        build()


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("clip", [5e-324, 1e-31, 1e31, np.inf, np.nan, -1.0])
def test_clips_are_refused_alike_by_all(framework: str, clip: float) -> None:
    with pytest.raises(InvalidInputError, match="clip from 1e-30 to"):
        FRAMEWORKS[framework].framework(clip=clip, share=SHARE)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("clip", [1e-30, 1e30])
def test_the_smallest_and_the_largest_clip_work(framework: str, clip: float) -> None:
    randomizer: Any = FRAMEWORKS[framework].framework(clip=clip, share=SHARE)
    updates = np.array([[1.0, -1.0, 0.0, 0.5]] * 8, np.float32) * np.float32(clip)
    levels = np.full(8, 2.0)

    for rng in (np.random.default_rng(20), SystemRandom()):
        totals = send(randomizer, updates, levels, rng=rng).sum(axis=0, dtype=float)
        estimate = randomizer.estimate(totals, Population.from_budgets(levels))

        # Eight people at this level: noise of some clips, and no more.
        assert np.all(np.abs(estimate) < 100.0 * clip)


@pytest.mark.parametrize("build", [ThresholdVectors, TopVectors, RandomVectors])
@pytest.mark.parametrize("share", [0.0, 1.5, np.nan])
def test_shares_are_refused_in_the_same_words(build: Any, share: float) -> None:
    with pytest.raises(InvalidInputError, match="below 1 where a threshold decides"):
        build(CLIP, share)


def test_all_messages_are_kept_only_without_a_threshold() -> None:
    assert TopVectors(CLIP, 1.0).share == RandomVectors(CLIP, 1.0).share == 1.0
    with pytest.raises(InvalidInputError, match=r"\(0, 1\)"):
        ThresholdVectors(CLIP, 1.0)


def test_levels_too_small_for_laplace_noise_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="Laplace noise"):
        send(
            LaplaceVectors(CLIP),
            np.zeros((1, 2), np.float32),
            np.array([1e-5]),
            rng=SystemRandom(),
        )
