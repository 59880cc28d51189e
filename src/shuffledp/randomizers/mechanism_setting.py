"""Parameters of a mechanism that a form asks for, declared with its fields."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from shuffledp.parameter import Parameter

_KEY = "setting"


@dataclass(frozen=True)
class MechanismSetting:
    """A parameter of a mechanism that people choose, beside those of the statistic.

    Attributes:
        parameter: Its name in certificates, range and usual value; its help is a label.
        below: The parameter that it has to be smaller than, or "".
    """

    parameter: Parameter
    below: str = ""


def setting_metadata(
    parameter: Parameter, *, below: str = ""
) -> Mapping[str, MechanismSetting]:
    """Returns the metadata of a field that a form asks for."""
    return {_KEY: MechanismSetting(parameter, below)}


def settings_of(kind: type[Any]) -> tuple[MechanismSetting, ...]:
    """Returns the settings of a mechanism's class.

    >>> import shuffledp as sdp
    >>> [setting.parameter.name for setting in settings_of(sdp.SubsetSelection)]
    ['subset_size']
    """
    return tuple(
        field.metadata[_KEY] for field in fields(kind) if _KEY in field.metadata
    )
