"""Isolated execution of a black box's code in a fork of this process.

Text that a box prints goes to standard error. If the box ends its process, with any exit
code, that is an error and no verdict.
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
    """Runs `work` in a fork of this process and passes its events to `receive`.

    Args:
        work: Called in the child, with a function that sends pairs of a word and an object
            that can be pickled.
        receive: Called in this process with each pair.
        seconds: Time limit of the child, in seconds; None for no limit.

    Raises:
        InvalidInputError: If the work raises a `ShuffledpError`, or its process ends, or is
            killed, before it is done.
    """
    # The child inherits buffers: text that is left in them might be written twice.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks with threads, as BLAS has; the child never waits for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(read)
        _work(work, write)
    # With a writing end open here, the stream would never end.
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
            is_received = _received(stream, receive)
    except BaseException:
        _stop(timer)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    # The timer stops before waitpid: afterwards the process id may belong to another.
    _stop(timer)
    _, status = os.waitpid(child, 0)
    if not is_received and late.is_set():
        raise InvalidInputError(f"Expected a box that answers within {seconds:g} s.")
    if not is_received:
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise InvalidInputError(
            f"Expected a box that answers, got the end of its process with {how}."
        )


def _stop(timer: threading.Timer | None) -> None:
    if timer is not None:
        timer.cancel()
        # A kill that has begun must end before the process id is given up.
        timer.join()


def _work(work: Callable[[Send], None], write: int) -> None:
    """Runs the work in the child process, and ends it."""
    code = 1
    try:
        # Printed text must not be taken for a result.
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
        # The child must never return into the caller's code, not even on an error.
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _received(stream: Any, receive: Send) -> bool:
    """Passes events to `receive`, and returns whether the work was completed."""
    while True:
        try:
            word, content = pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            # A process that was killed may leave half an event.
            return False
        if word == "done":
            return True
        if word == _ERROR:
            raise InvalidInputError(content)
        receive((word, content))
