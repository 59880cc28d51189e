"""Budgets at which every level uses up its own target, though all depend on all.

`excess_of` tells by about which factor a level's budget is too large. In the logarithms of
all budgets these excesses are nearly straight, so that Newton's method finds where all of
them vanish in few steps. Slopes are measured once, near the answer, and then corrected by
what every step shows (Broyden 1965, Mathematics of Computation 19). A level that keeps its
target with the largest budget there is gets that, and the others are solved for.

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves.
"""

from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.promise import Promise
from shuffledp.accounting.search import WIDTH, excess_of, largest_one
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats, Ints

# Budgets that move by less than this, as a logarithm, have settled.
_CLOSE = 2e-7
# The search among two messages jumps a little; so close to a jump, no step helps.
_CLOSE_ENOUGH = 1e-4
_STEPS = 24
# By how much a budget is changed to measure slopes, well above such jumps; and how near
# the answer excesses are straight enough for it.
_STRIDE, _NEAR = 5e-3, 0.3
_FIRST_LIMIT, _LAST_LIMIT = 0.7, 3.0
_SWEEPS = 40


def joint_budgets(
    promise: Promise, counts: Ints, targets: Sequence[float], start: Floats
) -> Floats:
    """Returns budgets that use up every target, about, in ascending order.

    Args:
        promise: Protocol and delta.
        counts: How many people ask for each target, shape (levels,).
        targets: Central epsilons, ascending.
        start: Budgets that keep them, shape (levels,).
    """
    system = _System(promise, counts, targets)
    found = system.solved(start)
    return system.swept(start) if found is None else found


class _System:
    """As many equations as unknown budgets."""

    def __init__(
        self, promise: Promise, counts: Ints, targets: Sequence[float]
    ) -> None:
        self._promise, self._counts, self._targets = promise, counts, targets
        # Distinct, and in order, whatever an iteration does.
        self._ranks = 3e-5 * np.arange(counts.size, 0, -1)
        self._highest = MAX_BUDGET * (1.0 - self._ranks)
        self._slopes: Floats = np.eye(counts.size)

    def solved(self, start: Floats) -> Floats | None:
        """Returns the budgets at which no excess is left, or None."""
        try:
            logs = self._newton(np.log(start))
        except CertificationError:
            return None
        return None if logs is None else self._ordered(np.exp(logs))

    def swept(self, budgets: Floats) -> Floats:
        """Returns budgets of which each is the largest, given the others."""
        damping, moved = 1.0, np.inf
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
            steps = np.log(best / budgets)
            # Where the answers to each other's answers swing, smaller steps settle them.
            if np.abs(steps).max() > 0.7 * moved:
                damping = max(damping / 2.0, 0.05)
            moved = float(np.abs(steps).max())
            if moved < _CLOSE:
                break
            budgets = self._ordered(budgets * np.exp(damping * steps))
        return budgets

    def _newton(self, logs: Floats) -> Floats | None:
        excess, limit, measured = self._excess(logs), _FIRST_LIMIT, False
        for _ in range(_STEPS):
            # Those who keep their targets with all there is are done.
            free = (logs < np.log(self._highest)) | (excess > 0.0)
            if not measured and np.abs(excess[free]).max(initial=0.0) < _NEAR:
                self._measure(logs, excess)
                measured = True
            whole = self._step(excess, free)
            if np.abs(whole).max() < _CLOSE:
                return logs + whole
            there = np.log(self._ordered(np.exp(logs + np.clip(whole, -limit, limit))))
            new, moved = self._excess(there), there - logs
            if not np.abs(new).max() < 2.0 * np.abs(excess).max() + 0.05:
                limit, measured = limit / 4.0, False
                continue
            miss = new - excess - self._slopes @ moved
            self._slopes += np.outer(miss, moved) / max(float(moved @ moved), 1e-300)
            logs, excess, limit = there, new, min(2.0 * limit, _LAST_LIMIT)
        return logs if np.abs(self._step(excess, free)).max() < _CLOSE_ENOUGH else None

    def _step(self, excess: Floats, free: np.typing.NDArray[np.bool_]) -> Floats:
        step = np.zeros(excess.size)
        slopes = self._slopes[np.ix_(free, free)]
        step[free] = np.linalg.lstsq(slopes, -excess[free], rcond=None)[0]
        return step

    def _measure(self, logs: Floats, excess: Floats) -> None:
        """Takes slopes from what a little less of each budget changes."""
        for index in range(logs.size):
            before = logs[index - 1] if index else -np.inf
            stride = min(_STRIDE, 0.3 * float(logs[index] - before))
            changed = logs.copy()
            changed[index] -= stride
            self._slopes[:, index] = (excess - self._excess(changed)) / stride

    def _excess(self, logs: Floats) -> Floats:
        people = Population(np.minimum(np.exp(logs), MAX_BUDGET), self._counts)
        deltas = self._promise.deltas_of(people, self._targets)
        return np.array([excess_of(delta, self._promise.delta) for delta in deltas])

    def _ordered(self, budgets: Floats) -> Floats:
        raised = np.maximum.accumulate(budgets / (1.0 - self._ranks))
        found: Floats = np.minimum(raised, MAX_BUDGET) * (1.0 - self._ranks)
        return np.minimum(found, self._highest)

