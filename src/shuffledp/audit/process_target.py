"""A black box behind a pipe: any program, in any language, that reads and writes lines.

A question is one line of JSON, and so is its answer:

    {"values": [0, 1, 1], "levels": [0.5, 0.5, 2.0]}
    {"messages": [1, 1, 0]}

A message is a number (decimals as long as needed to tell doubles apart), a text (bytes as
text, in any encoding), a list of numbers of one length, or a list of any length, whose
order counts. Both sides write one line at a time, and the program ends when its input does.
It runs without a shell, in a process group of its own, which is always killed at the end.
Its error output is shown if it fails.
"""

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from shuffledp.audit.audit_messages import Messages, as_messages
from shuffledp.audit.target import Target, Values
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.types import Floats

# Values per request, and seconds until an answer is given up.
_MOST_VALUES, _SECONDS = 1000, 60.0
_CHUNK, _LONGEST_ANSWER = 1 << 16, 1 << 28
# Bytes of a program's output that an error repeats.
_SHOWN = 300
# Seconds that a program has to end after it closed its pipes.
_SECONDS_TO_END = 2.0


@dataclass(frozen=True)
class ProcessTarget:
    """A command that the audit starts as a black box.

    Attributes:
        command: Program and arguments, split as in a shell without expansion.
        seconds: The time limit of one answer.
    """

    command: str
    seconds: float = _SECONDS

    def __post_init__(self) -> None:
        """Raises InvalidInputError if there is no such program."""
        program = _command_words(self.command)[0]
        if shutil.which(program) is None:
            raise InvalidInputError(
                f"Expected a command that can be started, got {program!r}, which is no "
                "program here."
            )

    @property
    def name(self) -> str:
        """The command."""
        return self.command

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Starts the program for one request."""
        with self.started() as running:
            return running.draw(values, levels, rng=rng)

    def started(self) -> AbstractContextManager[Target]:
        """Starts the program; it is killed at the end."""
        return _running(self)


@dataclass(frozen=True)
class _RunningProcess:
    name: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    seconds: float

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Sends all values in batches; the program has its own randomness."""
        del rng
        answers: list[Any] = []
        for begin in range(0, len(values), _MOST_VALUES):
            part = slice(begin, begin + _MOST_VALUES)
            part_values = (
                values[part] if isinstance(values, list) else values[part].tolist()
            )
            question = {"values": part_values, "levels": levels[part].tolist()}
            answers += self._ask(question, len(part_values))
        return as_messages(answers)

    def started(self) -> AbstractContextManager[Target]:
        """Raises InvalidInputError: the program runs already."""
        raise InvalidInputError("Expected a command that does not run yet.")

    def _ask(self, question: dict[str, Any], size: int) -> list[Any]:
        line = self._answer(json.dumps(question).encode() + b"\n")
        try:
            answer = json.loads(line)
            messages = answer["messages"]
        except (ValueError, TypeError, KeyError, RecursionError):
            messages = None
        if not isinstance(messages, list) or len(messages) != size:
            excerpt = line[:_SHOWN].decode("utf-8", "replace")
            number = f"{len(messages)}: " if isinstance(messages, list) else ""
            raise InvalidInputError(
                f'Expected {{"messages": [...]}} with {size} messages on one line from '
                f"{self.name}, got {number}{excerpt!r}."
            )
        return messages

    def _answer(self, question: bytes) -> bytes:
        """Writes the request and reads the answer at once: neither side blocks."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        end, answer = time.monotonic() + self.seconds, bytearray()
        unsent = memoryview(question)
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                remaining = end - time.monotonic()
                # A program that writes without end has something ready at any time.
                ready = selector.select(remaining) if remaining > 0.0 else []
                if not ready:
                    raise self._failed(f"an answer within {self.seconds:g} seconds")
                for key, _ in ready:
                    if key.fileobj is stdin:
                        with suppress(BlockingIOError):
                            unsent = self._write(unsent)
                        if not unsent:
                            selector.unregister(stdin)
                        continue
                    read = os.read(stdout.fileno(), _CHUNK)
                    answer += read
                    if not read:
                        raise self._failed("an answer on one line", self._end())
                    if len(answer) > _LONGEST_ANSWER:
                        raise self._failed("an answer on one line")
        return bytes(answer)

    def _write(self, left: memoryview) -> memoryview:
        assert self.process.stdin is not None
        try:
            return left[os.write(self.process.stdin.fileno(), left) :]
        except BrokenPipeError as error:
            raise self._failed("a reader of questions", self._end()) from error

    def _end(self) -> str:
        try:
            code = self.process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "closed its pipe, but goes on"
        if code < 0:
            return f"was ended by signal {-code}"
        return f"ended with exit code {code}"

    def _failed(self, expected: str, end: str = "") -> InvalidInputError:
        self.errors.seek(0)
        error_text = self.errors.read()[-_SHOWN:].decode("utf-8", "replace").strip()
        did = " and ".join(filter(None, [end, error_text and f"says: {error_text}"]))
        return InvalidInputError(
            f"Expected {expected} from {self.name}"
            + (f", which {did}" if did else "")
            + ("" if error_text else ".")
        )


def _command_words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInputError(
            f"Expected a command, got {command!r}: {error}."
        ) from error
    if not words:
        raise InvalidInputError("Expected a command, got nothing.")
    return words


@contextmanager
def _running(target: ProcessTarget) -> Iterator[Target]:
    words = _command_words(target.command)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # A file: a full pipe that is not read would block the program.
                stderr=errors,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise InvalidInputError(
                f"Expected a command that can be started, got {words[0]!r}: "
                f"{error.strerror}."
            ) from error
        # Leaving the process closes its pipes and waits for it.
        with process:
            try:
                assert process.stdin is not None
                # A write must not wait while the program waits for its reader.
                os.set_blocking(process.stdin.fileno(), False)
                yield _RunningProcess(target.command, process, errors, target.seconds)
            finally:
                # The whole group: the program may have started others.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
