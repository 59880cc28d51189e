"""Files of keys: read by their owner alone, never overwritten, never shown."""

import json
import logging
import stat
from pathlib import Path

import pytest
from service_parties import parties

from shuffledp.errors import DataError
from shuffledp_services.storage.key_files import (
    TASK_FILE,
    AnalystSecrets,
    ShufflerSecrets,
    load_task,
)
from shuffledp_services.storage.new_files import write_new
from shuffledp_services.wire.sealing import Suite


def test_keys_come_back_as_they_were_saved(tmp_path: Path) -> None:
    shuffler = ShufflerSecrets.new()

    shuffler.save(tmp_path / "shuffler.json")

    assert ShufflerSecrets.load(tmp_path / "shuffler.json") == shuffler
    for suite in Suite:
        analyst, path = AnalystSecrets.new(suite), tmp_path / f"{suite}.json"
        analyst.save(path)
        assert AnalystSecrets.load(path) == analyst
        assert analyst.suite is suite


def test_files_of_keys_are_their_owner_s_alone(tmp_path: Path) -> None:
    for name, keys in (
        ("shuffler.json", ShufflerSecrets.new()),
        ("analyst.json", AnalystSecrets.new(Suite.X25519)),
    ):
        keys.save(tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_keys_are_never_shown() -> None:
    shuffler, analyst = ShufflerSecrets.new(), AnalystSecrets.new(Suite.X25519)

    shown = [f"{keys} {keys!r}" for keys in (shuffler, analyst)]

    assert shown == [
        "ShufflerSecrets(...) ShufflerSecrets(...)",
        "AnalystSecrets(...) AnalystSecrets(...)",
    ]


def test_keys_are_new_every_time() -> None:
    drawn = [ShufflerSecrets.new() for _ in range(3)]

    assert len({secrets.signing_key for secrets in drawn}) == 3


def test_keys_that_others_can_read_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "shuffler.json"
    ShufflerSecrets.new().save(path)

    ShufflerSecrets.load(path)
    assert not caplog.messages
    path.chmod(0o640)
    with caplog.at_level(logging.WARNING):
        ShufflerSecrets.load(path)

    assert len(caplog.messages) == 1
    assert str(path) in caplog.messages[0]


def test_a_file_of_keys_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "shuffler.json"
    ShufflerSecrets.new().save(path)
    before = path.read_bytes()

    with pytest.raises(DataError, match="kept as it is"):
        ShufflerSecrets.new().save(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"signing_key": "AA"}', "[" * 99_999]
)
def test_damaged_keys_are_refused_without_being_shown(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "shuffler.json"
    path.write_text(text)

    with pytest.raises(DataError, match="Expected secret keys in"):
        ShufflerSecrets.load(path)


def test_a_refusal_shows_nothing_of_a_key_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "shuffler.json"
    ShufflerSecrets.new().save(path)
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "signing_key": value["signing_key"] + "A"}))

    with pytest.raises(DataError) as refusal:
        ShufflerSecrets.load(path)

    assert not any(text in str(refusal.value) for text in value.values())


def test_missing_files_and_folders_are_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Expected a file at"):
        ShufflerSecrets.load(tmp_path / "none.json")
    with pytest.raises(DataError, match="Expected a file at"):
        load_task(tmp_path)
    with pytest.raises(DataError, match="Could not write"):
        write_new(tmp_path / "none" / "file", "text")


def test_the_public_file_of_a_folder_is_the_task(tmp_path: Path) -> None:
    task = parties("mean").task
    (tmp_path / TASK_FILE).write_bytes(task.to_json())

    assert load_task(tmp_path) == task
    (tmp_path / TASK_FILE).write_bytes(task.to_json()[:-1])
    with pytest.raises(DataError, match="Expected a task in"):
        load_task(tmp_path)


def test_keys_that_belong_to_a_task_are_those_it_names() -> None:
    made = parties(suite=Suite.X_WING)

    named = (made.task.analyst_key, made.task.analyst_signing_key)

    assert made.analyst.public_keys() == named
