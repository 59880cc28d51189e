"""Noise of the shuffler: its certificate lies on the safe side of every enumeration."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.shuffler_noise import (
    MOST_DUMMIES,
    ShufflerNoise,
    enough_dummies,
)
from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    smallest_certified_epsilon,
)
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.protocol import Counts

EPSILONS = (0.0, 0.3, 1.0, 1.5, 2.5)
Law = dict[Any, Fraction]


def law_of(noise: ShufflerNoise) -> Law:
    """Exact probabilities of the numbers of dummies of a bucket."""
    p, c = Fraction(noise.decay), noise.dummies
    weights = {u: p ** abs(u - c) for u in range(2 * c + 1)}
    total = sum(weights.values(), Fraction(0))
    return {u: weight / total for u, weight in weights.items()}


def tallies(noise: ShufflerNoise, sent: tuple[tuple[Fraction, int], ...]) -> Law:
    """The law of one bucket's count: dummies, and messages sent with a probability."""
    law = law_of(noise)
    for probability, number in sent:
        more: Law = {}
        for count, mass in law.items():
            for added, part in ((number, probability), (0, 1 - probability)):
                more[count + added] = more.get(count + added, Fraction(0)) + mass * part
        law = more
    return law


def together(laws: list[Law]) -> Law:
    product: Law = {(): Fraction(1)}
    for law in laws:
        product = {
            (*counts, count): mass * part
            for counts, mass in product.items()
            for count, part in law.items()
        }
    return product


def divergence(first: Law, second: Law, epsilon: float) -> float:
    growth = Fraction(math.exp(epsilon))
    zero = Fraction(0)
    return float(
        sum(max(p - growth * second.get(at, zero), zero) for at, p in first.items())
    )


def larger(worlds: list[Law], epsilon: float) -> float:
    first, second = worlds
    return max(divergence(first, second, epsilon), divergence(second, first, epsilon))


@pytest.mark.parametrize("decay", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("dummies", [1, 2, 5])
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("buckets", [1, 2])
def test_one_answer_is_bounded_on_both_sides(
    decay: float, dummies: int, rate: float, buckets: int
) -> None:
    noise = ShufflerNoise(decay, dummies)
    profile = CountsProfile.of_groups([(buckets, 1, noise)], rate, delta=0.1, times=1)
    sent, none = tallies(noise, ((Fraction(rate), 1),)), law_of(noise)
    worlds = [together([sent, none]), together([none, sent])]
    if buckets == 1:
        worlds = [sent, none]

    for epsilon in EPSILONS:
        exact = larger(worlds, epsilon)
        assert profile.lower(epsilon) <= exact <= profile.upper(epsilon)
        # The pair is the whole pair: both ends meet.
        assert profile.upper(epsilon) <= exact + 1e-12
        assert profile.lower(epsilon) >= exact - 1e-12


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_several_answers_are_bounded_on_both_sides(rate: float) -> None:
    noise = ShufflerNoise(0.5, 3)
    profile = CountsProfile.of_groups([(9, 2, noise)], rate, delta=0.01, times=1)
    sent, none = tallies(noise, ((Fraction(rate), 1),)), law_of(noise)
    worlds = together([sent, none] * 2), together([none, sent] * 2)

    for epsilon in EPSILONS:
        exact = divergence(*worlds, epsilon)
        assert profile.lower(epsilon) <= exact <= profile.upper(epsilon)
        # Composed by an integral whose errors are added: about a thousandth.
        assert profile.upper(epsilon) <= 1.005 * exact + 1e-9


# Answers of three people, those of the first before and after, None for no answer.
_CHANGES: list[tuple[tuple[int | None, ...], int | None]] = [
    ((0, 0, 1), 1),
    ((2, 0, 1), None),
    ((None, 2, 2), 0),
]


@pytest.mark.parametrize(("answers", "other"), _CHANGES)
@pytest.mark.parametrize("absent", [0, 2])
def test_whole_collections_keep_their_certificate(
    answers: tuple[int | None, ...], other: int | None, absent: int
) -> None:
    noise, rates = ShufflerNoise(0.6, 2), (0.5, 1.0)
    counts = Counts((CountGroup(3, 1, noise),), (0.5, 1.0), rates, honest=1)
    people = Population.from_counts({0.5: 1, 1.0: 2})
    # The first person is of the first target, or of the second.
    for position, sends in enumerate(itertools.product(rates, repeat=3)):
        if sorted(sends) != sorted((0.5, 1.0, 1.0)):
            continue
        worlds = []
        for first in (answers[0], other):
            held = (first, *answers[1:])
            worlds.append(
                together(
                    [
                        tallies(
                            noise,
                            tuple(
                                (Fraction(rate), 1)
                                for rate, answer in zip(sends, held, strict=True)
                                if answer == bucket
                            ),
                        )
                        for bucket in range(3)
                    ]
                )
            )
        for epsilon in (0.2, 1.0):
            exact = larger(worlds, epsilon)
            guarantee = account(counts, people, epsilon=epsilon, absent=absent)
            level = guarantee.levels[rates.index(sends[0])]
            assert exact <= level.delta_central, position
            assert level.delta_central_lower <= level.delta_central
    # What an attack shows is reached by some answers: a move where all are sent.
    moved = together([tallies(noise, ((Fraction(1), 1),)), law_of(noise)])
    back = together([law_of(noise), tallies(noise, ((Fraction(1), 1),))])
    attacked = account(counts, people, epsilon=1.0, absent=absent).levels[1]
    assert attacked.delta_central_lower <= divergence(moved, back, 1.0)
    assert attacked.delta_central_lower >= 0.999 * divergence(moved, back, 1.0)


@pytest.mark.parametrize("changes", [1, 3, 10])
def test_few_losses_compose_without_loss(changes: int) -> None:
    decay = math.exp(-0.5)
    dummies = enough_dummies(decay, changes=changes, delta=1e-8)
    noise = ShufflerNoise(decay, dummies)
    profile = CountsProfile.of_groups([(128, changes, noise)], 1.0, delta=1e-6, times=1)

    upper = smallest_certified_epsilon(
        profile.upper, 1e-6, ceiling=50.0, guess=1.0 * changes
    )
    lower = largest_attacked_epsilon(
        profile.lower, 1e-6, ceiling=50.0, guess=0.9 * changes
    )

    assert lower <= upper <= 1.0001 * lower
    assert upper <= 1.0001 * changes


@pytest.mark.parametrize(("decay", "dummies"), [(0.3, 1), (0.6, 40), (0.999, 700)])
def test_moments_are_those_of_the_law(decay: float, dummies: int) -> None:
    noise = ShufflerNoise(decay, dummies)
    law = law_of(noise) if dummies < 100 else None
    if law is None:
        masses = [decay ** abs(u - dummies) for u in range(2 * dummies + 1)]
        law = {u: Fraction(m / math.fsum(masses)) for u, m in enumerate(masses)}
    central = {
        power: float(sum(m * (u - dummies) ** power for u, m in law.items()))
        for power in (1, 2, 4)
    }

    assert noise.messages == dummies
    assert central[1] == pytest.approx(0.0, abs=1e-9)
    # Sums of up to 1,400 terms in doubles.
    assert noise.variance == pytest.approx(central[2], rel=1e-11)
    expected = central[4] - 3.0 * central[2] ** 2
    assert noise.fourth_cumulant == pytest.approx(
        expected, rel=1e-9, abs=1e-9 * central[4]
    )


@pytest.mark.parametrize("delta", [1e-3, 1e-9])
@pytest.mark.parametrize("decay", [1e-3, 0.6, 0.999])
def test_enough_dummies_are_as_many_as_the_tails_need(
    decay: float, delta: float
) -> None:
    dummies = enough_dummies(decay, changes=2, delta=delta)

    def cost(number: int) -> float:
        return 4.0 * (1.0 - decay) / (1.0 + decay) * decay**number

    assert cost(dummies) <= delta * (1.0 + 1e-9)
    assert dummies == 1 or cost(dummies - 1) > delta * (1.0 - 1e-9)


def test_too_few_dummies_are_not_certified() -> None:
    counts = Counts(
        (CountGroup(4, 1, ShufflerNoise(0.6, 3)),), (1.0,), (1.0,), honest=1
    )
    people = Population.from_counts({1.0: 1_000})

    with pytest.raises(CertificationError):
        account(counts, people, delta=1e-6)
    # A million people hide nobody better than a thousand.
    assert account(counts, people, epsilon=1.0).levels == tuple(
        account(counts, Population.from_counts({1.0: 1_000}), epsilon=1.0).levels
    )


def test_extreme_noise_is_bounded() -> None:
    for noise in (
        ShufflerNoise(1e-100, 1),
        ShufflerNoise(1e-100, 5),
        ShufflerNoise(1.0 - 1e-15, MOST_DUMMIES),
        ShufflerNoise(0.5, MOST_DUMMIES),
    ):
        profile = CountsProfile.of_groups([(3, 1, noise)], 1.0, delta=1e-6, times=1)
        assert 0.0 <= profile.lower(0.5) <= profile.upper(0.5) <= 1.0
        assert noise.variance >= 0.0


_WRONG: list[Callable[[], object]] = [
    *(
        lambda decay=decay: ShufflerNoise(decay, 3)
        for decay in (0.0, 1.0, -0.5, 1e-101, math.nan, math.inf, "0.5", None)
    ),
    *(
        lambda number=number: ShufflerNoise(0.5, number)
        for number in (0, -1, 2.5, MOST_DUMMIES + 1, "3", None, True)
    ),
]


@pytest.mark.parametrize("make", _WRONG)
def test_wrong_parameters_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        make()
