"""Survey of a mean on a grid: the number of values that answers are rounded to."""

import pytest

from shuffledp import InvalidInputError
from shuffledp.statistics.mean.survey import MeanSurvey


@pytest.mark.parametrize("values", [2, 10_000])
def test_a_grid_has_two_values_or_more(values: int) -> None:
    survey = MeanSurvey(0.0, 10.0, "grid-response", values)

    assert survey.protocol.randomizer.parameters["values"] == values


@pytest.mark.parametrize("values", [1, 10_001])
def test_other_numbers_of_values_are_refused_with_the_range(values: int) -> None:
    with pytest.raises(
        InvalidInputError, match=f"values to be .* from 2 to 10,000, got {values}"
    ):
        MeanSurvey(0.0, 10.0, "grid-response", values)
