"""Pictures of handwritten digits: MNIST, QMNIST and scikit-learn's small digits.

MNIST: LeCun, Cortes, Burges (1998); 60,000 pictures of 28 x 28 pixels to train with and
10,000 to test with.
QMNIST: Yadav, Bottou (2019), "Cold case: the lost MNIST digits"; 60,000 of each.
"""

import gzip
import hashlib
import math
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.datasets.fetch import (
    Progress,
    cache_folder,
    download,
    find_all,
    no_progress,
)
from shuffledp.errors import DataError
from shuffledp.extras import require

# The authors' site refuses most clients now: this is the copy that PyTorch hosts for
# its own loader.
MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
QMNIST_HOME = "https://github.com/facebookresearch/qmnist"
# Checksums of the unpacked files, so that the compression does not matter.
MNIST_SHA256 = {
    "train-images-idx3-ubyte": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    ),
    "train-labels-idx1-ubyte": (
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
    ),
    "t10k-images-idx3-ubyte": (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
    ),
    "t10k-labels-idx1-ubyte": (
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
    ),
}

_QMNIST_FILES = tuple(
    f"qmnist-{split}-{kind}"
    for split in ("train", "test")
    for kind in ("images-idx3-ubyte", "labels-idx2-int")
)
_NUM_CLASSES = 10
# Element types of an idx file: the code in its header, and the NumPy type.
_BYTES, _INTEGERS = (0x08, ">u1"), (0x0C, ">i4")


@dataclass(frozen=True, eq=False)
class LabeledImages:
    """Pictures of digits and their classes, to train and to test with.

    Attributes:
        train_features: In [0, 1], shape (N, p).
        train_labels: Classes in [0, 10), shape (N,).
        test_features: In [0, 1], shape (M, p).
        test_labels: Classes in [0, 10), shape (M,).
        name: Of the data set, in lower case.
    """

    train_features: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    test_features: NDArray[np.float32]
    test_labels: NDArray[np.int64]
    name: str


def load_mnist(
    folder: Path | None = None, *, progress: Progress = no_progress
) -> LabeledImages:
    """Loads MNIST: 60,000 and 10,000 pictures, p = 784.

    Args:
        folder: The folder of train-images-idx3-ubyte and the other three files, packed
            (.gz) or not, or of a subfolder mnist with them. By default the folder that
            SHUFFLEDP_DATA names; without that variable they are downloaded once, checked,
            and stored in the user's cache.
        progress: Called with (bytes done, bytes in all or None) of each file.

    Raises:
        DataError: If a file is missing, cannot be downloaded, or is not the original.
    """
    return LabeledImages(
        *_mnist_split("train", 60_000, folder, progress),
        *_mnist_split("t10k", 10_000, folder, progress),
        name="mnist",
    )


def load_qmnist(folder: Path | None = None) -> LabeledImages:
    """Loads QMNIST: 60,000 and 60,000 pictures, p = 784.

    It is never downloaded: get the four files qmnist-train-images-idx3-ubyte.gz,
    qmnist-train-labels-idx2-int.gz, and those of the test split from QMNIST_HOME. Their
    headers are checked, their contents cannot be.

    Args:
        folder: The folder of the files, packed or not, or of a subfolder qmnist with
            them. By default the folder that SHUFFLEDP_DATA names, or the cache.

    Raises:
        DataError: If a file is missing or damaged.
    """
    return LabeledImages(
        *_qmnist_split("train", folder), *_qmnist_split("test", folder), name="qmnist"
    )


def has_qmnist(folder: Path | None = None) -> bool:
    """Returns whether `load_qmnist` would find any of its files."""
    for name in _QMNIST_FILES:
        try:
            if find_all(_candidates(name, "qmnist"), folder):
                return True
        except DataError:
            # The chosen folder lacks this file, and may have another one.
            continue
    return False


def load_digits() -> LabeledImages:
    """Loads scikit-learn's digits: 1,437 and 360 pictures of 8 x 8 pixels, p = 64.

    Every fifth picture, from the first on, is in the test set.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
    """
    datasets = require(
        "sklearn.datasets", extra="federated", what="The scikit-learn set of digits"
    )
    digits: Any = datasets.load_digits()
    # Their pixels are whole numbers from 0 to 16.
    features = (np.asarray(digits.data) / 16.0).astype(np.float32)
    labels = np.asarray(digits.target).astype(np.int64)
    in_test = np.arange(len(labels)) % 5 == 0
    return LabeledImages(
        features[~in_test],
        labels[~in_test],
        features[in_test],
        labels[in_test],
        "digits",
    )


def read_idx(
    path: Path,
    *,
    shape: tuple[int, ...],
    integers: bool = False,
    sha256: str | None = None,
) -> NDArray[Any]:
    """Reads one array in the idx format.

    Args:
        path: A packed (.gz) or unpacked file.
        shape: Of the array that it must contain.
        integers: Whether elements have four bytes, rather than one.
        sha256: Checksum of the unpacked file, or None to skip the check.

    Raises:
        DataError: If the file cannot be read, or has another header, length or checksum.
    """
    # The header is two zero bytes, the code of the type, the number of dimensions, and
    # each dimension as four bytes; the numbers follow, the last index changing fastest.
    code, kind = _INTEGERS if integers else _BYTES
    header = bytes([0, 0, code, len(shape)]) + np.array(shape, ">u4").tobytes()
    length = len(header) + np.dtype(kind).itemsize * math.prod(shape)
    try:
        with path.open("rb") as raw:
            text = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
            # One byte more than expected: a longer file is refused without unpacking all.
            content = text.read(length + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Could not read {path}: {error}.") from error
    if not content.startswith(header) or len(content) != length:
        raise DataError(
            f"Expected {path} in the idx format, with an array of shape {shape} of "
            f"{'integers' if integers else 'bytes'} and nothing else."
        )
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(
            f"Expected {path} to be the original file, but its checksum differs: "
            "delete it and download it again."
        )
    return np.frombuffer(content, kind, offset=len(header)).reshape(shape)


def _mnist_split(
    split: str, count: int, folder: Path | None, progress: Progress
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    images, labels = f"{split}-images-idx3-ubyte", f"{split}-labels-idx1-ubyte"
    return (
        _features(_mnist_file(images, (count, 28, 28), folder, progress)),
        _labels(_mnist_file(labels, (count,), folder, progress), labels),
    )


def _qmnist_split(
    split: str, folder: Path | None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    images, labels = (name for name in _QMNIST_FILES if f"-{split}-" in name)
    pictures = _qmnist_file(images, (60_000, 28, 28), folder, integers=False)
    # The first column is the class; the other seven identify the picture's origin.
    classes = _qmnist_file(labels, (60_000, 8), folder, integers=True)[:, 0]
    return _features(pictures), _labels(classes, labels)


def _features(images: NDArray[Any]) -> NDArray[np.float32]:
    features = images.reshape(len(images), -1).astype(np.float32)
    features /= np.float32(255.0)
    return features


def _labels(classes: NDArray[Any], name: str) -> NDArray[np.int64]:
    labels = classes.astype(np.int64)
    if labels.min() < 0 or labels.max() >= _NUM_CLASSES:
        raise DataError(f"Expected classes from 0 to 9 in {name}.")
    return labels


def _mnist_file(
    name: str, shape: tuple[int, ...], folder: Path | None, progress: Progress
) -> NDArray[Any]:
    sha256 = MNIST_SHA256[name]
    paths = find_all(_candidates(name, "mnist"), folder, home=MNIST_URL)
    if paths:
        return _read_first(paths, shape=shape, sha256=sha256)
    fetched = download(f"{MNIST_URL}{name}.gz", name=f"{name}.gz", progress=progress)
    try:
        content = read_idx(fetched, shape=shape, sha256=sha256)
        # Moved to the cache after the check: it holds original files only.
        cache = cache_folder() / "mnist"
        cache.mkdir(parents=True, exist_ok=True)
        shutil.move(fetched, cache / fetched.name)
    except OSError as error:
        raise DataError(
            f"Could not keep {name} in {cache_folder()}: {error}."
        ) from error
    finally:
        shutil.rmtree(fetched.parent, ignore_errors=True)
    return content


def _qmnist_file(
    name: str, shape: tuple[int, ...], folder: Path | None, *, integers: bool
) -> NDArray[Any]:
    paths = find_all(_candidates(name, "qmnist"), folder, home=QMNIST_HOME)
    if not paths:
        raise DataError(
            f"Expected {name}.gz in a folder, given or named by SHUFFLEDP_DATA: get it "
            f"from {QMNIST_HOME}."
        )
    return _read_first(paths, shape=shape, integers=integers)


def _read_first(
    paths: list[Path],
    *,
    shape: tuple[int, ...],
    integers: bool = False,
    sha256: str | None = None,
) -> NDArray[Any]:
    first, *others = paths
    try:
        return read_idx(first, shape=shape, integers=integers, sha256=sha256)
    except DataError as error:
        if not others:
            raise
        raise DataError(
            # Of two copies, the damaged one hides the other.
            f"{error} Without it, {others[0]} would be read instead."
        ) from error


def _candidates(name: str, subfolder: str) -> tuple[str, ...]:
    return (
        f"{name}.gz", name, f"{subfolder}/{name}.gz", f"{subfolder}/{name}",
    )  # fmt: skip
