"""Parameters whose every combination is tested, but few of them in the core suite."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

# Names as `parametrize` takes them, and the values they take one after the other.
Values = tuple[str | tuple[str, ...], Sequence[Any]]


def covering(
    *parameters: Values, ids: Callable[[Any], str] | None = None
) -> pytest.MarkDecorator:
    """Returns all combinations, slow but for some in which every value occurs.

    Args:
        parameters: Names and values; for several names, values are tuples.
        ids: What a value is called.
    """
    names: list[str] = []
    for given, _ in parameters:
        names += [given] if isinstance(given, str) else given
    sizes = [len(values) for _, values in parameters]
    # Shifted whenever values start again, so that other ones meet then.
    core = {
        tuple(
            (case + shift * (case // size)) % size for shift, size in enumerate(sizes)
        )
        for case in range(max(sizes))
    }
    cases = []
    for places in itertools.product(*map(range, sizes)):
        taken: list[Any] = []
        for (given, values), place in zip(parameters, places, strict=True):
            taken += [values[place]] if isinstance(given, str) else values[place]
        marks = () if places in core else (pytest.mark.slow,)
        cases.append(pytest.param(*taken, marks=marks))
    return pytest.mark.parametrize(names, cases, ids=ids)
