"""Runs code of others in a copy of this process: it cannot print or exit for us.

Whatever a box prints goes to the error output, and if it ends its process, in whatever way
and with whatever exit code, that is an error and no verdict.
"""

import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from shuffledp.errors import InvalidInputError, ShuffledpError

_ERROR = "error"
Send = Callable[[tuple[str, Any]], None]


def run_isolated(
    work: Callable[[Send], None], receive: Send, *, seconds: float | None = None
) -> None:
    """Runs some work in a copy of this process, and hands on what it sends.

    Args:
        work: Is called in the copy, with a function that sends pairs of a word and anything
            that can be pickled.
        receive: Is called here with each of them.
        seconds: After which the process is ended; None to wait for it.

    Raises:
        InvalidInputError: If the work raises an error of ours, or its process ends before
            it is done, or is ended.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Libraries of numbers may have threads; the copy does not wait for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(read)
        _work(work, write)
    os.close(write)
    late = threading.Event()

    def end() -> None:
        late.set()
        os.kill(child, signal.SIGKILL)

    timer = None if seconds is None else threading.Timer(seconds, end)
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        with os.fdopen(read, "rb") as stream:
            done = _received(stream, receive)
    except BaseException:
        _stop(timer)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    # Before the process is forgotten: its number may be another's then.
    _stop(timer)
    _, status = os.waitpid(child, 0)
    if not done and late.is_set():
        raise InvalidInputError(f"Expected a box that answers within {seconds:g} s.")
    if not done:
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise InvalidInputError(
            f"Expected a box that answers, got the end of its process with {how}."
        )


def _stop(timer: threading.Timer | None) -> None:
    if timer is not None:
        timer.cancel()
        timer.join()


def _work(work: Callable[[Send], None], write: int) -> None:
    """Works in the copy, and ends it."""
    code = 1
    try:
        # What is printed must not be taken for a result.
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        with os.fdopen(write, "wb") as stream:

            def send(event: tuple[str, Any]) -> None:
                pickle.dump(event, stream)
                stream.flush()

            try:
                work(send)
                send(("done", None))
            except ShuffledpError as error:
                send((_ERROR, str(error)))
        code = 0
    except KeyboardInterrupt:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        # Whatever happens in the copy must not go on as if it were the original.
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _received(stream: Any, receive: Send) -> bool:
    """Hands on what comes, and returns whether the work was done."""
    while True:
        try:
            word, what = pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            return False
        if word == "done":
            return True
        if word == _ERROR:
            raise InvalidInputError(what)
        receive((word, what))
