"""Where a slow evaluator is taken to fail without a trial."""

import pytest

from shuffledp.accounting.failed_trials import FailedTrials


@pytest.mark.parametrize(
    ("trials", "epsilon", "fails"),
    [
        ({}, 0.5, False),
        ({0.2: True}, 0.5, True),
        ({0.2: True}, 0.1, False),
        ({0.2: True, 0.8: True}, 0.5, True),
        ({0.2: True, 0.8: False}, 0.5, False),
        ({0.2: False, 0.8: True}, 0.5, False),
        ({0.2: True, 0.4: False, 0.8: True}, 0.5, False),
        # 0 says nothing of others.
        ({0.0: True, 0.8: True}, 0.5, False),
    ],
)
def test_trials_fail_between_those_that_did(
    trials: dict[float, bool], epsilon: float, fails: bool
) -> None:
    known = FailedTrials()
    for tried, failed in trials.items():
        known.add(tried, failed=failed)

    assert known.surround(epsilon) == fails
