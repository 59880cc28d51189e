import numpy as np
import pytest
from oracles.means import mean_by
from scipy.spatial import ConvexHull

from shuffledp import ClipLaplace, InvalidInputError, Mean, Population
from shuffledp.analyzer.channel import _hull, _two_values
from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.mean import About, MeanEstimate, agnostic_mean, stratified_mean
from shuffledp.randomizers.catalog import NUMBER_MECHANISMS

PEOPLE = Population.from_counts({0.5: 30, 2.0: 70})


@pytest.mark.parametrize("seed", range(20))
def test_hull_is_the_lower_convex_hull(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, values = np.sort(rng.random(40)), rng.normal(size=40)

    corners, heights = _hull(at, values)

    hull = ConvexHull(np.stack([at, values], axis=1))
    facing_down = hull.equations[:, 1] < 0.0
    lower = np.unique(hull.simplices[facing_down])
    assert np.array_equal(corners, at[lower])
    assert np.array_equal(heights, values[lower])
    # Rounding of an interpolation.
    assert np.all(np.interp(at, corners, heights) <= values + 1e-12)


@pytest.mark.parametrize("mechanism", NUMBER_MECHANISMS)
def test_solving_inverts_the_average_message(mechanism: str) -> None:
    channel = mean_by(mechanism, -1.0, 1.0).channel(PEOPLE)

    values = np.linspace(-0.99, 0.99, 23)
    averages = channel.average(values)

    # Clip-Laplace's average message is nearly flat at the ends.
    solved = [channel.solve(average) for average in averages.tolist()]
    assert solved == pytest.approx(values, abs=1e-11)


def test_averages_next_to_an_end_are_solved() -> None:
    # Rounded otherwise alone than beside others, this one seemed to lie beyond the end.
    people = Population.from_counts(dict.fromkeys((0.018, 0.03, 0.424, 11.203), 2_500))
    collection = Mean(0, 1, randomizer=ClipLaplace(0.5))

    at_the_end = collection.predicted_error(people, mean=0.0, spread=0.0)

    near = collection.predicted_error(people, mean=1e-6, spread=0.0)
    assert at_the_end == pytest.approx(near, rel=1e-3)


@pytest.mark.parametrize("mechanism", NUMBER_MECHANISMS)
def test_solutions_go_on_beyond_the_range_without_a_jump(
    mechanism: str,
) -> None:
    channel = mean_by(mechanism, -1.0, 1.0).channel(PEOPLE)
    low, high = channel.average(np.array([-1.0, 1.0])).tolist()

    step = 1e-13
    inside, outside = channel.solve(high - step), channel.solve(high + step)
    far = channel.solve(2.0 * high - low)

    # A square root at the end of Clip-Laplace's: 1e-6 for a step of 1e-13.
    assert outside - inside < 1e-5
    # As far again as the range is long, and no farther.
    assert far == pytest.approx(3.0, rel=1e-12)
    assert channel.solve(low - step) <= -1.0 <= channel.solve(low + step)


@pytest.mark.parametrize("mean", [-1.0, -0.95, 0.0, 0.3, 1.0, 1.5])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 0.2, 0.9, 1.0])
def test_two_values_have_the_mean_and_the_spread_that_fits(
    mean: float, spread: float
) -> None:
    values, shares = _two_values(mean, spread, -1.0, 1.0)

    inside = min(mean, 1.0)
    fits = min(spread, max(1.0 - inside**2, 0.0) ** 0.5)
    assert np.all((values >= -1.0 - 1e-12) & (values <= 1.0 + 1e-12))
    assert shares.sum() == pytest.approx(1.0, rel=1e-12)
    assert shares @ values == pytest.approx(inside, abs=1e-12)
    assert (shares @ (values - inside) ** 2) ** 0.5 == pytest.approx(fits, abs=1e-8)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize(("near", "far"), [(-1.0, 1.0), (-1.0, 0.2), (0.3, 1.0)])
def test_bias_limit_holds_for_two_values(share: float, near: float, far: float) -> None:
    channel = mean_by("clip-laplace", -1.0, 1.0).channel(PEOPLE)
    shares, values = np.array([1.0 - share, share]), np.array([near, far])

    average = float(shares @ channel.average(values))

    off = abs(channel.solve(average) - float(shares @ values))
    assert off <= channel.bias_limit(average)


def test_bias_limit_is_reached() -> None:
    channel = mean_by("clip-laplace", -1.0, 1.0).channel(PEOPLE)
    average = float(channel.average(np.array([0.5]))[0])

    pairs = np.linspace(-1.0, 1.0, 201)
    messages = channel.average(pairs)
    share = (average - messages[:, None]) / (
        messages[None, :] - messages[:, None] + 1e-9
    )
    means = pairs[:, None] + share * (pairs[None, :] - pairs[:, None])
    possible = (share >= 0.0) & (share <= 1.0)

    # Among pairs on a grid of 201 values the worst is nearly found.
    found = np.abs(means - 0.5)[possible].max()
    limit = channel.bias_limit(average)
    assert 0.98 * limit < found <= limit


@pytest.mark.parametrize("mechanism", ["one-bit", "laplace", "gaussian"])
@pytest.mark.parametrize("level", [1e-5, 1.0, 20.0])
def test_linear_mechanisms_have_no_bias_limit(mechanism: str, level: float) -> None:
    people = Population.from_counts({level: 10, 2.0 * level: 5})

    protocol = mean_by(mechanism, 1e9, 1e9 + 1.0)

    assert protocol.predicted_bias(people) == 0.0


def test_one_level_alone_is_the_same_in_both_modes() -> None:
    people = Population.from_counts({1.0: 50})
    channel = Mean(-1.0, 1.0).channel(people)

    agnostic = agnostic_mean(0.1, 0.99, channel, spread=0.5, span=2.0)
    stratified = stratified_mean(
        np.array([0.1]), np.array([0.99]), channel, spread=0.5, span=2.0
    )

    # One bit at budget 1: the average message is tanh(1 / 2) times the mean.
    assert agnostic.value == pytest.approx(0.1 / np.tanh(0.5), rel=1e-12)
    assert stratified.value == pytest.approx(agnostic.value, rel=1e-12)
    assert stratified.standard_error == pytest.approx(
        agnostic.standard_error, rel=1e-12
    )
    # A bit is 0 or 1, and stands for -1 or 1: one of 50 moves the average by 2 / 50.
    assert agnostic.step == pytest.approx(0.04 / np.tanh(0.5), rel=1e-12)
    assert stratified.step == pytest.approx(agnostic.step, rel=1e-12)


def test_intervals_are_wider_by_the_bias_limit() -> None:
    estimate = MeanEstimate(5.0, 1.0, 2.0, 0.5, 10, "agnostic")

    names: tuple[About, ...] = ("participants", "population")
    about = {name: estimate.interval(about=name) for name in names}

    # The table value, to the digits that tables print.
    assert reach(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert about["participants"] == pytest.approx((2.540036, 7.459964), abs=1e-5)
    assert about["population"] == pytest.approx((0.580072, 9.419928), abs=1e-5)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0, np.nan, "0.95"])
def test_bad_confidences_are_refused(confidence: float) -> None:
    estimate = MeanEstimate(5.0, 1.0, 2.0, 0.5, 10, "agnostic")

    with pytest.raises(InvalidInputError, match="confidence"):
        estimate.interval(confidence)
    with pytest.raises(InvalidInputError, match="population"):
        estimate.interval(about="all")  # type: ignore[arg-type]
