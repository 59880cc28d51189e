"""Reads what people write on the command line, strictly."""

import math

from shuffledp.errors import PopulationError
from shuffledp.population import Population

LEVEL_COUNTS = "EPSILON:PEOPLE,..."
LEVEL_SHARES = "EPSILON:SHARE,..."


def level_counts(text: str, option: str = "--levels") -> Population:
    """Reads "0.5:2500,1.0:5000" as a population."""
    counts = {}
    for epsilon, number in _pairs(text, LEVEL_COUNTS, option):
        if number != int(number):
            raise PopulationError(
                f"Expected whole numbers of people in {option}, got {number:g}."
            )
        counts[epsilon] = int(number)
    return Population.from_counts(counts)


def level_shares(text: str) -> dict[float, float]:
    """Reads "0.5:0.25,1.0:0.75" as shares of the people."""
    return dict(_pairs(text, LEVEL_SHARES))


def level_list(text: str) -> list[float]:
    """Reads "0.5,1.0" as the levels that people may have."""
    return number_list(text, "--levels")


def number_list(text: str, option: str) -> list[float]:
    """Reads "0.5,1.0" as numbers."""
    return [_number(part, text, "EPSILON,...", option) for part in text.split(",")]


def _pairs(text: str, form: str, option: str = "--levels") -> list[tuple[float, float]]:
    pairs = []
    for part in text.split(","):
        epsilon, colon, number = part.partition(":")
        if not colon:
            raise PopulationError(f"Expected {option} {form}, got {text!r}.")
        pairs.append(
            (_number(epsilon, text, form, option), _number(number, text, form, option))
        )
    if len({epsilon for epsilon, _ in pairs}) != len(pairs):
        raise PopulationError(f"Expected each level once in {option}, got {text!r}.")
    return pairs


def _number(part: str, text: str, form: str, option: str) -> float:
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PopulationError(f"Expected {option} {form}, got {text!r}.")
    return number
