"""A plugin of pytest, for `scripts/test --all`: what is skipped fails.

Where everything is installed, a test that is skipped would be skipped for ever. Only real
data, which are never committed, and Java, which no package brings, may be missing.
"""

from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
MAY_BE_MISSING = ("SHUFFLEDP_DATA", "Needs Java")


def failed_if_skipped(report: Report) -> Report:
    if report.skipped and not any(
        what in str(report.longrepr) for what in MAY_BE_MISSING
    ):
        report.outcome, report.longrepr = "failed", str(report.longrepr)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    return failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[
    None, pytest.CollectReport, pytest.CollectReport
]:
    return failed_if_skipped((yield))
