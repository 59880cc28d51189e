"""Everything shuffledp raises on purpose.

    ShuffledpError
    |-- InvalidInputError (also a ValueError)   a value is out of range, or shapes differ
    |   |-- PopulationError                     levels, counts or budgets make no sense
    |   |-- UnknownLevelError                   a person's level is not in the population
    |   `-- IdentityError                       a mechanism stores an unknown kind of value
    |-- DataError                               a file, column or checksum is wrong
    |   `-- MissingValueError                   a person in a table has no value
    |-- CertificationError                      a bound cannot be proven numerically
    |-- ConformanceError                        a randomizer contradicts its description
    `-- MissingExtraError (also an ImportError) an optional dependency is not installed

Messages about public parameters say "Expected X, got Y". Messages about people's data say
"Expected X" and no more: the text of an error is an output, too.
"""


class ShuffledpError(Exception):
    """Base class: catch this to catch everything shuffledp raises on purpose.

    >>> import shuffledp as sdp
    >>> try:
    ...     sdp.Frequency(1)
    ... except sdp.ShuffledpError as error:
    ...     print(error)
    Expected 2 to 2147483648 categories, got 1.
    """


class InvalidInputError(ShuffledpError, ValueError):
    """A parameter or a data array is outside the domain of the function.

    >>> import shuffledp as sdp
    >>> sdp.OneBit(3.0, 1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    shuffledp.errors.InvalidInputError: Expected a range of values with low < high, ...
    """


class PopulationError(InvalidInputError):
    """Levels, counts or budgets do not describe a population.

    >>> import shuffledp as sdp
    >>> sdp.Population.from_counts({1.0: 0})
    Traceback (most recent call last):
        ...
    shuffledp.errors.PopulationError: Expected at least 1 person at every level, got 0.
    """


class UnknownLevelError(InvalidInputError):
    """A person's privacy level is not one of the levels of the population.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 10, 2.0: 10})
    >>> sdp.account(sdp.Frequency(3), people, delta=1e-6, levels=[3.0])
    Traceback (most recent call last):
        ...
    shuffledp.errors.UnknownLevelError: Expected every privacy level to be one of 1, 2.
    """


class IdentityError(InvalidInputError):
    """A mechanism stores a value that cannot be part of its identity.

    >>> import shuffledp as sdp
    >>> class Loud(sdp.OneBit):
    ...     __module__ = "mine"
    >>> device = Loud(0.0, 1.0)
    >>> object.__setattr__(device, "gain", lambda value: 2 * value)
    >>> sdp.SingleMessage(device).identity  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    shuffledp.errors.IdentityError: Expected Loud.gain to hold numbers, ...
    """


class DataError(ShuffledpError):
    """A file is missing, empty, damaged, or lacks a column.

    >>> from pathlib import Path
    >>> from shuffledp.datasets.table import read_columns
    >>> read_columns(Path("nowhere.csv"), ["age"])
    Traceback (most recent call last):
        ...
    shuffledp.errors.DataError: Expected a file at nowhere.csv, found none.
    """


class MissingValueError(DataError):
    """A person has no value in a column; the message lists the rows.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shuffledp.datasets.table import read_columns
    >>> with TemporaryDirectory() as folder:  # doctest: +ELLIPSIS
    ...     table = Path(folder, "people.csv")
    ...     _ = table.write_text("age,epsilon\\n31,1\\n,2\\n")
    ...     read_columns(table, ["age", "epsilon"])
    Traceback (most recent call last):
        ...
    shuffledp.errors.MissingValueError: Expected a value in every row of column 'age' ...
    """


class CertificationError(ShuffledpError):
    """No proven bound can be given; nothing is returned instead of a guess.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> people = sdp.Population.from_counts({1.0: 100})
    >>> sdp.most_rounds(promise, people, [0.001])
    Traceback (most recent call last):
        ...
    shuffledp.errors.CertificationError: Even one round exceeds a target.
    """


class ConformanceError(ShuffledpError):
    """A randomizer's draws, distribution, cover, attack or estimator contradict each other.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> from shuffledp.testing import check_randomizer
    >>> class Plain(sdp.OneBit):
    ...     def randomize(self, values, epsilons, *, rng):
    ...         return (values > 0.5).astype(int)
    >>> try:
    ...     check_randomizer(Plain(), rng=np.random.default_rng(1))
    ... except sdp.ConformanceError as error:
    ...     print(error.conformance.failed)
    ('drawn law',)

    Attributes:
        conformance: All findings, from `shuffledp.testing`.
    """

    def __init__(self, message: str, conformance: object = None) -> None:
        super().__init__(message)
        self.conformance = conformance


class MissingExtraError(ShuffledpError, ImportError):
    """A feature needs an optional dependency; the message says how to install it.

    >>> from shuffledp.extras import require
    >>> require("nowhere", extra="report", what="A report")
    Traceback (most recent call last):
        ...
    shuffledp.errors.MissingExtraError: A report needs nowhere: install shuffledp[report].
    """
