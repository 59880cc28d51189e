"""Noise is certified by few computations, and is no larger than one step asks for."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from shuffledp import Population
from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.errors import CertificationError
from shuffledp.statistics.questionnaire import noise_search
from shuffledp.statistics.questionnaire.noise_division import NoiseDivision
from shuffledp.statistics.questionnaire.noise_search import NoiseSearch

DELTA = 1e-6


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 9, 23])
def test_few_computations_find_the_first_step_that_keeps_the_target(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    division = NoiseDivision("Poisson noise", (), (), (1.0,), False)
    monkeypatch.setattr(
        NoiseDivision, "noise", lambda self, size, room: (PoissonNoise(size),)
    )
    # So large that the first digits show steps of a thousandth.
    size, sizes = 1_000.0, list[float]()

    def delta_of(noise: tuple[Noise, ...]) -> float:
        (first,) = noise
        assert isinstance(first, PoissonNoise)
        # Kept from half a step before the last one on, and falling ever slower.
        late = math.log(first.mean / size) / math.log(1.001) - (steps - 0.5)
        return DELTA * math.exp(-0.01 * late + 1e-5 * late**2)

    def certified(_: NoiseSearch, noise: tuple[Noise, ...], target: float) -> float:
        del target
        sizes.extend(each.mean for each in noise if isinstance(each, PoissonNoise))
        return delta_of(noise)

    monkeypatch.setattr(NoiseSearch, "_delta_of", certified)
    # What is certified is as much larger, everywhere.
    monkeypatch.setattr(
        NoiseSearch,
        "_approximate_delta",
        lambda self, noise, target: delta_of(noise) - 0.3 * DELTA,
    )
    people = Population.from_counts({1.0: 100})
    search = NoiseSearch((), people, DELTA, honest=100, room=1e9)

    noise = search.certified(division, size, 1.0)

    assert noise is not None
    (first,) = noise
    assert isinstance(first, PoissonNoise)
    assert first.mean == pytest.approx(size * 1.001**steps, rel=1e-5)
    assert len(sizes) <= (min(steps, 2) + 1 if steps < 9 else 5)


def test_searches_with_more_room_evaluate_no_noise_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    division = NoiseDivision("Poisson noise", (), (), (1.0,), False)
    sizes: list[float] = []

    def noise_of(_: NoiseDivision, size: float, room: float) -> tuple[Noise, ...]:
        sizes.append(min(size, room))
        return (PoissonNoise(min(size, room)),)

    evaluated = []

    def delta_of(changes: Sequence[BucketChange], target: float) -> float:
        del changes, target
        evaluated.append(sizes[-1])
        return DELTA * math.exp(5.0 - sizes[-1])

    monkeypatch.setattr(NoiseDivision, "first_size", lambda *_: 1.0)
    monkeypatch.setattr(NoiseDivision, "noise", noise_of)
    monkeypatch.setattr(NoiseSearch, "_changes", lambda *_: [])
    monkeypatch.setattr(noise_search, "approximate_delta", delta_of)
    people = Population.from_counts({1.0: 100})
    search = NoiseSearch((), people, DELTA, honest=100, room=1e9)

    size = search.approximate(division, 1.0, 1.0)
    num_evaluated = len(evaluated)
    more_room = replace(search, room=2e9).approximate(division, 1.0, 1.0)

    assert size == more_room == pytest.approx(5.0, rel=1e-3)
    assert len(evaluated) == num_evaluated


def test_more_noise_is_not_tried_where_it_does_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    division = NoiseDivision("Poisson noise", (), (), (1.0,), False)
    evaluated: list[float] = []

    def noise_of(_: NoiseDivision, size: float, room: float) -> tuple[Noise, ...]:
        del room
        return (PoissonNoise(size),)

    def delta_of(_: NoiseSearch, noise: tuple[Noise, ...], target: float) -> float:
        del target
        (first,) = noise
        assert isinstance(first, PoissonNoise)
        evaluated.append(first.mean)
        # It falls, and rises again before the target is kept.
        return DELTA * (1.1 + math.log(first.mean / 2.0) ** 2)

    monkeypatch.setattr(NoiseDivision, "first_size", lambda *_: 1.0)
    monkeypatch.setattr(NoiseDivision, "noise", noise_of)
    monkeypatch.setattr(NoiseSearch, "_approximate_delta", delta_of)
    people = Population.from_counts({1.0: 100})
    search = NoiseSearch((), people, DELTA, honest=100, room=1e9)

    assert search.approximate(division, 1.0, 1.0) is None
    # In steps that are squared, up to a factor of 1.3, to the first one that is worse.
    factors = [1.02, 1.02**2, 1.02**4, 1.02**8, 1.3, 1.3, 1.3]
    assert evaluated == pytest.approx(np.cumprod([1.0, *factors]).tolist())


@pytest.mark.parametrize("refuses", [False, True])
def test_noise_is_certified_once_for_searches_with_more_room(
    refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    division = NoiseDivision("Poisson noise", (), (), (1.0,), False)
    certified: list[float] = []

    def delta_of(_: NoiseSearch, noise: tuple[Noise, ...], target: float) -> float:
        del target
        (first,) = noise
        assert isinstance(first, PoissonNoise)
        certified.append(first.mean)
        if refuses:
            raise CertificationError("Nothing is proven.")
        # Errors of the proof are larger than the target.
        return 2.0 * DELTA

    monkeypatch.setattr(
        NoiseDivision, "noise", lambda self, size, room: (PoissonNoise(size),)
    )
    monkeypatch.setattr(NoiseSearch, "_delta_of", delta_of)
    people = Population.from_counts({1.0: 100})
    search = NoiseSearch((), people, DELTA, honest=100, room=1e9)

    monkeypatch.setattr(NoiseSearch, "_approximate_delta", lambda *_: DELTA)

    assert search.certified(division, 7.0, 1.0) is None
    num_certified = len(certified)
    assert num_certified == (1 if refuses else 2)
    assert replace(search, room=2e9).certified(division, 7.0, 1.0) is None
    assert len(certified) == num_certified
