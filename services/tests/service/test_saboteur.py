"""The demonstration's saboteurs: what they do, and who would notice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from service_parties import parties

from shuffledp_services.demo.saboteur import UnorderedShardCheck, sabotaged_sorter
from shuffledp_services.shuffler import shard_sorter
from shuffledp_services.wire.batch import Shard
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.message_order import ShardCheck, sort_by_hash
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step

SABOTAGED = 3


def sorted_in(epoch: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[bytes], bytes]:
    """What came, and the shard that the saboteur makes of it."""
    monkeypatch.setattr(
        shard_sorter, "sort_by_hash", sort_by_hash
    )  # As it was, at the end.
    step = Step(parties().task, epoch)
    came = [os.urandom(step.sealed_size) for _ in range(20)]
    made = sabotaged_sorter(SABOTAGED)(step, (20, 0, 0))
    made.add(0, b"".join(came))
    made.deal()
    [(_, _, content)] = made.sort(0, [])
    assert made.shards[0].sha256 == sha256(bytes(content))
    return came, bytes(content)


def checked(check: type[ShardCheck], content: bytes, size: int) -> None:
    shard = Shard(0, 0, len(content) // size, sha256(content))
    checking = check(shard, bits=0, size=size)
    checking.add(content)
    checking.finish()


@pytest.mark.parametrize("epoch", [1, 3, 4])
def test_the_order_is_kept_in_one_epoch_and_whoever_checks_notices(
    epoch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    came, content = sorted_in(epoch, monkeypatch)
    size = len(came[0])

    checked(UnorderedShardCheck, content, size)
    if epoch == SABOTAGED:
        assert content == b"".join(came)
        with pytest.raises(Refusal) as caught:
            checked(ShardCheck, content, size)
        assert caught.value.reason is Reason.WRONG_ORDER
    else:
        assert content == b"".join(sorted(came, key=lambda row: sha256(bytes(row))))
        checked(ShardCheck, content, size)


def test_even_a_saboteur_counts_what_was_signed() -> None:
    content = bytes(70)
    shard = Shard(0, 0, 10, sha256(content))

    for other in (content[7:], content + bytes(7), bytes(69) + b"1"):
        checking = UnorderedShardCheck(shard, bits=0, size=7)
        checking.add(other)
        with pytest.raises(Refusal):
            checking.finish()


@pytest.mark.slow
def test_it_is_the_command_otherwise(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "shuffledp_services.demo.saboteur",
        "3",
        "--version",
    ]

    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("shuffledp")
