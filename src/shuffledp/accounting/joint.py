"""Budgets at which every level uses up its own target, though all depend on all.

`excess_of` tells by about which factor a level's budget is too large. In the logarithms of
all budgets these excesses are nearly straight, so that Newton's method finds where all of
them vanish in few steps. It begins where they would if losses were normal, which takes
no bound, and with the slopes found there; every step corrects them by what it shows
(Broyden 1965, Mathematics of Computation 19). A level that keeps its target with the
largest budget there is gets that, and the others are solved for.

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves.
"""

from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.accounting.promise import Promise
from shuffledp.accounting.search import (
    WIDTH,
    excess_of,
    largest_one,
    normal_spread,
)
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats, Ints

# Budgets that move by less than this, as a logarithm, have settled. A step of Newton's
# method is much longer than what is left after it.
_SETTLED, _CLOSE = 2e-7, 2e-6
# The search among two messages jumps a little; so close to a jump, no step helps.
_CLOSE_ENOUGH = 1e-4
_STEPS = 24
# Where losses are taken for normal, this is near enough.
_ABOUT = 1e-3
# By how much a budget is changed to measure slopes, well above such jumps.
_STRIDE = 5e-3
# The longest steps, and when slopes are measured anew: after a longer one, or after so
# many that led no nearer.
_FIRST_LIMIT, _LAST_LIMIT, _FAR, _STALE = 0.7, 3.0, 1.0, 2
# Who gets nearer to her target by less than this part of a step is far out, where what
# she sends is her value anyway.
_FLAT = 0.1
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
        self._promise, self._targets = promise, targets
        self._counts = counts.astype(np.int64)
        # Distinct, and in order, whatever an iteration does.
        self._ranks = 3e-5 * np.arange(counts.size, 0, -1)
        self._highest = MAX_BUDGET * (1.0 - self._ranks)
        self._slopes: Floats = np.eye(counts.size)
        delta = promise.delta
        self._spreads = np.log([normal_spread(one, delta) for one in targets])

    def solved(self, start: Floats) -> Floats | None:
        """Returns the budgets at which no excess is left, or None."""
        try:
            about = self._newton(np.log(start), self._about, _ABOUT)
            if about is None:
                self._slopes = np.eye(start.size)
                about = np.log(start)
            else:
                self._measure(about, self._about(about), self._about)
            logs = self._newton(about, self._excess, _CLOSE)
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
            if moved < _SETTLED:
                break
            budgets = self._ordered(budgets * np.exp(damping * steps))
        return budgets

    def _newton(
        self, logs: Floats, excess_at: Callable[[Floats], Floats], close: float
    ) -> Floats | None:
        excess, limit, stale = excess_at(logs), _FIRST_LIMIT, 0
        for _ in range(_STEPS):
            if stale >= _STALE:
                stale = 0
                self._measure(logs, excess, excess_at)
            step = self._step(logs, excess)
            if np.abs(step).max() < close:
                return self._moved(logs, step)
            flat = self._flat(excess)
            short = np.where(flat, step, np.clip(step, -limit, limit))
            there = self._moved(logs, short)
            new, moved = excess_at(there), there - logs
            before, after = np.abs(excess).max(), np.abs(new).max()
            if after > 2.0 * before + 0.05:
                limit, stale = limit / 4.0, _STALE
                continue
            miss = new - excess - self._slopes @ moved
            self._slopes += np.outer(miss, moved) / max(float(moved @ moved), 1e-300)
            # Slopes of one place are not those of another, far away.
            stale = _STALE if np.abs(moved).max() > _FAR else stale + (after > before)
            logs, excess, limit = there, new, min(2.0 * limit, _LAST_LIMIT)
        last = np.abs(self._step(logs, excess)).max()
        return logs if last < _CLOSE_ENOUGH else None

    def _moved(self, logs: Floats, step: Floats) -> Floats:
        found: Floats = np.log(self._ordered(np.exp(logs + step)))
        return found

    def _step(self, logs: Floats, excess: Floats) -> Floats:
        """Returns what leaves no excess, if slopes are what they seem to be.

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

    def _flat(self, excess: Floats) -> np.typing.NDArray[np.bool_]:
        """Returns who may have all there is, since budgets like hers hardly matter."""
        found: np.typing.NDArray[np.bool_] = np.diag(self._slopes) < _FLAT
        return found & (excess < 0.0)

    def _measure(
        self, logs: Floats, excess: Floats, excess_at: Callable[[Floats], Floats]
    ) -> None:
        """Takes slopes from what a little less of each budget changes."""
        for index in range(logs.size):
            before = logs[index - 1] if index else -np.inf
            stride = min(_STRIDE, 0.3 * float(logs[index] - before))
            changed = logs.copy()
            changed[index] -= stride
            self._slopes[:, index] = (excess - excess_at(changed)) / stride

    def _about(self, logs: Floats) -> Floats:
        spreads = self._promise.spreads_of(self._people(logs))
        found: Floats = np.log(np.maximum(spreads, 1e-300)) - self._spreads
        return np.clip(found, -5.0, 5.0)

    def _excess(self, logs: Floats) -> Floats:
        deltas = self._promise.deltas_of(self._people(logs), self._targets)
        return np.array([excess_of(delta, self._promise.delta) for delta in deltas])

    def _people(self, logs: Floats) -> Population:
        return Population(np.minimum(np.exp(logs), MAX_BUDGET), self._counts)

    def _ordered(self, budgets: Floats) -> Floats:
        raised = np.maximum.accumulate(budgets / (1.0 - self._ranks))
        found: Floats = np.minimum(raised, MAX_BUDGET) * (1.0 - self._ranks)
        return np.asarray(np.minimum(found, self._highest), dtype=np.float64)
