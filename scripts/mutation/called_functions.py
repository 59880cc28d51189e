"""Plugins of pytest: which test calls which functions, and a choice of tests in order."""

import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest


@dataclass
class Noted:
    """What the tests of one file call.

    Attributes:
        seconds: Of every test that passed.
        called: Of every function, as "path::name", the tests that call it.
        early: Functions that are called before a test is, as by what is imported.
    """

    seconds: dict[str, float]
    called: dict[str, list[str]]
    early: list[str]

    def callers(self, path: str, function: str) -> list[str] | None:
        """Returns tests that call a function; for what is outside, anything beside it.

        None if nothing in this file does.
        """
        name = f"{path}::{function}"
        if name in self.called:
            return self.called[name]
        inside = f"{name}." if function else name
        near = set[str]()
        for each, tests in self.called.items():
            if each.startswith(inside):
                near.update(tests)
        known = near or any(each.startswith((name, inside)) for each in self.early)
        return [test for test in self.seconds if test in near] if known else None


class Calls:
    """Notes what tests call, and hands it over whenever the last one of a file is done."""

    def __init__(self, root: Path, done: Callable[[str, Noted], None]) -> None:
        self._root, self._done = f"{root}/", done
        folders = ("src", "services/src", "papers/src")
        self._sources = tuple(f"{root}/{folder}/" for folder in folders)
        self._seen = dict[int, CodeType]()
        self._early = set[str]()
        self._file = Noted({}, {}, [])
        self._failed = set[str]()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._seen[id(frame.f_code)] = frame.f_code

    def _taken(self) -> set[str]:
        found = {
            f"{code.co_filename.removeprefix(self._root)}::{_plain(code.co_qualname)}"
            for code in list(self._seen.values())
            if code.co_filename.startswith(self._sources)
        }
        self._seen.clear()
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        self._early |= self._taken()
        sys.setprofile(self._note)  # A test may have ended it.
        result = yield
        for function in self._taken():
            self._file.called.setdefault(function, []).append(item.nodeid)
        if nextitem is None or nextitem.path != item.path:
            self._hand_over(item.nodeid.split("::")[0])
        return result

    def _hand_over(self, path: str) -> None:
        noted, self._file = self._file, Noted({}, {}, [])
        for test in self._failed:
            noted.seconds.pop(test, None)
        for function, tests in noted.called.items():
            noted.called[function] = [test for test in tests if test in noted.seconds]
        noted.early = sorted(self._early)
        self._done(path, noted)
        # What one file's tests left in a cache, those of the next one call again.
        for name, module in list(sys.modules.items()):
            if name.startswith("shuffledp"):
                for value in list(vars(module).values()):
                    getattr(value, "cache_clear", bool)()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = self._file.seconds
        seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration
        if report.outcome != "passed":
            self._failed.add(report.nodeid)


def _plain(name: str) -> str:
    """`f.<locals>.<lambda>` belongs to `f`; `f.<locals>.g` is `f.g`."""
    return name.split(".<locals>.<")[0].replace(".<locals>", "")


class Chosen:
    """Runs some tests in an order, and writes which one failed first."""

    def __init__(self, tests: list[str], output: Path) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self._output = output

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places),
            key=lambda item: self._places[item.nodeid],
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._output.write_text(report.nodeid)
