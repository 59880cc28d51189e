"""A plugin of pytest, for a machine with little time: some cases of every long test.

`--cases=N` keeps at most N cases of each test that is marked slow, evenly spaced; N = 1
keeps the first. `scripts/test --all` runs all of them. A test that is marked
`few_cases(most)` is slow but for that many cases, and these are enough. `--quick-cases=N`
keeps as many of each test that is not slow: further cases cover hardly any further code.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, metavar="N")
    parser.addoption("--quick-cases", type=int, metavar="N")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    dropped: set[pytest.Item] = set()
    most = config.getoption("--cases")
    if most is not None:
        for group in _cases_by_test(marked(items, "slow")):
            enough = 0 if group[0].get_closest_marker("few_cases") else most
            dropped |= set(group) - set(spread(group, enough))
    most = config.getoption("--quick-cases")
    if most is not None:
        quick = [item for item in items if not item.get_closest_marker("slow")]
        for group in _cases_by_test(quick):
            dropped |= set(group) - set(spread(group, most))
    config.hook.pytest_deselected(items=list(dropped))
    items[:] = [item for item in items if item not in dropped]


def mark_further_cases(items: Sequence[pytest.Item]) -> None:
    """Marks as slow what `few_cases` leaves out; cases that are slow anyway stay so."""
    for group in _cases_by_test(marked(items, "few_cases")):
        quick = [item for item in group if not item.get_closest_marker("slow")]
        mark = group[0].get_closest_marker("few_cases")
        kept = spread(quick, mark.args[0] if mark else 0)
        for item in quick:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def marked(items: Sequence[pytest.Item], mark: str) -> list[pytest.Item]:
    return [item for item in items if item.get_closest_marker(mark)]


def _cases_by_test(items: Sequence[pytest.Item]) -> Collection[list[pytest.Item]]:
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    return cases.values()


def spread(cases: Sequence[Case], most: int) -> list[Case]:
    """Returns at most this many cases, evenly spaced from the first to the last."""
    if len(cases) <= most:
        return list(cases)
    if not most:
        return []
    gaps = max(most - 1, 1)
    return [cases[index * (len(cases) - 1) // gaps] for index in range(most)]
