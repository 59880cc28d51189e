"""An auditor who is shown the seed of an epoch finds what a shuffler did with the noise."""

import hashlib
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Command
from dummy_oracles import seed_of
from noisy_collections import NUM_USERS, answering, collected, made, opened, values
from service_parties import Parties, allowed_plan, noisy_parties

from shuffledp.errors import DataError
from shuffledp_services.audit.dummy_audit import audit_dummies, open_seed
from shuffledp_services.operator.task_signatures import check_alone, sign
from shuffledp_services.shuffler.batch_dummies import BatchDummies
from shuffledp_services.storage.key_files import TASK_FILE
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.inclusion import RESULT
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.sealing import Sealer, Suite
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.upload_format import write_messages


def published(
    who: Parties, batch_id: bytes, messages: list[bytes], **changes: Any
) -> tuple[dict[str, Any], bytes]:
    """What of a result is about dummies, signed, and the list of messages."""
    run: Any = answering(who).answer_run
    tally = run.of_batch(run.tally(opened(who, messages), None))
    tally = replace(tally, people=np.array([[NUM_USERS]]))
    listed = b"".join(sorted(hashlib.sha256(each).digest() for each in messages))
    result = {
        "task": who.task.identity,
        "digest": who.task.fingerprint,
        "epoch": 1,
        "batch": {
            "id": to_text(batch_id),
            "messages": to_text(hashlib.sha256(listed).digest()),
        },
        "people": [NUM_USERS],
        "tally": tally.to_dict(),
        "certificate": {"protocol": allowed_plan(who.task).record},
    }
    return signed(RESULT, result | changes, who.analyst.signing_key), listed


def signed_result(who: Parties, epoch: int) -> dict[str, Any]:
    """What of a result says that an epoch was published."""
    batch = {"messages": to_text(bytes(32))}
    record = {"digest": who.task.fingerprint, "epoch": epoch, "batch": batch}
    return signed(RESULT, record, who.analyst.signing_key)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Any, Any]:
    folder = tmp_path_factory.mktemp("batch")
    header, from_people, whole, _ = collected(folder, made(), values(NUM_USERS))
    return header.batch_id, from_people, whole


def seed(epoch: int = 1) -> dict[str, Any]:
    who = made()
    assert who.dummies is not None
    return open_seed(who.task, who.dummies, signed_result(who, epoch))


def test_dummies_that_were_added_as_they_should_be_are_found(
    batch: tuple[bytes, Any, Any],
) -> None:
    batch_id, from_people, whole = batch
    result, listed = published(made(), batch_id, whole)

    audit = audit_dummies(seed(), result, listed, made().task)

    assert audit.problems == ()
    assert audit.dummies == len(whole) - len(from_people)


def test_dummies_that_are_missing_are_found(batch: tuple[bytes, Any, Any]) -> None:
    batch_id, from_people, whole = batch
    dummies = [each for each in whole if each not in set(from_people)]
    few = [each for each in whole if each not in dummies[:3]]

    audit = audit_dummies(seed(), *published(made(), batch_id, few), made().task)
    none = audit_dummies(seed(), *published(made(), batch_id, from_people), made().task)

    assert f"3 of {len(dummies):,} dummies are not in the batch" in audit.problems
    assert any(line.startswith("the batch has") for line in audit.problems)
    assert f"{len(dummies):,} of {len(dummies):,}" in none.problems[0]


def test_an_id_that_was_tried_and_people_who_were_exchanged_are_found(
    batch: tuple[bytes, Any, Any],
) -> None:
    who, (batch_id, from_people, whole) = made(), batch
    assert who.dummies is not None
    # Dummies of an id that the shuffler liked better.
    liked = bytes(16)
    own = BatchDummies(answering(who), who.dummies.seed(1))
    content, size = b"".join(own.sealed(liked)), answering(who).sealed_size
    dummies = [content[at : at + size] for at in range(0, len(content), size)]
    expected = "the batch id does not follow from the messages of people"

    tried = published(who, liked, [*from_people, *dummies])
    # A message of a person is replaced by one that was sealed with other coins.
    kept = [each for each in whole if each != from_people[0]]
    exchanged = published(who, batch_id, [*kept, sealed_again(who, from_people[0])])

    assert audit_dummies(seed(), *tried, who.task).problems == (expected,)
    assert audit_dummies(seed(), *exchanged, who.task).problems == (expected,)


def sealed_again(who: Parties, message: bytes) -> bytes:
    """The same answer, with other coins."""
    sealer = Sealer(who.task.suite, who.task.analyst_key, answering(who).info())
    (sealed,) = sealer.seal(write_messages(opened(who, [message])))
    return sealed


def test_a_tally_below_the_dummies_is_found(batch: tuple[bytes, Any, Any]) -> None:
    batch_id, _, whole = batch
    result, _ = published(made(), batch_id, whole)
    tally = json.loads(json.dumps(result["tally"]))
    tally["counts"][0][0][0] = 0

    forged = published(made(), batch_id, whole, tally=tally)

    (problem,) = audit_dummies(seed(), *forged, made().task).problems
    assert "fewer messages than dummies" in problem
    tally["counts"][0][0] = tally["counts"][0][0][-3:]
    forged = published(made(), batch_id, whole, tally=tally)
    (problem,) = audit_dummies(seed(), *forged, made().task).problems
    assert problem == "the tally is not one of the plan"


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(seed=seed(2)["seed"]),
        lambda value: value.update(epoch=2),
        lambda value: value.update(epoch=0),
        lambda value: value.update(epoch=True),
        lambda value: value.update(seed="AAAA"),
        lambda value: value.update(format="shuffledp-opened-dummies-2"),
        lambda value: value.update(task="0" * 64),
        lambda value: value.update(more=1),
        lambda value: value.pop("seed"),
    ],
)
def test_other_seeds_are_refused(
    change: Callable[[dict[str, Any]], Any], batch: tuple[bytes, Any, Any]
) -> None:
    batch_id, _, whole = batch
    value = seed()

    change(value)

    with pytest.raises(DataError):
        audit_dummies(value, *published(made(), batch_id, whole), made().task)


@pytest.mark.parametrize(
    "changes",
    [{"epoch": 2}, {"digest": "0" * 64}, {"batch": {}}, {"certificate": {}}],
    ids=str,
)
def test_other_results_are_refused(
    changes: dict[str, Any], batch: tuple[bytes, Any, Any]
) -> None:
    batch_id, _, whole = batch

    forged = published(made(), batch_id, whole, **changes)

    with pytest.raises(DataError):
        audit_dummies(seed(), *forged, made().task)


def test_another_list_and_another_suite_are_refused(
    batch: tuple[bytes, Any, Any],
) -> None:
    batch_id, _, whole = batch
    result, listed = published(made(), batch_id, whole)
    wing = noisy_parties(minimum=(NUM_USERS,) * 3, absent=0, suite=Suite.X_WING)
    assert wing.dummies is not None
    of_wing = published(made(), batch_id, whole, digest=wing.task.fingerprint)[0]
    of_wing.pop("signature")
    of_wing["certificate"] = {"protocol": allowed_plan(wing.task).record}
    forged = signed(RESULT, of_wing, wing.analyst.signing_key)

    with pytest.raises(DataError, match="list of messages"):
        audit_dummies(seed(), result, listed[32:], made().task)
    opened_wing = open_seed(wing.task, wing.dummies, signed_result(wing, 1))
    with pytest.raises(DataError, match="x25519"):
        audit_dummies(opened_wing, forged, listed, wing.task)


def test_an_opened_seed_tells_earlier_ones_and_no_later_one() -> None:
    who = made()
    assert who.dummies is not None
    third = seed_of(who.dummies.secret, 3)

    assert seed(3)["seed"] == to_text(third)
    assert seed(2)["seed"] == to_text(hashlib.sha256(third).digest())


@pytest.mark.parametrize("epoch", [0, 65_537, True, "1", None])
def test_no_seed_is_opened_of_what_is_no_epoch(epoch: Any) -> None:
    who = made()
    assert who.dummies is not None
    with pytest.raises(DataError, match="number of its epoch"):
        open_seed(who.task, who.dummies, signed_result(who, 1) | {"epoch": epoch})


def test_no_seed_is_opened_before_the_analyst_published_the_epoch() -> None:
    who, other = made(), noisy_parties(minimum=(NUM_USERS,) * 3, absent=0)
    assert who.dummies is not None
    later = signed_result(who, 1) | {"epoch": 2}
    for result in (later, signed_result(other, 1)):
        with pytest.raises(DataError, match="published result of this task"):
            open_seed(who.task, who.dummies, result)


def test_the_commands_open_a_seed_and_check_it(
    batch: tuple[bytes, Any, Any], tmp_path: Path, command: Command
) -> None:
    who, (batch_id, from_people, whole) = made(), batch
    assert who.dummies is not None
    folder = tmp_path / "shuffler"
    folder.mkdir()
    (folder / TASK_FILE).write_bytes(who.task.to_json())
    who.dummies.save(folder / "dummies.json")
    for role, secrets in (
        (Role.SHUFFLER, who.shuffler),
        (Role.ANALYST, who.analyst),
        (Role.ENROLLER, None),
    ):
        key = folder / f"{role.value}.json"
        if secrets is None:
            text = {"signing_key": to_text(who.enroller.signing_key)}
            key.write_text(json.dumps(text))
        else:
            secrets.save(key)
        sign(folder, role)
    for name, messages in (("good", whole), ("bad", from_people)):
        result, listed = published(who, batch_id, messages)
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
        (tmp_path / f"{name}.bin").write_bytes(listed)

    opening = ("task", "open-dummies", str(folder), "--result", "good.json")
    written, file = command(*opening), folder / "dummies-1.json"
    again = command(*opening)
    words = ("audit", "dummies", str(file), "--task", str(folder / TASK_FILE))
    good, bad = (
        command(*words, "--result", f"{name}.json", "--messages", f"{name}.bin")
        for name in ("good", "bad")
    )

    assert written.code == 0
    assert "could subtract the noise" in " ".join(written.out.split())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert again.is_refusal
    assert (good.code, bad.code) == (0, 1)
    assert "dummies are in the batch" in good.out
    assert "NOT as they should be" in bad.out
    (folder / "dummies.json").unlink()
    with pytest.raises(DataError, match=r"dummies-1\.json at the analyst"):
        check_alone(folder, Role.ANALYST)
