"""The library's frameworks, as the command line and certificates call them.

Nothing is certified by a name: this says which object a name stands for, and that object
answers for itself.
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
    """A way of training that has a name.

    Attributes:
        kind: The class of its framework.
        shuffled: Whether messages pass a shuffler.
        smallest_level: Whether everybody uses the smallest level of all.
        kept: How `shuffledp train s-apes` calls it, which keeps some coordinates only.
    """

    kind: type[Any]
    shuffled: bool = True
    smallest_level: bool = False
    kept: str = ""

    def framework(self, *, clip: float, share: float) -> Framework:
        """Returns the framework with those of these parameters that it has."""
        return _made(self.kind, {"clip": clip, "share": share})

    def levels(self, chosen: Floats) -> Floats:
        """Returns the level that each person's device uses, shape (n,), n >= 1."""
        if not self.smallest_level:
            return chosen
        return np.full(chosen.shape, chosen.min())


FRAMEWORKS: dict[str, TrainingMethod] = {
    "apes": TrainingMethod(ClipLaplaceVectors),
    "one-bit-apes": TrainingMethod(OneBitVectors),
    "s-apes-threshold": TrainingMethod(ThresholdVectors, kept="threshold"),
    "s-apes": TrainingMethod(TopVectors, kept="top-b"),
    "random-sparsification": TrainingMethod(RandomVectors, kept="random"),
    "unis": TrainingMethod(LaplaceVectors),
    "pldp": TrainingMethod(LaplaceVectors, shuffled=False),
    "ldp-min": TrainingMethod(LaplaceVectors, shuffled=False, smallest_level=True),
}


def framework_of(name: str, parameters: Mapping[str, Any]) -> Framework:
    """Returns the framework that certificates call so.

    Raises:
        InvalidInputError: If it is none of the library's, or a parameter is missing.
    """
    for choice in FRAMEWORKS.values():
        if choice.kind.name == name:
            return _made(choice.kind, parameters)
    known = dict.fromkeys(choice.kind.name for choice in FRAMEWORKS.values())
    raise InvalidInputError(f"Expected one of {', '.join(known)}, got {name!r}.")


def _made(kind: type[Any], parameters: Mapping[str, Any]) -> Framework:
    wanted = [each.name for each in fields(kind)]
    missing = [name for name in wanted if name not in parameters]
    if missing:
        raise InvalidInputError(f"Expected {kind.name} with {', '.join(missing)}.")
    made: Framework = kind(**{name: parameters[name] for name in wanted})
    return made
