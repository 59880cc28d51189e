"""Canaries and epoch views for tests of the audit."""

import numpy as np

from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import EpochView

TASK = "ab" * 32


def some_canaries(count: int = 4, **changed: object) -> Canaries:
    """Returns canaries, each with a pair of categories of its own."""
    rng = np.random.default_rng(1)
    known = {
        "task": TASK,
        "epoch": 3,
        "levels": np.ones(count),
        "pairs": np.arange(2.0 * count).reshape(count, 2),
        "bits": rng.integers(2, size=count),
        "send_positions": rng.permutation(count),
        "uploads": np.arange(count) // 2,
        "hashes": some_hashes(count, rng=rng)[:, None],
        "receipts": np.zeros(count, np.bool_),
    }
    return Canaries(**(known | changed))  # type: ignore[arg-type]


def some_hashes(
    count: int, *, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.bytes_]]:
    """Returns random hashes of messages, shape (count,)."""
    return np.frombuffer(rng.bytes(32 * count), "S32")


def some_seen(**changed: object) -> EpochView:
    """Returns an epoch that discloses only numbers of people."""
    known = {
        "task": TASK,
        "epoch": 3,
        "levels": np.array([1.0]),
        "people": np.array([100]),
        "minimum": np.array([50]),
        "absent": 0,
        "hides_levels": True,
        "sorted_by_hash": False,
        "estimate": None,
        "center": 0.0,
        "support": None,
        "included": None,
        "batch": None,
        "earlier": np.zeros(0, "S32"),
    }
    return EpochView(**(known | changed))  # type: ignore[arg-type]
