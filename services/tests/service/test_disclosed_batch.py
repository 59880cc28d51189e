"""What an analyst keeps for an auditor, and what can be read of it."""

import hashlib
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from analyst_parties import Parties, Service, parties, serve, usual_batch
from whole_batches import split

from shuffledp.errors import DataError
from shuffledp_services.analyst.sealed_batch import SealedBatch, retain
from shuffledp_services.audit.disclosed_batch import read_disclosed_batch


def published(folder: Path, who: Parties, batch: bytes) -> None:
    async def scenario(service: Service) -> None:
        await service.post(batch)
        assert (await service.counted())["phase"] == "published"

    serve(folder, who, scenario)


def keeping(who: Parties, folder: Path) -> Parties:
    return replace(who, hosted=replace(who.hosted, retained_batches=folder))


def test_a_published_batch_is_kept_as_it_was_handed_over(tmp_path: Path) -> None:
    who = keeping(parties(mode="stratified"), tmp_path / "kept")
    batch = usual_batch(who, bits=2)
    manifest, shards = split(batch)

    published(tmp_path, who, batch)

    folder = tmp_path / "kept" / f"{who.task.identity}.1"
    given = read_disclosed_batch(folder, who.task)
    size = given.header.sealed_size
    rows = [part[at : at + size] for part in shards for at in range(0, len(part), size)]
    assert given.hashes.tobytes() == b"".join(
        hashlib.sha256(row).digest() for row in rows
    )
    assert given.piles.tolist() == [0] * 60 + [1] * 60 + [2] * 60
    assert (folder / "manifest.bin").read_bytes() == manifest
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.slow
def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    who = parties()

    published(tmp_path, who, usual_batch(who))

    assert not list(tmp_path.rglob("manifest.bin"))


@pytest.mark.slow
def test_what_is_withheld_is_not_kept(tmp_path: Path) -> None:
    who = keeping(parties(), tmp_path / "kept")

    async def scenario(service: Service) -> None:
        await service.post(usual_batch(who, per_level=30))
        assert (await service.counted())["phase"] == "withheld"

    serve(tmp_path, who, scenario)

    assert not list(tmp_path.rglob("manifest.bin"))


@pytest.mark.slow
def test_a_copy_that_was_interrupted_is_made_anew_and_a_whole_one_is_left(
    tmp_path: Path,
) -> None:
    who = keeping(parties(), tmp_path / "kept")
    name = f"{who.task.identity}.1"
    half = tmp_path / "kept" / f"{name}.incoming"
    half.mkdir(parents=True)
    (half / "0.shard").write_bytes(b"half of it")

    published(tmp_path, who, usual_batch(who))

    folder = tmp_path / "kept" / name
    assert len(read_disclosed_batch(folder, who.task).hashes) == 180
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [name]
    batch = SealedBatch.read(folder, who.task)
    copy = tmp_path / "copy"
    retain(batch, copy)
    (copy / "0.shard").unlink()
    retain(batch, copy)
    assert [path.name for path in copy.iterdir()] == ["manifest.bin"]


@pytest.mark.slow
def test_a_batch_that_was_changed_is_refused(tmp_path: Path) -> None:
    who = keeping(parties(), tmp_path / "kept")
    published(tmp_path, who, usual_batch(who))
    folder = tmp_path / "kept" / f"{who.task.identity}.1"
    shard = folder / "0.shard"
    whole = shard.read_bytes()

    for content in (whole[1:] + whole[:1], whole[:-1], b""):
        shard.write_bytes(content)
        with pytest.raises(DataError, match="Expected the messages that the shuffler"):
            read_disclosed_batch(folder, who.task)
    shard.unlink()
    with pytest.raises(DataError, match="the manifest names it"):
        read_disclosed_batch(folder, who.task)
    with pytest.raises(
        DataError, match=r"Could not read the batch in .*: No such file"
    ):
        read_disclosed_batch(tmp_path, who.task)
    with pytest.raises(DataError, match="Expected a batch of this task"):
        read_disclosed_batch(folder, parties().task)
