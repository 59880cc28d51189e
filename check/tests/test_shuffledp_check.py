"""The checker of certificates: what the library states holds, and nothing more does."""

import copy
import itertools
import json
import math
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certificate_forgeries import FORGERIES, certificate, sealed
from flint import arb, fmpq
from imported_packages import imported_packages

import shuffledp as sdp
import shuffledp_check
from shuffledp.accounting.guarantee import FORMAT
from shuffledp_check import CertificateError, check

FILE = Path(shuffledp_check.__file__)
MIXED = {1.0: 50_000, 2.5: 20_000}
PROTOCOLS: dict[str, tuple[Any, dict[float, int], dict[str, Any]]] = {
    "one bit": (sdp.BinarySum(), MIXED, {"delta": 1e-6}),
    "one bit, few people": (sdp.BinarySum(), {1.0: 3, 2.0: 4}, {"delta": 1e-2}),
    "a mean": (sdp.Mean(0.0, 2.0), {1.0: 20_000}, {"epsilon": 0.05}),
    "two categories": (sdp.Frequency(2), {1.0: 10**6}, {"delta": 1e-9}),
    "categories": (sdp.Frequency(17), MIXED, {"delta": 1e-6}),
    "many people": (sdp.Frequency(17), {1.0: 10**9, 2.0: 10**6}, {"delta": 1e-9}),
    "a delta": (sdp.Frequency(5), {1.0: 5_000, 3.0: 5_000}, {"epsilon": 0.1}),
    "stratified": (sdp.Frequency(4, "stratified"), MIXED, {"delta": 1e-6}),
    "absent": (sdp.Frequency(4), MIXED, {"delta": 1e-6, "absent": 1_000}),
    "few messages": (sdp.Frequency(100), {3.0: 60}, {"epsilon": 1.0}),
    "subsets": (sdp.SubsetSelection(9, 3), MIXED, {"delta": 1e-6}),
    "hashes": (sdp.LocalHashing(9, 3), {2.0: 8}, {"delta": 1e-3}),
    "hadamard": (
        sdp.Frequency(9, randomizer=sdp.HadamardResponse(9)),
        {2.0: 50_000},
        {"delta": 1e-6},
    ),
    "a grid": (
        sdp.GridResponse(low=0.0, high=1.0, num_values=9),
        MIXED,
        {"delta": 1e-4},
    ),
}


def stated(name: str) -> dict[str, Any]:
    """Returns the library's certificate, as JSON gives it."""
    protocol, counts, given = PROTOCOLS[name]
    people = sdp.Population.from_counts(counts)
    record = sdp.account(protocol, people, **given).to_dict()
    plain: dict[str, Any] = json.loads(json.dumps(record))
    return plain


def verdicts_of(record: object) -> list[str]:
    """Returns the verdict on every level."""
    return [verdict for _, verdict, _ in check(json.dumps(record).encode())]


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_the_library_states_holds_and_0_998_of_it_does_not(name: str) -> None:
    record = stated(name)
    solved = "epsilon_central" if "delta" in record else "delta_central"
    # The level that is least protected is never a device's alone here.
    weakest = max(record["levels"], key=lambda level: float(level[solved]))

    verdicts = verdicts_of(record)
    weakest[solved] *= 0.998
    weakest[f"{solved}_lower"] *= 0.9
    record["levels"] = [weakest]

    assert set(verdicts) == {"holds"}
    assert verdicts_of(record) == ["does not hold"]


def test_half_a_character_is_refused() -> None:
    record = stated("few messages")
    record["assumptions"][0] += "\ud800"

    with pytest.raises(CertificateError, match="UTF-8"):
        check(json.dumps(record).encode())


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forgery_holds(name: str) -> None:
    record = copy.deepcopy(certificate())

    content = FORGERIES[name](record)

    if isinstance(content, bytes):
        with pytest.raises(CertificateError):
            check(content)
        return
    assert json.dumps(record) != json.dumps(certificate()), name
    try:
        verdicts = verdicts_of(record)
    except CertificateError:
        return
    assert verdicts.count("holds") < len(verdicts), name


def test_at_least_three_hundred_forgeries_are_tried() -> None:
    # The certificate that they start from is a true one.
    assert set(verdicts_of(certificate())) == {"holds"}
    assert len(FORGERIES) >= 300


def test_one_file_of_500_lines_imports_neither_the_library_nor_numpy() -> None:
    text = FILE.read_text("utf-8")

    assert len(text.splitlines()) <= 500
    assert imported_packages(text) == {"flint"}


def test_format_and_version_are_the_librarys() -> None:
    project = tomllib.loads(FILE.with_name("pyproject.toml").read_text("utf-8"))

    assert shuffledp_check.FORMAT == FORMAT
    assert project["project"]["version"] == sdp.__version__


def test_numbers_are_printed_as_they_were_checked() -> None:
    people = sdp.Population.from_counts({1.0: 1200})
    record = sdp.account(sdp.Frequency(17), people, delta=1e-6).to_dict()
    # Rounded to six digits it would be too small to hold.
    record["levels"][0] |= {"epsilon_central": 0.056601945, "epsilon_central_lower": 0}

    ((_, verdict, reason),) = check(json.dumps(record).encode())

    assert verdict == "holds"
    assert "at epsilon 0.056601945 delta 1e-06" in reason


@pytest.mark.slow
def test_an_epsilon_of_0_holds() -> None:
    people = sdp.Population.from_counts(MIXED)
    record = sdp.account(sdp.Frequency(9), people, delta=0.1).to_dict()
    assert record["levels"][0]["epsilon_central"] == 0.0

    assert set(verdicts_of(record)) == {"holds"}
    record["delta"] = 1e-4
    assert set(verdicts_of(record)) == {"does not hold"}


def test_noise_on_few_messages_accuses_no_certificate() -> None:
    # So near to the local level, the smoothed bound is 0.3% above the sum.
    people = sdp.Population.from_counts({1.624: 19, 2.478: 9})
    protocol, delta = sdp.LocalHashing(100, 3), 6.671382238660053e-09
    record = sdp.account(protocol, people, delta=delta, absent=2).to_dict()

    assert set(verdicts_of(record)) == {"holds"}


def test_few_messages_hold_far_below_delta_1e_25() -> None:
    # The integral's noise raises the bound by 3e-5 there.
    people = sdp.Population.from_counts({0.674: 350})
    protocol = sdp.Frequency(4, "stratified")
    record = sdp.account(protocol, people, epsilon=0.5135, absent=97).to_dict()
    assert record["levels"][0]["delta_central"] < 1e-49

    assert verdicts_of(record) == ["holds"]
    record["levels"][0]["delta_central"] *= 0.9999
    record["levels"][0]["delta_central_lower"] = 0.0
    assert verdicts_of(record) != ["holds"]


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_levels_that_balls_do_not_tell_from_0_cannot_be_told(share: float) -> None:
    people = sdp.Population.from_counts({1e-40: 30})
    record = sdp.account(sdp.Frequency(4), people, epsilon=0.0).to_dict()
    record["levels"][0]["delta_central"] *= share
    record["levels"][0]["delta_central_lower"] = 0.0

    assert verdicts_of(record) == ["cannot tell"]


def test_protocols_it_does_not_know_cannot_be_told() -> None:
    rounds, several = (copy.deepcopy(certificate()) for _ in range(2))
    rounds["rounds"] = 3
    for level in rounds["levels"]:
        level["epsilon_coalition"] *= 4.0
    several["protocol"]["mechanism"] = "unary-encoding"

    for record in (rounds, sealed(several)):
        for _, verdict, reason in check(json.dumps(record).encode()):
            assert verdict == "cannot tell"
            # The program that can tell.
            assert reason.endswith("shuffledp-check-composed")


def test_counts_are_left_to_the_program_that_is_named() -> None:
    group = sdp.CountGroup(8, 1, sdp.PoissonNoise(43.0))
    protocol = sdp.Counts((group,), (1.0,), (0.5,), honest=90)
    people = sdp.Population.from_counts({1.0: 90})
    record = sdp.account(protocol, people, delta=1e-6).to_dict()

    ((_, verdict, reason),) = check(json.dumps(record).encode())

    assert verdict == "cannot tell"
    assert reason == "noisy-counts is checked by shuffledp-check-counts"


def test_progress_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.dumps(certificate()).encode()

    check(content)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    check(content)

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "level 1: 'one report'" in captured.err
    assert "\n" not in captured.err


def test_a_mechanism_of_the_same_name_with_a_class_of_its_own_cannot_be_told() -> None:
    record = copy.deepcopy(certificate())
    record["protocol"]["parameters"]["class"] = "elsewhere.KRandomizedResponse"

    assert set(verdicts_of(sealed(record))) == {"cannot tell"}


@pytest.mark.parametrize("caution", [1.0, 1.0 + 4e-16])
def test_what_only_devices_prove_of_several_rounds_holds(caution: float) -> None:
    people = sdp.Population.from_counts({0.1: 1, 0.5: 1})
    stated = sdp.account(sdp.Frequency(3), people, delta=1e-9, rounds=3, absent=1)
    record = json.loads(json.dumps(stated.to_dict()))
    for level in record["levels"]:
        level["epsilon_coalition"] *= caution
        level["epsilon_central"] = level["epsilon_coalition"]

    assert set(verdicts_of(record)) == {"holds"}


def test_a_coalition_is_promised_no_more_than_the_device_gives() -> None:
    record = copy.deepcopy(certificate())
    record["levels"][0]["epsilon_coalition"] *= 0.999

    assert verdicts_of(record)[0] == "does not hold"


@pytest.mark.slow
def test_quantiles_must_be_those_of_the_people() -> None:
    people = sdp.Population.from_counts({0.5 + 0.02 * i: 50 + i for i in range(40)})
    record = sdp.account(sdp.Frequency(4), people, delta=1e-6).to_dict()
    assert set(verdicts_of(record)) == {"holds"}

    record["levels"][1]["quantile"], record["levels"][2]["quantile"] = (
        record["levels"][2]["quantile"],
        record["levels"][1]["quantile"],
    )

    with pytest.raises(CertificateError, match="level of the"):
        verdicts_of(record)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("epsilon", [0.0, 1.3])
@pytest.mark.parametrize(
    ("inside", "both"),
    # Of two messages none is in neither set, and of two in three none either.
    [((1, 4), (0, 1)), ((1, 3), (1, 9)), ((1, 2), (0, 1)), ((2, 3), (1, 3))],
)
def test_both_evaluations_of_the_blanket_agree_with_an_enumeration(
    inside: tuple[int, int], both: tuple[int, int], epsilon: float
) -> None:
    atoms = shuffledp_check.losses(fmpq(*inside), fmpq(*both), 2.0, epsilon)
    gammas = [0.3, 0.3, 0.55, 0.8]
    exact = _enumerated([(float(m), float(v)) for m, v in atoms], gammas, epsilon)
    groups = [(arb(gamma), count) for gamma, count in Counter(gammas).items()]

    total = shuffledp_check.summed(atoms, groups, sum(gammas), 1e-3)
    noise = arb(1e-4)
    integral = shuffledp_check.Blanket(atoms, groups, 1e-3, noise).bound()

    # The enumeration is in double precision; noise of a hundredth of a loss's size raises
    # the integral.
    assert float(total) == pytest.approx(exact, rel=1e-12)
    assert exact * (1 - 1e-12) <= float(integral.upper()) <= exact + 0.01


def _enumerated(
    atoms: list[tuple[float, float]], gammas: list[float], epsilon: float
) -> float:
    """Returns the blanket theorem's bound, by all outcomes."""
    total = 0.0
    for sends in itertools.product((False, True), repeat=len(gammas)):
        chances = [g if s else 1.0 - g for g, s in zip(gammas, sends, strict=True)]
        for drawn in itertools.product(atoms, repeat=1 + sum(sends)):
            weight = math.prod(chances) * math.prod(mass for mass, _ in drawn)
            loss = math.fsum(value for _, value in drawn)
            total += weight * max(loss, 0.0) / len(drawn)
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.6])
def test_two_messages_agree_with_all_data_of_few_people(epsilon: float) -> None:
    level, others = 0.8, [(0.5, 3), (1.5, 2)]
    exact = {
        data: _divergence(level, epsilon, others, data)
        for data in itertools.product(range(4), range(3))
    }
    bounds = shuffledp_check.TwoMessages(level, epsilon, others)

    for data, divergence in exact.items():
        assert float(bounds.exactly(list(data))) == pytest.approx(divergence, rel=1e-12)
    worst = max(exact.values())
    assert float(bounds.above([(0, 3), (0, 2)]).upper()) >= worst
    assert bounds.bound(worst * (1 + 1e-9)) == 0
    assert bounds.bound(worst * (1 - 1e-9)) > worst * (1 - 1e-9)


@pytest.mark.parametrize("width", [0, 1, 3, 12])
def test_boxes_of_data_are_at_least_all_data_in_them(width: int) -> None:
    level, epsilon, others = 0.8, 0.1, [(0.5, 20), (1.5, 12)]
    bounds = shuffledp_check.TwoMessages(level, epsilon, others)
    places = [range(0, count - width + 1, 5) for _, count in others]

    for lows in itertools.product(*places):
        inside = itertools.product(*(range(low, low + width + 1) for low in lows))
        worst = max(_divergence(level, epsilon, others, data) for data in inside)
        above = float(bounds.above([(low, low + width) for low in lows]).upper())

        assert worst * (1 - 1e-12) <= above
        # Thresholds between numbers may be better by some percent.
        assert width == 12 or above <= 1.2 * worst


def _divergence(
    level: float,
    epsilon: float,
    others: list[tuple[float, int]],
    data: tuple[int, ...],
) -> float:
    """Returns the divergence by its definition."""
    ones = np.ones(1)
    for (other, count), holders in zip(others, data, strict=True):
        low = 1.0 / (1.0 + math.exp(other))
        for chance in [1.0 - low] * holders + [low] * (count - holders):
            ones = np.convolve(ones, [1.0 - chance, chance])
    flip = 1.0 / (1.0 + math.exp(level))
    first = np.convolve(ones, [flip, 1.0 - flip])
    second = np.convolve(ones, [1.0 - flip, flip])
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def test_the_file_runs_by_itself_and_exits_with_its_verdict(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    record = copy.deepcopy(certificate())

    def run() -> tuple[int, str]:
        path.write_text(json.dumps(record), "utf-8")
        done = subprocess.run(
            [sys.executable, "-I", FILE, path], capture_output=True, text=True
        )
        return done.returncode, done.stdout or done.stderr

    code, output = run()
    assert code == 0
    assert output.count("holds: 'one report'") == len(record["levels"])
    record["levels"][1]["epsilon_central"] *= 0.99
    record["levels"][1]["epsilon_central_lower"] *= 0.9
    assert run()[0] == 1
    record["levels"][1]["rests_on"] = "magic"
    code, output = run()
    assert code == 2
    assert output.startswith("not a certificate: ")


def test_an_unknown_kind_exits_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = copy.deepcopy(certificate())
    record["protocol"]["mechanism"] = "unary-encoding"
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(sealed(record)), "utf-8")
    monkeypatch.setattr(sys, "argv", ["shuffledp-check", str(path)])

    with pytest.raises(SystemExit) as stop:
        shuffledp_check.main()

    assert stop.value.code == 3
    assert capsys.readouterr().out.startswith("cannot tell: ")


def test_verdicts_say_of_how_many_levels_they_are() -> None:
    record = copy.deepcopy(certificate())
    num_levels = len(record["people"])
    del record["levels"][-1]

    names = [name for name, _, _ in check(json.dumps(record).encode())]

    assert 0 < len(names) < num_levels
    assert all(name.endswith(f" of {num_levels}") for name in names)
