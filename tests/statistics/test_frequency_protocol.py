import numpy as np
import pytest

from shuffledp import (
    Frequency,
    InvalidInputError,
    Population,
    Reports,
    ShuffledReports,
    SystemRandom,
    UnknownLevelError,
    account,
    shuffle,
)
from shuffledp.types import Floats, Ints, Mode

MODES: list[Mode] = ["agnostic", "stratified"]
PEOPLE = Population.from_counts({0.5: 2, 2.0: 1})
LEVELS = np.array([0.5, 2.0, 0.5])
SECRET = 987654


def shuffled_for(
    protocol: Frequency, messages: Ints, levels: Floats
) -> ShuffledReports:
    return ShuffledReports(protocol.identity, messages, levels)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("system", [False, True])
def test_a_collection_runs_from_values_to_estimates(
    mode: Mode, *, system: bool
) -> None:
    rng = SystemRandom() if system else np.random.default_rng(41)
    people = Population.from_counts({1.0: 3_000, 3.0: 7_000})
    values = np.repeat([0, 1, 2, 0, 1, 2], [1500, 900, 600, 3500, 2100, 1400])
    protocol = Frequency(3, mode)

    reports = protocol.randomize(values, people.budgets(), rng=rng)
    estimate = protocol.estimate(shuffle(reports, rng=rng), people)

    errors = np.abs(estimate.value - [0.5, 0.3, 0.2]) / estimate.standard_error
    # Three categories: a false alarm in 2e-6 of all runs.
    assert errors.max() < 5.0
    assert estimate.standard_error.max() < 0.02
    assert (estimate.num_users, estimate.mode) == (10_000, mode)


@pytest.mark.parametrize("mode", MODES)
def test_only_stratified_reports_keep_their_level(mode: Mode) -> None:
    reports = Frequency(4, mode).randomize(
        [0, 1, 3], LEVELS, rng=np.random.default_rng(1)
    )

    assert reports.linked == (mode == "stratified")
    assert reports.messages.shape == (3,)
    assert reports.levels is not None
    assert np.array_equal(reports.levels, LEVELS)


def test_protocol_describes_itself_for_the_certificate() -> None:
    agnostic, stratified = (
        account(Frequency(4, mode), PEOPLE, delta=1e-3) for mode in MODES
    )

    assert agnostic.mechanism == "kary-response"
    assert agnostic.parameters == {"categories": 4}
    assert (agnostic.mode, stratified.mode) == ("agnostic", "stratified")
    assert [level.hides_among for level in agnostic.levels] == [3, 3]
    assert [level.hides_among for level in stratified.levels] == [2, 1]
    assert len(agnostic.assumptions) == 6
    # They differ in one sentence: whether levels travel with messages.
    assert len(set(agnostic.assumptions) ^ set(stratified.assumptions)) == 2


def test_unknown_modes_and_numbers_of_categories_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="mode"):
        Frequency(4, "both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="categories"):
        Frequency(1)


@pytest.mark.parametrize("mode", MODES)
def test_reports_of_the_other_mode_are_refused(mode: Mode) -> None:
    other: Mode = "agnostic" if mode == "stratified" else "stratified"
    shuffled = shuffled_for(Frequency(4, other), np.array([0, 1, 2]), LEVELS)

    with pytest.raises(InvalidInputError, match=rf"{mode}; got .* {other}"):
        Frequency(4, mode).estimate(shuffled, PEOPLE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "messages",
    [
        np.array([0, 1, SECRET]),
        np.array([0, 1, -SECRET]),
        np.array([0.0, 1.0, 2.0]),
        np.array([0.0, np.nan, 2.0]),
        np.array(["0", "1", str(SECRET)]),
    ],
)
def test_messages_out_of_range_are_refused_without_repeating_them(
    mode: Mode, messages: Ints
) -> None:
    protocol = Frequency(4, mode)

    with pytest.raises(InvalidInputError, match="messages") as caught:
        protocol.estimate(shuffled_for(protocol, messages, LEVELS), PEOPLE)

    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", [9.87654, np.nan, np.inf, -1.0])
def test_levels_that_nobody_chose_are_refused_without_repeating_them(
    mode: Mode, level: float
) -> None:
    levels, protocol = np.array([0.5, level, 0.5]), Frequency(4, mode)
    shuffled = shuffled_for(protocol, np.array([0, 1, 2]), levels)

    with pytest.raises(UnknownLevelError, match=r"0\.5, 2") as caught:
        protocol.estimate(shuffled, PEOPLE)

    assert "9.87654" not in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
def test_other_people_than_the_population_are_refused(mode: Mode) -> None:
    levels, protocol = np.array([0.5, 2.0, 2.0]), Frequency(4, mode)
    shuffled = shuffled_for(protocol, np.array([0, 1, 2]), levels)

    with pytest.raises(InvalidInputError, match="per level"):
        protocol.estimate(shuffled, PEOPLE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("messages", "levels"),
    [
        (np.array([0, 1]), LEVELS),
        (np.array([0, 1, 2, 3]), LEVELS),
        (np.array([[0], [1], [2]]), LEVELS[:, None]),
        (np.array([], dtype=np.int64), LEVELS),
    ],
)
def test_shuffled_reports_of_wrong_shapes_are_refused(
    mode: Mode, messages: Ints, levels: Floats
) -> None:
    protocol = Frequency(4, mode)

    with pytest.raises(InvalidInputError):
        protocol.estimate(shuffled_for(protocol, messages, levels), PEOPLE)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([0, 1], [1.0]),
        ([[0, 1]], [[1.0, 1.0]]),
        ([0.5, 1.0], [1.0, 1.0]),
        ([0, SECRET], [1.0, 1.0]),
        ([0, -SECRET], [1.0, 1.0]),
        ([0, 1], [1.0, np.nan]),
        ([0, 1], [1.0, -float(SECRET)]),
        ([0, 1], [1.0, np.inf]),
        ([0, 1], [1.0, str(SECRET) + "?"]),
        ([[0], [1, SECRET]], [1.0, 1.0]),
    ],
)
def test_values_and_levels_out_of_range_are_refused_without_repeating_them(
    values: list[int], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Frequency(4).randomize(values, levels, rng=np.random.default_rng(1))

    assert str(SECRET) not in str(caught.value)


def test_reports_are_checked_by_the_shuffler_too() -> None:
    with pytest.raises(InvalidInputError):
        Reports(Frequency(4).identity, np.array([0, 1]), LEVELS)
