"""Everything shuffledp raises on purpose.

    ShuffledpError
    |-- InvalidInputError (also a ValueError)   a value is out of range, or shapes differ
    |   |-- PopulationError                     levels, counts or budgets make no sense
    |   |-- UnknownLevelError                   a person's level is not in the population
    |   `-- OutsidePreconditions                a published theorem does not apply
    |-- DataError                               a file, column or checksum is wrong
    |   `-- MissingValueError                   somebody in a table has no value
    |-- CertificationError                      a bound cannot be proven numerically
    |-- ConformanceError                        a randomizer is not what it says it is
    `-- MissingExtraError (also an ImportError) an optional dependency is not installed

Messages about public parameters say "Expected X, got Y". Messages about people's data
say only what was expected: the text of an error is an output, too.
"""


class ShuffledpError(Exception):
    """Base class: catch this to catch everything shuffledp raises on purpose."""


class InvalidInputError(ShuffledpError, ValueError):
    """A parameter or a data array is outside what the function is defined for."""


class PopulationError(InvalidInputError):
    """Levels, counts or budgets do not describe a population."""


class UnknownLevelError(InvalidInputError):
    """Somebody's privacy level is not one of the levels of the population."""


class OutsidePreconditions(InvalidInputError):  # noqa: N818
    """A published bound was asked about a setting that its theorem does not speak of."""


class DataError(ShuffledpError):
    """A file is missing, empty, damaged, or lacks a column."""


class MissingValueError(DataError):
    """Somebody has no value in a column; the message says in which rows."""


class CertificationError(ShuffledpError):
    """No proven bound can be given; nothing is returned instead of a guess."""


class ConformanceError(ShuffledpError):
    """A randomizer's draws, law, cover, attack or estimator contradict each other.

    Attributes:
        conformance: All findings, from `shuffledp.testing`.
    """

    def __init__(self, message: str, conformance: object = None) -> None:
        super().__init__(message)
        self.conformance = conformance


class MissingExtraError(ShuffledpError, ImportError):
    """A feature needs an optional dependency; the message says how to install it."""
