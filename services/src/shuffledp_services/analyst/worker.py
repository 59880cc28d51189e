"""Thread that processes batches one after the other.

A batch of answers was acknowledged, and the shuffler does not send it again: if processing
fails, because the disk is full for example, it is retried later.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.analyst_store import AnalystStore
from shuffledp_services.analyst.batch_processing import BatchProcessor
from shuffledp_services.analyst.shard_opening import Interrupted, OpenShards
from shuffledp_services.monitoring.event_log import log_crash

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0


class Worker:
    """Processes waiting batches, and can be stopped between two parts of one."""

    def __init__(
        self,
        store: AnalystStore,
        open_shards: OpenShards,
        reached: Callable[[str], None],
    ) -> None:
        self._store, self._open_shards, self._reached = store, open_shards, reached
        self._stop = threading.Event()
        self._later: dict[str, threading.Timer] = {}
        # One batch at a time: opening it uses all cores.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="count")

    def submit(self, hosted: AnalystHost) -> Future[None]:
        """Schedules the processing of a task's batch, if one waits when its turn comes."""
        processor = BatchProcessor(
            hosted,
            self._store,
            stop=self._stop,
            open_shards=self._open_shards,
            reached=self._reached,
        )
        return self._pool.submit(self._run, hosted, processor, _FIRST_WAIT)

    def stop(self) -> None:
        """Waits for parts that are being opened; the next start repeats the batch."""
        self._stop.set()
        for timer in list(self._later.values()):
            timer.cancel()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, hosted: AnalystHost, processor: BatchProcessor, wait: float) -> None:
        try:
            processor.run()
        except Interrupted:
            raise
        except Exception as error:
            # The stored state still names the batch as waiting, so it can be retried.
            log_crash(error)
            self._try_later(hosted, processor, wait)
            raise

    def _try_later(
        self, hosted: AnalystHost, processor: BatchProcessor, wait: float
    ) -> None:
        longer = min(2.0 * wait, _LONGEST_WAIT)

        def retry() -> None:
            # The pool may have been shut down meanwhile.
            with suppress(RuntimeError):
                self._pool.submit(self._run, hosted, processor, longer)

        timer = threading.Timer(wait, retry)
        timer.daemon = True
        earlier = self._later.get(hosted.task.identity)
        if earlier is not None:
            earlier.cancel()
        self._later[hosted.task.identity] = timer
        timer.start()
        # `stop` may have looked for timers before this one was there.
        if self._stop.is_set():
            timer.cancel()
