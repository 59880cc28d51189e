"""Joint solution for budgets at which every level meets its target exactly.

`excess_of` estimates by which factor a level's budget is too large. In the logarithms of
all budgets these excesses are nearly straight, so that Newton's method finds where all of
them vanish in few steps. It begins where they would if losses were normal, which takes
no bound, and with the slopes found there; every step corrects them by its result
(Broyden 1965, Mathematics of Computation 19). A level that keeps its target with the
largest budget there is gets that, and the others are solved for.

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.calibration_search import (
    WIDTH,
    excess_of,
    largest_one,
    normal_delta,
    normal_spread,
)
from shuffledp.accounting.promise import Promise
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats, Ints

# Budgets that move by less than this, as a logarithm, have settled. A step of Newton's
# method is much longer than what is left after it.
_SETTLED, _CLOSE = 2e-7, 2e-6
# The two-message bound is not continuous; this close to a jump, no step helps.
_CLOSE_ENOUGH = 1e-4
_STEPS = 24
# Accuracy of the start, which assumes normal losses.
_ABOUT = 1e-3
# By how much a budget is changed to measure slopes, well above such jumps.
_STRIDE = 5e-3
# Longest steps; slopes are measured again after a longer step than _FAR, or after _STALE
# steps without progress.
_FIRST_LIMIT, _LAST_LIMIT, _FAR, _STALE = 0.7, 3.0, 1.0, 2
# Newton's method is given up after this many steps that increased the excess.
_REFUSALS = 4
# Slopes below this are flat: at such large budgets a device nearly always sends the value
# itself, and a larger budget changes nothing.
_FLAT = 0.1
_SWEEPS = 40


def joint_budgets(
    promise: Promise,
    counts: Ints,
    targets: Sequence[float],
    start: Floats,
    *,
    most: float = MAX_BUDGET,
) -> Floats:
    """Returns budgets that use up every target, about, in ascending order.

    Args:
        promise: Protocol and delta.
        counts: How many people ask for each target, shape (levels,).
        targets: Central epsilons, ascending.
        start: Budgets that keep them, shape (levels,).
        most: The largest budget that is of use.
    """
    system = _System(promise, counts, targets, most)
    budgets = system.solved(start)
    return system.swept(start) if budgets is None else budgets


class _System:
    """System of equations, one per level: excess(budgets) = 0, in logarithms."""

    def __init__(
        self, promise: Promise, counts: Ints, targets: Sequence[float], most: float
    ) -> None:
        self._promise, self._targets = promise, targets
        self._counts: NDArray[np.int64] = counts.astype(np.int64)
        # Distinct, and in order, whatever an iteration does.
        self._ranks = 3e-5 * np.arange(counts.size, 0, -1)
        self._highest = most * (1.0 - self._ranks)
        self._slopes: Floats = np.eye(counts.size)
        spreads = [normal_spread(target, promise.delta) for target in targets]
        self._spreads = np.log(spreads)
        # By how much the excess grows with the logarithm of a normal loss's deviation.
        more = [
            normal_delta(*value)
            for value in zip(targets, np.multiply(spreads, 1.05).tolist(), strict=True)
        ]
        self._steepness = np.array([excess_of(value, promise.delta) for value in more])
        self._steepness /= np.log(1.05)

    def solved(self, start: Floats) -> Floats | None:
        """Returns the budgets at which no excess is left, or None."""
        for begin in (self._begin, lambda logs: logs):
            self._slopes = np.eye(start.size)
            with suppress(CertificationError):
                logs = self._newton(begin(np.log(start)), self._excess, _CLOSE)
                if logs is not None:
                    return self._ordered(np.exp(logs))
        return None

    def _begin(self, start: Floats) -> Floats:
        """Returns where no excess would be left if losses were normal.

        Raises:
            CertificationError: If there is no such place.
        """
        logs = self._newton(start, self._about, _ABOUT)
        if logs is None:
            raise CertificationError("No budgets would do for normal losses.")
        self._measure(logs, self._about(logs), self._about)
        self._slopes *= self._steepness[:, None]
        return logs

    def swept(self, budgets: Floats) -> Floats:
        """Returns budgets, each about the largest given the others."""
        damping, moved, before = 1.0, np.inf, np.zeros(budgets.size)
        for _ in range(_SWEEPS):
            # Far from the answer, rough answers to each other's answers will do.
            width = max(WIDTH, min(1e-3, moved / 30.0))
            people = Population(budgets, self._counts)
            best = np.array(
                [
                    largest_one(self._promise, people, index, target, width)
                    for index, target in enumerate(self._targets)
                ]
            )
            steps = np.log(np.minimum(best, self._highest) / budgets)
            # Where the answers to each other's answers swing, smaller steps settle them.
            swing = float(steps @ before) < 0.0
            if swing and np.abs(steps).max() > 0.7 * moved:
                damping = max(damping / 2.0, 0.05)
            elif not swing:
                damping = min(2.0 * damping, 1.0)
            moved, before = float(np.abs(steps).max()), steps
            if moved < _SETTLED:
                break
            budgets = self._ordered(budgets * np.exp(damping * steps))
        return budgets

    def _newton(
        self, logs: Floats, excess_at: Callable[[Floats], Floats], close: float
    ) -> Floats | None:
        excess, limit, stale = excess_at(logs), _FIRST_LIMIT, 0
        refused = 0
        for _ in range(_STEPS):
            if stale >= _STALE:
                stale = 0
                self._measure(logs, excess, excess_at)
            step = self._step(logs, excess)
            if np.abs(step).max() < close:
                return self._moved(logs, step)
            flat = self._flat(excess)
            short = np.where(flat, step, np.clip(step, -limit, limit))
            candidate = self._moved(logs, short)
            new, moved = excess_at(candidate), candidate - logs
            before, after = np.abs(excess).max(), np.abs(new).max()
            if after > 2.0 * before + 0.05:
                limit, stale, refused = limit / 4.0, _STALE, refused + 1
                if refused > _REFUSALS:
                    return None
                continue
            miss = new - excess - self._slopes @ moved
            self._slopes += np.outer(miss, moved) / max(float(moved @ moved), 1e-300)
            # Slopes of one place are not those of another, far away.
            stale = _STALE if np.abs(moved).max() > _FAR else stale + (after > before)
            logs, excess, limit = candidate, new, min(2.0 * limit, _LAST_LIMIT)
        last = np.abs(self._step(logs, excess)).max()
        return logs if last < _CLOSE_ENOUGH else None

    def _moved(self, logs: Floats, step: Floats) -> Floats:
        moved: Floats = np.log(self._ordered(np.exp(logs + step)))
        return moved

    def _step(self, logs: Floats, excess: Floats) -> Floats:
        """Returns the Newton step that leaves no excess under the current slopes.

        Raises:
            CertificationError: If nothing does.
        """
        flat = self._flat(excess)
        # Those who keep their targets with all there is are done.
        free = ~flat & ((logs < np.log(self._highest) - 1e-12) | (excess > 0.0))
        step = np.where(flat, np.log(self._highest) - logs, 0.0)
        slopes = self._slopes[np.ix_(free, free)]
        try:
            step[free] = np.linalg.solve(slopes, -excess[free])
        except np.linalg.LinAlgError:
            raise CertificationError("Budgets do not matter.") from None
        return step

    def _flat(self, excess: Floats) -> NDArray[np.bool_]:
        """Returns the levels that get the largest budget: it hardly changes anything."""
        insensitive: NDArray[np.bool_] = np.diag(self._slopes) < _FLAT
        return insensitive & (excess < 0.0)

    def _measure(
        self, logs: Floats, excess: Floats, excess_at: Callable[[Floats], Floats]
    ) -> None:
        """Measures the slopes by one-sided differences, downward in each budget."""
        for index in range(logs.size):
            before = logs[index - 1] if index else -np.inf
            stride = min(_STRIDE, 0.3 * float(logs[index] - before))
            changed = logs.copy()
            changed[index] -= stride
            self._slopes[:, index] = (excess - excess_at(changed)) / stride

    def _about(self, logs: Floats) -> Floats:
        spreads = self._promise.spreads_of(self._people(logs))
        excess: Floats = np.log(np.maximum(spreads, 1e-300)) - self._spreads
        np.clip(excess, -5.0, 5.0, out=excess)
        return excess

    def _excess(self, logs: Floats) -> Floats:
        deltas = self._promise.deltas_of(self._people(logs), self._targets)
        return np.array([excess_of(delta, self._promise.delta) for delta in deltas])

    def _people(self, logs: Floats) -> Population:
        return Population(np.minimum(np.exp(logs), MAX_BUDGET), self._counts)

    def _ordered(self, budgets: Floats) -> Floats:
        raised = np.maximum.accumulate(budgets / (1.0 - self._ranks))
        ordered: Floats = np.minimum(raised * (1.0 - self._ranks), self._highest)
        return ordered
