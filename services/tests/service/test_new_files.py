"""New files of a party: all of them or none, whatever fails, and never over others."""

import errno
import os
import stat
from pathlib import Path

import pytest
from full_disk import FULL, fail_at
from service_parties import parties

from shuffledp.errors import DataError
from shuffledp_services.operator.enrolment import write_enrolment
from shuffledp_services.operator.task_signatures import draw_keys
from shuffledp_services.storage import new_files
from shuffledp_services.storage.key_files import EnrollerSecrets
from shuffledp_services.storage.new_files import NewFile, write_all_new
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.sealing import Suite


@pytest.mark.parametrize("call", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full", "ended"])
def test_keys_that_cannot_all_be_written_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException
) -> None:
    folder = tmp_path / "of" / "shuffler"

    with monkeypatch.context() as patch:
        fail_at(patch, call, error)
        with pytest.raises((DataError, KeyboardInterrupt)):
            draw_keys(folder, Role.SHUFFLER, Suite.X25519, dummies=True)
    assert list(tmp_path.iterdir()) == []

    draw_keys(folder, Role.SHUFFLER, Suite.X25519, dummies=True)
    names = {"shuffler.json", "dummies.json", "shuffler.public.json"}
    assert {path.name for path in folder.iterdir()} == names


def test_a_folder_with_other_files_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "enroller.public.json").write_text("other")

    with pytest.raises(DataError, match=r"no file .*public\.json yet"):
        draw_keys(tmp_path, Role.ENROLLER, Suite.X25519)
    with monkeypatch.context() as patch:
        fail_at(patch, 1)
        with pytest.raises(DataError, match=r"analyst\.public\.json: No space"):
            draw_keys(tmp_path, Role.ANALYST, Suite.X25519)

    (only,) = tmp_path.iterdir()
    assert only.read_text() == "other"


def test_a_roster_and_its_tokens_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = parties()
    EnrollerSecrets(made.enroller.signing_key).save(tmp_path / "enroller.json")
    output, count = tmp_path / "tokens.txt", sum(made.task.minimum)

    with monkeypatch.context() as patch:
        fail_at(patch, 1)
        with pytest.raises(DataError, match=r"tokens\.txt: No space"):
            write_enrolment(tmp_path, made.task, 1, count, output)
    assert [path.name for path in tmp_path.iterdir()] == ["enroller.json"]

    roster = write_enrolment(tmp_path, made.task, 1, count, output)
    assert roster.exists()
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_a_file_that_another_process_makes_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    written = new_files._write_synced

    def slowly(path: Path, file: NewFile) -> None:
        written(path, file)
        second.write_text("other")

    monkeypatch.setattr(new_files, "_write_synced", slowly)
    with pytest.raises(DataError, match="kept as it is"):
        write_all_new([NewFile(first, "new"), NewFile(second, "new")])

    assert second.read_text() == "other"
    assert [path.name for path in tmp_path.iterdir()] == ["second"]


def test_no_name_is_taken_before_its_file_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    link = os.link

    def named(source: Path, target: Path) -> None:
        seen.append(target.exists())
        link(source, target)
        # As another process, or the next start after a kill, would find it.
        seen.append(len(target.read_bytes()))

    monkeypatch.setattr(os, "link", named)
    write_all_new([NewFile(tmp_path / "key", "whole")])

    assert seen == [False, len("whole")]
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("taken", [False, True])
def test_file_systems_without_second_names_keep_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    path = tmp_path / "key"

    def refused(source: Path, target: Path) -> None:
        if taken:
            path.write_text("other")
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    if taken:
        with pytest.raises(DataError, match="kept as it is"):
            write_all_new([NewFile(path, "new")])
    else:
        write_all_new([NewFile(path, "new", 0o600)])

    assert path.read_text() == ("other" if taken else "new")
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DataError, match="kept as it is"):
        write_all_new([NewFile(tmp_path / "link", "new")])

    assert not (tmp_path / "elsewhere").exists()


def test_the_content_of_a_new_file_is_never_shown() -> None:
    assert "secret" not in repr(NewFile(Path("key.json"), "secret"))
