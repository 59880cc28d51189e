"""Prints squared errors of unbiased and of consistent answers, and what intervals cover.

    python benchmarks/consistent_answers.py [--collections 200]

Answers are skewed (Zipf: the share of the k-th answer is proportional to 1 / k) or even.
Frequencies are one message per person at level 1; questionnaires are planned at (1, 1e-6).
Squared errors are sums over all numbers, averaged over collections. `nearer` is the
squared error of unbiased estimates divided by that of consistent ones. Biases are of the
most frequent answer, and in the mean over the rarer half of all answers, in standard errors
of the unbiased estimate. Intervals of 95% are those of the unbiased estimates, their own,
and, as a warning, intervals of the same length about consistent estimates, of the five most
frequent answers.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from machine import describe

import shuffledp as sdp
from shuffledp.types import Floats

EPSILON = 1.0
_ATTRIBUTES = {name: tuple("12345678") for name in "wxyz"}
_BINS, _MOST_FREQUENT = 1_024, 5
_EDGES = tuple(range(_BINS + 1))

# A raw estimate and its consistent one, each with `value` and `interval()`.
Draw = Callable[[np.random.Generator], tuple[Any, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=200)
    collections = parser.parse_args().collections
    print(describe())
    print(
        "estimates | answers | people | nearer | bias of the most frequent | of rare ones "
        "| intervals cover | limited ones | their length | about consistent estimates"
    )
    for name, answers, people, truth, draw in _cases():
        print(
            f"{name} | {answers} | {people:,} | {_measured(draw, truth, collections)}",
            flush=True,
        )


def _measured(draw: Draw, truth: Floats, collections: int) -> str:
    rng = np.random.default_rng(2026)
    rows = []
    biases = []
    order = np.argsort(-truth, kind="stable")
    for _ in range(collections):
        raw, consistent = draw(rng)
        interval, limited = raw.interval(), consistent.interval()
        half = (interval[:, 1] - interval[:, 0]) / 2.0
        off = consistent.value - truth
        biases.append(off / raw.standard_error)
        rows.append(
            (
                np.sum((raw.value - truth) ** 2),
                np.sum(off**2),
                _covered(interval, truth),
                _covered(limited, truth),
                np.sum(limited[:, 1] - limited[:, 0]) / np.sum(2.0 * half),
                np.mean((np.abs(off) <= half)[order[:_MOST_FREQUENT]]),
            )
        )
    before, after, own, shorter, length, about = np.mean(rows, axis=0)
    bias = np.mean(biases, axis=0)[order]
    return (
        f"{before / after:.2f} | {bias[0]:+.2f} | {bias[order.size // 2 :].mean():+.2f} | "
        f"{own:.1%} | {shorter:.1%} | {length:.0%} | {about:.1%}"
    )


def _covered(interval: Floats, truth: Floats) -> float:
    # Limits are exact where the truth is 0: rounding of sums is no miss.
    slack = 1e-9 * max(float(truth.max()), 1.0)
    low, high = interval[:, 0] - slack, interval[:, 1] + slack
    return float(np.mean((low <= truth) & (truth <= high)))


def _cases() -> Iterator[tuple[str, str, int, Floats, Draw]]:
    for answers in ("skewed", "even"):
        for categories in (100, 1_000):
            yield _frequencies(answers, categories, 100_000)
        for question, axes in (
            (sdp.ChoiceQuestion("q", tuple(map(str, range(100)))), 1),
            (sdp.TableQuestion("q", _ATTRIBUTES), 4),
            (sdp.PairsQuestion("q", _ATTRIBUTES), 4),
            (sdp.DistributionQuestion("q", _EDGES), 0),
        ):
            yield _answers(question, axes, answers, 10_000)
        yield _hashed(answers, 100_000, 10_000)


def _shares(answers: str, size: int) -> Floats:
    weights = 1.0 / np.arange(1, size + 1) if answers == "skewed" else np.ones(size)
    shares: Floats = weights / weights.sum()
    return shares


def _whole(answers: str, size: int, people: int) -> np.ndarray[Any, Any]:
    """Returns people of each answer, whole numbers in these proportions."""
    ends = np.round(people * np.cumsum(_shares(answers, size)))
    return np.diff(ends, prepend=0.0).astype(np.int64)


def _frequencies(
    answers: str, categories: int, people: int
) -> tuple[str, str, int, Floats, Draw]:
    protocol = sdp.Frequency(categories)
    counts = _whole(answers, categories, people)
    population = sdp.Population.from_counts({EPSILON: people})

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        tally = protocol.draw_tally(counts[None], population, rng=rng)
        raw = protocol.estimate(tally, population)
        return raw, raw.consistent()

    name = f"frequencies of {categories:,} categories"
    return name, answers, people, counts / people, draw


def _answers(
    question: Any, axes: int, answers: str, people: int
) -> tuple[str, str, int, Floats, Draw]:
    population = sdp.Population.from_counts({EPSILON: people})
    plan = sdp.plan_questionnaire((question,), sdp.Wish(targets={EPSILON: people}))
    asked = plan.questionnaire
    rng = np.random.default_rng(1)
    if axes == 0:
        held = np.repeat(np.arange(_BINS), _whole(answers, _BINS, people))
        values: Any = held + 0.5
        truth = np.searchsorted(held, np.arange(1, _BINS), side="left") / people
    elif axes == 1:
        values = np.repeat(np.arange(100), _whole(answers, 100, people))
    else:
        # Attributes are drawn independently of each other.
        values = rng.choice(8, (people, axes), p=_shares(answers, 8))
    (adapted,) = asked.questions
    buckets = adapted.encode(values, rng=rng)
    if axes:
        (group,) = adapted.groups
        truth = np.bincount(buckets.ravel(), minlength=group.buckets).astype(float)

    targets = np.full(people, EPSILON)

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        tally = asked.draw_tally({"q": values}, targets, rng=rng)
        estimate: Any = asked.estimate(tally, population)["q"]
        if axes == 0:
            return estimate.distribution(), estimate.consistent().distribution()
        return estimate, estimate.consistent(complete=True)

    names = {0: "a distribution of 1,024 bins", 1: "a choice of 100 options"}
    kind = "a table of" if isinstance(question, sdp.TableQuestion) else "all pairs of"
    name = names.get(axes, f"{kind} four attributes of 8")
    return name, answers, people, truth, draw


def _hashed(
    answers: str, categories: int, people: int
) -> tuple[str, str, int, Floats, Draw]:
    question = sdp.HashedChoiceQuestion("q", categories, messages=50.0)
    wish = sdp.Wish(targets={EPSILON: people})
    asked = sdp.plan_questionnaire((question,), wish).questionnaire
    truth = _whole(answers, categories, people)
    values = np.repeat(np.arange(categories), truth)
    population = sdp.Population.from_counts({EPSILON: people})

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        tally = asked.draw_tally({"q": values}, np.full(people, EPSILON), rng=rng)
        estimate: Any = asked.estimate(tally, population)["q"]
        return estimate, estimate.consistent(complete=True)

    name = f"a choice of {categories:,}, hashed"
    return name, answers, people, truth.astype(float), draw


if __name__ == "__main__":
    main()
