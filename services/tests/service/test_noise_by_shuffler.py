"""Collections whose shuffler adds the noise: dummies, batches, keys, results."""

import asyncio
import hashlib
import json
import stat
from collections.abc import Callable
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
    values,
)
from numpy.typing import NDArray
from service_parties import (
    Parties,
    allowed_plan,
    noisy_parties,
    parties,
    publish,
    question,
)

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.counts_exposure import FROM_SHUFFLER
from shuffledp.cli.verify_command import verify_command
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.results import NOISE_BY_SHUFFLER
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.commands.task_display import show_task
from shuffledp_services.operator.task_signatures import (
    check_alone,
    draw_keys,
    load_dummies,
    load_dummy_commitment,
)
from shuffledp_services.shuffler.batch_dummies import BatchDummies
from shuffledp_services.shuffler.shard_sorter import ShardSorter
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.storage.key_files import DummySecrets, ShufflerSecrets
from shuffledp_services.wire.batch import (
    BatchHeader,
    Shard,
    read_manifest,
    write_manifest,
)
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signed_plan import PublishedPlan, prove_plan_rule
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task_reading import read_task


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
            drawn.append(super().messages(batch_id))
            return drawn[-1]

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


def plan_of(who: Parties) -> Counts:
    return Counts.from_record(allowed_plan(who.task).record)


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
    # The deviation of a variance of 150 is 17% or so, as the noise has longer tails.
    assert np.all((spread > 0.4) & (spread < 1.8))


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


def test_those_who_leave_a_question_out_send_as_many_messages() -> None:
    who, step = made(), answering(made())
    given = np.array([[0, 4, 6], [0, 4, 8], [8, 8, 8]])
    levels = np.array(who.task.choices)

    messages = step.run.randomize(given, levels, rng=np.random.default_rng(1))

    assert messages.shape == (3, step.messages_per_report)
    # Buckets of options, and the last of each question for no answer.
    assert messages.tolist() == [[0, 5, 8], [0, 5, 10], [4, 7, 10]]


def test_the_plan_keeps_every_target_for_any_people() -> None:
    task = made().task
    prove_plan_rule(task)
    for num_users in (1, 1_000):
        people = Population.from_counts(dict.fromkeys(task.choices, num_users))
        guarantee = account(plan_of(made()), people, delta=task.delta)
        for level in guarantee.levels:
            assert level.epsilon_central <= task.choices[0] <= (level.target or 0.0)


def changed_plan(change: Callable[[dict[str, Any]], Any]) -> Identity:
    record = json.loads(json.dumps(allowed_plan(made().task).record))
    change(record["parameters"])
    return Identity.from_record(record)


@pytest.mark.parametrize(
    "change",
    [
        lambda terms: terms["groups"][0]["noise"]["shuffler"].update(dummies=1),
        lambda terms: terms["groups"][0]["noise"]["shuffler"].update(decay=0.1),
        lambda terms: terms["groups"][0].update(buckets=4),
        lambda terms: terms.update(rates=[0.5, 1.0, 1.0]),
        lambda terms: terms.update(meaning="something else"),
        lambda terms: terms.update(local_epsilon=1.0),
        lambda terms: [
            group.update(noise={"poisson": {"mean": 1e5}}) for group in terms["groups"]
        ],
    ],
    ids=["dummies", "decay", "buckets", "rates", "meaning", "floor", "devices"],
)
def test_a_plan_that_is_not_the_task_s_is_refused(
    change: Callable[[dict[str, Any]], Any],
) -> None:
    task, key = made().task, made().analyst.signing_key
    honest = publish(task, key)
    assert PublishedPlan.read(honest.to_dict(), task, 1) == honest

    hostile = publish(task, key, changed_plan(change))

    with pytest.raises(Refusal):
        PublishedPlan.read(hostile.to_dict(), task, 1)


def test_a_task_says_that_its_shuffler_adds_the_noise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = made().task

    assert read_task(task.to_json()) == task
    assert task.protocol.record["parameters"]["noise"] == "shuffler"
    show_task(task)
    shown = " ".join(capsys.readouterr().out.split())
    assert "is trusted to draw its dummies as it should" in shown
    assert "nothing is left of the promises" in shown
    assert task.dummy_commitment is not None
    assert task.dummy_commitment.hex() in shown.replace(" ", "")


@pytest.mark.parametrize(
    "change",
    [
        lambda task: task.pop("dummy_commitment"),
        lambda task: task.update(dummy_commitment=task["dummy_commitment"][:-2]),
        lambda task: task.update(dummy_commitment=None),
        lambda task: task["question"]["terms"].pop("noise"),
        lambda task: task["question"]["terms"].update(noise="nobody"),
        lambda task: task["plan_rule"]["shuffler"].update(dummies=0),
        lambda task: task["plan_rule"]["shuffler"].update(dummies=30.0),
        lambda task: task["plan_rule"]["shuffler"].update(decay=1),
        lambda task: task["plan_rule"].update(more=1),
        lambda task: task.update(plan_rule={"noise": [1.0]}),
        lambda task: task["protocol"]["parameters"].pop("noise"),
        lambda task: task.update(allowance=[1e6] * 3),
    ],
)
def test_a_forged_task_is_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    value = json.loads(made().task.to_json())

    change(value)

    with pytest.raises(ShuffledpError):
        read_task(canonical(value))


def test_a_rule_with_too_little_noise_is_not_proven() -> None:
    value = json.loads(made().task.to_json())
    value["plan_rule"]["shuffler"]["dummies"] = 2

    with pytest.raises(Refusal, match="proven"):
        prove_plan_rule(read_task(canonical(value)))


def test_a_commitment_where_devices_draw_the_noise_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="commitment"):
        parties("counts", dummy_commitment=bytes(32))
    with pytest.raises(InvalidInputError, match="--dummies"):
        parties(question=question("counts", noise="shuffler"))


def test_the_secret_is_the_shuffler_s_alone(tmp_path: Path) -> None:
    folder, other = tmp_path / "shuffler", tmp_path / "analyst"
    draw_keys(folder, Role.SHUFFLER, Suite.X25519, dummies=True)
    part = folder / "shuffler.public.json"
    committed = load_dummy_commitment(part)
    task = replace(made().task, dummy_commitment=committed)

    dummies = load_dummies(folder, task)

    path = folder / "dummies.json"
    assert dummies is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert seed_of(dummies.secret, 0) == committed
    assert dummies.seed(3).secret == seed_of(dummies.secret, 3)
    assert dummies.secret.hex() not in part.read_text()
    for epoch in (0, 65_537):
        with pytest.raises(InvalidInputError):
            dummies.seed(epoch)
    # Another secret, and none, are refused by words that say what to do.
    with pytest.raises(DataError, match="copy the file that was drawn with"):
        load_dummies(folder, made().task)
    other.mkdir()
    with pytest.raises(DataError, match="Copy the file from the folder"):
        load_dummies(other, task)
    path.rename(other / "dummies.json")
    with pytest.raises(DataError, match="at the analyst"):
        check_alone(other, Role.ANALYST)


def test_a_host_without_the_secret_does_not_collect() -> None:
    who = made()
    for dummies in (None, DummySecrets.new()):
        with pytest.raises(InvalidInputError, match="secret of the dummies"):
            ShufflerHost(
                who.task, who.shuffler, who.enroller.roster, lambda: 0, dummies=dummies
            )


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


def test_other_keys_keep_the_commitment() -> None:
    task, other = made().task, ShufflerSecrets.new().verify_key
    after = replace(task, shuffler_signing_key=other, succeeds=task.digest)

    assert check_succession(after, task) == (Role.SHUFFLER,)
    with pytest.raises(Refusal, match="nothing else changed"):
        check_succession(replace(after, dummy_commitment=bytes(32)), task)
