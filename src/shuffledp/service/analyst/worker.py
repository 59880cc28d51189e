"""One thread in which batches are counted, one after the other.

A batch of answers was acknowledged, and nobody asks for it again: what could not be
counted, for want of room on the disk say, is tried again after a while.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from shuffledp.service.analyst.hosted import AnalystHost
from shuffledp.service.analyst.opening import Interrupted, OpenShards
from shuffledp.service.analyst.store import AnalystStore
from shuffledp.service.analyst.work import Work
from shuffledp.service.monitoring.events import log_crash

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0


class Worker:
    """Counts what waits, and stops between two parts when it should."""

    def __init__(
        self,
        store: AnalystStore,
        open_shards: OpenShards,
        reached: Callable[[str], None],
    ) -> None:
        self._store, self._open_shards, self._reached = store, open_shards, reached
        self._stop = threading.Event()
        self._later: dict[str, threading.Timer] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="count")

    def submit(self, hosted: AnalystHost) -> Future[None]:
        """Counts the batch of a task as soon as it is its turn, if one waits then."""
        work = Work(
            hosted,
            self._store,
            stop=self._stop,
            open_shards=self._open_shards,
            reached=self._reached,
        )
        return self._pool.submit(self._run, hosted, work, _FIRST_WAIT)

    def stop(self) -> None:
        """Waits for the parts that are being opened; what is left is done next time."""
        self._stop.set()
        for timer in list(self._later.values()):
            timer.cancel()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, hosted: AnalystHost, work: Work, wait: float) -> None:
        try:
            work.run()
        except Interrupted:
            raise
        except Exception as error:
            # The state says that the batch waits.
            log_crash(error)
            self._try_later(hosted, work, wait)
            raise

    def _try_later(self, hosted: AnalystHost, work: Work, wait: float) -> None:
        longer = min(2.0 * wait, _LONGEST_WAIT)

        def again() -> None:
            # The pool may have been shut down meanwhile.
            with suppress(RuntimeError):
                self._pool.submit(self._run, hosted, work, longer)

        timer = threading.Timer(wait, again)
        timer.daemon = True
        earlier = self._later.get(hosted.task.identity)
        if earlier is not None:
            earlier.cancel()
        self._later[hosted.task.identity] = timer
        timer.start()
        if self._stop.is_set():
            timer.cancel()
