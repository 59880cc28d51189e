"""The checker of counts and items: what the library states holds, and nothing more."""

import copy
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certificate_forgeries import certificate, sealed
from flint import arb
from imported_packages import imported_packages

import shuffledp as sdp
import shuffledp_check_counts as counts
import shuffledp_check_noise as noise
from shuffledp_check import CertificateError, check

Record = dict[str, Any]
PEOPLE = {0.5: 3_000, 1.0: 5_000}
FEW, MANY = sdp.PoissonNoise(43.0), sdp.PoissonNoise(90.0)
PAIRS = sdp.GeometricNoise(0.64, pairs=200.0, shape=8.0)
DUMMIES = sdp.ShufflerNoise(0.6, dummies=60)
SLOTS = sdp.SlotNoise(slots=16_000, decay=0.5, longest=4, pairs=40.0)


def _counts(*groups: tuple[int, int, Any], **more: Any) -> sdp.Counts:
    terms: dict[str, Any] = {
        "targets": (0.5, 1.0),
        "rates": (0.4, 1.0),
        "honest": 8_000,
    }
    terms |= more
    return sdp.Counts(tuple(sdp.CountGroup(*group) for group in groups), **terms)


SINGLE: dict[str, tuple[Any, dict[str, Any]]] = {
    "Poisson": (_counts((8, 1, FEW)), {"delta": 1e-6}),
    "one bucket": (_counts((1, 1, FEW)), {"delta": 1e-6}),
    "at an epsilon": (_counts((8, 1, FEW)), {"epsilon": 0.3}),
    "absent": (_counts((8, 1, FEW)), {"delta": 1e-6, "absent": 900}),
    "meaning": (_counts((8, 1, FEW), meaning="ages"), {"delta": 1e-6}),
    "one size": (_counts((8, 1, FEW), report_size=9), {"delta": 1e-6}),
    "geometric": (_counts((8, 1, PAIRS)), {"delta": 1e-6}),
    "more honest people": (
        _counts((8, 1, PAIRS), honest=7_000),
        {"delta": 1e-6, "absent": 400},
    ),
    "geometric, one bucket": (_counts((1, 1, PAIRS)), {"delta": 1e-6}),
    "a Poisson number of pairs": (
        _counts((8, 1, sdp.GeometricNoise(0.5, pairs=300.0)), report_size=40),
        {"delta": 1e-6},
    ),
    "items": (sdp.Items(20, 1, (0.5, 1.0), (0.5, 1.0), 0.3, 14), {"delta": 1e-6}),
    "a floor": (_counts((8, 1, FEW), local_epsilon=5.0), {"delta": 1e-6}),
    "a floor that decides": (
        _counts((8, 1, FEW), local_epsilon=0.01),
        {"delta": 1e-6},
    ),
    "a floor at an epsilon": (
        _counts((8, 1, FEW), local_epsilon=0.4),
        {"epsilon": 0.3},
    ),
    "geometric, a floor": (_counts((8, 1, PAIRS), local_epsilon=7), {"delta": 1e-6}),
    "geometric, few people": (
        _counts((8, 1, PAIRS), local_epsilon=0.5),
        {"delta": 1e-6, "absent": 1},
    ),
    "dummies": (_counts((8, 1, DUMMIES), honest=1), {"delta": 1e-6}),
    "dummies, one bucket": (_counts((1, 1, DUMMIES), honest=1), {"delta": 1e-6}),
    "dummies at an epsilon": (_counts((8, 1, DUMMIES), honest=1), {"epsilon": 0.3}),
    "dummies, a floor": (
        _counts((8, 1, DUMMIES), honest=1, local_epsilon=5.0),
        {"delta": 1e-6},
    ),
    "slots, one bucket": (_counts((1, 1, SLOTS)), {"delta": 1e-6}),
    "slots": (_counts((8, 1, SLOTS)), {"delta": 1e-6}),
    "slots at an epsilon": (_counts((8, 1, SLOTS)), {"epsilon": 0.3, "absent": 900}),
    "slots, more honest people": (
        _counts((8, 1, SLOTS), honest=4_000),
        {"delta": 1e-6},
    ),
}
SEVERAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "groups": (_counts((8, 2, FEW), (4, 1, PAIRS)), {"delta": 1e-6}),
    "yes or no": (_counts((1, 1, FEW), (1, 1, MANY)), {"delta": 1e-6}),
    "rounds": (_counts((8, 1, FEW)), {"delta": 1e-6, "rounds": 3}),
    "sets": (sdp.Items(20, 3, (0.5, 1.0), (0.5, 1.0), 0.3, 14), {"delta": 1e-6}),
    "a list": ([_counts((8, 1, FEW)), _counts((3, 1, MANY))], {"delta": 1e-6}),
    "floors": ([_counts((8, 1, FEW), local_epsilon=0.3)] * 2, {"delta": 1e-6}),
    "dummies, two answers": (_counts((8, 2, DUMMIES), honest=1), {"delta": 1e-6}),
    "dummies in rounds": (
        _counts((8, 1, DUMMIES), honest=1),
        {"delta": 1e-6, "rounds": 2},
    ),
    "dummies, yes or no": (
        _counts((1, 1, DUMMIES), (8, 1, DUMMIES), honest=1),
        {"delta": 1e-6},
    ),
    "slots, two answers": (_counts((8, 2, SLOTS)), {"delta": 1e-6}),
    "a floor of one": (
        [_counts((8, 1, FEW), local_epsilon=0.3), _counts((3, 1, MANY))],
        {"delta": 1e-6},
    ),
}


def _record(protocol: Any, given: dict[str, Any]) -> Record:
    people = sdp.Population.from_counts(PEOPLE)
    record: Record = json.loads(
        json.dumps(sdp.account(protocol, people, **given).to_dict())
    )
    return record


def _verdicts(record: Record) -> list[str]:
    content = json.dumps(record).encode()
    return [verdict for _, verdict, _ in check(content, counts.check_level)]


def _scaled(record: Record, factor: float) -> Record:
    solved = "epsilon_central" if "delta" in record else "delta_central"
    scaled = copy.deepcopy(record)
    for level in scaled["levels"]:
        level[solved] *= factor
        level[f"{solved}_lower"] *= 0.5
    return scaled


@pytest.mark.parametrize("name", SINGLE)
def test_a_few_changes_hold_and_0_998_of_them_does_not(name: str) -> None:
    record = _record(*SINGLE[name])

    assert _verdicts(record) == ["holds"] * 2
    assert _verdicts(_scaled(record, 0.998)) == ["does not hold"] * 2


@pytest.mark.parametrize("theorem", ["counts", "composition", "items", "device"])
def test_that_the_shuffler_is_trusted_must_be_stated(theorem: str) -> None:
    record = _record(*SINGLE["dummies"])
    assert [level["rests_on"] for level in record["levels"]] == ["shuffler"] * 2
    for level in record["levels"]:
        level["rests_on"] = theorem

    with pytest.raises(CertificateError, match="its theorem"):
        _verdicts(record)


def test_what_holds_names_the_trust_in_the_shuffler() -> None:
    content = json.dumps(_record(*SINGLE["dummies"])).encode()
    others = json.dumps(_record(*SINGLE["Poisson"])).encode()

    for _, _, reason in check(content, counts.check_level):
        assert reason.endswith("is proven, if the shuffler adds its noise")
    for _, _, reason in check(others, counts.check_level):
        assert reason.endswith("is proven")


def test_other_noise_is_not_said_to_be_the_shufflers() -> None:
    record = _record(*SINGLE["Poisson"])
    for level in record["levels"]:
        level["rests_on"] = "shuffler"

    with pytest.raises(CertificateError, match="its theorem"):
        _verdicts(record)


def test_who_is_absent_does_not_change_noise_of_the_shuffler() -> None:
    protocol, given = SINGLE["dummies"]
    present, absent = _record(protocol, given), _record(protocol, given | {"absent": 9})

    assert absent["levels"][0]["hides_among"] == 7_991
    assert _verdicts(present) == _verdicts(absent) == ["holds"] * 2


def test_dummies_of_two_decays_are_enumerated_together() -> None:
    # On a grid, the corners of both profiles would be rounded.
    groups = (8, 1, DUMMIES), (3, 1, sdp.ShufflerNoise(0.9, dummies=300))
    record = _record(_counts(*groups, honest=1), {"delta": 1e-6})

    assert _verdicts(record) == ["holds"] * 2
    assert _verdicts(_scaled(record, 0.99)) == ["does not hold"] * 2


@pytest.mark.slow
def test_dummies_and_noise_of_people_compose() -> None:
    parts = [_counts((8, 1, DUMMIES), honest=1), _counts((3, 1, FEW))]
    record = _record(parts, {"delta": 1e-6})

    assert _verdicts(record) == ["holds"] * 2
    assert _verdicts(_scaled(record, 0.99)) == ["does not hold"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_several_changes_hold_and_0_99_of_them_does_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _record(*SEVERAL[name])
    # Wider cells are quicker, and prove a little less.
    monkeypatch.setattr(counts, "HALF", 2**13)

    assert _verdicts(record) == ["holds"] * 2
    assert _verdicts(_scaled(record, 0.99)) == ["does not hold"] * 2


def test_exact_divergences_agree_with_an_enumeration_of_both_numbers() -> None:
    p, pairs, rate, growth = 0.5, 6.0, 0.7, math.exp(0.4)
    sizes = np.arange(60)
    geometric = (1 - p) * p**sizes
    flood = [math.exp(-pairs) * pairs**z / math.factorial(z) for z in sizes.tolist()]
    without = np.zeros((61, 61))
    for z, mass in enumerate(flood):
        rest = geometric[: 60 - z]
        without[z:60, z:60] += mass * np.outer(rest, rest)
    more = np.zeros((61, 61))
    more[1:] = without[:-1]
    one = (rate * more + (1 - rate) * without).ravel()
    none = without.ravel()
    gains = [np.maximum(a - growth * b, 0).sum() for a, b in ((one, none), (none, one))]
    seen = noise.Noise({"decay": p, "pairs": pairs, "shape": None}, arb(1))
    outcomes = seen.outcomes(arb(rate), arb(1e-30))

    alone = counts.exactly(outcomes, False, arb(growth))
    both = counts.exactly(outcomes, True, arb(growth))

    # Both enumerations leave out less than 1e-12.
    assert float(alone) == pytest.approx(max(gains), abs=1e-11)
    ratios = np.array([float(a / b) for a, b in outcomes])
    masses = np.array([float(b) for _, b in outcomes])
    moved = np.maximum(ratios[:, None] - growth * ratios[None, :], 0)
    assert float(both) == pytest.approx(float(masses @ moved @ masses), rel=1e-9)


def test_composition_encloses_all_directions_of_two_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counts, "HALF", 2**12)
    pairs = [
        noise.Noise({"mean": mean}, arb(1)).outcomes(arb(0.8), arb(1e-30))
        for mean in (6.0, 9.0)
    ]
    arrays = [np.array([[float(p), float(q)] for p, q in each]).T for each in pairs]
    exact = 0.0
    for turned in itertools.product((False, True), repeat=2):
        (a, b), (c, d) = (
            each[::-1] if turn else each
            for each, turn in zip(arrays, turned, strict=True)
        )
        gains = np.outer(a, c) - math.exp(0.9) * np.outer(b, d)
        exact = max(exact, float(np.maximum(gains, 0).sum()))

    ball = counts.composed([(each, False, 1) for each in pairs], 0.9, 1e-6)

    assert float(ball.lower()) * (1 - 1e-9) <= exact <= float(ball.upper())
    # The larger profile of each is that of no single direction: 2% is lost.
    assert float(ball.upper()) <= 1.02 * exact


def test_what_is_cut_agrees_with_a_convolution() -> None:
    poisson = noise.Noise({"mean": 0.5}, arb(1))
    geometric = noise.Noise({"decay": 0.4, "pairs": 0.3, "shape": 2.0}, arb("0.5"))
    sizes = range(40)
    # The shape of + and of - is a half; of 0.15 pairs, 1.
    half = np.array([math.gamma(k + 0.5) * 0.4**k / math.factorial(k) for k in sizes])
    pairs = np.zeros(40)
    pairs[::2] = (0.15 / 1.15) ** np.arange(20)
    singles = np.array([0.5**k / math.factorial(k) for k in sizes])
    total = np.ones(1)
    for masses in (half, half, pairs, singles):
        total = np.convolve(total, masses / masses.sum())[:40]

    lost = noise.cut([(poisson, 1), (geometric, 1)], 6)

    assert float(lost) == pytest.approx(1 - total[:7].sum(), rel=1e-9)


def _set(*path: Any, value: Any) -> Callable[[Record], None]:
    def forge(record: Record) -> None:
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
        sealed(record)

    return forge


_PARAMETERS = ("protocol", "parameters")
_NOISE = (*_PARAMETERS, "groups", 0, "noise")
_ANY = {
    **{
        f"epsilon times {factor}": _set("levels", 1, "epsilon_central", value=factor)
        for factor in (0.999, 0.99, 0.9, 0.75, 0.5)
    },
    "another delta": _set("delta", value=9.9e-7),
    "fewer people": _set("people", 1, 1, value=4_999),
    "absent people": _set("absent", value=1),
    "a coalition": _set("levels", 1, "epsilon_coalition", value=1.0),
    "levels apart": _set("protocol", "mode", value="stratified"),
    "hides among more": _set("levels", 1, "hides_among", value=8_001),
    "an unknown field": _set(*_PARAMETERS, "more", value=1),
    "a field of a level": _set("levels", 1, "more", value=1),
    "another theorem": _set("levels", 1, "rests_on", value="device"),
    "another mechanism": _set("protocol", "mechanism", value="noise"),
    "another subject": _set("about", value="nothing"),
    "two rounds": _set("rounds", value=2),
}
_RATED = {
    "a larger rate": _set(*_PARAMETERS, "rates", value=[0.55, 1.0]),
    "a rate as a text": _set(*_PARAMETERS, "rates", value=["0.4", 1.0]),
    "a rate above 1": _set(*_PARAMETERS, "rates", value=[0.4, 1.1]),
    "one rate": _set(*_PARAMETERS, "rates", value=[0.4]),
    "another target": _set(*_PARAMETERS, "targets", value=[0.5, 1.5]),
    "targets that fall": _set(*_PARAMETERS, "targets", value=[1.0, 0.5]),
}
_COUNTED = {
    "made for more": _set(*_PARAMETERS, "honest", value=8_010),
    "made for 8000.0": _set(*_PARAMETERS, "honest", value=8_000.0),
    "honest, true": _set(*_PARAMETERS, "honest", value=True),
    "no groups": _set(*_PARAMETERS, "groups", value=[]),
    "small reports": _set(*_PARAMETERS, "report_size", value=2),
    "more answers": _set(*_PARAMETERS, "groups", 0, "most", value=2),
    "more answers than buckets": _set(*_PARAMETERS, "groups", 0, "most", value=9),
    "a field of a group": _set(*_PARAMETERS, "groups", 0, "more", value=1),
    "another noise": _set(*_NOISE, value={"normal": {"mean": 43.0}}),
    "slots": _set(*_NOISE, value={"slots": {"slots": 8_000}}),
    "two kinds of noise": _set(*_NOISE, value={"poisson": {}, "geometric": {}}),
}
_POISSON = {
    f"noise of {mean!r}": _set(*_NOISE, value={"poisson": {"mean": mean}})
    for mean in (42.9, 0, 0.0, -43.0, "43.0", True, None, [43.0], 1e10)
}
_GEOMETRIC = {
    f"{key} of {value!r}": _set(*_NOISE, "geometric", key, value=value)
    for key, values in {
        "decay": (0.639, 0.0, 1.0, "0.64", None),
        "pairs": (199.0, 0, "200", None, True),
        "shape": (7.9, 1, 0.5, -8.0, "8", True, [8.0]),
        "surplus": (0.5, "1", None),
        "more": (1,),
    }.items()
    for value in values
}
_DUMMIES = {
    f"{key} of {value!r}": _set(*_NOISE, "shuffler", key, value=value)
    for key, values in {
        "decay": (0.599, 0.0, 1.0, "0.6", None),
        "dummies": (20, 0, 60.0, "60", True, 100_001),
        "more": (1,),
    }.items()
    for value in values
} | {
    "noise that people share": _set(*_PARAMETERS, "honest", value=8_000),
    "reports with room": _set(*_PARAMETERS, "report_size", value=9),
}
_SLOTS = {
    f"{key} of {value!r}": _set(*_NOISE, "slots", key, value=value)
    for key, values in {
        "slots": (15_999, 8_000, 16_000.0, True),
        "decay": (0.499, 0.0, 1.0, "0.5"),
        "longest": (1, 65, 4.0, "4"),
        "pairs": (39.0, 0.0, "40", None),
        "strength": (0.99, 0.0, "1", None),
        "more": (1,),
    }.items()
    for value in values
} | {"reports with room": _set(*_PARAMETERS, "report_size", value=9)}
_ITEMS = {
    f"{key} of {value!r}": _set(*_PARAMETERS, key, value=value)
    for key, values in {
        "items": (21, 1, 20.0, "20"),
        "set_size": (0, 21, True),
        "blanket": (0.299, 0, 0.0, -0.3, "0.3"),
        "report_size": (3, 0, 14.0, None),
    }.items()
    for value in values
}
_LISTED = {
    "without a part": _set(*_PARAMETERS, "parts", value=[]),
    "a part more": _set(*_PARAMETERS, "parts", 0, "more", value=1),
    "a part without a mode": _set(
        *_PARAMETERS, "parts", 0, value={"statistic": "counts"}
    ),
    "a part that is unknown": _set(*_PARAMETERS, "parts", 0, "statistic", value="sum"),
    "a part of less noise": _set(
        *_PARAMETERS, "parts", 0, *_NOISE[1:], value={"poisson": {"mean": 42.0}}
    ),
    "a larger rate": _set(
        *_PARAMETERS, "parts", 0, *_PARAMETERS[1:], "rates", value=[1, 1]
    ),
    "fewer parts as a text": _set(*_PARAMETERS, "parts", value="two"),
}
_FLOORED = {
    name: forge
    for name, forge in _ANY.items()
    # Both may be true of answers that are randomized.
    if name not in ("a coalition", "another theorem")
} | {
    f"a floor of {value!r}": _set(*_PARAMETERS, "local_epsilon", value=value)
    for value in (5.001, None, 0, -5.0, "5", True, [5.0], 701.0)
}
_COALITION = ("levels", 1, "epsilon_coalition")
FORGERIES: dict[str, tuple[Any, dict[str, Callable[[Record], None]]]] = {
    "Poisson": (SINGLE["Poisson"], _ANY | _RATED | _COUNTED | _POISSON),
    "geometric": (SINGLE["geometric"], _ANY | _RATED | _COUNTED | _GEOMETRIC),
    "items": (SINGLE["items"], _ANY | _RATED | _ITEMS),
    "dummies": (
        SINGLE["dummies"],
        {
            name: forge
            for name, forge in (_ANY | _RATED | _COUNTED | _DUMMIES).items()
            # Nothing depends on people, and delta little on epsilon: these are true.
            if name not in ("absent people", "fewer people", "another delta")
        },
    ),
    "slots": (SINGLE["slots"], _ANY | _RATED | _COUNTED | _SLOTS),
    "a list": (SEVERAL["a list"], _ANY | _LISTED),
    "a floor": (
        SINGLE["a floor"],
        _FLOORED
        | _COUNTED
        | {"less than 5": _set(*_COALITION, value=math.nextafter(5.0, 0.0))},
    ),
    "a floor that decides": (
        SINGLE["a floor that decides"],
        _FLOORED | {"less": _set(*_COALITION, value=math.nextafter(0.01, 0.0))},
    ),
}


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(
    "kind",
    [
        "Poisson",
        "geometric",
        "items",
        "dummies",
        pytest.param("slots", marks=pytest.mark.slow),
        pytest.param("a list", marks=pytest.mark.slow),
        "a floor",
        "a floor that decides",
    ],
)
def test_no_forgery_holds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "HALF", 2**8)
    (protocol, given), forgeries = FORGERIES[kind]
    true = _record(protocol, given)
    held = []

    for name, forge in forgeries.items():
        record = copy.deepcopy(true)
        certified = record["levels"][1]["epsilon_central"]
        forge(record)
        level = record["levels"][1]
        level["epsilon_central_lower"] = 0.0
        if name.startswith("epsilon times"):
            level["epsilon_central"] *= certified
        try:
            verdicts = _verdicts(record)
        except CertificateError:
            continue
        if verdicts == ["holds"] * 2:
            held.append(name)

    assert held == []
    assert len(forgeries) >= 20


def test_what_it_does_not_know_cannot_be_told_and_single_messages_still_can() -> None:
    record = _record(*SINGLE["Poisson"])
    _set(*_NOISE, value={"normal": {"mean": 43.0}})(record)

    assert _verdicts(record) == ["cannot tell"] * 2
    assert set(_verdicts(certificate())) == {"holds"}


@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-31])
@pytest.mark.parametrize("epsilon", [0.0, 700.0, 1e300])
def test_extreme_numbers_cannot_be_told(epsilon: float, delta: float) -> None:
    record = _record(*SINGLE["at an epsilon"])
    record["epsilon"] = epsilon
    for level in record["levels"]:
        level["delta_central"] = level["delta_central_lower"] = delta

    assert _verdicts(record) == ["cannot tell"] * 2


def test_a_rate_of_0_shows_nothing_and_a_tiny_one_ends() -> None:
    silent = _record(_counts((8, 1, FEW), rates=(0.0, 5e-324)), {"epsilon": 0.0})

    assert _verdicts(silent)[0] == "holds"


def test_geometric_noise_of_fewer_people_does_not_hold() -> None:
    record = _record(*SINGLE["geometric"])
    record["absent"] = 1
    for level in record["levels"]:
        level["hides_among"] -= 1

    assert _verdicts(record) == ["does not hold"] * 2


def test_ten_times_the_double_0_1_is_more_than_1() -> None:
    counted = _counts((8, 1, FEW), local_epsilon=0.1)
    record = _record(counted, {"delta": 1e-6, "rounds": 10})
    forged = copy.deepcopy(record)
    forged["levels"][1]["epsilon_coalition"] = 1.0

    assert _verdicts(record) == ["holds"] * 2
    assert _verdicts(forged) == ["holds", "does not hold"]


def test_floors_beside_what_it_does_not_know_cannot_be_told() -> None:
    counted = _counts((8, 1, FEW), local_epsilon=0.5)
    record = _record([counted, sdp.Frequency(4)], {"delta": 1e-6})

    assert record["levels"][1]["epsilon_coalition"] == 1.5
    assert _verdicts(record) == ["cannot tell"] * 2


def test_the_second_file_is_short_and_imports_neither_the_library_nor_numpy() -> None:
    text = Path(counts.__file__).read_text("utf-8")

    assert len(text.splitlines()) <= 500
    assert imported_packages(text) == {
        "flint",
        "shuffledp_check",
        "shuffledp_check_noise",
    }


def test_masses_of_outcomes_add_up_to_1_far_below_double_precision() -> None:
    # 1 - rate in double precision would be off by 5e-17.
    pairs = noise.Noise({"decay": 0.6, "pairs": 40.0, "shape": 3.0}, arb(1))
    outcomes = pairs.outcomes(arb(0.447), arb(1e-40))

    for masses in zip(*outcomes, strict=True):
        assert abs(1 - sum(masses, arb(0))) < 1e-30


def test_a_grid_knows_what_only_one_world_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Three messages go with a probability that is as large as the divergence.
    pairs = noise.Dummies({"decay": 0.5, "dummies": 8}).outcomes(arb(1), arb(1))
    changes = [(pairs, True, 2), (pairs, True, 1)]
    exact = float(counts.composed(changes, 2.5, 1e-3))

    monkeypatch.setattr(counts, "MANY", 0)
    monkeypatch.setattr(counts, "HALF", 2**12)
    ball = counts.composed(changes, 2.5, 1e-3)

    assert 0.999 * exact <= float(ball.lower()) <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= float(ball.upper()) <= 1.01 * exact


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_ratios_in_doubt_are_within_the_ball(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = noise.Noise({"mean": 20.0}, arb(1)).outcomes(arb(0.7), arb(1e-30))
    growth = arb(epsilon).exp()
    exact = float(counts.exactly(pairs, True, growth))

    monkeypatch.setattr(counts, "TIE", 0.3)
    ball = counts.exactly(pairs[::-1], True, growth)

    assert float(ball.lower()) < exact < float(ball.upper())


def test_slots_that_are_too_few_are_paid_for_in_each_bucket_that_changes() -> None:
    protocol = _record(*SINGLE["slots"])["protocol"]

    _, lost, needed = counts.changes_of(protocol, 1.0, 8_000, 1e-6)

    assert float(lost) == pytest.approx(2 * math.exp(-34), rel=1e-9, abs=0.0)
    assert needed == 0


@pytest.mark.parametrize(
    "changes", [{"honest": 8_000}, {"report_size": 9}], ids=["people", "sizes"]
)
def test_dummies_of_people_are_no_certificate(changes: dict[str, int]) -> None:
    record = _record(*SINGLE["dummies"])
    record["protocol"]["parameters"] |= changes

    with pytest.raises(CertificateError, match="no noise of people"):
        _verdicts(sealed(record))
