"""Guarantees of sets: both bounds, sizes of reports, real coins, refusals."""

import json
import math
from dataclasses import replace

import pytest
from scipy import stats

from shuffledp.accounting.account import account
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.counts.report_truncation import (
    cut_probability,
    smallest_report,
)
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.accounting.items.report_sizing import keeps_targets, sized
from shuffledp.accounting.verification import recompute
from shuffledp.errors import (
    CertificationError,
    InvalidInputError,
    PopulationError,
    UnknownLevelError,
)
from shuffledp.population import Population

PEOPLE = Population.from_counts({0.5: 1000, 1.0: 1500, 2.0: 2500})
RATES = (0.2877, 0.545, 1.0)
PARAMETERS = ItemsParameters(128, 4, (0.5, 1.0, 2.0), RATES, 1.0167, 19)
DELTA = 2e-6


def certified(**changed: object) -> Guarantee:
    parameters = replace(PARAMETERS, **changed)  # type: ignore[arg-type]
    return account(parameters, PEOPLE, delta=DELTA)


@pytest.mark.slow
def test_everybody_gets_about_what_she_asked_for() -> None:
    guarantee = certified()

    for level, asked in zip(guarantee.levels, [0.5, 1.0, 2.0], strict=True):
        assert (level.target, level.epsilon_local) == (asked, None)
        assert 0.998 * asked <= level.epsilon_central_lower
        assert level.epsilon_central_lower <= level.epsilon_central <= asked
        assert level.hides_among == 5000
    assert keeps_targets(guarantee)
    assert guarantee.worst is guarantee.level(2.0)
    assert guarantee.protocol == PARAMETERS.identity
    assert guarantee.mechanism == "poisson-items"
    assert guarantee.parameters["rates"] == list(RATES)


@pytest.mark.slow
def test_a_certificate_is_written_read_and_recomputed() -> None:
    record = json.loads(json.dumps(certified().to_dict()))

    guarantee = read_certificate(record)

    assert guarantee == certified()
    assert record["levels"][0] | {"target": 0.5, "count": 1000} == record["levels"][0]
    assert recompute(guarantee, PARAMETERS, PEOPLE).holds
    better = replace(guarantee.levels[0], epsilon_central=0.49)
    forged = replace(guarantee, levels=(better, *guarantee.levels[1:]))
    (problem,) = recompute(forged, PARAMETERS, PEOPLE).problems
    assert "0.49 is not proven" in problem


@pytest.mark.slow
@pytest.mark.parametrize("size", [17, 18, 19, 25])
def test_certified_epsilon_keeps_delta_with_cut_and_coins(size: int) -> None:
    guarantee = certified(report_size=size)

    # The bounds by hand: coins are off by 7e-16 (m + 1) of their chances, each.
    tau = 5000 * (size - 4) * 7e-16 * 2.0167
    for level, chance in zip(guarantee.levels, RATES, strict=True):
        profile = items_profile(5000 * 1.0167 / 128, chance, 4, 128, DELTA)
        upper, lower = level.epsilon_central, level.epsilon_central_lower
        cut = cut_probability(1.0167, size - 4, 5000)
        above = profile.upper(upper - 2.1 * tau) + (1.0 + math.exp(upper)) * cut
        assert above * math.exp(2.0 * tau) <= DELTA
        below = profile.lower(lower + 1.9 * tau) - (1.0 + math.exp(lower)) * cut
        assert below * math.exp(-tau / 2.0) > DELTA


@pytest.mark.slow
def test_smaller_reports_cost_epsilon_until_nothing_is_left() -> None:
    smaller = [certified(report_size=19 - less) for less in (0, 1, 2)]

    ends = [found.level(0.5).epsilon_central for found in smaller]
    assert ends == sorted(ends)
    assert ends[0] < ends[2]
    with pytest.raises(InvalidInputError, match="larger reports"):
        certified(report_size=11)


def test_reports_are_sized_so_that_they_cost_little() -> None:
    parameters = sized(
        PEOPLE, RATES, num_items=128, set_size=4, blanket=1.0167, delta=DELTA
    )

    assert parameters == PARAMETERS
    paid = (1.0 + math.exp(1.999)) * cut_probability(1.0167, 15, 5000)
    assert paid <= 1e-3 * DELTA < paid * 20.0


@pytest.mark.parametrize("blanket", [1e-3, 0.1, 1.0, 12.39, 300.0])
@pytest.mark.parametrize("honest", [1, 5000, 10**9])
def test_report_is_the_smallest_that_costs_little(blanket: float, honest: int) -> None:
    size = smallest_report(blanket, 4, num_honest=honest, epsilon=1.0, delta=1e-7)

    def paid(cap: int) -> float:
        return (1.0 + math.e) * honest * float(stats.poisson.sf(cap, blanket))

    assert paid(size - 4) < 1e-10
    # The geometric bound of the tail is off by a few parts in ten.
    assert size == 4 or paid(size - 5) > 0.5e-10


@pytest.mark.parametrize("blanket", [0.01, 1.0, 50.0, 1e4])
def test_cut_chance_is_above_the_tail(blanket: float) -> None:
    for deviations in (0.0, 1.0, 4.0, 8.0):
        cap = math.ceil(blanket + deviations * math.sqrt(blanket))
        tail = 7.0 * float(stats.poisson.sf(cap, blanket))
        assert min(tail, 1.0) <= cut_probability(blanket, cap, 7) * (1.0 + 1e-9)


def test_the_smallest_cap_of_which_the_series_converges_has_a_bound_below_1() -> None:
    # P(Poisson(1) > 0) = 1 - 1 / e.
    assert -math.expm1(-1.0) <= cut_probability(1.0, 0, 1) < 0.75


@pytest.mark.slow
def test_absent_people_hide_nobody() -> None:
    fewer = account(PARAMETERS, PEOPLE, delta=DELTA, absent=2500)
    half = Population.from_counts({0.5: 500, 1.0: 750, 2.0: 1250})

    # Their noise is that of half the people.
    among_half = account(PARAMETERS, half, delta=DELTA)
    assert [x.epsilon_central for x in fewer.levels] == [
        x.epsilon_central for x in among_half.levels
    ]
    assert {x.hides_among for x in fewer.levels} == {2500}
    assert fewer.worst.epsilon_central > certified().worst.epsilon_central
    assert "2,500 of the others" in fewer.assumptions[0]


@pytest.mark.slow
def test_who_sends_nothing_loses_nothing() -> None:
    level = certified(rates=(0.0, 0.5, 1.0)).level(0.5)

    assert level.epsilon_central == level.epsilon_central_lower == 0.0
    at = account(replace(PARAMETERS, rates=(0.0, 0.5, 1.0)), PEOPLE, epsilon=0.0)
    assert at.level(0.5).delta_central == at.level(0.5).delta_central_lower == 0.0


def test_only_some_targets_may_be_chosen_and_asked_about() -> None:
    some = Population.from_counts({1.0: 1500, 2.0: 3500})

    found = account(PARAMETERS, some, delta=DELTA, levels=[2.0])

    # Only how many people there are matters.
    (level,) = found.levels
    assert level == replace(certified().level(2.0), count=3500)
    with pytest.raises(UnknownLevelError):
        account(PARAMETERS, Population.from_counts({3.0: 5000}), delta=DELTA)


@pytest.mark.slow
def test_deltas_at_an_epsilon_and_epsilons_at_a_delta_agree() -> None:
    at_delta = certified().level(1.0)

    at = account(PARAMETERS, PEOPLE, epsilon=at_delta.epsilon_central)
    below = account(PARAMETERS, PEOPLE, epsilon=at_delta.epsilon_central_lower)

    # Rounded up in the sixth digit, of a profile that falls by some 1e-4 in it.
    assert at.level(1.0).delta_central <= DELTA * (1.0 + 1e-5)
    assert at.level(1.0).delta_central >= 0.999 * DELTA
    assert below.level(1.0).delta_central_lower >= DELTA * (1.0 - 1e-5)
    assert below.level(1.0).delta_central_lower <= below.level(1.0).delta_central


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 3.0, 50.0, 1e6])
def test_a_larger_epsilon_never_costs_more_delta(epsilon: float) -> None:
    small = account(PARAMETERS, PEOPLE, epsilon=epsilon)
    large = account(PARAMETERS, PEOPLE, epsilon=1.5 * epsilon + 0.1)

    for one, other in zip(small.levels, large.levels, strict=True):
        # Smaller epsilons, where less is paid for the cut, are tried in steps of a fifth.
        assert other.delta_central <= one.delta_central * 1.5
        assert one.delta_central_lower <= one.delta_central < 0.2


@pytest.mark.parametrize(("rounds", "coordinates"), [(2, 1), (1, 2), (3, 2)])
def test_all_reports_of_a_person_are_counted(rounds: int, coordinates: int) -> None:
    small = ItemsParameters(8, 1, (1.0,), (0.5,), 2.0, 20)
    people = Population.from_counts({1.0: 200})

    guarantee = account(
        small, people, epsilon=1.0, rounds=rounds, coordinates=coordinates
    )

    times = f"{rounds * coordinates} times, with independent randomness"
    assert times in guarantee.assumptions[1]


@pytest.mark.slow
def test_several_rounds_are_composed() -> None:
    once, twice = certified(), account(PARAMETERS, PEOPLE, delta=DELTA, rounds=2)

    for one, two in zip(once.levels, twice.levels, strict=True):
        assert one.epsilon_central < two.epsilon_central_lower
        assert two.epsilon_central_lower <= two.epsilon_central
        # Better than adding up.
        assert two.epsilon_central < 1.7 * one.epsilon_central
    assert "2 times, with independent randomness" in twice.assumptions[1]
    apart = account(PARAMETERS, PEOPLE, delta=DELTA, coordinates=2)
    assert apart.levels == twice.levels
    with pytest.raises(InvalidInputError, match="10,000 items"):
        account(PARAMETERS, PEOPLE, delta=DELTA, rounds=2501)


@pytest.mark.parametrize(
    "changed",
    [
        {"set_size": 0},
        {"set_size": 129},
        {"num_items": 1},
        {"num_items": 128.0},
        {"blanket": 0.0},
        {"blanket": -1.0},
        {"blanket": math.inf},
        {"blanket": math.nan},
        {"rates": (0.5, 0.5)},
        {"rates": (0.5, 0.5, 1.5)},
        {"rates": (-0.1, 0.5, 1.0)},
        {"rates": (math.nan, 0.5, 1.0)},
        {"targets": (0.5, 2.0, 1.0)},
        {"targets": (0.5, 1.0, 1.0)},
        {"targets": (0.5, 1.0, math.nan)},
        {"targets": (), "rates": ()},
        {"report_size": 3},
        {"noise": "gaussian"},
        {"noise": "bernoulli"},
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        certified(**changed)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan, 1e-31])
def test_deltas_out_of_range_are_refused(delta: float) -> None:
    with pytest.raises(InvalidInputError):
        account(PARAMETERS, PEOPLE, delta=delta)


def test_more_absent_than_others_are_refused() -> None:
    with pytest.raises(PopulationError):
        account(PARAMETERS, PEOPLE, delta=DELTA, absent=5000)


def test_no_finite_epsilon_is_an_error() -> None:
    with pytest.raises(CertificationError, match="too few blanket"):
        certified(blanket=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("set_size", [65, 127, 128])
def test_sets_of_more_than_half_of_all_items(set_size: int) -> None:
    level = certified(set_size=set_size, blanket=20.0, report_size=set_size + 60)

    # Only d - s items of a full set can change; certified for smaller sets, too.
    found = level.level(0.5)
    assert 0.0 <= found.epsilon_central_lower < found.epsilon_central < 5.0
