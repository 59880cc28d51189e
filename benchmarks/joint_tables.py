"""Prints errors of tables, of all pairs of attributes, and of means by group.

    python benchmarks/joint_tables.py [--collections 400]

Every row is planned at (1, 1e-6), certified, then drawn as often as asked.

Pairs are compared with one pair per person, picked at random: counts are multiplied by the
number P of pairs, their noise is planned for one answer, and sampling of people adds the
variance (P - 1) x count.

The yardstick of means by group is a trusted curator who adds Gaussian noise to the sum T of
numbers scaled to [-1, 1] and to the number N of people of each group. Replacing a person
changes (T, N) by at most 2: that is the sensitivity of T alone, so that a smaller weight of
N gains nothing. With deviation 2 / mu on both, the mean T / N of N people has the error
(2 / mu) sqrt(1 + (T / N)^2) / N by the delta method, in units of half the range. Intervals
of people per group are normal, those of means Fieller's.
"""

import argparse

import numpy as np
from machine import describe

import shuffledp as sdp
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.statistics.questionnaire.group_mean_estimate import GroupMeanEstimate
from shuffledp.statistics.questionnaire.questionnaire_plan import QuestionnairePlan
from shuffledp.types import Floats

EPSILON, DELTA = 1.0, 1e-6
_ATTRIBUTES = {name: tuple("12345678") for name in "wxyz"}
_GROUPS, _RANGE_MEANS = 50, (0.2, 0.8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=400)
    collections = parser.parse_args().collections
    print(describe())
    _print_pairs(collections)
    _print_group_means(collections)


def _print_pairs(collections: int) -> None:
    num_users, rng = 100_000, np.random.default_rng(2026)
    print("question | buckets | noise | messages | predicted | simulated | covered")
    answers = rng.integers(0, 8, (num_users, 4))
    two = {name: _ATTRIBUTES[name] for name in "wx"}
    for question, rows in (
        (sdp.TableQuestion("table", two), answers[:, :2]),
        (sdp.PairsQuestion("all pairs", _ATTRIBUTES), answers),
    ):
        plan = sdp.plan_questionnaire((question,), _wish(num_users))
        buckets = question.encode(rows, rng=rng)
        truth = np.bincount(buckets.ravel(), minlength=question.groups[0].buckets)
        people = sdp.Population.from_counts({EPSILON: num_users})
        errors, covered = [], []
        for _ in range(collections):
            tally = plan.questionnaire.counts.draw_tally([truth[None]], people, rng=rng)
            estimate = plan.questionnaire.estimate(tally, people)[question.name]
            low, high = estimate.interval().T
            errors.append(estimate.value - truth)
            covered.append((low <= truth) & (truth <= high))
        print(
            f"{question.name} | {len(truth)} | {plan.name} | {plan.messages:.2f} | "
            f"{_error(plan, question.name):.2f} | "
            f"{np.sqrt(np.mean(np.square(errors))):.2f} | {np.mean(covered):.1%}",
            flush=True,
        )
    pairs = 6
    cells = tuple(str(cell) for cell in range(64 * pairs))
    plan = sdp.plan_questionnaire(
        (sdp.ChoiceQuestion("one pair", cells),), _wish(num_users)
    )
    noise = pairs * _error(plan, "one pair")
    total = np.sqrt(noise**2 + (pairs - 1) * num_users / 64)
    print(
        f"one pair per person | {len(cells)} | {plan.name} | {plan.messages:.2f} | "
        f"{noise:.2f} of noise, {total:.2f} with sampling of people | |"
    )


def _print_group_means(collections: int) -> None:
    print(
        "people per group | digits | messages | curator | predicted | simulated | "
        "predicted / curator | simulated / curator | means covered | people covered"
    )
    for each in (500, 2_000):
        num_users, rng = _GROUPS * each, np.random.default_rng(2026)
        labels = tuple(f"group {index}" for index in range(_GROUPS))
        question = sdp.GroupMeanQuestion("pay", labels, 0.0, 1.0)
        plan = sdp.plan_questionnaire((question,), _wish(num_users))
        group = np.repeat(np.arange(_GROUPS), each)
        center = np.linspace(*_RANGE_MEANS, _GROUPS)[group]
        number = rng.beta(8.0 * center, 8.0 * (1.0 - center))
        truth = np.bincount(group, weights=number) / each
        people = sdp.Population.from_counts({EPSILON: num_users})
        targets = np.full(num_users, EPSILON)
        answers = {"pay": np.stack([group, number], axis=1)}
        errors, predicted, covered, counted = [], [], [], []
        for _ in range(collections):
            tally = plan.questionnaire.draw_tally(answers, targets, rng=rng)
            estimate = plan.questionnaire.estimate(tally, people)["pay"]
            assert isinstance(estimate, GroupMeanEstimate)
            low, high = estimate.interval().T
            errors.append(estimate.value - truth)
            predicted.append(estimate.standard_error)
            covered.append((low <= truth) & (truth <= high))
            low, high = estimate.people.interval().T
            counted.append((low <= each) & (each <= high))
        curator = _root_mean_square(_curator(truth, each))
        stated, seen = _root_mean_square(predicted), _root_mean_square(errors)
        digits = len(plan.questionnaire.counts.groups)
        print(
            f"{each:,} | {digits} | {plan.messages:.2f} | {curator:.5f} | {stated:.5f} "
            f"| {seen:.5f} | {stated / curator:.3f} | {seen / curator:.3f} | "
            f"{np.mean(covered):.1%} | {np.mean(counted):.1%}",
            flush=True,
        )


def _curator(means: Floats, each: int) -> Floats:
    """Returns errors of means of numbers in [0, 1]: see the beginning of this file."""
    mu = float(sensitivity_per_deviation(np.array([EPSILON]), DELTA)[0])
    errors: Floats = np.sqrt(1.0 + (2.0 * means - 1.0) ** 2) / (mu * each)
    return errors


def _wish(num_users: int) -> sdp.Wish:
    return sdp.Wish(targets={EPSILON: num_users}, delta=DELTA)


def _error(plan: QuestionnairePlan, name: str) -> float:
    return float(plan.expected[name].standard_error[0])


def _root_mean_square(values: object) -> float:
    return float(np.sqrt(np.mean(np.square(np.asarray(values)))))


if __name__ == "__main__":
    main()
