"""Loaders of pictures: the idx format, damage, checksums, and where they look."""

import gzip
import hashlib
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from shuffledp.datasets import mnist
from shuffledp.datasets.mnist import (
    MNIST_SHA256,
    has_qmnist,
    load_digits,
    load_mnist,
    load_qmnist,
    read_idx,
)
from shuffledp.errors import DataError, MissingExtraError

PIXELS = bytes(range(12))
IMAGES = b"\0\0\x08\x03" + struct.pack(">III", 3, 2, 2) + PIXELS


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is empty, and an empty cache; nothing else is looked at."""
    if "SHUFFLEDP_DATA" in os.environ:
        monkeypatch.setenv("REAL_DATA", os.environ["SHUFFLEDP_DATA"])
    monkeypatch.delenv("SHUFFLEDP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(mnist, "MNIST_URL", (tmp_path / "home").as_uri() + "/")
    return tmp_path


def original_files(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Four files with the headers of the original ones, which pass for them."""
    files, checksums = {}, {}
    for half, count in (("train", 60_000), ("t10k", 10_000)):
        header = b"\0\0\x08\x03" + struct.pack(">III", count, 28, 28)
        files[f"{half}-images-idx3-ubyte"] = header + bytes(count * 784 - 1) + b"\xff"
        header = b"\0\0\x08\x01" + struct.pack(">I", count)
        files[f"{half}-labels-idx1-ubyte"] = header + bytes(count - 1) + b"\x09"
    for name, content in files.items():
        checksums[name] = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(mnist, "MNIST_SHA256", checksums)
    return files


def write(folder: Path, files: dict[str, bytes], *, packed: bool) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1, mtime=0))
        else:
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("packed", [True, False])
def test_an_idx_file_is_read_in_its_own_order(nowhere: Path, packed: bool) -> None:
    write(nowhere / "data", {"images": IMAGES}, packed=packed)
    path = nowhere / "data" / ("images.gz" if packed else "images")

    array = read_idx(path, shape=(3, 2, 2))

    assert array.tolist() == np.arange(12).reshape(3, 2, 2).tolist()


def test_integers_are_read_with_the_largest_byte_first(nowhere: Path) -> None:
    path = nowhere / "labels"
    path.write_bytes(
        b"\0\0\x0c\x02"
        + struct.pack(">II", 2, 2)
        + struct.pack(">iiii", 7, -1, 2**30, 0)
    )

    array = read_idx(path, shape=(2, 2), integers=True)

    assert array.tolist() == [[7, -1], [2**30, 0]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        IMAGES[:3],
        IMAGES[:10],
        IMAGES[:-1],
        IMAGES + b"\0",
        b"\1" + IMAGES[1:],
        IMAGES[:2] + b"\x0c" + IMAGES[3:],
        IMAGES[:3] + b"\x02" + IMAGES[4:],
        IMAGES[:4] + struct.pack(">III", 2, 3, 2) + PIXELS,
    ],
    ids=[
        "empty",
        "3 bytes",
        "header",
        "short",
        "long",
        "magic",
        "type",
        "dims",
        "shape",
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_damaged_files_are_refused(nowhere: Path, content: bytes, packed: bool) -> None:
    write(nowhere / "data", {"images": content}, packed=packed)

    with pytest.raises(DataError, match="idx"):
        read_idx(
            nowhere / "data" / ("images.gz" if packed else "images"), shape=(3, 2, 2)
        )


def test_what_is_not_packed_or_only_in_part_is_refused(nowhere: Path) -> None:
    path = nowhere / "images.gz"
    for content in (IMAGES, gzip.compress(IMAGES, mtime=0)[:-9]):
        path.write_bytes(content)

        with pytest.raises(DataError, match="Could not read"):
            read_idx(path, shape=(3, 2, 2))


def test_a_file_that_is_not_the_original_is_refused(nowhere: Path) -> None:
    path = nowhere / "images"
    path.write_bytes(IMAGES)

    with pytest.raises(DataError, match="checksum"):
        read_idx(path, shape=(3, 2, 2), sha256=MNIST_SHA256["train-images-idx3-ubyte"])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("place", ["", "mnist"])
def test_mnist_is_found_in_a_folder_or_its_subfolder(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    write(nowhere / "data" / place, original_files(monkeypatch), packed=not place)

    images = load_mnist(nowhere / "data")

    assert images.name == "mnist"
    assert images.train_features.shape == (60_000, 784)
    assert images.test_features.shape == (10_000, 784)
    assert images.train_features.dtype == np.float32
    assert images.train_labels.dtype == np.int64
    assert images.test_features[-1, -1] == 1.0
    assert images.test_features.sum() == 1.0
    assert images.train_labels[-1] == images.test_labels[-1] == 9


def test_mnist_is_downloaded_checked_and_kept(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(nowhere / "home", original_files(monkeypatch), packed=True)
    calls: list[tuple[int, int | None]] = []

    load_mnist(progress=lambda done, total: calls.append((done, total)))
    for path in (nowhere / "home").iterdir():
        path.unlink()

    assert calls
    assert load_mnist().train_features.shape == (60_000, 784)


def test_a_damaged_download_is_refused_and_not_kept(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = original_files(monkeypatch)
    name = "train-images-idx3-ubyte"
    write(nowhere / "home", {name: files[name][:-1] + b"\0"}, packed=True)

    with pytest.raises(DataError, match="checksum"):
        load_mnist()

    assert not list(nowhere.glob("cache/**/*ubyte*"))


def test_a_named_folder_without_the_files_is_refused(nowhere: Path) -> None:
    with pytest.raises(DataError, match="train-images"):
        load_mnist(nowhere)
    with pytest.raises(DataError, match="qmnist-train"):
        load_qmnist(nowhere)
    with pytest.raises(DataError, match="github"):
        load_qmnist()


def test_a_missing_file_is_said_where_to_get(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHUFFLEDP_DATA", str(nowhere))

    with pytest.raises(DataError, match="facebookresearch/qmnist"):
        load_qmnist()
    with pytest.raises(DataError, match="home/"):
        load_mnist()


def test_of_two_files_the_damaged_one_and_the_other_are_named(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "train-images-idx3-ubyte"
    packed = gzip.compress(original_files(monkeypatch)[name], 1, mtime=0)
    write(nowhere / "data", {name: b"", f"{name}.gz": packed[:-9]}, packed=False)

    with pytest.raises(DataError, match=f"{name}.gz.* Without it, .*{name} would"):
        load_mnist(nowhere / "data")


@pytest.mark.slow
def test_qmnist_takes_the_class_from_the_first_column(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {}
    for half in ("train", "test"):
        labels = np.full((60_000, 8), 77, dtype=">i4")
        labels[:, 0] = np.arange(60_000) % 10
        header = b"\0\0\x0c\x02" + struct.pack(">II", 60_000, 8)
        files[f"qmnist-{half}-labels-idx2-int"] = header + labels.tobytes()
        header = b"\0\0\x08\x03" + struct.pack(">III", 60_000, 28, 28)
        files[f"qmnist-{half}-images-idx3-ubyte"] = header + bytes(60_000 * 784)
    write(nowhere / "data" / "qmnist", files, packed=False)
    assert not has_qmnist(nowhere)
    assert has_qmnist(nowhere / "data")
    monkeypatch.setenv("SHUFFLEDP_DATA", str(nowhere / "data"))

    images = load_qmnist()

    assert has_qmnist()
    assert images.name == "qmnist"
    assert images.test_features.shape == (60_000, 784)
    assert images.test_labels.tolist() == [i % 10 for i in range(60_000)]


@pytest.mark.slow
def test_classes_above_9_are_refused(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = original_files(monkeypatch)
    name = "train-labels-idx1-ubyte"
    files[name] = files[name][:-1] + b"\x0a"
    checksum = hashlib.sha256(files[name]).hexdigest()
    monkeypatch.setitem(mnist.MNIST_SHA256, name, checksum)
    write(nowhere / "data", files, packed=False)

    with pytest.raises(DataError, match="classes"):
        load_mnist(nowhere / "data")


def test_digits_are_split_in_a_fixed_way() -> None:
    pytest.importorskip("sklearn", reason="Needs the extra federated.")

    digits = load_digits()

    assert digits.train_features.shape == (1437, 64)
    assert digits.test_features.shape == (360, 64)
    assert digits.train_features.dtype == np.float32
    assert (digits.train_features.min(), digits.train_features.max()) == (0.0, 1.0)
    # The originals show 0, 1, 2, ... in turn at first; 0 and 5 are to test with.
    assert digits.test_labels[:2].tolist() == [0, 5]
    assert digits.train_labels[:8].tolist() == [1, 2, 3, 4, 6, 7, 8, 9]


def test_digits_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)

    with pytest.raises(MissingExtraError, match=r"install shuffledp\[federated\]"):
        load_digits()


@pytest.mark.slow
def test_the_real_files_are_the_original_ones() -> None:
    folder = Path(os.environ.get("REAL_DATA", "nowhere"))
    if not list(folder.glob("**/train-images-idx3-ubyte*")):
        pytest.skip("SHUFFLEDP_DATA does not name a folder with MNIST's files")

    images = load_mnist(folder)

    # What the authors of the data set list: digits in the test half.
    assert np.bincount(images.test_labels).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip
    # The mean and deviation of pixels that everybody normalizes with.
    assert abs(float(images.train_features.mean(dtype=np.float64)) - 0.1307) < 5e-5
    assert abs(float(images.train_features.std(dtype=np.float64)) - 0.3081) < 5e-5
