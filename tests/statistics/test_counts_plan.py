"""Plans of counts: certified, in order of error, and as accurate as is known."""

import io
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from shuffledp.accounting.account import account
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_plan import CountsPlan, plan_counts
from shuffledp.statistics.counts.counts_plan_table import counts_plan_tables
from shuffledp.statistics.frequency.frequency_plan import plan_frequency


def checked(plan: CountsPlan) -> CountsPlan:
    """Asserts what holds of every plan."""
    targets = dict(plan.wish.targets or {})
    people = Population.from_counts(targets)
    errors = [design.standard_error for design in plan.designs]
    assert errors == sorted(errors)
    assert plan.best is plan.designs[0]
    assert plan.curator <= plan.best.standard_error
    designs = plan.designs if plan.shuffler is None else (*plan.designs, plan.shuffler)
    for design in designs:
        again = account(
            design.protocol, people, delta=plan.wish.delta, absent=plan.wish.absent
        )
        for level in again.levels:
            assert level.target is not None
            assert level.epsilon_central <= level.target
        predicted = design.protocol.predicted_errors(people, [[plan.share]])  # type: ignore[list-item]
        assert design.standard_error == pytest.approx(predicted[0][0], rel=1e-9)
    return plan


def errors(plan: CountsPlan, *, constant: bool, most: float) -> list[float]:
    return [
        design.standard_error
        for design in checked(plan).designs
        if design.messages <= most and (design.is_constant or not constant)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "error"), [(9, 3.8), (16, 3.3)])
def test_reports_of_one_size_are_as_accurate_as_is_known(
    size: int, error: float
) -> None:
    wish = Wish(targets={1.0: 100_000}, delta=1e-6)

    plan = plan_counts(wish, buckets=8, max_messages=size)

    # A trusted curator's is 2.80, single messages' 8.63.
    assert plan.curator == pytest.approx(2.80, abs=0.005)
    assert min(errors(plan, constant=True, most=size)) <= error


@pytest.mark.slow
def test_two_messages_in_the_mean_are_nearly_a_trusted_curators() -> None:
    wish = Wish(targets={1.0: 100_000}, delta=1e-6)

    plan = plan_counts(wish, buckets=8, max_messages=2)

    assert min(errors(plan, constant=False, most=2.0)) <= 3.0


@pytest.mark.slow
def test_many_buckets_at_a_small_target() -> None:
    wish = Wish(targets={0.1: 100_000}, delta=1e-6)

    plan = plan_counts(wish, buckets=128, max_messages=16)

    # A trusted curator's is 28.3, single messages' 60.9.
    assert plan.curator == pytest.approx(28.28, abs=0.01)
    assert min(errors(plan, constant=False, most=16.0)) <= 31.0


@pytest.mark.slow
def test_a_small_plan_keeps_its_target() -> None:
    names: list[str] = []

    plan = checked(
        plan_counts(
            Wish(targets={1.0: 5_000}), buckets=4, max_messages=3, on_step=names.append
        )
    )

    assert names[:2] == ["Poisson noise", "geometric noise"]
    assert names[-1] == "yardsticks"
    record = json.loads(json.dumps(plan.to_dict()))
    assert record["trusted_curator"] == plan.curator
    assert [each["name"] for each in record["designs"]] == [
        x.name for x in plan.designs
    ]
    assert counts_plan_tables(plan)


@pytest.mark.slow
def test_plans_of_counts_and_of_frequencies_tell_the_same_numbers() -> None:
    wish = Wish(targets={0.8: 2_000, 1.0: 3_000})

    counts = plan_counts(wish, buckets=4)
    frequency = plan_frequency(wish, num_categories=4)

    curator, several = frequency.yardsticks[:2]
    assert several.name == "several messages per person"
    varying = [d.standard_error for d in counts.designs if not d.is_constant]
    assert several.standard_error * 5_000 == pytest.approx(min(varying), rel=1e-12)
    assert curator.standard_error * 5_000 == pytest.approx(counts.curator, rel=1e-12)
    single = next(o for o in frequency.options if o.mode == "agnostic")
    assert counts.single is not None
    assert counts.single.name == single.name
    assert counts.single_error == pytest.approx(5_000 * single.error, rel=1e-12)
    # Cautions are about the design that is recommended.
    assert counts.recommended_guarantee is counts.best.guarantee
    better = replace(counts, single=replace(counts.single, standard_error=1e-9))
    assert better.recommended_guarantee is counts.single.guarantee
    assert better.reason.startswith("one message")
    for level, target in zip(counts.single.guarantee.levels, (0.8, 1.0), strict=True):
        assert level.epsilon_central <= target
        assert (level.epsilon_coalition or 0.0) > 1.0


def test_the_next_best_is_named_with_its_error() -> None:
    plan = plan_counts(Wish(targets={1.0: 5_000}), buckets=4, max_messages=4)

    assert plan.best.name == "geometric noise"
    second = plan.designs[1]
    factor = second.standard_error / plan.best.standard_error
    assert plan.reason.endswith(
        f"that of the next, {second.name}, is {factor:.3g} times it."
    )
    record = plan.to_dict()
    assert record["reason"] == plan.reason
    # Four buckets, two signs and a dummy are nine messages: four bits.
    assert record["designs"][0]["bits_per_person"] == 4.0 * plan.best.messages
    assert record["single_message"]["bits_per_person"] == 2.0


@pytest.mark.slow
def test_single_messages_are_not_compared_for_sets_or_many_buckets() -> None:
    wish = Wish(targets={1.0: 5_000})

    sets = plan_counts(wish, buckets=4, most=2, max_messages=3)
    many = plan_counts(wish, buckets=257, max_messages=4)

    assert sets.single is None
    assert sets.to_dict()["single_message"] is None
    assert many.single is None
    assert any("plan frequency" in line for line in many.left_out)


@pytest.mark.slow
def test_error_falls_with_the_target() -> None:
    found = [
        plan_counts(Wish(targets={e: 5_000}), buckets=2, max_messages=4).best
        for e in (0.5, 1.0, 2.0)
    ]

    worse = [design.standard_error for design in found]
    assert worse == sorted(worse, reverse=True)
    assert len(set(worse)) == len(worse)


@pytest.mark.slow
def test_absent_people_cost_accuracy_and_are_certified() -> None:
    wish = Wish(targets={1.0: 5_000}, absent=2_500)

    plan = checked(plan_counts(wish, buckets=8, max_messages=4))

    all_there = plan_counts(Wish(targets={1.0: 5_000}), buckets=8, max_messages=4)
    # Noise of half the people suffices, and there is twice as much of it.
    assert plan.best.protocol.honest == 2_500
    assert 1.3 < plan.best.standard_error / all_there.best.standard_error < 1.6


@pytest.mark.slow
def test_several_targets_are_kept() -> None:
    wish = Wish(targets={0.1: 1_000, 1.0: 6_000, 2.0: 3_000})

    plan = checked(plan_counts(wish, buckets=4, max_messages=6))

    for design in plan.designs:
        rates = design.protocol.rates
        assert list(rates) == sorted(rates)
        assert rates[-1] > 0.9
        # The smallest target does not decide the noise of all.
        assert rates[0] < 0.9


@pytest.mark.slow
def test_one_bucket_and_sets() -> None:
    wish = Wish(targets={1.0: 20_000})

    single = checked(plan_counts(wish, buckets=1, max_messages=13))
    several = checked(plan_counts(wish, buckets=16, most=4, max_messages=20))

    # With one bucket, sizes that vary would show the answer to the shuffler.
    assert all(design.is_constant for design in single.designs)
    assert several.best.standard_error > single.best.standard_error


@pytest.mark.parametrize(
    ("wish", "changed"),
    [
        (Wish(levels={1.0: 1000}), {}),
        (Wish(targets={1.0: 1000}), {"buckets": 0}),
        (Wish(targets={1.0: 1000}), {"buckets": 2.5}),
        (Wish(targets={1.0: 1000}), {"most": 0}),
        (Wish(targets={1.0: 1000}), {"most": 9}),
        (Wish(targets={1.0: 1000}), {"max_messages": 1}),
        (Wish(targets={1.0: 1000}), {"max_messages": 0}),
        (Wish(targets={1.0: 1000}), {"share": -0.1}),
        (Wish(targets={1.0: 1000}), {"share": 1.1}),
        (Wish(targets={1.0: 1000}), {"share": float("nan")}),
    ],
)
def test_wishes_of_no_sense_are_refused(wish: Wish, changed: dict[str, Any]) -> None:
    arguments = {"buckets": 8, "max_messages": 4} | changed

    with pytest.raises(InvalidInputError):
        plan_counts(wish, **arguments)


def test_wishes_that_nothing_keeps_are_refused() -> None:
    with pytest.raises(PopulationError):
        plan_counts(Wish(targets={1.0: 100}, absent=100), buckets=8)
    # Ten people have no room for the noise in two messages each.
    with pytest.raises(CertificationError, match="reports of at most 2 messages"):
        plan_counts(Wish(targets={0.01: 10}), buckets=8, max_messages=2)


@pytest.mark.slow
def test_buckets_without_room_for_noise_are_hashed() -> None:
    wish = Wish(targets={1.0: 10_000})

    hashed = plan_counts(wish, buckets=20_000, max_messages=40)
    both = plan_counts(wish, buckets=10_001, max_messages=80)
    plain = plan_counts(wish, buckets=10_000, max_messages=80)

    assert [design.hashed is None for design in hashed.designs] == [False]
    assert "hashed to" in hashed.best.name
    assert hashed.best.messages <= 40.0
    # Beside noise for each bucket, where buckets outnumber people.
    assert {design.hashed is None for design in both.designs} == {True, False}
    assert all(design.hashed is None for design in plain.designs)
    record = json.loads(json.dumps(hashed.to_dict()))["designs"][0]
    assert record["standard_error_if_even"] < record["standard_error"]
    # A message is a bucket of any row and a sign, or a dummy.
    buckets = sum(group.buckets for group in hashed.best.protocol.groups)
    assert record["bits_per_person"] == hashed.best.messages * (
        math.floor(math.log2(2 * buckets)) + 1
    )
    console = Console(file=io.StringIO(), width=200)
    console.print(counts_plan_tables(hashed))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "sdp.HashedChoiceQuestion('category', 20000, messages=40)" in written
    assert "1 / rank" in written


@pytest.mark.slow
def test_plans_of_frequencies_name_hashed_buckets_where_nothing_else_has_room() -> None:
    plan = plan_frequency(Wish(targets={1.0: 10_000}), num_categories=20_000)

    several = plan.yardsticks[1]
    assert several.name == "several messages per person, hashed"
    counts = plan_counts(Wish(targets={1.0: 10_000}), buckets=20_000)
    assert several.standard_error * 10_000 == pytest.approx(
        counts.best.standard_error, rel=1e-12
    )
