"""Optional dependencies, imported where they are used."""

import importlib
from types import ModuleType

from shuffledp.errors import MissingExtraError


def require(module: str, *, extra: str, what: str) -> ModuleType:
    """Imports a module of an extra, or says how to install it.

    Args:
        module: Its name.
        extra: The extra of this package that brings it.
        what: What needs it, at the beginning of a sentence.

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs {module.split('.')[0]}: install shuffledp[{extra}]."
        ) from error
