"""Every randomizer by its name, with a line each; none is imported before it is used."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.randomizers.number_randomizer import NumberRandomizer


@dataclass(frozen=True)
class CatalogEntry:
    """Module and class of a mechanism, and the statistic it estimates.

    Attributes:
        module: Its file in this folder.
        kind: Its class there.
        estimates: Shares of categories, the mean of numbers, or neither.
        title: Its name in a sentence, if it is offered on a page.
        left_out: The reason why plans leave it out, if they do.
    """

    module: str
    kind: str
    estimates: Literal["categories", "numbers"] | None = None
    title: str = ""
    left_out: str = ""


# The first of each kind is the usual one.
CATALOG: dict[str, CatalogEntry] = {
    "kary-response": CatalogEntry(
        "kary_response", "KRandomizedResponse", "categories", "k-ary response"
    ),
    "one-bit": CatalogEntry("one_bit", "OneBit", "numbers", "One bit"),
    "subset-selection": CatalogEntry(
        "subset_selection", "SubsetSelection", "categories", "Subset selection"
    ),
    "hadamard-response": CatalogEntry(
        "hadamard_response", "HadamardResponse", "categories", "Hadamard response"
    ),
    "local-hashing": CatalogEntry(
        "local_hashing", "LocalHashing", "categories", "Local hashing"
    ),
    "unary-encoding": CatalogEntry(
        "unary_encoding", "UnaryEncoding", "categories", "Unary encoding"
    ),
    "rappor": CatalogEntry("rappor", "Rappor"),
    "laplace": CatalogEntry("laplace", "Laplace", "numbers", "Laplace"),
    "clip-laplace": CatalogEntry(
        "clip_laplace", "ClipLaplace", "numbers", "Clip-Laplace"
    ),
    "sparsified-clip-laplace": CatalogEntry(
        "sparsified_clip_laplace", "SparsifiedClipLaplace"
    ),
    "grid-response": CatalogEntry(
        "grid_response", "GridResponse", "numbers", "Grid response"
    ),
    "gaussian": CatalogEntry(
        "gaussian",
        "Gaussian",
        "numbers",
        "Gaussian",
        left_out="its levels hold with delta_local only, and cover liberal people's "
        "neighbors badly.",
    ),
    "declared-ratios": CatalogEntry("declared_ratios", "DeclaredRatios"),
}
MECHANISMS = tuple(CATALOG)


def mechanisms_for(estimates: Literal["categories", "numbers"]) -> tuple[str, ...]:
    """Returns the names of the mechanisms whose messages estimate this."""
    return tuple(n for n, entry in CATALOG.items() if entry.estimates == estimates)


NUMBER_MECHANISMS = mechanisms_for("numbers")


def mechanism_class(mechanism: str) -> type[Any]:
    """Returns the class of the randomizer of this name.

    Raises:
        InvalidInputError: If the name is unknown.
    """
    if mechanism not in CATALOG:
        raise InvalidInputError(
            f"Expected one of {', '.join(MECHANISMS)}, got {mechanism!r}."
        )
    entry = CATALOG[mechanism]
    module = import_module(f"shuffledp.randomizers.{entry.module}")
    randomizer_class: type[Any] = getattr(module, entry.kind)
    return randomizer_class


def build(
    mechanism: str, parameters: Mapping[str, int | float | str]
) -> LocalRandomizer:
    """Returns the randomizer of this name with these parameters.

    Parameters have the names of certificates and options: `num_` is left out.

    >>> build("subset-selection", {"categories": 10, "subset_size": 3})
    SubsetSelection(num_categories=10, subset_size=3)

    Raises:
        InvalidInputError: If the name is unknown, or parameters are missing, unknown or
            out of range.
    """
    kind = mechanism_class(mechanism)
    known_parameters = _parameters(kind)
    needed_names = {
        n for n, p in known_parameters.items() if p.default is inspect.Parameter.empty
    }
    if not needed_names <= set(parameters) <= set(known_parameters):
        parts = [
            f"{name}{'' if name in needed_names else ' (optional)'}"
            for name in known_parameters
        ]
        raise InvalidInputError(
            f"Expected {mechanism} with {', '.join(parts)}; got "
            f"{', '.join(parameters) or 'no parameter'}."
        )
    given_arguments = {
        known_parameters[name].name: value for name, value in parameters.items()
    }
    randomizer: LocalRandomizer = kind(**given_arguments)
    return randomizer


def number_randomizer(
    mechanism: str,
    low: float,
    high: float,
    parameters: Mapping[str, int | float | str] | None = None,
) -> NumberRandomizer:
    """Returns the randomizer of this name for values in [low, high].

    >>> number_randomizer("clip-laplace", 10.0, 12.0).high
    1.0

    Raises:
        InvalidInputError: If the name is none of NUMBER_MECHANISMS, the range is empty, or
            another parameter is unknown or out of range.
    """
    if mechanism not in NUMBER_MECHANISMS:
        raise InvalidInputError(
            f"Expected one of {', '.join(NUMBER_MECHANISMS)}, got {mechanism!r}."
        )
    kind = mechanism_class(mechanism)
    parts = _parameters(kind)
    known_names, given_arguments = (
        set(parts) - {"low", "high", "clip"},
        dict(parameters or {}),
    )
    if not set(given_arguments) <= known_names:
        raise InvalidInputError(
            f"Expected {mechanism} with no parameter but {', '.join(sorted(known_names))}: "
            f"its range is that of the values; got {', '.join(given_arguments)}."
        )
    given_arguments = {
        parts[name].name: value for name, value in given_arguments.items()
    }
    if "low" in parts:
        ranged: NumberRandomizer = kind(low=low, high=high, **given_arguments)
        return ranged
    # One that takes a clip has a range around 0, and as wide.
    centered: NumberRandomizer = kind(clip=half_range(low, high), **given_arguments)
    return centered


def _parameters(kind: type[Any]) -> Mapping[str, inspect.Parameter]:
    """Returns the parameters of a constructor by the names of certificates."""
    # Certificates and options leave `num_` out, and the constructor does not.
    signature = inspect.signature(kind).parameters
    return {name.removeprefix("num_"): part for name, part in signature.items()}
