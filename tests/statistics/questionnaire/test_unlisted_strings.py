"""Unlisted strings, against enumeration of all codes and of all buckets."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.statistics.questionnaire.hashed.score_test import fit_matrix
from shuffledp.statistics.questionnaire.texts.code_checks import check_codes
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.statistics.questionnaire.texts.prefix_search import search_codes
from shuffledp.statistics.questionnaire.texts.text_codes import TextCodes
from shuffledp.statistics.questionnaire.texts.unlisted_strings_estimate import (
    UnlistedStringsEstimate,
)
from shuffledp.statistics.questionnaire.texts.unlisted_strings_plan import (
    UnlistedStringsPlan,
)

TEXTS = ["", "a", "ab", "ba", "b", "été", "日本", "abcdefgh", "abcdefghi", "a\0"]


def test_codes_are_the_bytes_of_texts() -> None:
    codes = TextCodes(8)

    numbers, fits = codes.encode([*TEXTS, None])

    for text, number, is_coded in zip(TEXTS, numbers.tolist(), fits, strict=False):
        raw = text.encode()
        assert is_coded == (0 < len(raw) <= 8 and b"\0" not in raw)
        if is_coded:
            assert number == int.from_bytes(raw.ljust(8, b"\0"), "big")
    assert not fits[-1]
    assert codes.decode(numbers[fits]) == [
        text for text, is_coded in zip(TEXTS, fits, strict=False) if is_coded
    ]


def test_every_text_of_a_small_alphabet_has_a_code_of_its_own() -> None:
    codes = TextCodes(4, "xyz")
    texts = [
        "".join(letters)
        for length in range(1, 5)
        for letters in itertools.product("xyz", repeat=length)
    ]

    numbers, fits = codes.encode(texts)

    assert fits.all()
    assert len(set(numbers.tolist())) == len(texts)
    assert codes.bits == 8
    decoded = codes.decode(np.arange(2**8, dtype=np.uint64))
    assert [text for text in decoded if text is not None] == sorted(texts)


def test_equal_prefixes_share_buckets_and_others_do_so_by_chance() -> None:
    layout = PrefixLayout(40, level_bits=8, levels=5, check_bits=8, checks=2, key=3)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2**24, 20_000, dtype=np.uint64) << np.uint64(16)
    siblings = codes + rng.integers(0, 2**16, codes.size, dtype=np.uint64)

    alike = layout.buckets(codes) == layout.buckets(siblings)

    assert layout.widths == (8, 16, 24, 32, 40)
    assert alike[:, :3].all()
    # 1 / 256 of 20,000 is 78: five standard deviations are 44.
    assert np.all(np.abs(alike[:, 4:].sum(axis=0) - 78.0) < 44.0)
    uniform = np.bincount(layout.check_buckets(siblings, 0), minlength=256)
    assert np.sum((uniform - 78.1) ** 2 / 78.1) < 255 + 5 * math.sqrt(2 * 255)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_search_returns_what_a_search_of_all_codes_returns(seed: int) -> None:
    layout = PrefixLayout(12, level_bits=5, levels=4, check_bits=5, checks=1, key=seed)
    rng, least, noise = np.random.default_rng(seed), 30.0, 9.0
    counts = [rng.normal(0.0, noise, 32) for _ in range(4)]
    held = np.array([77, 1_234, 4_000], dtype=np.uint64)
    for level, values in enumerate(counts):
        values += 40.0 * np.bincount(layout.buckets(held)[:, level], minlength=32)

    found = search_codes(counts, [noise] * 4, layout, least=least)

    # Code by code, with the median and deviation of each level worked out again.
    wanted = []
    for code in range(2**12):
        scores, variances = [], []
        for level, values in enumerate(counts):
            above = values - np.median(values)
            deviation = max(np.median(np.abs(above)) / 0.6744897501960817, noise)
            prefix = np.array([code >> (12 - layout.widths[level])], dtype=np.uint64)
            own = above[int(layout.layer_buckets(prefix, level)[0])]
            scores.append(min(own, least + deviation))
            variances.append(deviation**2)
        windows = [
            (sum(scores[first:last]), sum(variances[first:last]), last - first)
            for first in range(4)
            for last in range(first + 1, 5)
        ]
        if all(s >= w * least - 3.0 * math.sqrt(v) for s, v, w in windows):
            wanted.append(code)
    assert found.codes.tolist() == wanted
    assert set(held.tolist()) <= set(wanted)
    assert len(wanted) < 2**12
    assert found.left_out == 0


def test_the_null_distribution_is_that_of_all_choices_of_buckets() -> None:
    layout = PrefixLayout(12, level_bits=5, levels=3, check_bits=4, checks=2)
    rng, least, alpha = np.random.default_rng(5), 30.0, 0.3
    counts = [rng.normal(0.0, 12.0, 16) for _ in range(2)]
    candidates = rng.choice(2**12, 10, replace=False).astype(np.uint64)

    checked = check_codes(candidates, counts, layout, least=least, false_texts=alpha)

    step = least / 256
    first, second = (
        [math.floor(min(max(x - np.median(c), -least), least) / step) for x in c]
        for c in counts
    )
    sums = [one + other for one in first for other in second]
    test = checked.tests[0]
    for place in range(test.tail.size - 1):
        share = sum(total + 512 >= place for total in sums) / 256
        assert test.tail[place] == pytest.approx(share, abs=1e-12)
    # One pass has a third of the false texts.
    assert 10 * test.tail[test.threshold] <= alpha / 3
    assert 10 * test.tail[test.threshold - 1] > alpha / 3
    # Of a text that 5 people hold, in every pair of buckets: cut after 5 are added.
    held, passing = 5.0, 0
    for one, other in itertools.product(*counts):
        total = sum(
            math.floor(min(max(x + held - np.median(c), -least), least) / step) + 256
            for x, c in zip((one, other), counts, strict=True)
        )
        passing += total >= test.threshold
    assert passing / 256 <= test.probability(held)


@pytest.mark.slow
def test_texts_that_nobody_holds_are_printed_as_rarely_as_stated() -> None:
    layout = PrefixLayout(20, level_bits=8, levels=3, check_bits=10, checks=3)
    rng, alpha, runs, printed = np.random.default_rng(7), 0.3, 400, 0
    candidates = np.arange(300, dtype=np.uint64)
    held = np.arange(10_000, 10_020, dtype=np.uint64)
    for run in range(runs):
        keyed = replace(layout, key=run)
        counts = [
            rng.poisson(60.0, 1024)
            + 80.0 * np.bincount(keyed.check_buckets(held, check), minlength=1024)
            for check in range(3)
        ]
        checked = check_codes(
            np.append(candidates, held), counts, keyed, least=60.0, false_texts=alpha
        )
        printed += int((checked.codes < 10_000).sum())

    # The mean is at most alpha: five standard deviations of a Poisson number above it.
    assert 0 < printed <= runs * alpha + 5.0 * math.sqrt(runs * alpha)


def test_fitted_counts_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(2)
    buckets = rng.integers(0, 16, (9, 3))
    counts = rng.normal(0.0, 10.0, (3, 16))

    fitted = sum(m @ c for m, c in zip(fit_matrix(buckets, 16), counts, strict=True))

    design = np.zeros((48, 9))
    for text, row in enumerate(buckets):
        for check, bucket in enumerate(row):
            design[16 * check + bucket, text] = 1.0
    wanted = np.linalg.lstsq(design, counts.ravel(), rcond=None)[0]
    # A ridge of 1e-9 keeps the system regular.
    assert np.allclose(fitted, wanted, atol=1e-5)


@pytest.fixture(scope="module")
def plan() -> UnlistedStringsPlan:
    return sdp.plan_unlisted_strings(
        sdp.Wish(targets={1.0: 20_000}), longest=3, max_messages=64, expected=20
    )


@pytest.mark.slow
def test_a_plan_is_certified_as_counts_and_finds_what_it_predicts(
    plan: UnlistedStringsPlan,
) -> None:
    asked, people = plan.questionnaire, sdp.Population.from_counts({1.0: 20_000})
    held = math.ceil(plan.found_from)
    words = [f"{first}{second}x" for first in "abcde" for second in "pqrs"]
    texts = np.array(words * held + [None] * (20_000 - 20 * held), dtype=object)

    certified = sdp.account(asked.counts, people, delta=1e-6, quantiles=False)
    hits, probabilities = 0, (0.0, 0.0)
    for run in range(20):
        rng = np.random.default_rng(run)
        tally = asked.draw_tally({"string": texts}, np.ones(20_000), rng=rng)
        found = asked.estimate(tally, people)["string"]
        assert isinstance(found, UnlistedStringsEstimate)
        hits += len(set(found.labels) & set(words))
        probabilities = found.false_probability(0.0), found.false_probability(30.0)

    assert plan.guarantee.levels[0].epsilon_central <= 1.0
    assert certified.levels == plan.guarantee.levels
    assert plan.plan.messages <= 64
    assert 0.0 < probabilities[0] <= probabilities[1] <= 1.0
    # 95% of 400: five standard deviations are 22, if texts were found independently.
    assert hits >= 380 - 22


@pytest.mark.slow
def test_bad_terms_are_refused(plan: UnlistedStringsPlan) -> None:
    question = plan.questionnaire.questions[0]
    assert isinstance(question, sdp.UnlistedStringsQuestion)
    rng = np.random.default_rng(1)
    with pytest.raises(sdp.InvalidInputError, match="at most 64 bits"):
        sdp.UnlistedStringsQuestion("x", 9)
    with pytest.raises(sdp.InvalidInputError, match="at least 10 bits"):
        sdp.UnlistedStringsQuestion("x", 1)
    with pytest.raises(sdp.InvalidInputError, match="different letters"):
        sdp.UnlistedStringsQuestion("x", 4, "aa")
    with pytest.raises(sdp.InvalidInputError, match="false texts above 0"):
        sdp.UnlistedStringsQuestion("x", 4, false_texts=0.0)
    with pytest.raises(sdp.InvalidInputError, match="a plan chooses"):
        _ = sdp.UnlistedStringsQuestion("x", 4).groups
    with pytest.raises(sdp.InvalidInputError, match="design for codes of 32 bits"):
        replace(question, longest=4)
    with pytest.raises(sdp.InvalidInputError, match="None for no answer"):
        question.encode([1, 2], rng=rng)
    with pytest.raises(sdp.InvalidInputError, match="do not fit 40 bits"):
        PrefixLayout(40, level_bits=8, levels=2, check_bits=8, checks=1)
    few = sdp.UnlistedStringsQuestion("x", 8, messages=1.0)
    with pytest.raises(sdp.CertificationError, match="finds any text"):
        few.adapted(1_000, noise=4.2)
    for wrong in ("3", None, 64.5, 0):
        with pytest.raises(sdp.InvalidInputError, match="messages per person"):
            sdp.plan_unlisted_strings(
                sdp.Wish(targets={1.0: 20_000}),
                longest=3,
                max_messages=wrong,  # type: ignore[arg-type]
            )


@pytest.mark.slow
def test_texts_are_found_beside_other_questions_as_predicted() -> None:
    n, rng = 20_000, np.random.default_rng(5)
    people = sdp.Population.from_counts({1.0: n})
    word = sdp.UnlistedStringsQuestion("word", 3, expected=20, messages=50)
    way = sdp.ChoiceQuestion("way", ("bus", "car"))
    plan = sdp.plan_questionnaire((word, way), sdp.Wish(targets={1.0: n}))
    letters = "abcdefgh"
    common = ["tea"] * 3_000 + ["rum"] * 1_500 + ["gin"] * 300
    # Some 30 people each hold one of 512 others: many candidates that a search rejects.
    others = ["".join(rng.choice(list(letters), 3)) for _ in range(n - len(common))]
    words = common + others
    answers: dict[str, Any] = {"word": words, "way": np.zeros(n, np.int64)}

    errors, seen = [], 0
    for _ in range(5):
        tally = plan.questionnaire.draw_tally(answers, np.ones(n), rng=rng)
        found = plan.questionnaire.estimate(tally, people)["word"]
        assert isinstance(found, UnlistedStringsEstimate)
        possible = found.consistent()
        seen += {"tea", "rum", "gin"} <= {*found.labels}
        truth = [words.count(text) for text in found.labels]
        errors += ((found.value - truth) / found.standard_error).tolist()
        assert 0.0 <= possible.value.min() <= possible.value.sum() <= n + 1e-6

    (label, error), *others_left = plan.expected["word"].predicted_errors.items()
    assert not others_left
    assert label.startswith("each string (found from 1")
    # Of other people's texts, counts have errors beside that of noise.
    assert error <= float(found.standard_error.min())
    assert seen == 5
    # Five standard errors of some 15 estimates.
    assert np.all(np.abs(errors) < 5.0)
