"""Prints errors of means by digits, and of several questions, predicted and simulated.

    python benchmarks/questionnaires.py [--collections 2000]

The yardstick is a trusted curator who adds Gaussian noise to the same numbers, or Laplace
noise to a single sum, at the same guarantee. Errors of means are printed times n: they are
those of sums, in units of the range.
"""

import argparse
import time

import numpy as np
from machine import describe
from scipy.stats import beta

import shuffledp as sdp
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.questionnaire_plan import QuestionnairePlan

DELTA = 1e-6
_MEANS = ((10**4, 1.0), (10**6, 1.0), (10**6, 0.1), (10**8, 1.0))
_SEVERAL = ((10, 8, 10**5, 1.0), (3, 8, 10**5, 1.0), (30, 2, 10**5, 1.0))
# Different values of the people in a simulation.
_VALUES = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=2_000)
    collections = parser.parse_args().collections
    print(describe())
    print(
        "a mean | people | epsilon | digits | messages | report | curator, Laplace | "
        "Gaussian | predicted | simulated | covered | seconds of planning"
    )
    for people, epsilon in _MEANS:
        start = time.perf_counter()
        plan = sdp.plan_questionnaire(
            (NumberQuestion("mean", 0.0, 1.0),),
            sdp.Wish(targets={epsilon: people}, delta=DELTA),
        )
        seconds = time.perf_counter() - start
        (question,) = plan.questionnaire.questions
        assert isinstance(question, NumberQuestion)
        simulated, covered = _simulated_mean(plan, question, collections)
        predicted = people * float(plan.expected["mean"].standard_error[0])
        print(
            f"Beta(2, 5) | {people:,} | {epsilon:g} | {question.digits} | "
            f"{plan.messages:.2f} | {plan.report_size} | {np.sqrt(2.0) / epsilon:.2f} | "
            f"{_gaussian(epsilon, 1.0):.2f} | {predicted:.2f} | {simulated:.2f} | "
            f"{covered:.1%} | {seconds:.1f}",
            flush=True,
        )
    print(
        "questions | options | people | epsilon | noise | messages | report | curator, "
        "Gaussian | predicted | simulated | covered | seconds of planning"
    )
    for number, options, people, epsilon in _SEVERAL:
        start = time.perf_counter()
        names = tuple(str(option) for option in range(options))
        asked = [sdp.ChoiceQuestion(f"q{index}", names) for index in range(number)]
        plan = sdp.plan_questionnaire(
            asked, sdp.Wish(targets={epsilon: people}, delta=DELTA)
        )
        seconds = time.perf_counter() - start
        predicted = float(plan.expected["q0"].standard_error[0])
        simulated, covered = _simulated_counts(plan, people, collections)
        print(
            f"{number} | {options} | {people:,} | {epsilon:g} | {plan.name} | "
            f"{plan.messages:.2f} | {plan.report_size or 'varies'} | "
            f"{_gaussian(epsilon, 2.0 * number):.2f} | "
            f"{predicted:.2f} | {simulated:.2f} | {covered:.1%} | {seconds:.1f}",
            flush=True,
        )


def _gaussian(epsilon: float, squared_sensitivity: float) -> float:
    """Returns the deviation of Gaussian noise of a trusted curator."""
    mu = float(sensitivity_per_deviation(np.array([epsilon]), DELTA)[0])
    return float(np.sqrt(squared_sensitivity) / mu)


def _simulated_mean(
    plan: QuestionnairePlan, question: NumberQuestion, collections: int
) -> tuple[float, float]:
    """Returns the error of the sum, and how often intervals cover the truth.

    People who have the same value are rounded together: the numbers who are rounded up are
    binomial.
    """
    rng = np.random.default_rng(2026)
    (level,) = plan.guarantee.levels
    people = sdp.Population.from_counts({level.target or 0.0: level.count})
    values = beta(2, 5).ppf((np.arange(_VALUES) + 0.5) / _VALUES)
    holders = level.count // _VALUES
    steps = 2 ** len(question.groups) - 1
    below = np.floor(values * steps).astype(np.int64)
    part = values * steps - below
    places = np.arange(len(question.groups))[::-1]
    lower, upper = (below[:, None] >> places & 1), (below[:, None] + 1 >> places & 1)
    errors, covered = np.empty(collections), np.empty(collections, dtype=np.bool_)
    for index in range(collections):
        above = rng.binomial(holders, part)
        ones = (holders - above) @ lower + above @ upper
        held = [np.array([[level.count - one, one]]) for one in ones.tolist()]
        tally = plan.questionnaire.counts.draw_tally(held, people, rng=rng)
        estimate = plan.questionnaire.estimate(tally, people)["mean"]
        errors[index] = level.count * (estimate.value[0] - values.mean())
        low, high = estimate.interval()[0]
        covered[index] = low <= values.mean() <= high
    return float(np.sqrt(np.mean(errors**2))), float(covered.mean())


def _simulated_counts(
    plan: QuestionnairePlan, num_users: int, collections: int
) -> tuple[float, float]:
    """Returns the error of a count, and how often intervals cover the truth."""
    rng = np.random.default_rng(2026)
    (level,) = plan.guarantee.levels
    people = sdp.Population.from_counts({level.target or 0.0: num_users})
    held = [
        rng.multinomial(num_users, np.full(group.buckets, 1.0 / group.buckets))[None]
        for group in plan.questionnaire.counts.groups
    ]
    errors, covered = [], []
    for _ in range(collections):
        tally = plan.questionnaire.counts.draw_tally(held, people, rng=rng)
        found = plan.questionnaire.estimate(tally, people)
        for truth, estimate in zip(held, found.values(), strict=True):
            errors.append(estimate.value - truth[0])
            low, high = estimate.interval().T
            covered.append((low <= truth[0]) & (truth[0] <= high))
    return float(np.sqrt(np.mean(np.square(errors)))), float(np.mean(covered))


if __name__ == "__main__":
    main()
