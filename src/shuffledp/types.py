"""Array types: the kinds of elements; shapes and units are in each docstring."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complexfloating[Any, Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]

# "agnostic": privacy levels travel apart from messages; "stratified": with them.
Mode: TypeAlias = Literal["agnostic", "stratified"]
