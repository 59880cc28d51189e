"""Record of interrupts that libraries turn into errors of their own.

Compiled code that calls Python may drop a KeyboardInterrupt and raise another error in its
place: matplotlib then speaks of an invalid matrix, and an import of a failed
initialization. Here the signal itself leaves a byte in a socket, whatever becomes of the
exception; signal handlers stay as they are, for asyncio and servers bring their own.
"""

import signal
import socket
import threading


class InterruptRecord:
    """Context manager that notices whether Ctrl-C was pressed within it."""

    def __enter__(self) -> "InterruptRecord":
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        # Python allows no other thread to ask for this, and interrupts no other thread.
        self._records = threading.current_thread() is threading.main_thread()
        if self._records:
            self._former = signal.set_wakeup_fd(
                self._writer.fileno(), warn_on_full_buffer=False
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._records:
            signal.set_wakeup_fd(self._former)
        self._reader.close()
        self._writer.close()

    def was_interrupted(self) -> bool:
        """Whether Ctrl-C was pressed since this was asked last."""
        try:
            # One byte for each signal, which is its number.
            return signal.SIGINT in self._reader.recv(4096)
        except BlockingIOError:
            return False
