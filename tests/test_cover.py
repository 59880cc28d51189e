"""What a cover says of itself: its form, and the messages outside of it."""

import math

import numpy as np
import pytest

from shuffledp import Population
from shuffledp.cover import CellBounds, Cover, MirroredCover, mirrored
from shuffledp.randomizers.kary_response import KRandomizedResponse

GAMMAS = np.array([0.9, 0.5])
MASSES = np.array([0.2, 0.2, 0.6])
DIFFERENCES = np.array([0.5, -0.5, 0.0])
BASES = np.array([0.3, 0.8, 1.3])


@pytest.mark.parametrize("num_categories", [2, 3, 17, 2**31])
@pytest.mark.parametrize("budget", [1e-9, 0.5, 4.0, 700.0])
def test_response_has_a_mirrored_cover(num_categories: int, budget: float) -> None:
    crowd = Population.from_counts({0.5: 3, 1.0: 2})

    ((cover,),) = KRandomizedResponse(num_categories).covers([budget], crowd, delta=0.1)

    summable = mirrored(cover)
    whole = math.exp(budget) + num_categories - 1
    gamma, gap = num_categories / whole, math.expm1(budget) / whole * num_categories
    assert summable is not None
    assert summable.telling == pytest.approx(2.0 / num_categories, rel=1e-15)
    # A few roundings of doubles.
    for found, exact in (
        (summable.low, gamma),
        (summable.neutral, gamma),
        (summable.gap, gap),
    ):
        assert found == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("num_categories", [2, 3, 17])
@pytest.mark.parametrize("budget", [0.1, 1.0, 4.0])
def test_densities_of_a_cover_are_probabilities(
    num_categories: int, budget: float
) -> None:
    crowd = Population.from_counts({budget: 2})

    ((cover,),) = KRandomizedResponse(num_categories).covers([budget], crowd, delta=0.1)

    assert cover.masses.sum() == pytest.approx(1.0, rel=1e-14)
    assert cover.masses @ cover.bases == pytest.approx(1.0, rel=1e-13)
    assert cover.masses @ cover.differences == pytest.approx(0.0, abs=1e-14)
    ratios = (cover.bases + cover.differences) / cover.bases
    assert ratios.max() == pytest.approx(math.exp(budget), rel=1e-13)
    assert ratios.min() == pytest.approx(math.exp(-budget), rel=1e-13)


def test_mirrored_form_keeps_every_number() -> None:
    cover = Cover(GAMMAS, MASSES, DIFFERENCES, BASES)

    assert mirrored(cover) == MirroredCover(0.4, 0.3, 0.5, 1.3)


NOTHING = np.zeros((2, 3))


@pytest.mark.parametrize(
    "cover",
    [
        Cover(GAMMAS, MASSES, np.array([0.5, -0.4, -0.1]), BASES),
        Cover(GAMMAS, MASSES, np.array([0.5, -0.5, 0.1]), BASES),
        Cover(GAMMAS, np.array([0.2, 0.3, 0.5]), DIFFERENCES, BASES),
        Cover(GAMMAS, MASSES, -DIFFERENCES, BASES),
        Cover(GAMMAS, MASSES, 0.0 * DIFFERENCES, BASES),
        Cover(GAMMAS, MASSES[:2], DIFFERENCES[:2], BASES[:2]),
        Cover(GAMMAS, MASSES, DIFFERENCES, BASES, cells=CellBounds(NOTHING, NOTHING)),
        Cover(GAMMAS, MASSES, DIFFERENCES, BASES, uncovered=np.zeros((2, 1))),
    ],
)
def test_other_covers_have_no_mirrored_form(cover: Cover) -> None:
    assert mirrored(cover) is None


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0, 800.0])
def test_uncovered_messages_show_at_least_their_divergence(epsilon: float) -> None:
    here, there = [1e-3, 2e-5, 0.0], [1e-4, 2e-5, 1e-3]
    cover = Cover(GAMMAS, MASSES, DIFFERENCES, BASES, uncovered=np.array([here, there]))

    beyond = cover.beyond(epsilon)

    growth = math.exp(min(epsilon, 700.0))
    exact = sum(max(p - growth * q, 0.0) for p, q in zip(here, there, strict=True))
    # A hair more, for rounding.
    assert exact <= beyond <= exact + 1e-15


def test_no_uncovered_messages_show_nothing() -> None:
    assert Cover(GAMMAS, MASSES, DIFFERENCES, BASES).beyond(0.0) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 699.0, 710.0, 1e6])
def test_what_is_uncovered_is_a_number_at_every_epsilon(epsilon: float) -> None:
    nothing = np.zeros(1)
    uncovered = np.array([[0.25, 0.5, 0.125], [0.0, 1e-300, 0.125]])
    cover = Cover(nothing, nothing + 1.0, nothing, nothing, uncovered=uncovered)

    # Warnings are errors here: e^710 times 0 is no number.
    shown = cover.beyond(epsilon)

    exact = 0.25 + max(0.5 - math.exp(min(epsilon, 709.0)) * 1e-300, 0.0)
    assert exact <= shown <= exact + 1e-15 + 1e-2 * (epsilon > 690.0)
