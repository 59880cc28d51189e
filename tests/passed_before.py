"""A plugin of pytest, for a machine that runs two commands: no test needs to pass twice.

`--passed-to=FILE` notes which tests passed; `--but-passed=FILE` leaves these out. What was
skipped, for want of something that is installed by now, is run. (Behind a space the file
would be taken for one of tests, and its folder for the project's.)
"""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--passed-to", type=Path, metavar="FILE")
    parser.addoption("--but-passed", type=Path, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--passed-to")
    # Workers report to the process that started them.
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Notes(path))


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    path = config.getoption("--but-passed")
    if path is None:
        return
    known = set(path.read_text(encoding="utf-8").splitlines())
    left = [item for item in items if item.nodeid not in known]
    config.hook.pytest_deselected(
        items=[item for item in items if item.nodeid in known]
    )
    items[:] = left


class Notes:
    """Which tests passed, and did not fail besides."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._passed, self._failed = set[str](), set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self._passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        # An identifier of two lines would be two others.
        found = sorted(
            name for name in self._passed - self._failed if len(name.splitlines()) == 1
        )
        self._path.write_text("".join(f"{name}\n" for name in found), encoding="utf-8")
