"""The frameworks that are compared: what devices run, and at which levels.

Whether messages pass a shuffler changes what they tell about people, and nothing about
their sums: that is the matter of `certify_training`, which knows the same names.

    FRAMEWORKS["mine"] = Framework("mine", "What it does.", lambda clip, share: ...)

adds another. `train` refuses it for as long as `certify_training` does not know it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.other_vectors import (
    LaplaceVectors,
    OneBitVectors,
    PlainVectors,
)
from shuffledp.federated.round import VectorRandomizer
from shuffledp.federated.sparsified_vectors import (
    RandomVectors,
    ThresholdVectors,
    TopVectors,
)
from shuffledp.types import Floats


@dataclass(frozen=True, slots=True)
class Framework:
    """A way of training.

    Attributes:
        name: As `certify_training` calls it.
        summary: One sentence.
        build: Makes the randomizer of a clip C and a share b / d.
        smallest_level: Whether everybody uses the smallest level of all.
    """

    name: str
    summary: str
    build: Callable[[float, float], VectorRandomizer]
    smallest_level: bool = False

    def levels(self, chosen: Floats) -> Floats:
        """Returns the level that each person's device uses, shape (n,).

        Args:
            chosen: What people chose, shape (n,), n >= 1.
        """
        if not self.smallest_level:
            return chosen
        return np.full(chosen.shape, chosen.min())


FRAMEWORKS: dict[str, Framework] = {
    framework.name: framework
    for framework in (
        Framework(
            "apes",
            "Clip-Laplace messages, shuffled per coordinate.",
            lambda clip, share: ClipLaplaceVectors(clip),
        ),
        Framework(
            "one-bit-apes",
            "One bit per coordinate, shuffled per coordinate.",
            lambda clip, share: OneBitVectors(clip),
        ),
        Framework(
            "s-apes-threshold",
            "Clip-Laplace messages; those near the middle become dummies; shuffled.",
            lambda clip, share: ThresholdVectors(clip, share),
        ),
        Framework(
            "s-apes",
            "Clip-Laplace messages; all but the b largest become dummies; shuffled.",
            lambda clip, share: TopVectors(clip, share),
        ),
        Framework(
            "random-sparsification",
            "Clip-Laplace messages of b coordinates drawn at random; shuffled.",
            lambda clip, share: RandomVectors(clip, share),
        ),
        Framework(
            "unis",
            "Laplace messages, shuffled per coordinate.",
            lambda clip, share: LaplaceVectors(clip),
        ),
        Framework(
            "pldp",
            "Laplace messages without a shuffler.",
            lambda clip, share: LaplaceVectors(clip),
        ),
        Framework(
            "ldp-min",
            "Laplace messages at the smallest level of all, without a shuffler.",
            lambda clip, share: LaplaceVectors(clip),
            smallest_level=True,
        ),
        Framework(
            "non-private",
            "Updates as they are.",
            lambda clip, share: PlainVectors(),
        ),
    )
}


def framework_named(name: str) -> Framework:
    """Returns a framework.

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name not in FRAMEWORKS:
        raise InvalidInputError(
            f"Expected one of {', '.join(FRAMEWORKS)}, got {name!r}."
        )
    return FRAMEWORKS[name]
