"""Collections whose shuffler adds the noise: dummies, batches, keys, results."""

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from dummy_oracles import (
    SIZES,
    batch_id_of,
    check_noisy_result,
    dummies_in,
    seed_of,
    true_counts,
)
from live_collection import people_of, planned_epoch, task_for
from live_services import pair
from noisy_collections import (
    NUM_USERS,
    answering,
    collected,
    made,
    opened,
    plan_of,
    values,
)
from numpy.typing import NDArray
from service_parties import (
    Parties,
    allowed_plan,
    noisy_parties,
)

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.counts_exposure import FROM_SHUFFLER
from shuffledp.cli.verify_command import verify_command
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.results import NOISE_BY_SHUFFLER
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.shuffler.batch_dummies import BatchDummies
from shuffledp_services.shuffler.shard_sorter import ShardSorter
from shuffledp_services.storage.key_files import DummySecrets
from shuffledp_services.wire.batch import (
    BatchHeader,
    Shard,
    read_manifest,
    write_manifest,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.step import Step


def test_a_batch_has_people_s_messages_and_the_dummies_of_its_id(
    tmp_path: Path,
) -> None:
    who, given = made(), values(NUM_USERS)
    header, from_people, whole, _ = collected(tmp_path, who, given)

    assert who.dummies is not None
    seed, task = seed_of(who.dummies.secret, 1), who.task.digest
    counts = np.bincount(opened(who, whole), minlength=sum(SIZES))
    dummies = dummies_in(seed, task, 1, allowed_plan(who.task), header.batch_id)

    assert header.batch_id == batch_id_of(seed, task, 1, from_people)
    assert (counts - dummies).tolist() == true_counts(given).tolist()
    assert header.people == (NUM_USERS,)
    assert sum(shard.messages for shard in header.shards) == len(whole)
    assert len(whole) == 3 * NUM_USERS + dummies.sum()
    # Of one size, in one order: nothing outside of the seal tells them apart.
    assert {len(each) for each in whole} == {answering(who).sealed_size}
    hashes = [hashlib.sha256(each).digest() for each in whole]
    assert hashes == sorted(hashes)
    assert set(from_people) < set(whole)


def test_a_batch_that_is_made_again_has_the_same_dummies(tmp_path: Path) -> None:
    who, given, ids, drawn = made(), values(NUM_USERS), list[bytes](), list[Any]()

    class Recorded(BatchDummies):
        def messages(self, batch_id: bytes) -> NDArray[np.int64]:
            ids.append(batch_id)
            messages = super().messages(batch_id)
            drawn.append(messages)
            return messages

    def reached(name: str) -> None:
        # The step of choices is closed before.
        if name == "in close" and len(drawn) == 1:
            raise Refusal(Reason.STORAGE, "The disk is full.")

    with pytest.MonkeyPatch.context() as patch:
        where = "shuffledp_services.shuffler.shuffler_host.BatchDummies"
        patch.setattr(where, Recorded)
        header, _, whole, _ = collected(tmp_path, who, given, reached, attempts=2)

    assert ids == [header.batch_id] * 2
    assert np.array_equal(*drawn)
    assert len(whole) == 3 * NUM_USERS + drawn[0].size


def test_other_messages_epochs_and_secrets_have_other_dummies() -> None:
    who = made()
    assert who.dummies is not None

    def drawn(dummies: DummySecrets, epoch: int, hash_sum: int) -> bytes:
        of_batch = BatchDummies(answering(who, epoch), dummies.seed(epoch))
        of_batch.draw(hash_sum)
        return of_batch.messages(of_batch.batch_id).tobytes()

    first = drawn(who.dummies, 1, 7)

    assert first == drawn(who.dummies, 1, 7)
    others = [(who.dummies, 1, 8), (who.dummies, 2, 7), (DummySecrets.new(), 1, 7)]
    assert first not in [drawn(*other) for other in others]


def test_a_batch_without_its_dummies_is_not_made(tmp_path: Path) -> None:
    who, step = made(), answering(made())
    assert who.dummies is not None
    dummies = BatchDummies(step, who.dummies.seed(1))

    with pytest.raises(InvalidInputError, match="before it is closed"):
        _ = dummies.batch_id
    with pytest.raises(InvalidInputError, match="dummies of the shuffler"):
        ShardSorter(step, (10,))
    with pytest.raises(InvalidInputError, match="in no others"):
        ShardSorter(Step(who.task, 1, EpochStage.CHOICE), (10,), dummies.draw)
    with pytest.raises(InvalidInputError, match="noise of the shuffler"):
        BatchDummies(Step(who.task, 1, EpochStage.CHOICE), who.dummies.seed(1))
    assert repr(dummies) == "BatchDummies()"
    assert who.dummies.secret.hex() not in repr(who.dummies)


@pytest.mark.parametrize(
    ("more", "where"),
    [(None, "manifest"), (-1, "manifest"), (0, "manifest"), (10**6, "plan")],
    ids=["none", "fewer", "as many as people", "too many"],
)
def test_an_analyst_refuses_a_batch_whose_dummies_do_not_fit(
    more: int | None, where: str
) -> None:
    who, step = made(), answering(made())
    people = 3 * NUM_USERS
    messages = 0 if more is None else people + more
    header = header_of(who, step, messages)

    with pytest.raises(Refusal) as caught:
        receive(who, write_manifest(header, who.shuffler.signing_key))

    assert caught.value.reason is Reason.WRONG_SIZE
    assert ("plan" in str(caught.value)) is (where == "plan")


def test_an_analyst_takes_as_many_dummies_as_the_plan_allows() -> None:
    who, step = made(), answering(made())
    (noise,) = {group.noise for group in plan_of(who).groups}
    most = 2 * sum(SIZES) * int(noise.messages)

    for dummies in (1, most):
        header = header_of(who, step, 3 * NUM_USERS + dummies)
        after = receive(who, write_manifest(header, who.shuffler.signing_key))
        assert after.batch_id == header.batch_id
    header = header_of(who, step, 3 * NUM_USERS + most + 1)
    with pytest.raises(Refusal):
        receive(who, write_manifest(header, who.shuffler.signing_key))


def header_of(who: Parties, step: Step, messages: int) -> BatchHeader:
    return BatchHeader(
        task=who.task.digest,
        epoch=1,
        after=0,
        stage=step.stage,
        batch_id=bytes(16),
        people=(NUM_USERS,),
        sealed_size=step.sealed_size,
        bits=0,
        shards=(Shard(0, 0, messages, bytes(32)),),
        enrolment=who.enroller.enrolment(1),
        messages_per_report=step.messages_per_report,
    )


def receive(who: Parties, manifest: bytes) -> AnalystState:
    header = read_manifest(manifest, who.task)
    state = AnalystState.begin(who.task)
    chosen = Step(who.task, 1, EpochStage.CHOICE).choice_run.exact((10, 10, 10))
    planned = replace(
        state,
        stage=EpochStage.ANSWER,
        plan=allowed_plan(who.task),
        chosen=chosen,
    )
    return planned.receive(header)


def test_estimates_are_unbiased_over_many_collections() -> None:
    who, step, rounds = made(), answering(made()), 150
    assert who.dummies is not None
    given = values(NUM_USERS)
    levels = np.resize(np.array(who.task.choices), NUM_USERS)
    chosen = Step(who.task, 1, EpochStage.CHOICE).choice_run.exact((10, 10, 10))
    sent = step.run.randomize(given, levels, rng=np.random.default_rng(5)).ravel()
    dummies, estimates = BatchDummies(step, who.dummies.seed(1)), []
    run: Any = step.answer_run

    for number in range(rounds):
        added = dummies.messages(number.to_bytes(16))
        counter = MessageCounter(step)
        for part in (sent, added[:50], added[50:]):
            counter.tally = (
                run.tally(part, None)
                if counter.tally is None
                else counter.tally + run.tally(part, None)
            )
        estimates.append(run.estimate(counter.of((NUM_USERS,)), chosen).value)

    share = true_counts(given)[[0, 1, 2, 3, 5, 6, 8, 9]] / NUM_USERS
    variance = plan_of(who).groups[0].noise.variance / NUM_USERS**2
    errors = (np.mean(estimates, axis=0) - share) / np.sqrt(variance / rounds)
    # Normal up to 1%: eight numbers beyond 5 deviations once in 200,000 runs.
    assert np.all(np.abs(errors) < 5.0)
    spread = np.var(estimates, axis=0) / variance
    # The deviation of a variance of 150 is 18%, as the noise has longer tails, and that of
    # the mean of eight is 7%: beyond either once in 10^7 runs.
    assert np.all((spread > 0.3) & (spread < 2.5))
    assert 0.6 < spread.mean() < 1.5


@pytest.mark.slow
def test_a_collection_is_certified_and_verified_as_in_the_library(
    tmp_path: Path,
) -> None:
    who = task_for("dummies")
    people = people_of(who, 1)
    shuffler, analyst = pair(who, tmp_path)
    with shuffler, analyst:
        plan, result = asyncio.run(planned_epoch(shuffler, analyst, people))

    check_noisy_result(who, people, plan, result)
    levels, counts = np.unique(people.levels, return_counts=True)
    crowd = dict(zip(levels.tolist(), counts.tolist(), strict=True))
    alone = account(
        Counts.from_record(plan.record),
        Population.from_counts(crowd),
        delta=who.task.delta,
        quantiles=False,
    )
    assert result["certificate"] == json.loads(json.dumps(alone.to_dict()))
    assert {level.rests_on for level in alone.levels} == {"shuffler"}
    (tmp_path / "result.json").write_text(json.dumps(result))
    (tmp_path / "task.json").write_bytes(who.task.to_json())
    words = [str(tmp_path / "result.json"), "--task", str(tmp_path / "task.json")]
    verified = CliRunner().invoke(verify_command, words)
    assert (verified.exit_code, "The result holds" in verified.stdout) == (0, True)
    assert "adds dummies to every bucket" in " ".join(verified.stdout.split())
    for assumption in (NOISE_BY_SHUFFLER, *FROM_SHUFFLER):
        assert assumption in result["assumptions"]
    # A tally of two shuffles, or of none, is not estimated from.
    for shuffles in (0, 2):
        forged = json.loads(json.dumps(result))
        forged["tally"]["counts"][0][0][-1] = shuffles
        assert any("one shuffle" in line for line in problems_in(forged, who.task))


def test_dummies_are_sealed_like_messages_of_devices_with_every_suite() -> None:
    for suite in Suite:
        who = noisy_parties(minimum=(NUM_USERS,) * 3, absent=0, suite=suite)
        step = answering(who)
        assert who.dummies is not None
        dummies = BatchDummies(step, who.dummies.seed(1))

        content = b"".join(dummies.draw(7))

        size = step.sealed_size
        assert len(content) == size * dummies.messages(dummies.batch_id).size
        whole = [content[at : at + size] for at in range(0, len(content), size)]
        assert np.array_equal(opened(who, whole), dummies.messages(dummies.batch_id))
        assert len(set(whole)) == len(whole)
