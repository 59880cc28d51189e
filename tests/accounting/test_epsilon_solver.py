import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.errors import CertificationError

positive = st.floats(1e-300, 1e300)


def bound(epsilon: float) -> float:
    """Meets delta at epsilon = -log(2 delta) / 7."""
    return 0.5 * math.exp(-7.0 * epsilon)


@given(positive)
def test_rounding_encloses_the_number_with_six_digits(number: float) -> None:
    below, above = round_down(number), round_up(number)

    assert below <= number <= above
    assert below == float(f"{below:.6g}")
    assert above == float(f"{above:.6g}")
    # One unit in the sixth digit is at most 1e-5 of the number.
    assert above - below <= 1.000001e-5 * number


@pytest.mark.parametrize("number", [0.0, 0.25, 123456.0, 0.1, 0.3, 1.5e-7])
def test_rounding_keeps_numbers_of_six_digits_as_they_are(number: float) -> None:
    numbers = [number]

    assert [round_up(number) for number in numbers] == numbers
    assert [round_down(number) for number in numbers] == numbers


@given(delta=st.floats(1e-250, 0.499), guess=st.floats(0.0, 200.0))
def test_certified_epsilon_holds_and_is_the_smallest_of_six_digits(
    delta: float, guess: float
) -> None:
    root = -math.log(2.0 * delta) / 7.0

    epsilon = smallest_certified_epsilon(bound, delta, ceiling=100.0, guess=guess)

    assert bound(epsilon) <= delta
    # One unit in the sixth digit, and the accuracy of the root itself.
    assert epsilon <= root * (1.0 + 1.1e-5) + 1e-12


@given(delta=st.floats(1e-250, 0.499), guess=st.floats(0.0, 200.0))
def test_attacked_epsilon_succeeds_and_is_the_largest_of_six_digits(
    delta: float, guess: float
) -> None:
    root = -math.log(2.0 * delta) / 7.0

    epsilon = largest_attacked_epsilon(bound, delta, ceiling=100.0, guess=guess)

    assert epsilon == 0.0 or bound(epsilon) > delta
    # One unit in the sixth digit, and the accuracy of the root itself.
    assert epsilon >= root * (1.0 - 1.1e-5) - 1e-12


def test_solvers_return_zero_where_zero_is_already_enough() -> None:
    assert smallest_certified_epsilon(bound, 0.5, ceiling=1.0, guess=0.5) == 0.0
    assert largest_attacked_epsilon(bound, 0.5, ceiling=1.0, guess=0.5) == 0.0


def test_certified_epsilon_is_the_local_budget_where_the_bound_never_holds() -> None:
    budget = 0.123456789

    epsilon = smallest_certified_epsilon(lambda _: 0.7, 0.1, ceiling=budget, guess=0.1)

    assert epsilon == budget


@pytest.mark.parametrize("jump", [0.2, 0.3456781])
def test_solvers_stay_on_the_safe_side_of_a_jump(jump: float) -> None:
    def step(epsilon: float) -> float:
        return 0.9 if epsilon < jump else 0.01

    certified = smallest_certified_epsilon(step, 0.1, ceiling=1.0, guess=0.5)
    attacked = largest_attacked_epsilon(step, 0.1, ceiling=1.0, guess=0.5)

    assert attacked < jump <= certified
    # Six digits on either side.
    assert certified - attacked <= 2.1e-5 * jump


@given(delta=st.floats(1e-100, 0.1), error=st.floats(0.5, 2.0))
def test_answers_do_not_depend_on_guesses(delta: float, error: float) -> None:
    root = -math.log(2.0 * delta) / 7.0

    answers = [
        solve(bound, delta, ceiling=100.0, guess=guess)
        for solve in (smallest_certified_epsilon, largest_attacked_epsilon)
        for guess in (root, root * error)
    ]

    assert answers[0] == answers[1]
    assert answers[2] == answers[3]


@pytest.mark.parametrize("error", [1e-4, -1e-4, 0.1, -0.1])
def test_few_evaluations_lead_from_a_guess_to_six_digits(error: float) -> None:
    evaluated: list[float] = []

    def counted(epsilon: float) -> float:
        evaluated.append(epsilon)
        return bound(epsilon)

    root = -math.log(2e-6) / 7.0
    smallest_certified_epsilon(counted, 1e-6, ceiling=9.0, guess=root * (1.0 + error))

    # A bisection of six digits takes 20.
    assert len(evaluated) <= (6 if abs(error) < 0.01 else 8)
    # Nothing is evaluated twice.
    assert len(set(evaluated)) == len(evaluated)


@pytest.mark.parametrize(
    "solve", [smallest_certified_epsilon, largest_attacked_epsilon]
)
def test_a_bound_that_is_not_a_number_is_no_bound(
    solve: Callable[..., float],
) -> None:
    def unknown(epsilon: float) -> float:
        return math.nan if 0.1 < epsilon < 0.3 else bound(epsilon)

    with pytest.raises(CertificationError, match=r"No bound .* epsilon 0\.2"):
        solve(unknown, 0.1, ceiling=1.0, guess=0.2)


@pytest.mark.parametrize("guess", [0.1, 30.0, 1e6])
def test_a_bound_that_holds_at_the_ceiling_only_is_evaluated_a_few_times(
    guess: float,
) -> None:
    asked = []

    def never(epsilon: float) -> float:
        asked.append(epsilon)
        return 0.5 if epsilon < 32.1234567 else 0.0

    epsilon = smallest_certified_epsilon(never, 1e-6, ceiling=32.1234567, guess=guess)

    assert epsilon == 32.1234567
    assert max(asked) == 32.1234
    assert len(asked) <= (1 if guess > 30.0 else 8)
