import os
import signal
from typing import Any

import pytest

from shuffledp.audit.isolated_process import Send, run_isolated
from shuffledp.errors import InvalidInputError


def prints(send: Send) -> None:
    print("hello")
    os.write(1, b"hello")
    send(("number", 3))


def refuses(send: Send) -> None:
    raise InvalidInputError("Expected something else.")


def ends(send: Send) -> None:
    send(("number", 3))
    os._exit(0)


def is_killed(send: Send) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fails(send: Send) -> None:
    raise RuntimeError("a mistake")


def test_what_is_printed_goes_to_the_error_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    received: list[Any] = []

    run_isolated(prints, received.append)

    assert received == [("number", 3)]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (refuses, "Expected something else"),
        (ends, "end of its process with exit code 0"),
        (is_killed, "end of its process with signal 9"),
        (fails, "end of its process with exit code 1"),
    ],
)
def test_work_that_does_not_end_as_it_should_is_an_error(work: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        run_isolated(work, lambda _event: None)


def test_what_fails_here_ends_the_work() -> None:
    def receive(_event: Any) -> None:
        raise RuntimeError("here")

    with pytest.raises(RuntimeError, match="here"):
        run_isolated(prints, receive)
