"""Standard output and error output that outlive their readers.

In `shuffledp verify certificate.json | head -1` the pipe is closed after a line. Here
further output is dropped, the command finishes and writes its files, and the exit code is
141. An output that the shell closed before, with >&-, is treated as a pipe that was closed
before the first line. Characters that an output's encoding lacks are written as others,
so that a terminal of Latin-1 gets the numbers, and bars of number signs.
"""

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# 128 + 13, the exit code of programs that the signal SIGPIPE ends.
BROKEN_PIPE = 141
_SUBSTITUTES = "shuffledp-substitutes"


class _Unbroken(io.RawIOBase):
    """A file descriptor that takes everything once its reader has gone.

    Args:
        file: The file descriptor to write to.
        closed: Whether it has no reader from the beginning.

    Attributes:
        broken: Whether output was dropped for want of a reader.
    """

    def __init__(self, file: io.FileIO, *, closed: bool = False) -> None:
        self._file, self._closed = file, closed
        self.broken = False

    def write(self, content: "ReadableBuffer", /) -> int | None:
        if self._closed:
            self.broken = True
        if not self.broken:
            try:
                return self._file.write(content)
            # Raised further, it would end the command half-way with exit code 1, which
            # says that a certificate does not hold.
            except BrokenPipeError:
                self.broken = True
        # As if all was written: the buffer above would otherwise try again.
        return memoryview(content).nbytes

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


class StandardStreams:
    """Replaces the standard output and the error output while a command runs."""

    def __init__(self) -> None:
        self._before: tuple[TextIO | None, TextIO | None] = (None, None)
        self._output: _Unbroken | None = None
        self._errors: _Unbroken | None = None

    def __enter__(self) -> "StandardStreams":
        self._before = sys.stdout, sys.stderr
        sys.stdout, self._output = _replaced(sys.stdout)
        sys.stderr, self._errors = _replaced(sys.stderr)
        return self

    def __exit__(self, *_: Any) -> None:
        for stream, raw in ((sys.stdout, self._output), (sys.stderr, self._errors)):
            if raw is not None:
                # What could not be written until now is not tried again at exit.
                raw.broken = True
                stream.flush()
        before: tuple[Any, Any] = self._before
        # A stream that the shell closed was None: the substitute stays in its place.
        if None not in before:
            sys.stdout, sys.stderr = before

    def exit_code(self, code: Any) -> Any:
        """Returns 141 in place of 0 if output was dropped."""
        # Any other code says more than that the reader has gone.
        broken = self._output is not None and self._output.broken
        return BROKEN_PIPE if broken and not code else code


def _replaced(stream: TextIO | None) -> tuple[TextIO, _Unbroken | None]:
    """Returns a stream to write to instead, and its raw file if it was replaced."""
    if stream is None:  # The shell's >&- closed it.
        raw = _Unbroken(io.FileIO(os.devnull, "w"), closed=True)
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8"), raw
    buffer = getattr(stream, "buffer", None)
    # Without a buffer in between under `python -u`.
    file = getattr(buffer, "raw", buffer)
    if not isinstance(stream, io.TextIOWrapper) or not isinstance(file, io.FileIO):
        return stream, None  # Of a test or a notebook: no pipe.
    stream.flush()
    raw = _Unbroken(file)
    return (
        io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=_SUBSTITUTES if stream.errors == "strict" else stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        ),
        raw,
    )


def _substituted(error: UnicodeError) -> tuple[str | bytes, int]:
    """Returns what stands in place of a character that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    # The blocks of bars, from an eighth of a character's width to the whole.
    if "\u2588" <= character <= "\u258f":
        return "#", error.start + 1
    # Unlike question marks, these keep names apart.
    return ascii(character)[1:-1], error.start + 1


codecs.register_error(_SUBSTITUTES, _substituted)
