"""What an auditor draws, notes, and sees of a collection."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from analyst_parties import LEVELS, Parties, parties
from audited_collection import Audited, collect, local_promises
from service_parties import question

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Mode
from shuffledp_services.analyst import intake
from shuffledp_services.audit import epoch_audit
from shuffledp_services.audit.canary_records import draw_canaries, with_receipts
from shuffledp_services.audit.disclosed_batch import read_disclosed_batch
from shuffledp_services.audit.epoch_audit import audit_epoch, epoch_view
from shuffledp_services.demo.saboteur import UnorderedShardCheck
from shuffledp_services.evidence.evidence import EpochFindings, EpochTest

PLENTY: dict[str, Any] = {"allowance": (50.0, 50.0, 50.0)}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Certificates take seconds: only slow tests compute them."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(epoch_audit, "promised_profiles", local_promises)


@pytest.fixture(scope="module")
def who() -> Parties:
    return parties(**PLENTY)


@pytest.fixture(scope="module")
def usual(who: Parties, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return collect(tmp_path_factory.mktemp("usual"), who, spoil=True)


@pytest.fixture(scope="module")
def other(who: Parties, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """An epoch after it, of which the auditor has the first, too."""
    folder = tmp_path_factory.mktemp("other")
    collect(folder, who)
    return collect(folder, who, epoch=2)


def p_values(found: EpochFindings) -> dict[EpochTest, float | None]:
    return {finding.test: finding.p_value for finding in found.findings}


def audit(
    audited: Audited, who: Parties, *, whole: bool = True, **changes: Any
) -> dict[EpochTest, float | None]:
    """The p-value of every test; without the batch if not `whole`."""
    given = read_disclosed_batch(audited.batch, who.task) if whole else None
    arguments: dict[str, Any] = {
        "listed": audited.listed,
        "disclosed": given,
        "earlier": [],
        **changes,
    }
    canaries = with_receipts(audited.record, audited.receipts, who.task)
    result = arguments.pop("result", audited.result)
    return p_values(audit_epoch(who.task, canaries, result, **arguments))


@pytest.mark.slow
def test_nothing_is_found_where_everything_is_as_it_should_be(
    usual: Audited, who: Parties
) -> None:
    check_nothing(usual, who)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_nothing_is_found_by_whole_certificates(tmp_path: Path, mode: Mode) -> None:
    who = parties(mode=mode)

    check_nothing(collect(tmp_path, who, spoil=True), who)


def check_nothing(audited: Audited, who: Parties) -> None:
    found = audit(audited, who)

    # Chances of less than a thousandth would be seeds of bad luck; this one is fixed.
    assert all(p is None or p > 1e-3 for p in found.values())
    assert found[EpochTest.ORDER] == 1.0
    assert found[EpochTest.DELIVERY] == 1.0
    assert found[EpochTest.GUESSES] is not None


@pytest.mark.slow
def test_an_order_that_was_kept_is_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "ShardCheck", UnorderedShardCheck)
    who = parties()
    audited = collect(tmp_path, who, arrange=list)

    assert audit(audited, who)[EpochTest.ORDER] == 0.0
    # The list alone is sorted, whatever the order was.
    assert audit(audited, who, whole=False)[EpochTest.ORDER] is None


@pytest.mark.slow
def test_a_report_that_was_dropped_is_certain_by_the_public_list_alone(
    tmp_path: Path,
) -> None:
    who = parties()
    audited = collect(tmp_path, who, lost=1)

    assert audit(audited, who, whole=False)[EpochTest.DELIVERY] == 0.0
    # Whose receipt never came may never have been sent.
    mine = replace(audited, receipts=audited.receipts[1:])
    assert audit(mine, who, whole=False)[EpochTest.DELIVERY] == 1.0


@pytest.mark.slow
def test_a_canary_of_an_earlier_epoch_is_found(
    usual: Audited, other: Audited, who: Parties
) -> None:
    first, second = usual, other

    before = with_receipts(first.record, first.receipts, who.task)
    honest = audit(second, who, earlier=[before])
    own = {bytes(message) for message in second.record.hashes.ravel()}
    others = [m for m in np.frombuffer(second.listed, "S32") if bytes(m) not in own]
    again = np.array(others[: len(before)], "S32").reshape(-1, 1)
    replayed = audit(second, who, earlier=[replace(before, hashes=again)])

    assert (honest[EpochTest.DELIVERY], replayed[EpochTest.DELIVERY]) == (1.0, 0.0)


@pytest.mark.slow
def test_an_earlier_record_is_of_an_earlier_epoch_and_has_receipts(
    usual: Audited, other: Audited, who: Parties
) -> None:
    first, second = usual, other
    before = with_receipts(first.record, first.receipts, who.task)
    later = with_receipts(second.record, second.receipts, who.task)

    for audited, earlier, reason in (
        (first, later, "Expected records of this task before epoch 1, got one of epo"),
        (second, later, "without messages of epoch 2"),
        (second, replace(later, epoch=1), "without messages of epoch 2"),
        (second, replace(before, epoch=2), "Expected records of this task before ep"),
        (second, first.record, "Expected receipts of all canaries of earlier epochs"),
    ):
        with pytest.raises(DataError, match=reason):
            audit(audited, who, earlier=[earlier])


def test_what_does_not_belong_together_is_refused(
    usual: Audited, other: Audited, who: Parties
) -> None:
    first, second = usual, other
    forged = {**first.result, "people": [60, 60, 60]}
    given = read_disclosed_batch(second.batch, who.task)
    left = replace(given.header, epoch=1, batch_id=read_id(first, who))

    for changes, reason in (
        ({"result": forged}, "Expected a result that holds: it is not signed"),
        ({"result": second.result}, "Expected a record of this task and of epoch 2"),
        ({"listed": second.listed}, "Expected the list of messages that the result"),
        ({"disclosed": given}, "Expected the batch that the result names"),
        (
            {"disclosed": replace(given, header=left)},
            "what the shuffler signed is not what",
        ),
    ):
        with pytest.raises(DataError, match=reason):
            audit(first, who, **changes)


def test_what_is_of_another_epoch_is_refused_before_anything_is_recomputed(
    usual: Audited, other: Audited, who: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recompute(*_: object) -> NoReturn:
        pytest.fail("The certificate was recomputed first.")

    monkeypatch.setattr(epoch_audit, "problems_in", recompute)
    later = with_receipts(other.record, other.receipts, who.task)

    for changes, reason in (
        ({"result": other.result}, "Expected a record of this task and of epoch 2"),
        ({"listed": other.listed}, "Expected the list of messages that the result"),
        ({"earlier": [later]}, "Expected records of this task before epoch 1"),
        ({"earlier": [usual.record]}, "without messages of epoch 1"),
    ):
        with pytest.raises(DataError, match=reason):
            audit(usual, who, whole=False, **changes)


def read_id(audited: Audited, who: Parties) -> bytes:
    return read_disclosed_batch(audited.batch, who.task).header.batch_id


def test_receipts_are_of_these_canaries_and_signed(
    usual: Audited, other: Audited, who: Parties
) -> None:
    first, second = usual, other

    some = with_receipts(
        first.record, first.receipts[:4] + first.receipts[:1], who.task
    )

    assert len(some) == 4
    assert some.hashes.tolist() == first.record.hashes[:4].tolist()
    assert some.bits.tolist() == first.record.bits[:4].tolist()
    assert some.receipts.all()
    for lines, reason in (
        ([], "no canary of this record was taken in"),
        (second.receipts, "Expected receipts of epoch 1"),
        ([first.receipts[0].replace(b'"accepted":1', b'"accepted":2')], "Expected"),
        ([b"{}"], "Expected receipts of canaries"),
    ):
        with pytest.raises(DataError, match=reason):
            with_receipts(first.record, lines, who.task)
    fewer = replace(
        first.record, hashes=np.array([[os.urandom(32)] for _ in range(30)], "S32")
    )
    with pytest.raises(DataError, match="of these canaries, and of nothing else"):
        with_receipts(fewer, first.receipts, who.task)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "ends", "center"),
    [("mean", (0.0, 10.0), 5.0), ("sum", (0.0, 1.0), 105.0)],
)
def test_numbers_are_the_two_ends_and_compared_with_their_middle(
    tmp_path: Path, statistic: str, ends: tuple[float, float], center: float
) -> None:
    who = parties(statistic)
    audited = collect(tmp_path, who)

    seen = epoch_view(
        who.task, audited.result, included=None, disclosed=None, earlier=[]
    )

    assert np.all(audited.record.pairs == ends)
    assert seen.center == center
    assert seen.estimate is not None
    assert seen.estimate.shape == (1,)
    assert audit(audited, who)[EpochTest.PRECISION] is None


def test_levels_values_and_bits_are_uniform() -> None:
    rng, count = np.random.default_rng(1), 6_000

    drawn = draw_canaries(parties().task, count, rng=rng)

    assert np.all(drawn.pairs[:, 0] != drawn.pairs[:, 1])
    assert set(drawn.values.tolist()) == {0, 1, 2, 3}
    pairs = drawn.pairs[:, 0] * 4 + drawn.pairs[:, 1]
    # Each count is five standard errors at most from what is expected, of 18 counts:
    # a false alarm in 90,000 seeds.
    for held, kinds in (
        (np.searchsorted(LEVELS, drawn.levels), 3),
        (np.unique(pairs, return_inverse=True)[1], 12),
        (drawn.bits, 2),
    ):
        counts = np.bincount(held, minlength=kinds)
        error = np.sqrt(count / kinds * (1 - 1 / kinds))
        assert counts.size == kinds
        assert np.all(np.abs(counts - count / kinds) < 5 * error)


def test_nothing_is_drawn_where_people_choose_targets() -> None:
    rng = np.random.default_rng(1)

    with pytest.raises(InvalidInputError, match="people choose levels"):
        draw_canaries(parties("items").task, 3, rng=rng)
    with pytest.raises(InvalidInputError, match="at least 1 canary"):
        draw_canaries(parties().task, 0, rng=rng)
    with_two = parties(question=question("frequency", categories=("a", "b"))).task
    assert set(draw_canaries(with_two, 9, rng=rng).pairs.ravel().tolist()) == {0.0, 1.0}
