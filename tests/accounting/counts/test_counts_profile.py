"""Several changes at once: product spaces, another library, and bounds that meet."""

import math
from dataclasses import replace

import numpy as np
import pytest
from covering import covering
from numpy.typing import NDArray
from oracles.bucket_counts import (
    all_at_once,
    exact_divergence,
    negative_binomial,
    plus_and_minus,
    with_one_plus,
)

from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.accounting.counts.count_noise import (
    CountNoise,
    PoissonNoise,
)
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    smallest_certified_epsilon,
)
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

EPSILONS = (0.0, 0.4, 1.0, 2.0, 3.5)
# A noise, the number of changes and whether messages move.
Group = tuple[CountNoise, int, bool]


def profile(*groups: Group, rate: float = 1.0, delta: float = 1e-6) -> CountsProfile:
    certified = [n.certified(rate, buckets=30, moved=m, times=s) for n, s, m in groups]
    attacked = [n.attacked(rate, buckets=30, moved=m, times=s) for n, s, m in groups]
    return CountsProfile(tuple(certified), tuple(attacked), delta)


def doubles(law: NDArray[np.object_]) -> Floats:
    masses: Floats = (law / 10.0**50).astype(np.float64)
    return masses


def worlds(
    noise: CountNoise, times: int, moved: bool, *, rate: float, cells: int
) -> tuple[Floats, Floats]:
    """Probabilities of all outcomes, with messages here and there, or with and without."""
    if isinstance(noise, GeometricNoise):
        units = plus_and_minus(noise.decay, noise.pairs, noise.shape, cells)
    else:
        assert isinstance(noise, PoissonNoise)
        units = negative_binomial(noise.mean, math.inf, cells)
    law = doubles(units)
    more = with_one_plus(law, rate)
    if not moved:
        return all_at_once([more] * times), all_at_once([law] * times)
    return all_at_once([more, law] * times), all_at_once([law, more] * times)


def check(groups: list[tuple[Group, int]], rate: float, *, tight: float) -> None:
    """Asserts lower <= exact <= upper, and that the upper end is near."""
    parts = [worlds(*group, rate=rate, cells=cells) for group, cells in groups]
    here, there = (all_at_once(each) for each in zip(*parts, strict=True))
    left_out = 1.0 - min(here.sum(), there.sum())
    both = profile(*(group for group, _ in groups), rate=rate, delta=1e-3)

    for epsilon in EPSILONS:
        exact = max(
            exact_divergence(here, there, epsilon),
            exact_divergence(there, here, epsilon),
        )
        assert both.lower(epsilon) <= exact + left_out
        assert exact - 1e-12 <= both.upper(epsilon)
        assert both.upper(epsilon) <= tight * (exact + left_out) + 1e-9
    assert left_out < 1e-2


# Chords over profiles of few counts cost some percent, more where little is left.
@covering(
    ("group", [((PoissonNoise(2.0), 2, True), 14), ((PoissonNoise(0.5), 3, True), 8)]),
    ("rate", [1.0, 0.4]),
)
def test_bounds_enclose_several_moves_among_poisson_noise(
    group: tuple[Group, int], rate: float
) -> None:
    check([group], rate, tight=1.2)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_bounds_enclose_several_moves_among_geometric_noise(rate: float) -> None:
    noise = GeometricNoise(0.1, 0.3, 4.0)

    check([((noise, 2, True), 5)], rate, tight=1.2)
    check([((GeometricNoise(0.3, 1.0, 4.0), 2, False), 14)], rate, tight=1.35)
    # Each bucket is certified for the worse of both directions.
    check([((noise, 3, False), 7)], rate, tight=1.35)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_bounds_enclose_changes_of_two_groups(rate: float) -> None:
    poisson: tuple[Group, int] = ((PoissonNoise(3.0), 1, True), 18)
    geometric: tuple[Group, int] = ((GeometricNoise(0.3, 1.5, 4.0), 1, False), 18)

    check([poisson, geometric], rate, tight=1.2)
    check([((PoissonNoise(1.0), 1, True), 11), poisson], rate, tight=1.2)


USUAL = [
    (GeometricNoise(math.exp(-0.45), 800.0, 8.0), 1),
    (GeometricNoise(math.exp(-0.2), 2000.0, 8.0), 2),
    (GeometricNoise(math.exp(-0.12), 4000.0, 8.0), 4),
    (PoissonNoise(43.0), 1),
    (PoissonNoise(75.0), 2),
    (PoissonNoise(360.0), 10),
]


@covering(("usual", USUAL), ("moved", [True, False]), ("rate", [1.0, 0.6]))
def test_bounds_meet_to_a_thousandth(
    usual: tuple[CountNoise, int], moved: bool, rate: float
) -> None:
    noise, times = usual
    both = profile((noise, times, moved), rate=rate)

    upper = smallest_certified_epsilon(both.upper, 1e-6, ceiling=50.0, guess=1.0)
    lower = largest_attacked_epsilon(both.lower, 1e-6, ceiling=50.0, guess=1.0)

    assert 0.2 < lower <= upper < 1.5
    # Where messages appear, each bucket is certified for the worse of both directions.
    assert upper <= (1.001 if moved or times == 1 else 1.002) * lower


@covering(("mean", [14.0, 75.0]), ("times", [1, 4]), ("rate", [1.0, 0.4]))
def test_the_closed_form_of_poisson_noise_is_that_of_its_atoms(
    mean: float, times: int, rate: float
) -> None:
    change = PoissonNoise(mean).certified(rate, buckets=9, moved=True, times=times)
    closed = CountsProfile((change,), (change,), 1e-6)
    atoms = replace(change, proven=None)
    summed = CountsProfile((atoms,), (atoms,), 1e-6)

    for epsilon in (0.2, 0.6, 1.2, 2.0):
        assert closed.lower(epsilon) <= summed.upper(epsilon)
        assert summed.lower(epsilon) <= closed.upper(epsilon)
        # Nodes of compositions lie elsewhere; one change has none.
        rel = 1e-6 if times == 1 else 1e-3
        assert closed.upper(epsilon) == pytest.approx(summed.upper(epsilon), rel=rel)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("noise", "cells"),
    [(GeometricNoise(0.6, 20.0, 8.0), 110), (PoissonNoise(20.0), 70)],
)
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("moved", [True, False])
def test_composition_agrees_with_another_library(
    noise: CountNoise, cells: int, rate: float, moved: bool
) -> None:
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="Needs the extra dev."
    )
    # The same bucket twice: with a message against without, composed with the reverse.
    more, law = worlds(noise, 1, False, rate=rate, cells=cells)
    with np.errstate(divide="ignore"):
        logs = [dict(enumerate(np.log(x).tolist())) for x in (law, more)]
    ours = profile((noise, 3, moved), rate=rate)

    def composed(pessimistic: bool) -> object:
        given = {
            "pessimistic_estimate": pessimistic,
            "value_discretization_interval": 2e-4,
            "symmetric": False,
        }
        forward = pld.from_two_probability_mass_functions(*logs, **given)
        if not moved:
            return forward.self_compose(3)
        backward = pld.from_two_probability_mass_functions(*logs[::-1], **given)
        return forward.compose(backward).self_compose(3)

    above, below = composed(True), composed(False)
    for epsilon in (0.5, 1.5, 3.0):
        high, low = (float(d.get_delta_for_epsilon(epsilon)) for d in (above, below))  # type: ignore[attr-defined]
        # That library's lower end is not above our upper one, nor ours above its upper
        # one; it drops tails of 1e-12 or so, and the law's beyond the last cell.
        assert low - 1e-9 <= ours.upper(epsilon)
        assert ours.lower(epsilon) <= high + 1e-9
        # Appearing or disappearing, the worse for each bucket apart: a little more.
        assert ours.upper(epsilon) <= (1.03 if moved else 1.06) * high + 1e-9
        assert ours.lower(epsilon) >= 0.95 * low - 1e-9


def test_nothing_sent_is_nothing_shown() -> None:
    nothing = CountsProfile((), (), 1e-6)

    assert nothing.is_constant
    assert nothing.upper(0.0) == nothing.lower(0.0) == 0.0


def test_an_attack_of_nothing_shows_nothing() -> None:
    change = PoissonNoise(5.0).certified(1.0, buckets=9, moved=True, times=2)

    assert CountsProfile((change,), (), 1e-6).lower(0.0) == 0.0


def test_noise_that_hides_nothing_has_no_bound_below_one() -> None:
    both = profile((PoissonNoise(1e-9), 2, True))

    try:
        assert both.upper(1.0) <= 1.0
        assert both.upper(1.0) >= 1.0 - 1e-6
    except CertificationError:
        pass


def test_sums_of_mass_left_out_count_every_bucket() -> None:
    pair = PoissonNoise(5.0).certified(1.0, buckets=9, moved=True, times=1).pair
    twice, once = BucketChange(pair, True, 3), BucketChange(pair, False, 2)
    both = CountsProfile((twice, once), (once,), 1e-6)

    assert (twice.buckets, once.buckets) == (6, 2)
    assert both.missing == pytest.approx(8 * pair.missing)
    assert both.drift >= 8 * pair.drift
