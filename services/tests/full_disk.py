"""A disk that is full from some moment on."""

import errno
import os

import pytest

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail_at(
    monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException = FULL
) -> None:
    """Makes syncs fail from one of them on, counted from 0."""
    calls, synced = iter(range(call)), os.fsync

    def sync(handle: int) -> None:
        if next(calls, None) is None:
            raise error
        synced(handle)

    monkeypatch.setattr(os, "fsync", sync)
