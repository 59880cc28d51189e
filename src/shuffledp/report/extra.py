"""Optional dependencies, imported where they are used."""

import importlib
from types import ModuleType

from shuffledp.errors import MissingExtraError


def require(module: str) -> ModuleType:
    """Imports a module of the `report` extra, or says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"The HTML report needs {module.split('.')[0]}: install shuffledp[report], or "
            "ask for --json, which needs nothing."
        ) from error
