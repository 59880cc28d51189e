"""Array types. Shapes and units stand in each docstring; these say what an array holds."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complexfloating[Any, Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]

# Do privacy levels travel apart from messages, or with them?
Mode: TypeAlias = Literal["agnostic", "stratified"]
