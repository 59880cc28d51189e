"""Prints published protocols for counts beside `plan_counts`: errors and messages.

    python benchmarks/published_counts.py [--people 100000] [--buckets 128]
        [--epsilon 1] [--collections 10000]

Each protocol as published, and with the least noise of its shape that provably has the same
guarantee; the error of a count of n / k people, predicted and simulated. Answers are one of
k; messages are per person in the mean, and `+` are those that the shuffler adds.
"""

import argparse
from collections.abc import Callable

import numpy as np
from machine import describe

from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_plan import plan_counts
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp_papers.multi_message.count_design import CountDesign
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.published_protocols import PROTOCOLS
from shuffledp_papers.outside_preconditions import OutsidePreconditions

_PEOPLE, _BUCKETS, _EPSILONS = (10**4, 10**5, 10**6), (8, 128, 10**4), (0.1, 1.0)
_DELTA = 1e-6
_MESSAGES = (9, 16)
_COLUMNS = (
    "people",
    "buckets",
    "epsilon",
    "protocol",
    "published: error",
    "messages",
    "certified: error",
    "messages",
    "times a curator's",
    "simulated",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=_PEOPLE)
    parser.add_argument("--buckets", type=int, nargs="+", default=_BUCKETS)
    parser.add_argument("--epsilon", type=float, nargs="+", default=_EPSILONS)
    parser.add_argument("--collections", type=int, default=10_000)
    given = parser.parse_args()
    print(describe())
    print(f"\n| {' | '.join(_COLUMNS)} |")
    print(f"|{'---:|' * 3}---|{'---:|' * 6}")
    for epsilon in given.epsilon:
        for buckets in given.buckets:
            for people in given.people:
                setting = CountSetting(people, buckets, epsilon, _DELTA)
                _print_setting(setting, given.collections)


def _print_setting(setting: CountSetting, collections: int) -> None:
    holders = round(setting.num_users / setting.buckets)
    curator = _curator(setting)
    _print_row(setting, "trusted curator", "-", "-", f"{curator:.2f}", "-", "1.00", "-")
    for protocol in PROTOCOLS:
        published, smallest = (
            _design(of, setting) for of in (protocol.published, protocol.smallest)
        )
        if published is None and smallest is None:
            continue
        _print_row(
            setting,
            protocol.name,
            *_error_and_messages(published, holders),
            *_error_and_messages(smallest, holders),
            *_times_and_simulated(smallest, holders, curator, collections),
        )
    for limit in _MESSAGES:
        name = f"`plan_counts`, at most {limit}"
        try:
            plan = plan_counts(
                Wish(targets={setting.epsilon: setting.num_users}, delta=_DELTA),
                buckets=setting.buckets,
                max_messages=limit,
            )
        except CertificationError:
            _print_row(setting, name, "-", "-", "none", "-", "-", "-")
            continue
        best = plan.best
        _print_row(
            setting,
            f"{name}: {best.name}",
            "-",
            "-",
            f"{best.standard_error:.2f}",
            f"{best.messages:.2f}",
            f"{best.standard_error / curator:.2f}",
            "-",
        )


def _print_row(setting: CountSetting, name: str, *cells: str) -> None:
    first = (f"{setting.num_users:,}", f"{setting.buckets:,}", f"{setting.epsilon:g}")
    print(f"| {' | '.join((*first, name, *cells))} |", flush=True)


def _design(
    of: Callable[[CountSetting], CountDesign], setting: CountSetting
) -> CountDesign | None:
    try:
        return of(setting)
    except (OutsidePreconditions, CertificationError):
        return None


def _error_and_messages(design: CountDesign | None, holders: int) -> tuple[str, str]:
    if design is None:
        return "none", "-"
    added = f" + {design.dummies:.2f}" if design.dummies else ""
    return f"{design.standard_error(holders):.2f}", f"{design.messages:.2f}{added}"


def _times_and_simulated(
    design: CountDesign | None, holders: int, curator: float, collections: int
) -> tuple[str, str]:
    if design is None:
        return "-", "-"
    rng = np.random.default_rng(2026)
    estimates = design.draw_estimates(holders, collections, rng=rng)
    simulated = float(np.sqrt(np.mean((estimates - holders) ** 2)))
    return f"{design.standard_error(holders) / curator:.2f}", f"{simulated:.2f}"


def _curator(setting: CountSetting) -> float:
    people = Population.from_counts({setting.epsilon: setting.num_users})
    share = 1.0 / setting.buckets
    search = CountsSearch(
        people, setting.buckets, 1, share, setting.delta, setting.num_users
    )
    return search.curator()


if __name__ == "__main__":
    main()
