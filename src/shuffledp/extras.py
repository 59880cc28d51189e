"""Optional dependencies, imported where they are used."""

import importlib
from types import ModuleType

from shuffledp.errors import MissingExtraError


def require(module: str, *, extra: str, what: str) -> ModuleType:
    """Imports and returns a module of an extra.

    Args:
        module: Its name.
        extra: The extra of this package that installs it.
        what: The feature that needs it, as the subject of a sentence.

    Raises:
        MissingExtraError: If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs {module.split('.')[0]}: install shuffledp[{extra}]."
        ) from error
