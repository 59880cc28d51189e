"""Every randomizer by its name, as certificates and the command line write it."""

import inspect
from collections.abc import Mapping

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.declared_ratios import DeclaredRatios
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.unary_encoding import UnaryEncoding

_MECHANISMS = {
    "kary-response": KRandomizedResponse,
    "one-bit": OneBit,
    "subset-selection": SubsetSelection,
    "hadamard-response": HadamardResponse,
    "local-hashing": LocalHashing,
    "unary-encoding": UnaryEncoding,
    "rappor": Rappor,
    "clip-laplace": ClipLaplace,
    "sparsified-clip-laplace": SparsifiedClipLaplace,
    "laplace": Laplace,
    "gaussian": Gaussian,
    "declared-ratios": DeclaredRatios,
}
MECHANISMS = tuple(_MECHANISMS)

# Parameters are shorter in certificates and options than in Python.
_NAMES = {
    "categories": "num_categories",
    "buckets": "num_buckets",
    "bits": "num_bits",
    "hashes": "num_hashes",
}


def build(
    mechanism: str, parameters: Mapping[str, int | float | str]
) -> LocalRandomizer:
    """Returns the randomizer of this name with these parameters.

    >>> build("subset-selection", {"categories": 10, "subset_size": 3})
    SubsetSelection(num_categories=10, subset_size=3)

    Raises:
        InvalidInputError: If the name is unknown, or parameters are missing, unknown or
            out of range.
    """
    if mechanism not in _MECHANISMS:
        raise InvalidInputError(
            f"Expected one of {', '.join(MECHANISMS)}, got {mechanism!r}."
        )
    kind = _MECHANISMS[mechanism]
    known = inspect.signature(kind).parameters
    given = {_NAMES.get(name, name): value for name, value in parameters.items()}
    needed = {n for n, p in known.items() if p.default is inspect.Parameter.empty}
    if not needed <= set(given) <= set(known):
        shown = {full: short for short, full in _NAMES.items()}
        parts = [
            f"{shown.get(n, n).replace('_', '-')}{'' if n in needed else ' (optional)'}"
            for n in known
        ]
        raise InvalidInputError(
            f"Expected {mechanism} with {', '.join(parts)}; got "
            f"{', '.join(parameters) or 'nothing'}."
        )
    randomizer: LocalRandomizer = kind(**given)
    return randomizer
