"""A loss on few of its values, for a bound that is no smaller.

Each value is split onto the chosen ones next to it, with the probabilities that keep its
mean: (.)_+ is convex. They are as many as add next to nothing to the variance, and to the
moment E[e^{tilt loss}] that decides at the epsilon that is asked for. Far in the tail that
moment may rest on values whose probability is tiny.
"""

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.types import Floats, Ints

# Numbers of values that are tried where they save so many times as many, and the part of
# the variance that they may add; under the tilt, where a moment grows by half as much times
# the square of the tilt. In any case the bound, which has its power, may grow by this part.
_LEAST_SAVING, _ADDED, _ADDED_TILTED, _GROWN = 1.5, 2e-5, 1e-4, 1e-3
_SIZES = {
    size: np.arange(float(size)) for size in (64, 128, 192, 256, 384, 512, 768, 1_200)
}
# Where the moment grows by more, so many values are chosen for it besides, by these parts
# of the tilt; from one to the next e^{tilt loss} changes by no more than this power of e.
_TAIL_SIZES = 64, 128, 256, 512
_PARTS, _LONGEST = (0.25, 0.5, 0.75, 1.0), 2.0
_FIRST = np.array([True])


def fewer_atoms(loss: Atoms, tilt: float = 0.0, messages: float = 1.0) -> Atoms:
    """Returns the loss on few of its values, or as it is where these save too little.

    Args:
        loss: The target user's.
        tilt: Where the integrand of the bound is least, about, at least 0; at 0 no moment
            but the variance is looked at.
        messages: About how many losses are added up.
    """
    values, masses = _merged(loss)
    costs = _costs(values, masses)
    most_added = _ADDED * float(masses @ (values - masses @ values) ** 2)
    for size, counters in _SIZES.items():
        plain = _at_marks(costs, counters * (costs[-1] / (size - 1)))
        if not _is_worthwhile(plain, loss):
            return loss
        cells = _Cells(values, plain)
        if float(masses @ cells.spreads) <= most_added:
            break
    else:
        return loss
    if tilt > 0.0:
        moment, sizes = _Moment(values, masses, tilt, messages), list(_TAIL_SIZES)
        while moment.is_exceeded(cells):
            if not sizes:
                return loss
            chosen = np.union1d(plain, moment.chosen(sizes.pop(0)))
            if not _is_worthwhile(chosen, loss):
                return loss
            cells = _Cells(values, chosen)
    # Upward by what the means may have lost to rounding.
    nodes = cells.nodes + 1e-15 * np.abs(cells.nodes)
    num_terms = 2 * loss.num_terms + nodes.size
    return Atoms(nodes, cells.split(masses), loss.telling, num_terms)


def _is_worthwhile(chosen: Ints, loss: Atoms) -> bool:
    return chosen.size >= 2 and _LEAST_SAVING * chosen.size <= loss.losses.size


class _Cells:
    """Cells between chosen values; the first and the last value are chosen always.

    Attributes:
        chosen: Positions of the chosen values, shape (chosen,).
        nodes: The chosen values, shape (chosen,).
        right: Which of these is next above each value, shape (values,).
        spreads: By how much each value's square grows where it is split, shape (values,).
        share: Which part of each value goes to the node above, shape (values,).
    """

    def __init__(self, values: Floats, chosen: Ints) -> None:
        chosen[0], chosen[-1] = 0, values.size - 1
        self.chosen, self.nodes = chosen, values[chosen]
        # Each value belongs to the cell that ends at it, and the first to the first one.
        widths = chosen[1:] - chosen[:-1]
        widths[0] += 1
        self.right = np.arange(1, chosen.size).repeat(widths)
        below = values - self.nodes[self.right - 1]
        above = self.nodes[self.right] - values
        self.spreads = below * above
        self.share = np.clip(below / (below + above), 0.0, 1.0)

    def split(self, masses: Floats) -> Floats:
        """Returns the mass that each node gets, shape (chosen,)."""
        return _sums(
            np.concatenate([self.right - 1, self.right]),
            np.concatenate([masses * (1.0 - self.share), masses * self.share]),
        )


class _Moment:
    """E[e^{tilt loss}] over its largest exponential, and by how much it may grow.

    Args:
        values: Different values of the loss, ascending, shape (values,).
        masses: Their probabilities, shape (values,).
        tilt: Above 0.
        messages: About how many losses are added up.
    """

    def __init__(
        self, values: Floats, masses: Floats, tilt: float, messages: float
    ) -> None:
        self._values, self._masses, self._tilt = values, masses, tilt
        self._powers = np.exp(tilt * (values - values[-1]))
        tilted = masses * self._powers
        moment = float(tilted.sum())
        mean = float(tilted @ values) / max(moment, 1e-300)
        variance = float(tilted @ (values - mean) ** 2)
        self._most_grown = max(
            0.5 * _ADDED_TILTED * tilt**2 * variance,
            _GROWN * moment / max(messages, 1.0),
        )

    def is_exceeded(self, cells: _Cells) -> bool:
        """Returns whether it grows by more where values are split onto nodes."""
        ends = self._powers[cells.chosen]
        left = ends[cells.right - 1]
        grown = left + cells.share * (ends[cells.right] - left) - self._powers
        return float(self._masses @ grown) > self._most_grown

    def chosen(self, size: int) -> Ints:
        """Returns positions of about this many values, for the tilt and parts of it.

        And of more above 0 where these are far apart: between likely values and large ones
        nearly nothing is, but what is moves far.
        """
        weights = self._masses.copy()
        for part in _PARTS:
            tilted = self._masses * self._powers**part
            weights += tilted / max(float(tilted.sum()), 1e-300)
        costs = _costs(self._values, weights)
        marks = costs * ((size - 1) / costs[-1])
        marks += np.maximum(self._values, 0.0) * (self._tilt / _LONGEST)
        if not marks[-1] < marks.size:
            return np.arange(marks.size)
        return _at_marks(marks, np.arange(marks[-1] + 1.0))


def _costs(values: Floats, weights: Floats) -> Floats:
    """Returns sums that grow evenly between values which are to be chosen.

    Chosen values next to each other add about the same to the variance.
    """
    steps = values[1:] - values[:-1]
    costs = np.zeros(values.size)
    np.cumsum(np.cbrt(0.5 * (weights[:-1] + weights[1:]) * steps**2), out=costs[1:])
    return costs


def _at_marks(costs: Floats, marks: Floats) -> Ints:
    """Returns the different positions at which the costs reach these marks."""
    marks[-1] = costs[-1]
    chosen = np.minimum(costs.searchsorted(marks), costs.size - 1)
    different: Ints = chosen[np.concatenate([_FIRST, chosen[1:] > chosen[:-1]])]
    return different


def _merged(loss: Atoms) -> tuple[Floats, Floats]:
    """Returns different values, ascending, and the mass of each."""
    order = loss.losses.argsort(kind="stable")
    values, masses = loss.losses[order], loss.masses[order]
    is_new = np.concatenate([_FIRST, values[1:] > values[:-1]])
    if not is_new.all():
        masses = _sums(is_new.cumsum() - 1, masses)
        values = values[is_new]
    return values, masses


def _sums(positions: Ints, numbers: Floats) -> Floats:
    """Returns the sum of the numbers at each position."""
    return np.bincount(positions, weights=numbers).astype(np.float64, copy=False)
