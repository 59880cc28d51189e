"""The checker of rounds, lists and bits: what is stated holds, and nothing more."""

import copy
import itertools
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from certificate_forgeries import certificate, sealed
from flint import arb, fmpq
from imported_packages import imported_packages

import shuffledp as sdp
import shuffledp_check_composed as composed
import shuffledp_check_counts as counts
from shuffledp_check import CertificateError, check, summed

Record = dict[str, Any]
Pair = list[tuple[Fraction, Fraction]]
FEW = {1.0: 3, 2.0: 4}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "rounds": (sdp.Frequency(5), {"rounds": 2}),
    "coordinates": (sdp.Mean(0.0, 1.0), {"coordinates": 3}),
    "unary": (sdp.UnaryEncoding(6), {}),
    "optimized": (sdp.UnaryEncoding(6, variant="optimized"), {"absent": 1}),
    "rappor": (sdp.Rappor(16, 1, one_given_one=0.9, one_given_zero=0.2), {}),
    "list": ([sdp.Frequency(4), sdp.UnaryEncoding(3)], {}),
    "levels apart": ([sdp.Frequency(4, "stratified"), sdp.BinarySum()], {}),
}


def _record(name: str) -> Record:
    protocol, given = KINDS[name]
    people = sdp.Population.from_counts(FEW)
    stated = sdp.account(protocol, people, **({"delta": 1e-2} | given))
    record: Record = json.loads(json.dumps(stated.to_dict()))
    return record


def _verdicts(record: Record) -> list[str]:
    content = json.dumps(record).encode()
    return [verdict for _, verdict, _ in check(content, composed.check_level)]


@pytest.fixture(autouse=True)
def _wide_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wider cells are quicker, and prove a little less."""
    monkeypatch.setattr(counts, "HALF", 2**11)


def test_points_of_a_bit_enclose_the_worst_of_all_data() -> None:
    low, high, others = Fraction(1, 8), Fraction(1, 2), 3
    bits = composed.Bits(_ends(low, high), 1.0, [(1.0, others)])

    for epsilon, backward in itertools.product((0.0, 0.3, 0.9), (False, True)):
        growth = Fraction(math.exp(epsilon))
        exact = max(
            _divergence(turn(pair) if backward else pair, growth)
            for pair in _bit_pairs(low, high, others)
        )

        ball = bits.bound(epsilon, backward)

        # e^epsilon is a double in the enumeration.
        assert float(ball.lower()) <= exact * (1 + 1e-12) + 1e-15
        assert exact <= float(ball.upper()) * (1 + 1e-12) <= exact * 1.001 + 1e-12


def turn(pair: Pair) -> Pair:
    """Returns the pair the other way round."""
    return [(q, p) for p, q in pair]


def _ends(low: Fraction, high: Fraction) -> composed.Ends:
    exact = [arb(fmpq(u.numerator, u.denominator)) for u in (low, high)]
    return lambda level: exact


def _bit_pairs(low: Fraction, high: Fraction, others: int) -> Iterator[Pair]:
    """Yields what a bit shows that turns off, at all data of others."""
    for ones in range(others + 1):
        rest = [Fraction(1)]
        for u in [high] * ones + [low] * (others - ones):
            rest = [
                u * a + (1 - u) * b
                for a, b in zip([Fraction(0), *rest], [*rest, Fraction(0)], strict=True)
            ]
        yield [
            (high * a + (1 - high) * b, low * a + (1 - low) * b)
            for a, b in zip([Fraction(0), *rest], [*rest, Fraction(0)], strict=True)
        ]


def _divergence(pair: Pair, growth: Fraction) -> Fraction:
    return sum((max(p - growth * q, Fraction(0)) for p, q in pair), Fraction(0))


def _product(first: Pair, second: Pair) -> Pair:
    return [(a * c, b * d) for (a, b), (c, d) in itertools.product(first, second)]


@pytest.mark.parametrize("epsilon", [0.2, 0.8])
def test_bits_that_turn_off_and_on_are_at_least_the_worst_of_all_data(
    epsilon: float,
) -> None:
    low, high, others = Fraction(1, 8), Fraction(1, 2), 3
    bits = composed.Bits(_ends(low, high), 1.0, [(1.0, others)])
    pairs = list(_bit_pairs(low, high, others))
    exact = max(
        _divergence(_product(off, turn(on)), Fraction(math.exp(epsilon)))
        for off, on in itertools.product(pairs, repeat=2)
    )

    least, most = composed.composed([(bits, 1, 1)], epsilon, 1e-3)

    assert float(least) <= exact * (1 + 1e-12)
    assert exact <= float(most.upper()) * (1 + 1e-12)
    # Data differ from E to E, which the bound takes for one pair.
    assert float(most.upper()) <= 1.1 * exact
    assert float(least.lower()) >= 0.9 * exact


@pytest.mark.parametrize("epsilon", [0.1, 0.7])
def test_two_rounds_of_three_categories_enclose_the_blankets_own_pair(
    epsilon: float,
) -> None:
    level, others, growth = 1.2, 2, Fraction(math.exp(epsilon))
    ratio = Fraction(math.exp(level))
    gamma = 3 / (ratio + 2)
    pair: Pair = []
    for m in range(others + 1):
        mass = math.comb(others, m) * gamma**m * (1 - gamma) ** (others - m)
        for seen in itertools.product(range(3), repeat=m + 1):
            # A mean over places, where the value is favored or another one.
            means = [
                sum(ratio if y == x else 1 for y in seen) * 3 / (ratio + 2) / (m + 1)
                for x in (0, 1)
            ]
            each = mass / 3 ** (m + 1)
            pair.append((each * means[0], each * means[1]))
    assert sum(p for p, _ in pair) == sum(q for _, q in pair) == 1
    exact = _divergence(_product(pair, pair), growth)
    shuffle = composed.Message((fmpq(1, 3), fmpq(0)), level, [(level, others)], 1e-9)

    least, most = composed.composed([(shuffle, 2, 0)], epsilon, 1e-3)

    assert float(least.lower()) <= exact * (1 + 1e-12)
    assert exact <= float(most.upper()) * (1 + 1e-12) <= 1.02 * exact
    shown = _shown(level, others)
    true = max(_divergence(_product(a, b), growth) for a in shown for b in shown)
    assert true <= float(most.upper())


def _shown(level: float, others: int) -> list[Pair]:
    """Returns what histograms show of three categories, at all data of others."""
    ratio = Fraction(math.exp(level))
    keep, other = ratio / (ratio + 2), 1 / (ratio + 2)
    shown = []
    for held in itertools.combinations_with_replacement(range(3), others):
        masses: dict[tuple[int, ...], list[Fraction]] = {}
        for world, value in enumerate((0, 1)):
            for sent in itertools.product(range(3), repeat=others + 1):
                holds = zip((value, *held), sent, strict=True)
                mass = math.prod(keep if a == b else other for a, b in holds)
                counted = tuple(sent.count(x) for x in range(3))
                entry = masses.setdefault(counted, [Fraction(0), Fraction(0)])
                entry[world] += mass
        shown.append([(p, q) for p, q in masses.values()])
    return shown


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) for name in KINDS]
)
def test_what_the_library_states_holds_and_0_85_of_it_does_not(name: str) -> None:
    # Of few people the library's chords have some percent to give.
    record = _record(name)
    lowered = copy.deepcopy(record)
    for level in lowered["levels"]:
        level["epsilon_central"] *= 0.85
        level["epsilon_central_lower"] = 0.0

    assert _verdicts(record) == ["holds"] * 2
    assert "holds" not in _verdicts(lowered)


@pytest.mark.slow
@pytest.mark.few_cases(0)
def test_three_rounds_of_many_people_are_told_to_half_a_percent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counts, "HALF", 2**13)
    people = sdp.Population.from_counts({1.0: 9_000})
    stated = sdp.account(sdp.Frequency(17), people, delta=1e-6, rounds=3)
    verdicts = []

    for factor in (1.0, 0.999, 0.995):
        record = json.loads(json.dumps(stated.to_dict()))
        record["levels"][0]["epsilon_central"] *= factor
        record["levels"][0]["epsilon_central_lower"] = 0.0
        verdicts += _verdicts(record)

    assert verdicts[0] == "holds"
    assert verdicts[1] != "holds"
    assert verdicts[2] == "does not hold"


@pytest.mark.slow
def test_twice_as_many_points_tell_what_lies_between_both_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = sdp.Population.from_counts({0.5: 3_000, 1.0: 6_000})
    record = sdp.account(sdp.UnaryEncoding(8), people, delta=1e-6).to_dict()
    record["levels"] = record["levels"][:1]

    assert _verdicts(record) == ["holds"]
    monkeypatch.setattr(composed, "FINER", (1,))
    assert _verdicts(record) == ["cannot tell"]


def test_a_messages_bound_is_computed_once_for_all_directions_and_spacings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = list[Any]()

    def counted(*given: Any) -> arb:
        calls.append(given)
        return summed(*given)

    monkeypatch.setattr(composed, "summed", counted)
    sets = fmpq(1, 3), fmpq(0)
    message = composed.Message(sets, 1.0, [(1.0, 5)], 1e-6)

    bounds = [message.bound(0.2, *way) for way in ((False,), (True,), (False, 2))]

    assert len(calls) == 1
    assert all(bound is bounds[0] for bound in bounds)


def test_one_message_and_counts_are_left_to_the_other_files() -> None:
    assert set(_verdicts(copy.deepcopy(certificate()))) == {"holds"}


def _set(*path: Any, value: Any) -> Callable[[Record], None]:
    def forge(record: Record) -> None:
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
        sealed(record)

    return forge


def _lowered(factor: float) -> Callable[[Record], None]:
    def forge(record: Record) -> None:
        for level in record["levels"]:
            level["epsilon_central"] *= factor

    return forge


_PARAMETERS = ("protocol", "parameters")
_PARTS = (*_PARAMETERS, "parts")
_ANY = {
    **{f"times {f}": _lowered(f) for f in (0.85, 0.75, 0.5, 0.25, 0.0)},
    "another delta": _set("delta", value=4e-3),
    "fewer people": _set("people", 1, 1, value=3),
    "absent people": _set("absent", value=3),
    "another budget": _set("people", 1, 0, value=2.01),
    "hides among more": _set("levels", 1, "hides_among", value=8),
    "a coalition": _set("levels", 1, "epsilon_coalition", value=1.999),
    "another subject": _set("about", value="nothing"),
    "another theorem": _set("levels", 1, "rests_on", value="counts"),
    "more rounds": _set("rounds", value=4),
    "more coordinates": _set("coordinates", value=4),
    "another mechanism": _set("protocol", "mechanism", value="noise"),
    "another statistic": _set("protocol", "statistic", value="noise"),
    "levels apart": _set("protocol", "mode", value="stratified"),
    "an unknown field": _set(*_PARAMETERS, "more", value=1),
}
_FORGERIES: dict[str, dict[str, Callable[[Record], None]]] = {
    "rounds": _ANY
    | {
        "fewer categories": _set(*_PARAMETERS, "categories", value=3),
        "one category": _set(*_PARAMETERS, "categories", value=1),
    },
    "optimized": _ANY
    | {
        f"variant {value!r}": _set(*_PARAMETERS, "variant", value=value)
        for value in ("other", "", None, 1)
    }
    | {
        f"{value!r} categories": _set(*_PARAMETERS, "categories", value=value)
        for value in (1, 6.0, "6", None, True)
    },
    "rappor": _ANY
    | {
        f"{key} of {value!r}": _set(*_PARAMETERS, key, value=value)
        for key, values in {
            "hashes": (0, 8, 1.0, None),
            "bits": (2, "16", True),
            "one_given_one": (0.1, 0.95, 1.1, "0.9"),
            "one_given_zero": (0.95, 0.1, -0.1, None),
        }.items()
        for value in values
    },
    "list": _ANY
    | {
        "without parts": _set(*_PARTS, value=[]),
        "parts as a text": _set(*_PARTS, value="two"),
        "a part without a mode": _set(*_PARTS, 0, value={"statistic": "frequency"}),
        "a field of a part": _set(*_PARTS, 0, "more", value=1),
        "fewer categories": _set(*_PARTS, 0, "parameters", "categories", value=2),
        "a part that is unknown": _set(*_PARTS, 0, "mechanism", value="laplace"),
        "a part of levels apart": _set(*_PARTS, 0, "mode", value="stratified"),
        "a part by another variant": _set(
            *_PARTS, 1, "parameters", "variant", value="other"
        ),
        "a part dropped": lambda record: _drop(record, 1),
        "the other part dropped": lambda record: _drop(record, 0),
        "a part more": lambda record: _repeat(record),
    },
}


def _drop(record: Record, part: int) -> None:
    del record["protocol"]["parameters"]["parts"][part]
    sealed(record)


def _repeat(record: Record) -> None:
    parts = record["protocol"]["parameters"]["parts"]
    parts.append(copy.deepcopy(parts[0]))
    sealed(record)


@pytest.mark.slow
@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", _FORGERIES)
def test_no_forgery_holds(name: str) -> None:
    true = _record(name)
    held = []

    for forged, forge in _FORGERIES[name].items():
        record = copy.deepcopy(true)
        forge(record)
        for level in record["levels"]:
            level["epsilon_central_lower"] = 0.0
        try:
            verdicts = _verdicts(record)
        except CertificateError:
            continue
        if verdicts == ["holds"] * 2:
            held.append(forged)

    assert held == []


def test_at_least_thirty_forgeries_are_tried() -> None:
    assert sum(map(len, _FORGERIES.values())) >= 30


def test_the_third_file_is_short_and_imports_neither_the_library_nor_numpy() -> None:
    text = Path(composed.__file__).read_text("utf-8")

    assert len(text.splitlines()) <= 500
    assert imported_packages(text) == {
        "flint",
        "shuffledp_check",
        "shuffledp_check_counts",
        "shuffledp_check_noise",
    }
