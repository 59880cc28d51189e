"""Prints how often intervals of a rehearsed questionnaire cover the truth, and its time.

    python benchmarks/questionnaire_rehearsals.py [--runs 300] [--people 100000]

Coverage is that of 95% intervals of 5,000 people with personal targets, whose answers stay
the same while devices, shuffler and rounding draw anew in every run. The time is that of
`shuffledp.rehearse` with eight questions.
"""

import argparse
import math
import time
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
from machine import describe

import shuffledp as sdp
from shuffledp.datasets.frames import Frame, rows_of
from shuffledp.datasets.missing import cleaned_rows
from shuffledp.statistics.questionnaire.question_file import questions_of
from shuffledp.statistics.questionnaire.rehearsal import WORDS
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import AnswerCells
from shuffledp.statistics.questionnaire.rehearsed.column_kinds import columns_of
from shuffledp.statistics.questionnaire.rehearsed.questionnaire_summary import run_plan
from shuffledp.statistics.rehearsal_stage import Stage

PEOPLE = 5_000
_HOMES = ["city", "village", "land"]
QUESTIONS: dict[str, Any] = {
    "transport": {"options": ["bus", "bicycle", "car", "train"]},
    "papers": {"options": ["Times", "Post", "Star", "Sun"], "most": 2},
    "age": {"kind": "number", "low": 0, "high": 120},
    "income": {"kind": "distribution", "edges": list(range(0, 201, 10))},
    "who": {"kind": "table", "attributes": {"sex": ["f", "m"], "home": _HOMES}},
    "all": {
        "kind": "pairs",
        "attributes": {"sex": ["f", "m"], "home": _HOMES, "job": ["yes", "no"]},
    },
    "pay": {
        "kind": "group-mean",
        "people": ["east", "west"],
        "low": 0,
        "high": 9_000,
        "columns": ["region", "pay"],
    },
    "smokes": {"options": ["yes", "no"]},
}


def made_up_people(num_users: int, *, rng: np.random.Generator) -> pl.DataFrame:
    """Returns answers, some of which are left out, and targets."""

    def some(options: list[str], shares: list[float]) -> list[str | None]:
        picked = rng.choice(len(options) + 1, num_users, p=[*shares, 1.0 - sum(shares)])
        return [options[each] if each < len(options) else None for each in picked]

    papers = QUESTIONS["papers"]["options"]
    return pl.DataFrame(
        {
            "transport": some(["bus", "bicycle", "car", "train"], [0.3, 0.2, 0.4, 0.0]),
            "papers": [
                rng.choice(papers, rng.integers(0, 3), replace=False).tolist()
                for _ in range(num_users)
            ],
            "age": rng.normal(45.0, 18.0, num_users).clip(0.0, 110.0),
            "income": rng.gamma(2.0, 20.0, num_users).clip(0.0, 200.0),
            "sex": some(["f", "m"], [0.5, 0.45]),
            "home": some(_HOMES, [0.6, 0.3, 0.1]),
            "job": some(["yes", "no"], [0.6, 0.4]),
            "region": some(["east", "west"], [0.7, 0.25]),
            "pay": rng.gamma(2.0, 1_000.0, num_users).clip(0.0, 9_000.0),
            "smokes": some(["yes", "no"], [0.2, 0.7]),
            "target": rng.choice([0.5, 1.0, 2.0], num_users),
        }
    )


def print_coverage(runs: int) -> None:
    """Prints the coverage of intervals by question and quantity."""
    frame = made_up_people(PEOPLE, rng=np.random.default_rng(2026))
    described = questions_of(QUESTIONS)
    answered = {
        question.name: columns
        for question, columns in zip(
            described.questions, columns_of(described.questions, described.columns),
            strict=True,
        )
    }  # fmt: skip
    cells = AnswerCells(cleaned_rows(rows_of(Frame(frame), frame.columns)))
    answers = {name: each.read(cells) for name, each in answered.items()}
    targets = frame["target"].to_numpy()
    people = sdp.Population.from_budgets(targets)
    counts = dict(zip(people.epsilons.tolist(), people.counts.tolist(), strict=True))
    plan = sdp.plan_questionnaire(described.questions, sdp.Wish(targets=counts))
    print(f"{plan.name}, {plan.messages:.1f} messages per person, {plan.report_size}")
    covered: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for run in range(runs):
        stage = Stage(np.random.default_rng([run, PEOPLE]))
        summary = run_plan(
            WORDS, plan, answered, answers, targets, stage=stage, source="made up"
        )
        for row in summary.rows:
            kind = (row.details["question"], row.details["quantity"])
            covered[kind].append(row.covered)
    print("question | quantity | estimates | covered | standard error of runs")
    for (question, quantity), each in covered.items():
        rate = float(np.mean(each))
        error = math.sqrt(rate * (1.0 - rate) / len(each))
        print(f"{question} | {quantity} | {len(each):,} | {rate:.1%} | {error:.1%}")
    every = [hit for (_, what), e in covered.items() if what != "quantile" for hit in e]
    print(f"all but quantiles | | {len(every):,} | {np.mean(every):.1%} |", flush=True)


def print_time(num_users: int) -> None:
    """Prints the seconds of one rehearsal from a frame to a result."""
    frame = made_up_people(num_users, rng=np.random.default_rng(2026))
    start = time.perf_counter()
    result = sdp.rehearse(frame, questions=QUESTIONS, targets="target", seed=1)
    seconds = time.perf_counter() - start
    print(
        f"{num_users:,} people, {len(QUESTIONS)} questions: {seconds:.1f} s, "
        f"{result.plan.name}, {result.plan.messages:.1f} messages per person, reports of "
        f"{result.plan.report_size}, {result.summary.num_covered} of "
        f"{len(result.summary.rows)} intervals hold the truth"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--people", type=int, default=100_000)
    given = parser.parse_args()
    print(describe())
    print_coverage(given.runs)
    print_time(given.people)


if __name__ == "__main__":
    main()
