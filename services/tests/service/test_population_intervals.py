"""Published intervals about the population are never narrower than about participants."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.analyzer.interval import reach
from shuffledp.types import Floats
from shuffledp_services.analyst.results import _rows


@dataclass
class LargeRareNoise:
    """An estimate whose own intervals are wider than normal ones, and one-sided."""

    value: Floats
    standard_error: Floats
    population_error: Floats
    half_widths: Floats

    def interval(self, confidence: float = 0.95) -> Floats:
        assert confidence == 0.95
        return self.value[:, None] + self.half_widths


def rows() -> list[dict[str, Any]]:
    normal = reach(0.95)
    estimate: Any = LargeRareNoise(
        np.array([0.5, 0.2, 0.1]),
        np.array([0.1, 0.1, 0.0]),
        np.array([0.11, 0.11, 0.02]),
        np.array([[-0.217, 0.23], [-0.1 * normal, 0.1 * normal], [0.0, 0.0]]),
    )
    return _rows(("wide", "normal", "exact"), estimate)


def test_no_interval_of_the_population_is_narrower() -> None:
    for row in rows():
        (low, high), (lowest, highest) = row["interval"], row["population_interval"]
        assert lowest <= low
        assert high <= highest


def test_who_took_part_is_a_second_independent_error() -> None:
    wide, normal, exact = (row["population_interval"] for row in rows())

    # Errors of 0.1 and 0.11: who took part adds a variance of the difference.
    sampling = reach(0.95) ** 2 * (0.11**2 - 0.1**2)
    ends = [0.5 - (0.217**2 + sampling) ** 0.5, 0.5 + (0.23**2 + sampling) ** 0.5]
    np.testing.assert_allclose(wide, ends, rtol=1e-12)
    margin = 0.11 * reach(0.95)
    np.testing.assert_allclose(normal, [0.2 - margin, 0.2 + margin], rtol=1e-12)
    margin = 0.02 * reach(0.95)
    np.testing.assert_allclose(exact, [0.1 - margin, 0.1 + margin], rtol=1e-12)
