"""Records of an audit are read strictly, and e-values follow from p-values."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from canary_oracles import TASK, some_canaries, some_seen
from scipy.integrate import quad

import shuffledp as sdp
from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.e_values import average, calibrated
from shuffledp_services.evidence.epoch_view import (
    MessageBatch,
    SupportCounts,
    SupportDependence,
)
from shuffledp_services.evidence.evidence import (
    AuditFinding,
    EpochFindings,
    EpochTest,
    Evidence,
)
from shuffledp_services.evidence.privacy_profiles import (
    PrivacyProfiles,
    certified_profiles,
)


def some_findings(epoch: int, p_value: float | None = 1.0) -> EpochFindings:
    rest = [
        AuditFinding.not_tested(check, sentence="Not shown.")
        for check in list(EpochTest)[1:]
    ]
    first = next(iter(EpochTest))
    if p_value is None:
        return EpochFindings(
            epoch, (AuditFinding.not_tested(first, sentence="No."), *rest)
        )
    found = AuditFinding.of_p_value(first, p_value, sentence="Seen.")
    return EpochFindings(epoch, (found, *rest))


def test_canaries_come_back_from_json_with_hashes_that_end_in_zeros() -> None:
    hashes = np.array([[b"\1" * 31 + b"\0"], [b"\2" * 32]], "S32")
    canaries = some_canaries(2, hashes=hashes)

    read = Canaries.from_json(canaries.to_json())

    names = (
        "levels",
        "pairs",
        "bits",
        "send_positions",
        "uploads",
        "hashes",
        "receipts",
    )
    for name in names:
        assert np.array_equal(getattr(read, name), getattr(canaries, name)), name
    assert (read.task, read.epoch) == (TASK, 3)
    assert json.loads(canaries.to_json())["hashes"][0] == ["01" * 31 + "00"]
    assert read.values.tolist() == read.pairs[[0, 1], read.bits].tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", "ab"),
        ("task", "AB" * 32),
        ("epoch", 0),
        ("epoch", True),
        ("levels", [1.0] * 3),
        ("levels", ["1"] * 4),
        ("levels", [-1.0] * 4),
        ("pairs", [[0.0, 1.0]] * 3),
        ("pairs", [[1.0, 1.0]] * 4),
        ("pairs", [[1.0]] * 4),
        ("bits", [0, 1, 2, 0]),
        ("bits", [True] * 4),
        ("places", [0, 0, 1, 2]),
        ("places", [0, 1, 2, -3]),
        ("uploads", [0.5] * 4),
        ("hashes", [["ab"]] * 4),
        ("hashes", [["ab" * 32]] * 4),
        ("hashes", [["ab" * 32, "cd" * 32], ["00" * 32]] * 2),
        ("hashes", [[]] * 4),
        ("receipts", [1] * 4),
        ("receipts", [True] * 3),
        ("receipts", None),
        ("more", 1),
    ],
)
def test_a_record_that_is_not_one_is_refused(name: str, value: object) -> None:
    record = json.loads(some_canaries().to_json()) | {name: value}

    with pytest.raises(DataError, match="Expected"):
        Canaries.from_json(json.dumps(record))


def test_a_calibrator_has_integral_one_and_falls() -> None:
    grid = np.concatenate([10.0 ** np.arange(-300, 0), np.linspace(0.1, 1.0, 9999)])
    found = [calibrated(float(p)) for p in grid]

    # With p = e^-t; the antiderivative is -(1 - e^-t) / t.
    whole, error = quad(lambda t: calibrated(math.exp(-t)) * math.exp(-t), 0.0, 600.0)
    assert error < 1e-6
    assert whole == pytest.approx(1.0 - 1.0 / 600.0, abs=2e-6)
    assert (np.diff(found) <= 0.0).all()
    assert calibrated(0.0) == math.inf
    assert calibrated(1.0) == 0.5


def test_the_average_needs_something_to_average() -> None:
    assert average([1.0, 3.0]) == 2.0
    assert average([1.0, math.inf]) == math.inf
    with pytest.raises(InvalidInputError, match="at least one"):
        average([])


def test_evidence_multiplies_epochs_and_remembers_when_it_crossed() -> None:
    evidence = Evidence(TASK)
    for epoch, p_value in ((1, 1.0), (2, 1e-6), (5, 1.0), (6, None)):
        evidence = evidence.with_epoch(some_findings(epoch, p_value))

    first, second = (5.0 + 0.5) / 6.0, (5.0 + calibrated(1e-6)) / 6.0
    expected = [first, first * second, first**2 * second, first**2 * second]
    assert evidence.running == pytest.approx(expected)
    assert evidence.crossed_in == 2  # 777, though it falls afterwards
    assert "epoch 2" in evidence.sentence
    assert Evidence.from_json(evidence.to_json()) == evidence


def test_what_is_certain_stays_so_and_is_null_in_json() -> None:
    evidence = Evidence(TASK).with_epoch(some_findings(1, 0.0))
    evidence = evidence.with_epoch(some_findings(2))

    record = json.loads(evidence.to_json())

    assert evidence.running == (math.inf, math.inf)
    assert record["epochs"][1]["running"] is None
    assert record["epochs"][0]["findings"][0]["certain"] is True
    assert "cannot happen" in evidence.sentence
    assert Evidence.from_json(evidence.to_json()) == evidence


def test_a_rule_that_can_only_be_broken_stakes_nothing() -> None:
    kept = AuditFinding.of_rule_check(EpochTest.ORDER, False, sentence="Sorted.")
    broken = AuditFinding.of_rule_check(EpochTest.ORDER, True, sentence="Not sorted.")

    assert (kept.p_value, kept.e_value) == (1.0, 1.0)
    assert (broken.p_value, broken.e_value) == (0.0, math.inf)


def test_an_epoch_is_not_told_twice_nor_a_test_left_out() -> None:
    evidence = Evidence(TASK).with_epoch(some_findings(2))

    with pytest.raises(InvalidInputError, match="every epoch once"):
        evidence.with_epoch(some_findings(2))
    with pytest.raises(InvalidInputError, match="every test"):
        EpochFindings(1, some_findings(1).findings[1:])


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(alpha=0.5),
        lambda record: record.update(crossed_in=None),
        lambda record: record["epochs"][0].update(running=3.0),
        lambda record: record["epochs"][0].update(epoch="1"),
        lambda record: record["epochs"].append(record["epochs"][0]),
        lambda record: record["epochs"][0]["findings"].pop(),
        lambda record: record["epochs"][0]["findings"][0].update(p_value=0.5),
        lambda record: record["epochs"][0]["findings"][0].update(p_value=2.0),
        lambda record: record["epochs"][0]["findings"][0].update(e_value="1"),
        lambda record: record["epochs"][0]["findings"][0].update(sentence="a\nb"),
        lambda record: record["epochs"][0]["findings"][0].update(test="other"),
    ],
)
def test_evidence_that_does_not_follow_from_itself_is_refused(
    change: Callable[[dict[str, Any]], None],
) -> None:
    evidence = Evidence(TASK).with_epoch(some_findings(1, 1e-6))
    record = json.loads(evidence.to_json())
    change(record)

    with pytest.raises(DataError, match="Expected"):
        Evidence.from_json(json.dumps(record))


def test_evidence_of_another_machine_may_differ_in_its_last_digits() -> None:
    record = json.loads(Evidence(TASK).with_epoch(some_findings(1, 1e-6)).to_json())
    finding = record["epochs"][0]["findings"][0]
    e_value = math.nextafter(finding["e_value"], 0.0)
    finding["e_value"] = e_value
    record["epochs"][0]["e_value"] = record["epochs"][0]["running"] = (
        e_value + 5.0
    ) / 6.0

    read = Evidence.from_json(json.dumps(record))

    assert read.epochs[0].findings[0].e_value == e_value
    finding["e_value"] = 1.001 * e_value
    with pytest.raises(DataError, match="follows from its p-value"):
        Evidence.from_json(json.dumps(record))


@pytest.mark.parametrize(
    "changed",
    [
        {"task": "no"},
        {"epoch": 0},
        {"levels": np.array([2.0, 1.0])},
        {"people": np.array([1, 2, 3])},
        {"people": np.array([-1])},
        {"minimum": np.array([1, 1])},
        {"absent": -1},
        {"estimate": np.array([np.nan])},
        {"center": np.inf},
        {"included": np.array([b"short"])},
    ],
)
def test_what_cannot_have_been_seen_is_refused(changed: dict[str, object]) -> None:
    assert some_seen().people.tolist() == [100]

    with pytest.raises(InvalidInputError, match="Expected"):
        some_seen(**changed)


def test_batches_and_counts_of_other_shapes_are_refused() -> None:
    hashes = np.array([b"a" * 32, b"b" * 32], "S32")
    with pytest.raises(InvalidInputError, match="piles"):
        MessageBatch(hashes, piles=np.array([0]), sizes=np.array([9, 9]))
    with pytest.raises(InvalidInputError, match="supported most"):
        SupportCounts(
            np.ones(3), np.array([0.1]), np.array([0.2]), SupportDependence.ONE
        )
    support = SupportCounts(
        np.ones(3), np.full(2, 0.2), np.full(2, 0.1), SupportDependence.ONE
    )
    with pytest.raises(InvalidInputError, match="each number of people"):
        some_seen(support=support)


def test_a_whole_profile_meets_its_certificate() -> None:
    people = sdp.Population.from_counts({0.5: 400, 1.0: 600})
    protocol = sdp.Frequency(4)
    certificate = sdp.account(protocol, people, delta=1e-6)

    whole = certified_profiles(protocol, people, num_points=9)

    for place, level in enumerate(certificate.levels):
        # Falling, so that the certificate's point lies between two of the profile's.
        deltas = whole.deltas[:, place]
        assert (np.diff(deltas) <= 0.0).all()
        after = np.searchsorted(whole.epsilons[:, place], level.epsilon_central)
        assert deltas[after] <= 1e-6 <= deltas[after - 1]
    with pytest.raises(InvalidInputError, match="deltas"):
        PrivacyProfiles(whole.levels, whole.epsilons, whole.deltas + 1.0)


def test_whoever_looks_after_every_epoch_is_wrong_as_rarely_as_stated() -> None:
    # Six tests per epoch, dependent on each other: all see the same number, or its mirror.
    rng, runs, alpha = np.random.default_rng(12), 3_000, 0.05
    p_values = rng.uniform(size=(runs, 12))
    bets = np.vectorize(calibrated)
    e_values = (bets(p_values) + bets(1.0 - p_values)) / 2.0

    ever = np.cumprod(e_values, axis=1).max(axis=1) >= 1.0 / alpha

    # Five standard errors: a false alarm once in 10^6 times.
    assert ever.mean() <= alpha + 5.0 * math.sqrt(alpha / runs)
    assert ever.any()
