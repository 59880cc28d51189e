"""One thread in which batches are counted, one after the other."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from shuffledp.service.analyst.hosted import Hosted
from shuffledp.service.analyst.store import AnalystStore
from shuffledp.service.analyst.work import Interrupted, Work
from shuffledp.service.problems import log_crash


class Worker:
    """Counts what waits, and stops between two chunks when it should."""

    def __init__(self, store: AnalystStore, reached: Callable[[str], None]) -> None:
        self._store, self._reached = store, reached
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="count")

    def submit(self, hosted: Hosted) -> Future[None]:
        """Counts the batch of a task as soon as it is its turn, if one waits then."""
        work = Work(hosted, self._store, stop=self._stop, reached=self._reached)
        return self._pool.submit(self._run, work)

    def stop(self) -> None:
        """Waits for the chunk that is being opened; what is left is done next time."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)

    @staticmethod
    def _run(work: Work) -> None:
        try:
            work.run()
        except Interrupted:
            raise
        except Exception as error:
            # The state says that the batch waits: it is counted when asked again.
            log_crash(error)
            raise
