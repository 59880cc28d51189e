"""The strongest of several attacks, without evaluating those that cannot be it."""

from collections.abc import Callable

from shuffledp.accounting.lower_profiles import largest_delta


def recorded(scale: float, asked: list[float]) -> Callable[[float], float]:
    def delta(epsilon: float) -> float:
        asked.append(epsilon)
        return scale / epsilon

    return delta


def test_attacks_that_were_weaker_at_smaller_epsilons_are_not_evaluated() -> None:
    weak, strong = list[float](), list[float]()
    profiles = [recorded(1.0, weak), recorded(4.0, strong)]
    evaluated: dict[Callable[[float], float], list[tuple[float, float]]] = {}
    epsilons = [2.0, 3.0, 2.5, 1.9, 16.0]

    deltas = [
        largest_delta(profiles, epsilon, evaluated, at_least=0.0)
        for epsilon in epsilons
    ]

    assert deltas == [4.0 / epsilon for epsilon in epsilons]
    assert strong == epsilons
    # First; where nothing smaller was seen; and where 4 / 16 is less than 1 / 2.
    assert weak == [2.0, 1.9, 16.0]


def test_no_attack_is_evaluated_that_a_known_one_exceeds() -> None:
    asked = list[float]()
    profiles = [recorded(1.0, asked)]
    evaluated: dict[Callable[[float], float], list[tuple[float, float]]] = {}

    first = largest_delta(profiles, 1.0, evaluated, at_least=0.5)
    second = largest_delta(profiles, 1.5, evaluated, at_least=1.0)

    assert (first, second) == (1.0, 1.0)
    assert asked == [1.0]
