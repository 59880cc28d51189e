"""Errors of executors, raised on the driver as one process would raise them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from shuffledp import errors
from shuffledp.errors import DataError, ShuffledpError

# The last line of an executor's traceback names the exception, and holds its message.
_RAISED = re.compile(r"^shuffledp\.errors\.(\w+): (.+)$", re.MULTILINE)
# The error class of the engine, such as [PATH_NOT_FOUND].
_CONDITION = re.compile(r"\[([A-Z][A-Z_]+)[.A-Z_]*\] ")


@contextmanager
def translated_errors(work: str = "finishes the work") -> Iterator[None]:
    """Raises an executor's own error on the driver, and DataError for other failures.

    Args:
        work: The expected action, as text after "Spark".

    Raises:
        ShuffledpError: Of the class that an executor raised; DataError for others.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except ShuffledpError:
        raise
    except Exception as error:
        # Rows that stream to the driver fail there as an error of py4j, the Java bridge.
        of_engine = (
            isinstance(error, PySparkException) or "py4j" in type(error).__module__
        )
        if not of_engine:
            raise
        # Without the cause: its traceback and message may quote rows of users.
        raise _translated(str(error), type(error).__name__, work) from None


def _translated(text: str, name: str, work: str) -> ShuffledpError:
    raised, conditions = _RAISED.findall(text), _CONDITION.findall(text)
    kind = getattr(errors, raised[-1][0], None) if raised else None
    if isinstance(kind, type) and issubclass(kind, ShuffledpError):
        return kind(raised[-1][1])
    # The last condition is the cause of the others.
    condition = conditions[-1] if conditions else name
    return DataError(f"Expected that Spark {work}, got {condition}.")
