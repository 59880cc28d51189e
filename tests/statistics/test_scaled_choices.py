"""Choices of those who sent items: the same shares, and errors of the same shares."""

import numpy as np
import pytest

from shuffledp.analyzer.choice_counts import ChoiceCounts

COVARIANCE = np.array([[9.0, -9.0], [-9.0, 9.0]])


def test_shares_and_their_errors_stay_as_they_are() -> None:
    counts = ChoiceCounts(np.array([0.5, 1.0]), np.array([30.0, 70.0]), COVARIANCE, 100)

    found = counts.scaled_to(80)

    assert found.num_users == 80
    np.testing.assert_allclose(found.value / 80, counts.value / 100, rtol=1e-14)
    assert found.covariance is not None
    shares = found.covariance / 80**2, COVARIANCE / 100**2
    np.testing.assert_allclose(*shares, rtol=1e-14)


@pytest.mark.parametrize("num_users", [100, 50])
def test_exact_numbers_stay_exact(num_users: int) -> None:
    counts = ChoiceCounts(np.array([0.5, 1.0]), np.array([30.0, 70.0]), None, 100)

    found = counts.scaled_to(num_users)

    assert found.covariance is None
    assert found.value.tolist() == [0.3 * num_users, 0.7 * num_users]
