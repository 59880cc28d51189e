"""Optional dependencies and distributions, loaded where they are used."""

import importlib
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from shuffledp.errors import MissingExtraError

# Features of other distributions, each of which declares its own as an entry point.
GROUP = "shuffledp.features"
_SUPPLIERS = {
    "spark": "shuffledp-services[spark]",
    "result-verification": "shuffledp-services",
    "account-claims": "shuffledp-papers",
    "published-bound": "shuffledp-papers",
    "items-plan": "shuffledp-papers",
}


def require(
    module: str, *, extra: str, what: str, distribution: str = "shuffledp"
) -> ModuleType:
    """Imports and returns a module of an extra.

    Args:
        module: Its name.
        extra: The extra that installs it.
        what: The feature that needs it, as the subject of a sentence.
        distribution: The one that has the extra.

    Raises:
        MissingExtraError: If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs {module.split('.')[0]}: install {distribution}[{extra}]."
        ) from error


def installed_feature(name: str) -> Any | None:
    """Loads a feature that another distribution supplies; None if it is not installed.

    Args:
        name: Its name in the group of entry points.
    """
    # One, as an editable installation may be listed twice.
    entry_points_by_value = {
        entry.value: entry for entry in entry_points(group=GROUP, name=name)
    }
    return (
        next(iter(entry_points_by_value.values())).load()
        if entry_points_by_value
        else None
    )


def require_feature(name: str, *, what: str) -> Any:
    """Loads a feature that another distribution supplies.

    Args:
        name: Its name in the group of entry points.
        what: The option that needs it, as the subject of a sentence.

    Raises:
        MissingExtraError: If it is not installed; the message says how to install it.
    """
    feature = installed_feature(name)
    if feature is None:
        raise MissingExtraError(
            f"{what} comes with another package: {how_to_install(_SUPPLIERS[name])}."
        )
    return feature


def how_to_install(package: str) -> str:
    """Returns how a package of this repository is installed, as a clause.

    >>> how_to_install("shuffledp-services[spark]")
    'install shuffledp-services[spark], in a checkout by pip install "./services[spark]"'
    """
    folder = package.removeprefix("shuffledp-")
    quoted = f'"./{folder}"' if "[" in folder else f"./{folder}"
    return f"install {package}, in a checkout by pip install {quoted}"
