import itertools
import math
from typing import Any

import numpy as np
import pytest
from oracles.noise import clipped_density, normal_chances
from oracles.shuffled import divergence, shuffled, with_victim
from scipy import integrate, stats

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers import from_density
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.from_density import DensityRandomizer
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats


def clip_laplace(y: Floats, value: float, epsilon: float) -> Floats:
    return clipped_density(epsilon / 2.0, value, y)


def bell(y: Floats, value: float, epsilon: float) -> Floats:
    """A normal density cut to [-3, 3]: smooth, with a budget that its cut decides."""
    deviation = math.sqrt(6.5 / epsilon)
    noise = stats.norm(value, deviation)
    density: Floats = noise.pdf(y) / (noise.cdf(3.0) - noise.cdf(-3.0))
    return density


def exponential(**changed: Any) -> DensityRandomizer:
    """Clip-Laplace for budgets up to 2."""
    parameters: dict[str, Any] = {
        "density": clip_laplace,
        "values": (-1.0, 1.0),
        "low": -1.0,
        "high": 1.0,
        "log_slope": 1.0,
        "log_curvature": 0.0,
        "breakpoints": (),
    }
    return DensityRandomizer(**(parameters | changed))


def normal() -> DensityRandomizer:
    """For budgets up to 1: |(log f)'| <= 4 / s^2, |(log f)''| = 1 / s^2."""
    return DensityRandomizer(
        bell, (-1.0, 0.0, 1.0), -3.0, 3.0, log_slope=4.0 / 6.5, log_curvature=1.0 / 6.5
    )


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("crowd", "factor"),
    # With mixed levels, an omega that is the same for all victims is not the best one.
    [
        ({1.0: 10_000}, 1.001),
        ({0.5: 5000, 1.5: 5000}, 1.06),
        ({0.2: 999, 2.0: 1}, 1.01),
    ],
)
def test_clip_laplace_as_a_density_is_certified_close_to_its_own(
    crowd: dict[float, int], factor: float
) -> None:
    people = Population.from_counts(crowd)
    level = max(crowd)

    given, known = (
        account(SingleMessage(device), people, delta=1e-6, levels=[level]).levels[0]
        for device in (exponential(), ClipLaplace())
    )

    assert known.epsilon_central_lower <= given.epsilon_central
    assert given.epsilon_central <= factor * known.epsilon_central
    if len(crowd) == 1:
        assert given.epsilon_central >= known.epsilon_central * (1.0 - 1e-6)


def test_values_with_kinks_inside_need_their_breakpoints() -> None:
    people = Population.from_counts({1.0: 1000})
    device = exponential(values=(-1.0, 0.5, 1.0), breakpoints=(0.5,))

    guarantee = account(SingleMessage(device), people, delta=1e-6)
    (ends,) = account(SingleMessage(ClipLaplace()), people, delta=1e-6).levels

    # The ends are the worst pair, so that more values cost nothing but caution.
    (found,) = guarantee.levels
    assert ends.epsilon_central_lower <= found.epsilon_central
    assert found.epsilon_central <= 1.03 * ends.epsilon_central
    assert guarantee.mechanism == "user-density"
    assert any("Declared" in text for text in guarantee.assumptions)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("crowd", [{1.0: 2}, {0.3: 1, 1.0: 2}])
def test_exact_divergence_of_a_smooth_density_never_exceeds_the_certificate(
    crowd: dict[float, int],
) -> None:
    people = Population.from_counts(crowd)
    edges = np.linspace(-3.0, 3.0, {2: 301, 3: 61}[people.num_users])

    def sends(level: float, value: float) -> Floats:
        chances = normal_chances(math.sqrt(6.5 / level), value, edges)
        result: Floats = chances / chances.sum()
        return result

    for victim in crowd:
        others = people.budgets().tolist()
        others.remove(victim)
        for epsilon in (0.0, 0.3 * victim):
            (answer,) = account(
                SingleMessage(normal()), people, epsilon=epsilon, levels=[victim]
            ).levels
            for held in itertools.product([-1.0, 0.0, 1.0], repeat=len(others)):
                rest = shuffled([sends(*one) for one in zip(others, held, strict=True)])
                worlds = [with_victim(rest, sends(victim, v)) for v in (-1.0, 0.0, 1.0)]
                for first, second in itertools.permutations(worlds, 2):
                    exact = divergence(first, second, epsilon)
                    assert exact <= answer.delta_central * (1.0 + 1e-12)


def exact_local_delta(level: float, epsilon: float) -> float:
    """The largest over all pairs, by quadrature with some eight digits."""

    def excess(y: float, x: float, other: float) -> float:
        here, there = (float(bell(np.array([y]), v, level)[0]) for v in (x, other))
        return max(here - math.exp(epsilon) * there, 0.0)

    return max(
        float(integrate.quad(excess, -3.0, 3.0, pair, points=[0.0, 0.5, -0.5])[0])
        for pair in [(-1.0, 1.0), (1.0, 0.0)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_local_delta_is_a_little_above_the_integral(share: float) -> None:
    level = 0.8
    exact = exact_local_delta(level, share * level)

    local = normal().local_delta(level, share * level)

    # A cell of 6 / 2^14 costs four digits.
    assert exact - 1e-8 <= local <= exact + 1e-3
    assert normal().local_delta(level, level) == 0.0


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("cells", [4, 5, 9, 30])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_few_wide_cells_only_raise_the_bounds(
    monkeypatch: pytest.MonkeyPatch, cells: int, share: float
) -> None:
    level = 0.8
    fine = normal().local_delta(level, share * level)
    people = Population.from_counts({level: 4})
    (narrow,) = account(SingleMessage(normal()), people, epsilon=0.2).levels

    monkeypatch.setattr(from_density, "_FINE", cells)
    (wide,) = account(SingleMessage(normal()), people, epsilon=0.2).levels

    # The fine value has its own caution, of some 1e-3.
    assert normal().local_delta(level, share * level) >= fine * (1.0 - 2e-3)
    assert wide.delta_central >= narrow.delta_central * (1.0 - 2e-3)


@pytest.mark.parametrize("cells", [4, 5, 9, 30, 51])
def test_cells_in_which_densities_cross_are_counted(
    monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    monkeypatch.setattr(from_density, "_FINE", cells)
    device = exponential(log_slope=0.5)

    for epsilon in (0.0, 0.1, 0.5):
        exact = ClipLaplace().local_delta(1.0, epsilon)
        assert device.local_delta(1.0, epsilon) >= exact * (1.0 - 1e-11)


def test_covers_hold_for_every_value_and_level() -> None:
    device = normal()
    crowd = Population.from_counts({0.2: 5, 0.5: 3, 1.0: 2})

    found = device.covers([0.5, 1.0], crowd, delta=1e-6)

    for victim, covers in zip([0.5, 1.0], found, strict=True):
        # Every ordered pair of three values.
        assert len(covers) == 6
        edges = np.linspace(-3.0, 3.0, covers[0].masses.size + 1)
        pairs = itertools.permutations([-1.0, 0.0, 1.0], 2)
        for cover, (x, other) in zip(covers, pairs, strict=True):
            assert cover.masses.sum() == pytest.approx(1.0, abs=1e-13)
            people = zip(crowd.epsilons, cover.blanket_probabilities, strict=True)
            for level, gamma in people:
                for value in (-1.0, 0.0, 1.0):
                    sent = bell_chances(level, value, edges)
                    # A tail's rounding.
                    assert np.all(sent >= gamma * cover.masses * (1.0 - 1e-10))
            here, there = (bell_chances(victim, v, edges) for v in (x, other))
            for growth in (0.0, math.expm1(0.3 * victim)):
                exact = (here - (1.0 + growth) * there) / cover.masses
                assert np.all(cover.differences - growth * cover.bases >= exact - 1e-10)
            check_bounds(cover.cells, cover.masses, (x, other), victim, edges)


def bell_chances(level: float, value: float, edges: Floats) -> Floats:
    chances = normal_chances(math.sqrt(6.5 / level), value, edges)
    result: Floats = chances / chances.sum()
    return result


def check_bounds(
    cells: Any, masses: Floats, pair: tuple[float, float], level: float, edges: Floats
) -> None:
    """omega is constant on fine cells, so that means over coarse ones lie in between."""
    for row, value in enumerate(pair):
        mean = bell_chances(level, value, edges) / masses
        assert np.all(cells.low[row] <= mean)
        assert np.all(mean <= cells.high[row])
        # Coarse cells are 1 / 512 of the range.
        assert np.all(cells.high[row] <= cells.low[row] * 1.02)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": (1.0,)}, "values"),
        ({"values": (1.0, 1.0)}, "values"),
        ({"values": tuple(range(17))}, "values"),
        ({"low": 1.0, "high": -1.0}, "low < high"),
        ({"low": -math.inf}, "finite"),
        ({"high": math.nan}, "finite"),
        ({"log_slope": -1.0}, "log_slope"),
        ({"log_curvature": -1.0}, "log_curvature"),
        ({"log_slope": math.inf}, "finite"),
        ({"breakpoints": (-1.0,)}, "breakpoints"),
        ({"breakpoints": (0.0, 1.5)}, "breakpoints"),
        ({"breakpoints": (math.nan,)}, "breakpoints"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        exponential(**changed)


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (lambda y, v, e: 1.001 * clip_laplace(y, v, e), "integrate to 1"),
        (lambda y, v, e: 0.999 * clip_laplace(y, v, e), "integrate to 1"),
        (lambda y, v, e: clip_laplace(y, v, 2.0 * e), "budget"),
        (lambda y, v, e: clip_laplace(y, v, 6.0 * e), "integrate to 1"),
        (lambda y, v, e: np.full(y.shape, np.nan), "finite and positive"),
        (lambda y, v, e: -clip_laplace(y, v, e), "finite and positive"),
        (lambda y, v, e: np.where(y > 0.0, 1.0, 0.0), "finite and positive"),
        (lambda y, v, e: np.array([0.5]), "one per message"),
        (lambda y, v, e: 0.5, "one per message"),
        (lambda y, v, e: np.full((1, y.size), 0.5), "one per message"),
    ],
)
def test_densities_that_contradict_the_declaration_are_refused(
    density: Any, message: str
) -> None:
    people = Population.from_counts({0.9: 10})

    with pytest.raises(InvalidInputError, match=message):
        account(SingleMessage(exponential(density=density)), people, delta=1e-6)


def test_kinks_that_were_not_declared_are_refused() -> None:
    people = Population.from_counts({0.9: 10})

    def jumps(y: Floats, value: float, epsilon: float) -> Floats:
        return 0.5 + 0.1 * value * np.sign(y - 0.25) + 0.025 * value

    hidden = exponential(density=jumps, log_slope=0.0)
    with pytest.raises(InvalidInputError, match="log_slope"):
        account(SingleMessage(hidden), people, delta=1e-6)
    # There, cells do not end at the jump, and their sum is not 1.
    elsewhere = exponential(density=jumps, log_slope=0.0, breakpoints=(0.3,))
    with pytest.raises(InvalidInputError, match="integrate to 1"):
        account(SingleMessage(elsewhere), people, delta=1e-6)
    declared = exponential(density=jumps, log_slope=0.0, breakpoints=(0.25,))
    (level,) = account(SingleMessage(declared), people, delta=1e-6).levels
    assert level.epsilon_central <= 0.9


def test_breakpoints_may_come_in_any_order() -> None:
    people = Population.from_counts({1.0: 1000})
    values, kinks = (-0.3, 0.5), [(-0.3, 0.1, 0.5), (0.5, 0.1, -0.3)]
    devices = [exponential(values=values, breakpoints=order) for order in kinks]

    first, second = (
        account(SingleMessage(device), people, epsilon=0.02) for device in devices
    )

    assert first.levels == second.levels


def test_too_many_levels_are_refused() -> None:
    people = Population.from_budgets(np.linspace(0.1, 1.0, 1001))

    with pytest.raises(InvalidInputError, match="1000 distinct levels"):
        account(SingleMessage(exponential()), people, delta=1e-6, levels=[1.0])


def test_promise_is_taken_at_its_word_in_the_certificate() -> None:
    assert exponential().delta_local == 0.0
    assert exponential(name="mine").mechanism == "mine"
    known = exponential(breakpoints=(0.5,)).parameters
    assert len(str(known.pop("density"))) == 32
    assert known == {
        "values": "-1, 1",
        "low": -1.0,
        "high": 1.0,
        "log_slope": 1.0,
        "log_curvature": 0.0,
        "breakpoints": "0.5",
    }
    crowd = Population.from_counts({1.0: 2})
    assert exponential().attacks([1.0], crowd) == [()]


def test_other_values_make_another_randomizer() -> None:
    near, far = (
        DensityRandomizer(
            density=clip_laplace, values=(-1.0, end), low=-1.0, high=1.0,
            log_slope=1.0, log_curvature=0.0,
        )
        for end in (1.0, 1.0 - 1e-12)
    )  # fmt: skip

    assert near.parameters["values"] == "-1, 1"
    assert near.parameters != far.parameters
