"""What executors refuse, said by the driver as it would be said in one process."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from shuffledp import errors
from shuffledp.errors import DataError, ShuffledpError

# The last line of an executor's traceback names the exception, and holds its sentence.
_SAID = re.compile(r"^shuffledp\.errors\.(\w+): (.+)$", re.MULTILINE)
# An engine's own name of what went wrong.
_CONDITION = re.compile(r"\[([A-Z][A-Z_]+)[.A-Z_]*\] ")


@contextmanager
def in_our_words(work: str = "finishes the work") -> Iterator[None]:
    """Raises what an executor of a job raised; what else an engine says is named.

    An engine's own message may quote people's rows, and a traceback is none of a user's
    business: only the kind of failure is passed on.

    Args:
        work: What was expected, after "Spark".

    Raises:
        ShuffledpError: Of the kind that an executor raised; DataError for others.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except ShuffledpError:
        raise
    except Exception as error:
        # What is streamed to the driver fails there as an error of the bridge to Java.
        of_engine = (
            isinstance(error, PySparkException) or "py4j" in type(error).__module__
        )
        if not of_engine:
            raise
        raise _translated(str(error), type(error).__name__, work) from None


def _translated(text: str, name: str, work: str) -> ShuffledpError:
    said, conditions = _SAID.findall(text), _CONDITION.findall(text)
    kind = getattr(errors, said[-1][0], None) if said else None
    if isinstance(kind, type) and issubclass(kind, ShuffledpError):
        return kind(said[-1][1])
    # The last one is what caused all others.
    found = conditions[-1] if conditions else name
    return DataError(f"Expected that Spark {work}, got {found}.")
