"""Checks of the public parameters that several randomizers take."""

from shuffledp.arrays import as_whole, check_integers_below, first_other, one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints


def whole_number(value: int, what: str, *, least: int, most: int) -> int:
    """Returns a whole number in [least, most].

    Raises:
        InvalidInputError: If it is not one.
    """
    number = as_whole(value, what)
    if not least <= number <= most:
        raise InvalidInputError(f"Expected {least} to {most} {what}, got {number}.")
    return number


def check_values(numbers: Floats, low: float, high: float) -> None:
    """Raises InvalidInputError unless all values are in [low, high]."""
    # Written this way round, it refuses NaN, too.
    if numbers.size and not (numbers.min() >= low and numbers.max() <= high):
        raise InvalidInputError(
            f"Expected values to be numbers in [{low:g}, {high:g}]"
            f"{first_other((numbers >= low) & (numbers <= high))}."
        )


def categories_and_budgets(
    values: Ints, epsilons: Floats, *, num_categories: int, rng: Rng
) -> tuple[Ints, Floats]:
    """Validates a device's categories and local budgets; returns them as arrays.

    Raises:
        InvalidInputError: If shapes differ, a value or a budget is out of range, or `rng`
            is not a source of randomness.
    """
    check_rng(rng)
    values, epsilons = one_each(values, epsilons, what="values")
    check_integers_below(values, num_categories, what="values")
    check_budgets(epsilons)
    return values, epsilons
