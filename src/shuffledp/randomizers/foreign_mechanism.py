"""Rebuilds a third party's mechanism from its class and a certificate's parameters."""

import inspect
from collections.abc import Mapping
from typing import Any

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.extension_loading import expecting
from shuffledp.randomizers.catalog import build
from shuffledp.stored_state import class_name, is_ours


def rebuild(mechanism: str, parameters: Mapping[str, Any], given: Any = None) -> Any:
    """Returns the randomizer that a certificate states.

    Comparing its identity with the certificate's shows whether all stored state agrees.

    Args:
        mechanism: Its name.
        parameters: As they stand in the certificate.
        given: The class of a mechanism that is not this library's, or an object of it.

    Raises:
        DataError: If the certificate states another class than that of `given`, or if the
            class cannot be called with the certificate's parameters.
        InvalidInputError: If this library has no such mechanism.
    """
    stated = parameters.get("class")
    if given is None and stated is None:
        return build(mechanism, parameters)
    if given is None:
        raise DataError(
            f"Expected the mechanism of this certificate, {stated}, which does not come "
            "with this library: `shuffledp verify --mechanism MODULE:NAME` names it."
        )
    kind = given if isinstance(given, type) else type(given)
    # A class that says that it is of this library would not be part of its identity.
    if is_ours(kind) or class_name(kind) != stated:
        raise DataError(
            "Expected the class that the certificate states, "
            f"{stated or f'none but that of {mechanism}'}, got {class_name(kind)}."
        )
    if given is not kind:
        return given
    try:
        with expecting(f"{class_name(kind)} to be made of what the certificate states"):
            return kind(**_arguments(kind, parameters))
    except InvalidInputError as error:
        raise DataError(f"{error} (MODULE:OBJECT is taken as it is.)") from error


def _arguments(kind: type[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a class that stand in a certificate."""
    arguments = {}
    for name in inspect.signature(kind).parameters:
        # What is stored comes before what `parameters` calls by the same name.
        for key in (f"{name} (stored)", name, name.removeprefix("num_")):
            if key in parameters:
                arguments[name] = parameters[key]
                break
    return arguments
