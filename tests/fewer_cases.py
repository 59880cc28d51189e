"""A plugin of pytest, for a machine with little time: some cases of every long test.

`--cases=N` keeps at most N cases of each test that is marked slow, evenly spaced; N = 1
keeps the first. `scripts/test --all` runs all of them. A test that is marked
`few_cases(most)` is slow but for that many cases, and these are enough.
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
    dropped: set[pytest.Item] = set()
    for group in _cases_by_test(items, "slow").values():
        enough = 0 if group[0].get_closest_marker("few_cases") else most
        dropped |= set(group) - set(spread(group, enough))
    config.hook.pytest_deselected(items=list(dropped))
    items[:] = [item for item in items if item not in dropped]


def mark_further_cases(items: Sequence[pytest.Item]) -> None:
    """Marks as slow what `few_cases` leaves out; cases that are slow anyway stay so."""
    for group in _cases_by_test(items, "few_cases").values():
        quick = [item for item in group if not item.get_closest_marker("slow")]
        mark = group[0].get_closest_marker("few_cases")
        kept = spread(quick, mark.args[0] if mark else 0)
        for item in quick:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def _cases_by_test(
    items: Sequence[pytest.Item], mark: str
) -> dict[str, list[pytest.Item]]:
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker(mark):
            cases[item.nodeid.partition("[")[0]].append(item)
    return cases


def spread(cases: Sequence[Case], most: int) -> list[Case]:
    """Returns at most this many cases, evenly spaced from the first to the last."""
    if len(cases) <= most:
        return list(cases)
    if not most:
        return []
    gaps = max(most - 1, 1)
    return [cases[index * (len(cases) - 1) // gaps] for index in range(most)]
