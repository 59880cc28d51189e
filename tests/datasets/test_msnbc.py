"""The MSNBC loader: parsing, damage, checksums, and where it looks."""

import gzip
import hashlib
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from shuffledp.datasets import msnbc
from shuffledp.datasets.msnbc import load_msnbc, read_first_visits
from shuffledp.datasets.synthetic import MSNBC_FIRST_VISITS, draw_msnbc_like
from shuffledp.errors import DataError, InvalidInputError

HEADER = "% Different categories found in input file:\r\n\r\nfrontpage news\r\n\r\n"
TEXT = HEADER + "% Sequences:\r\n\r\n1 1 \r\n17 3 \r\n2\r\n9 12 4 \r\n10 \r\n6 "
FIRST = [0, 16, 1, 8, 9, 5]


@pytest.fixture
def original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small file that passes for the original one, in no folder that is looked at."""
    monkeypatch.setattr(msnbc, "SHA256", hashlib.sha256(TEXT.encode()).hexdigest())
    monkeypatch.delenv("SHUFFLEDP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "msnbc990928.seq.gz"
    path.write_bytes(gzip.compress(TEXT.encode(), mtime=0))
    return path


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_first_numbers_do_not_depend_on_where_chunks_end(
    original: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(msnbc, "_CHUNK", chunk)

    assert read_first_visits(original, sha256=msnbc.SHA256).tolist() == FIRST


def test_unpacked_and_packed_files_are_both_read(
    original: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "msnbc990928.seq").write_text(TEXT, newline="")

    assert load_msnbc(folder).tolist() == FIRST
    assert load_msnbc(original.parent).tolist() == FIRST


def test_download_is_unpacked_checked_and_kept(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "home.zip"
    with zipfile.ZipFile(archive, "w") as members:
        members.write(original, original.name)
    monkeypatch.setattr(msnbc, "URL", archive.as_uri())
    calls: list[tuple[int, int | None]] = []

    first = load_msnbc(progress=lambda done, total: calls.append((done, total)))
    archive.unlink()

    assert first.tolist() == FIRST
    assert calls
    assert load_msnbc().tolist() == FIRST


@pytest.mark.parametrize("damage", ["wrong text", "no member", "no zip", "no file"])
def test_damaged_downloads_are_refused_and_not_kept(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    archive = tmp_path / "home.zip"
    if damage == "no zip":
        archive.write_text("not found")
    elif damage != "no file":
        text = TEXT.replace("17", "16").encode()
        with zipfile.ZipFile(archive, "w") as members:
            name = original.name if damage == "wrong text" else "other"
            members.writestr(name, gzip.compress(text, mtime=0))
    monkeypatch.setattr(msnbc, "URL", archive.as_uri())

    with pytest.raises(DataError):
        load_msnbc()

    assert not list((tmp_path / "cache").rglob("*.gz"))


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TEXT.replace("17", "18").encode(), mtime=0),
        gzip.compress(HEADER.encode(), mtime=0),
        gzip.compress(b"", mtime=0),
        gzip.compress(TEXT.encode(), mtime=0)[:-12],
        b"no gzip",
        b"",
    ],
)
def test_damaged_files_are_refused(original: Path, content: bytes) -> None:
    original.write_bytes(content)

    with pytest.raises(DataError):
        read_first_visits(original, sha256=None)


def test_a_file_that_is_not_the_original_is_refused(original: Path) -> None:
    original.write_bytes(gzip.compress(TEXT.replace("17", "16").encode(), mtime=0))

    with pytest.raises(DataError, match="checksum"):
        load_msnbc(original.parent)


def test_a_named_folder_without_the_file_is_refused(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("SHUFFLEDP_DATA", str(empty))

    with pytest.raises(DataError, match="msnbc990928"):
        load_msnbc()


@pytest.mark.skipif(
    "SHUFFLEDP_DATA" not in os.environ,
    reason="SHUFFLEDP_DATA does not name a folder with msnbc990928.seq.gz",
)
def test_published_frequencies_are_those_of_the_real_file() -> None:
    first = load_msnbc()

    assert tuple(np.bincount(first, minlength=17)) == MSNBC_FIRST_VISITS


def test_made_up_people_follow_the_published_frequencies() -> None:
    num_users = 200_000
    shares = np.array(MSNBC_FIRST_VISITS) / sum(MSNBC_FIRST_VISITS)

    counts = np.bincount(draw_msnbc_like(num_users, rng=np.random.default_rng(3)))

    # Five standard errors each: a false alarm in 100,000 seeds.
    allowed = 5 * np.sqrt(num_users * shares * (1 - shares))
    assert np.all(np.abs(counts - num_users * shares) < allowed)
    with pytest.raises(InvalidInputError):
        draw_msnbc_like(0, rng=np.random.default_rng(3))
