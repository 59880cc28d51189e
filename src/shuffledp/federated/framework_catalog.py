"""Catalog of the library's frameworks, by their names on the command line.

Nothing is certified by a name: a name only selects the object that is certified.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.federated.baseline_vectors import LaplaceVectors, OneBitVectors
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.framework import Framework
from shuffledp.federated.sparsified_vectors import (
    RandomVectors,
    ThresholdVectors,
    TopVectors,
)
from shuffledp.types import Floats


@dataclass(frozen=True)
class TrainingMethod:
    """A framework class with the trust model it is trained in.

    Attributes:
        kind: The class of its framework.
        shuffled: Whether messages pass a shuffler.
        smallest_level: Whether all users take the smallest level of all.
        sparse: Whether only a share of the coordinates is reported.
    """

    kind: type[Any]
    shuffled: bool = True
    smallest_level: bool = False
    sparse: bool = False

    def framework(self, *, clip: float, share: float) -> Framework:
        """Returns the framework; a parameter that it does not have is ignored."""
        return _build(self.kind, {"clip": clip, "share": share})

    def levels(self, chosen: Floats) -> Floats:
        """Returns the level of each user's device, shape (n,), n >= 1."""
        if not self.smallest_level:
            return chosen
        return np.full(chosen.shape, chosen.min())


FRAMEWORKS: dict[str, TrainingMethod] = {
    "apes": TrainingMethod(ClipLaplaceVectors),
    "one-bit-apes": TrainingMethod(OneBitVectors),
    "s-apes-threshold": TrainingMethod(ThresholdVectors, sparse=True),
    "s-apes": TrainingMethod(TopVectors, sparse=True),
    "random-sparsification": TrainingMethod(RandomVectors, sparse=True),
    "unis": TrainingMethod(LaplaceVectors),
    "pldp": TrainingMethod(LaplaceVectors, shuffled=False),
    "ldp-min": TrainingMethod(LaplaceVectors, shuffled=False, smallest_level=True),
}


def framework_of(name: str, parameters: Mapping[str, Any]) -> Framework:
    """Returns the framework of this name in certificates.

    Raises:
        InvalidInputError: If the name is unknown, or a parameter is missing.
    """
    for choice in FRAMEWORKS.values():
        if choice.kind.name == name:
            return _build(choice.kind, parameters)
    known_names = dict.fromkeys(choice.kind.name for choice in FRAMEWORKS.values())
    raise InvalidInputError(f"Expected one of {', '.join(known_names)}, got {name!r}.")


def _build(kind: type[Any], parameters: Mapping[str, Any]) -> Framework:
    required = [each.name for each in fields(kind)]
    missing = [name for name in required if name not in parameters]
    if missing:
        raise InvalidInputError(f"Expected {kind.name} with {', '.join(missing)}.")
    framework: Framework = kind(**{name: parameters[name] for name in required})
    return framework
