import math

import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.published_bounds import published_bound
from shuffledp_papers.court.search import Finding, Search, Space, search, try_once

RESPONSE = Space(
    mechanisms=("kary-response",),
    users=(20, 100),
    level_range=(2.0, 5.0),
    most_levels=1,
)


@pytest.mark.slow
def test_the_search_finds_that_the_variation_ratio_is_no_bound() -> None:
    found = search(seed=1, trials=6, space=RESPONSE)

    fallen = {finding.bound for finding in found.violations}
    assert "wang2024-variation-ratio" in fallen
    # What is proven for equal budgets does not fall.
    assert not fallen & {"balle2019-blanket", "feldman2023-numerical"}
    assert found.trials == 6
    for finding in found.violations:
        assert finding.claimed < finding.exact <= finding.certified


@pytest.mark.slow
def test_a_finding_is_reproduced_by_seed_and_trial() -> None:
    found = search(seed=5, trials=4, space=RESPONSE)
    worst = found.worst["wang2024-variation-ratio"]

    again = {one.bound: one for one in try_once(5, worst.trial, RESPONSE)}

    assert again[worst.bound] == worst
    name, people = worst.setting.split("; ")
    count, level = people.split(" at ")
    setting = Setting(
        sdp.Population.from_counts({float(level): int(count)}),
        sdp.KRandomizedResponse(int(name.split()[-1])),
    )
    claimed = published_bound(worst.bound).delta(setting, worst.epsilon)
    assert claimed == pytest.approx(worst.claimed, rel=1e-12)


@pytest.mark.slow
def test_every_mechanism_is_drawn() -> None:
    found = search(seed=2, trials=6, space=Space(users=(2, 60), most_levels=2))

    names = {one.setting.split()[0].rstrip(";") for one in found.worst.values()}
    assert len(names) >= 3
    assert "segmented" not in found.worst
    assert all(one.exact <= one.certified for one in found.worst.values())


def test_time_ends_a_search() -> None:
    shares: list[float] = []

    found = search(seed=1, seconds=0.2, space=RESPONSE, on_share=shares.append)

    assert found.trials >= 1
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_worst_of_each_bound_is_kept() -> None:
    def finding(claimed: float, exact: float, trial: int) -> Finding:
        return Finding("a", 1, trial, "", 1.0, 0.1, claimed, exact, 0.0, 1.0)

    found = Search(seed=1)
    for trial, pair in enumerate([(1e-3, 1e-4), (1e-5, 1e-4), (0.0, 0.0)]):
        found.add([finding(*pair, trial)])

    assert found.worst["a"].trial == 1
    assert [one.trial for one in found.violations] == [1]
    assert finding(0.0, 1e-9, 0).ratio == math.inf
