"""A plugin of pytest, for a machine with little time: some cases of every long test.

`--cases=N` keeps at most N cases of each test that is marked slow, evenly spaced; N = 1
keeps the first. `scripts/test --all` runs all of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, metavar="N")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    most = config.getoption("--cases")
    if most is None:
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    kept = {case for group in cases.values() for case in spread(group, most)}
    dropped = {case for group in cases.values() for case in group} - kept
    config.hook.pytest_deselected(items=list(dropped))
    items[:] = [item for item in items if item not in dropped]


def spread(cases: Sequence[Case], most: int) -> list[Case]:
    """Returns at most this many cases, evenly spaced from the first to the last."""
    if len(cases) <= most:
        return list(cases)
    gaps = max(most - 1, 1)
    return [cases[index * (len(cases) - 1) // gaps] for index in range(most)]
