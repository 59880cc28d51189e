"""Statements behind theorems: numbers that are said to be at most so large, and are not.

Where a case has no epsilon, its setting says what the numbers are. What is exact is
computed here once more, from what the statement is about.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad

from shuffledp.papers.apes.convergence import Landscape, aggregation_bound, factors
from shuffledp.papers.apes.noise_size import ideal_noise, squared_noise
from shuffledp.papers.court.case import Case, Claim, CourtVerdict
from shuffledp.papers.court.noise import cell_chances, clip_laplace_tails
from shuffledp.papers.court.worlds import hockey_stick
from shuffledp.papers.eapes.imitation import printed_weight
from shuffledp.papers.eapes.normal_limit import normal_distances
from shuffledp.papers.eapes.process import counted_trade_off
from shuffledp.papers.hypothesis_testing.any_mechanism import mechanism_confusion
from shuffledp.randomizers.clip_laplace import ClipLaplace

_EAPES = "Chen, Cao, Ge (2023)"
_TESTING = "Liu, Liu, Xiong, Gu, Chen (2024)"
_APES = "Liu, Zhao, Xiong, Liu, Chen (2023)"
_NOTHING = "a statement, not a collection"
_CELLS = 20_000


def statement_cases() -> list[Case]:
    """Returns the cases of statements."""
    return [
        _imitation(),
        _places(),
        _normal(),
        _worst_value(),
        *_convergence(),
        *_noise_size(),
    ]


def _imitation() -> Case:
    first, other = np.array([0.6, 0.4]), np.array([0.6 / math.e, 1.0 - 0.6 / math.e])
    return statement_case(
        "V14",
        f"{_EAPES}, Lemma 2, eq. (9)",
        "ln of how many times likelier R(x) or R(x') is than R(x''), where R(x) = R(x') = "
        "(0.6, 0.4) and R(x'') = (0.6, e - 0.6) / e, which is 1-private",
        lambda: -math.log(printed_weight(1.0)),
        lambda _: float(np.log(2.0 * first / other).max()),
    )


def _places() -> Case:
    places, liberal, rest = 200, 6.0, 0.1
    lie = 1.0 / (math.exp(liberal) + 2.0)

    def attack(epsilon: float) -> float:
        # The message at the liberal place is x. The victim is there once in 200 times;
        # the others hold a third value.
        truth = (1.0 - 2.0 * lie + (places - 1) * lie) / places
        here, there = (np.array([p, 1.0 - p]) for p in (truth, lie))
        return hockey_stick(here, there, epsilon)

    budgets = np.append(np.full(places - 1, rest), liberal)
    return statement_case(
        "V15",
        f"{_EAPES}, Theorem 1",
        f"three-ary response at {places} places, one with budget {liberal:g}, the others "
        f"with {rest:g}; people are shuffled over places",
        lambda: counted_trade_off(budgets).delta(1.0),
        attack,
        epsilon=1.0,
    )


def _normal() -> Case:
    return statement_case(
        "V16",
        f"{_EAPES}, Lemma 3, eq. (15)",
        "total variation distance of counts of 49 people at 0.1 from a normal law: they "
        "are whole numbers, and a normal law has no whole number",
        lambda: normal_distances(50, 0.1, delta=1 / 50).printed,
        lambda epsilon: hockey_stick(
            np.array([1.0, 0.0]), np.array([0.0, 1.0]), epsilon
        ),
        epsilon=0.0,
    )


def _worst_value() -> Case:
    edges = np.linspace(-1.0, 1.0, _CELLS + 1)[1:-1]
    tails = clip_laplace_tails(np.array([1.0]))

    def spared(_: float) -> float:
        first, second, other = (
            cell_chances(tails, edges, value)[0] for value in (-1.0, 1.0, -0.75)
        )
        pairs = ((first, second), (second, first))
        chances = [float(other[(other <= a) & (b < a)].sum()) for a, b in pairs]
        return 1.0 - min(chances)

    def stated() -> float:
        # At the ends of the range, as the paper has it.
        found, _ = mechanism_confusion(ClipLaplace(), np.array([1.0]), 1.0)
        return 1.0 - float(found[0])

    return statement_case(
        "V17",
        f"{_TESTING}, Section 3.2.2",
        "1 - p_i under Clip-Laplace noise at 1: said to be largest where the other person "
        "holds -1 or 1; she holds -0.75",
        stated,
        spared,
    )


def _convergence() -> list[Case]:
    one, pull = Landscape(smoothness=1.0, proximal=10.0), 10.0
    # F(w) = w^2 / 2 from w = 1: the minimum of h, and noise 1.
    reached = 0.5 * (pull / (1.0 + pull) + 1.0) ** 2

    def after_a_round() -> float:
        found = factors(
            one, steepness=1.0, lipschitz=math.sqrt(2.0 * reached), as_printed=True
        )
        return 0.5 * found.kept + found.per_noise + found.per_square

    words = "F(w) = w^2 / 2, mu = 10, from w = 1, noise 1: "
    return [
        statement_case(
            "V18",
            f"{_APES}, Lemma 7",
            words + "by how much the loss rises",
            lambda: aggregation_bound(one, gradient=1.0, noise=1.0, as_printed=True),
            lambda _: reached - 0.5,
        ),
        statement_case(
            "V19",
            f"{_APES}, Lemma 8",
            words + "the loss after one round",
            after_a_round,
            lambda _: reached,
        ),
    ]


def _noise_size() -> list[Case]:
    clip, budget = 0.1, 1.0
    length = 2.0 * clip / budget
    # Of somebody at the end of [-C, C]: how far the message is away.
    mass, mean, square = (
        quad(lambda u, power=power: u**power * math.exp(-u / length), 0.0, 2.0 * clip)[
            0
        ]
        for power in (0, 1, 2)
    )
    words = "Clip-Laplace noise at C = 0.1 and budget 1, value 0.1: "
    return [
        statement_case(
            "V20",
            f"{_APES}, Lemma 9, eq. (26)",
            words + "mean square of the noise",
            lambda: squared_noise(clip, budget, as_printed=True),
            lambda _: square / mass,
        ),
        statement_case(
            "V21",
            f"{_APES}, Lemma 10",
            words + "what is left of it if the bias is known",
            lambda: ideal_noise(clip, budget, as_printed=True),
            lambda _: square / mass - (mean / mass) ** 2,
        ),
    ]


def statement_case(
    name: str,
    source: str,
    setting: str,
    stated: Callable[[], float],
    attack: Callable[[float], float],
    *,
    epsilon: float | None = None,
) -> Case:
    """Returns the case of a number that exceeds what is stated of it.

    Args:
        name: Of the case.
        source: Authors, year and number of the statement.
        setting: What the numbers are.
        stated: What the number is said to be at most.
        attack: (epsilon) -> what it is at least.
        epsilon: Where, if the numbers are deltas.
    """
    return Case(
        name=name,
        bound="statement",
        source=source,
        setting=setting,
        claim=lambda: Claim(epsilon, stated()),
        attack=attack,
        certificate=_NOTHING,
        expected=CourtVerdict.VIOLATED,
    )
