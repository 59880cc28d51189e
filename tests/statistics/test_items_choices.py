"""Reports of targets: counted without bias, or reported as they are."""

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.reports import ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.statistic_catalog import protocol_of
from shuffledp.tally import Tally
from shuffledp.types import Ints

TARGETS = (0.5, 1.0, 2.0)
PLAIN, NOISY = Choices(TARGETS), Choices(TARGETS, 1.0)
TARGETS_OF_PEOPLE = np.repeat(TARGETS, [50, 200, 150])


@pytest.mark.parametrize("system", [False, True])
def test_plain_choices_are_counted(system: bool) -> None:
    rng = SystemRandom() if system else np.random.default_rng(2)

    shuffled = shuffle(PLAIN.randomize(TARGETS_OF_PEOPLE, rng=rng), rng=rng)

    found = PLAIN.estimate(shuffled)
    assert found.value.tolist() == [50.0, 200.0, 150.0]
    assert found.covariance is None
    assert (shuffled.arrangement, shuffled.levels) == ("pool", None)
    parts = [
        ShuffledReports(PLAIN.identity, part, None, "pool")
        for part in np.split(shuffled.messages, [150])
    ]
    tally = PLAIN.tally(parts[0]) + PLAIN.tally(parts[1])
    assert tally == PLAIN.tally(shuffled)
    assert PLAIN.estimate(tally).value.tolist() == found.value.tolist()


def test_noisy_choices_are_unbiased() -> None:
    rng, runs = np.random.default_rng(3), 500

    found = np.array(
        [
            NOISY.estimate(
                shuffle(NOISY.randomize(TARGETS_OF_PEOPLE, rng=rng), rng=rng)
            ).value
            for _ in range(runs)
        ]
    )

    error = found.std(axis=0) / np.sqrt(runs)
    # Three targets: a false alarm in 5,000 seeds.
    assert np.all(np.abs(found.mean(axis=0) - [50, 200, 150]) < 4.0 * error)
    assert np.all(error > 0.0)


def test_noisy_choices_are_certified_as_frequencies_are() -> None:
    people = Population.from_counts({1.0: 400})

    found = account(NOISY, people, delta=1e-6)

    same = account(Frequency(3), people, delta=1e-6)
    assert found.levels == same.levels
    assert found.protocol == NOISY.identity
    with pytest.raises(InvalidInputError, match="is known"):
        account(PLAIN, people, delta=1e-6)
    with pytest.raises(InvalidInputError, match="one local budget, 1"):
        account(NOISY, Population.from_counts({0.5: 400}), delta=1e-6)


@pytest.mark.parametrize("protocol", [PLAIN, NOISY, Choices((1.0,), 0.5)])
def test_choices_are_what_their_identity_says(protocol: Choices) -> None:
    assert protocol_of(protocol.identity) == protocol
    assert len({PLAIN.identity, NOISY.identity, Choices(TARGETS, 2.0).identity}) == 3


def test_the_one_choice_there_is_needs_no_noise() -> None:
    protocol, rng = Choices((1.0,), 0.5), SystemRandom()

    found = protocol.estimate(shuffle(protocol.randomize([1.0, 1.0], rng=rng), rng=rng))

    assert found.covariance is None
    assert found.value.tolist() == [2.0]


def test_what_is_no_choice_is_refused() -> None:
    rng = np.random.default_rng(1)

    for asked in ([0.5, 0.7], [0.5, float("nan")]):
        with pytest.raises(UnknownLevelError):
            PLAIN.randomize(asked, rng=rng)
    with pytest.raises(InvalidInputError):
        PLAIN.randomize([], rng=rng)
    # Plain choices draw nothing, and take no other rng than noisy ones all the same.
    for protocol in (PLAIN, NOISY):
        with pytest.raises(InvalidInputError, match="Expected rng"):
            protocol.randomize([0.5], rng=1)  # type: ignore[arg-type]
    offers: list[tuple[tuple[float, ...], float | None]] = [
        ((), None),
        ((2.0, 1.0), None),
        ((1.0, 1.0), None),
        ((-1.0, 1.0), None),
        (TARGETS, 0.0),
        (TARGETS, float("nan")),
        (TARGETS, 701.0),
    ]
    for targets, epsilon in offers:
        with pytest.raises(InvalidInputError):
            Choices(targets, epsilon)


@pytest.mark.parametrize(
    "messages",
    [np.zeros((2, 2)), np.full((4, 1), 3), np.full((4, 1), -1), np.zeros(4)],
)
def test_messages_that_are_no_choices_are_refused(messages: Ints) -> None:
    shuffled = ShuffledReports(PLAIN.identity, messages.astype(np.int32), None, "pool")

    with pytest.raises(InvalidInputError):
        PLAIN.estimate(shuffled)


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3], [5, -1, 0], [1, 1, 1, 1]])
def test_tallies_of_other_people_are_refused(counts: list[int]) -> None:
    tally = Tally(PLAIN.identity, np.zeros(0), np.array([[4]]), np.array([[counts]]))

    with pytest.raises(InvalidInputError):
        PLAIN.estimate(tally)


def test_choices_of_others_are_refused() -> None:
    rng = np.random.default_rng(1)

    shuffled = shuffle(PLAIN.randomize([0.5], rng=rng), rng=rng)

    with pytest.raises(InvalidInputError):
        NOISY.estimate(shuffled)
