"""Keyword arguments of `rehearse` that belong to a statistic."""

from collections.abc import Mapping
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.statistic import Statistic


def checked_arguments(statistic: Statistic, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a statistic's own arguments as its rehearsal takes them, without None.

    None stands for an argument that was not given. A flag is True or False, and not None.

    Raises:
        InvalidInputError: If one is unknown, or its value is not of its kind.
    """
    known_parameters = {
        parameter.name: parameter
        for parameter in statistic.parameters
        if parameter.in_python
    }
    unknown = sorted(set(given) - set(known_parameters))
    if unknown:
        raise InvalidInputError(
            f"Expected of {statistic.words.name} no option but "
            f"{', '.join(known_parameters)}, got "
            f"{', '.join(unknown)}."
        )
    return {
        name: known_parameters[name].checked(value)
        for name, value in given.items()
        if value is not None or known_parameters[name].kind == "flag"
    }
