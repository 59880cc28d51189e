"""Prints which unlisted strings are found, predicted and simulated.

    python benchmarks/unlisted_strings.py [--collections 200] [--large 3]

Certified (1, 1e-6). Every other person holds a random string of their own; some strings are
held by as many people as a plan says are found with a probability of 95%, and as many by a
half, two and four times as many. Hash functions, strings and noise are drawn anew for each
collection.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from machine import describe

import shuffledp as sdp

# Bytes, letters of an alphabet, people, strings that are expected, most messages.
_CASES = (
    (3, None, 20_000, 20, 64),
    (6, None, 10**6, 100, 128),
    (8, None, 10**6, 100, 128),
    (13, "abcdefghijklmnopqrstuvwxyz", 10**6, 100, 128),
)
_LARGE = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--large", type=int, default=3)
    given = parser.parse_args()
    print(describe())
    print(
        "bits | people | groups | messages | report size | epsilon | found from, "
        "predicted | predicted at half, 1, 2, 4 times | simulated | candidates | printed "
        "and held by nobody | by one person | bound of the latter, per string | "
        "intervals at 2 and 4 times cover | collections | seconds each"
    )
    for longest, alphabet, people, expected, most in _CASES:
        runs = given.collections if people < _LARGE else given.large
        print(_row(longest, alphabet, people, expected, most, runs), flush=True)


def _row(
    longest: int, alphabet: str | None, people: int, expected: int, most: int, runs: int
) -> str:
    plan = sdp.plan_unlisted_strings(
        sdp.Wish(targets={1.0: people}),
        longest=longest,
        alphabet=alphabet,
        expected=expected,
        max_messages=most,
    )
    held = round(plan.found_from)
    sizes = np.repeat([held // 2, held, 2 * held, 4 * held], expected // 4)
    (question,) = plan.questionnaire.questions
    assert isinstance(question, sdp.UnlistedStringsQuestion)
    bits = question.codes.bits
    population = sdp.Population.from_counts({1.0: people})
    hits, wrong, alone, covered, candidates, bounds = [], 0, 0, [], [], []
    start = time.perf_counter()
    for run in range(runs):
        rng = np.random.default_rng(run)
        design = replace(
            question.chosen, layout=replace(question.chosen.layout, key=run)
        )
        asked = replace(
            plan.questionnaire, questions=(replace(question, design=design),)
        )
        texts, codes = _texts(question, sizes.size, people - int(sizes.sum()), rng)
        numbers = np.append(sizes, np.ones(codes.size - sizes.size, dtype=np.int64))
        holders = [
            np.bincount(buckets, weights=numbers, minlength=size)[None].astype(int)
            for buckets, size in zip(
                design.layout.buckets(codes).T, design.layout.sizes, strict=True
            )
        ]
        tally = asked.counts.draw_tally(holders, population, rng=rng)
        found = asked.estimate(tally, population)["string"]
        assert isinstance(found, sdp.UnlistedStringsEstimate)
        truth = dict(zip(texts, sizes.tolist(), strict=True))
        hits.append([text in found.labels for text in texts])
        labels, _ = question.codes.encode(found.labels)
        wrong += int((~np.isin(labels, codes)).sum())
        alone += int(np.isin(labels, codes[sizes.size :]).sum())
        for text, (low, high) in zip(found.labels, found.interval(), strict=True):
            if truth.get(text, 0) >= 2 * held:
                covered.append(low <= truth[text] <= high)
        candidates.append(found.candidates)
        bounds.append(found.false_probability(1.0))
    seconds = (time.perf_counter() - start) / runs
    shares = np.mean(hits, axis=0).reshape(4, -1).mean(axis=1)
    predicted = [plan.prediction.probability(held * x) for x in (0.5, 1.0, 2.0, 4.0)]
    return (
        f"{bits} | {people:,} | {len(question.groups)} | {plan.plan.messages:.1f} | "
        f"{plan.plan.report_size} | {plan.guarantee.levels[0].epsilon_central:g} | "
        f"{held} | "
        f"{', '.join(f'{x:.1%}' for x in predicted)} | "
        f"{', '.join(f'{x:.1%}' for x in shares)} | {np.mean(candidates):.0f} | "
        f"{wrong} | {alone} | "
        f"{np.mean(bounds):.1e} | {np.mean(covered):.1%} | {runs} | {seconds:.2f}"
    )


def _texts(
    question: sdp.UnlistedStringsQuestion,
    frequent: int,
    others: int,
    rng: np.random.Generator,
) -> tuple[list[str], np.ndarray]:
    """Returns frequent texts, and the codes of these and of others' texts."""
    letters = question.alphabet or "abcdefghijklmnopqrstuvwxyz"
    symbols = rng.integers(0, len(letters), (frequent, question.longest))
    texts = ["".join(letters[x] for x in row) for row in symbols.tolist()]
    codes, _ = question.codes.encode(texts)
    bits = question.codes.bits
    random = rng.integers(0, 2**bits - 1, others, dtype=np.uint64, endpoint=True)
    return texts, np.concatenate([codes, random])


if __name__ == "__main__":
    main()
