"""The logarithm of a product over many people, of factors 1 + gamma x.

Gammas that are near each other share one logarithm: with c their middle,

    log(1 + gamma x) = log(1 + c x) + log(1 + (gamma - c) w),  w = x / (1 + c x),

and the sum of the last logarithms over all people is a power series in w, whose
coefficients are sums of powers of gamma - c. Where |gamma - c| |w| <= r < 1 for all of
them, n people's remainder after K terms is at most n r^{K + 1} / ((K + 1) (1 - r)).
Farther out, factors of few people are multiplied before the logarithm is taken. Where that
takes few products, as of few groups or of groups of one size, they are multiplied
everywhere, and no logarithm is needed.
"""

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.sums.complex_exp import exp_of
from shuffledp.accounting.sums.complex_log1p import log1p, log1p_parts
from shuffledp.types import Complexes, Floats, Ints

# Powers of the series, which cost about as much as four logarithms.
_TERMS = 24
# More groups than this are worth a series, unless so few products do.
_FEW_GROUPS, _FEW_PRODUCTS = 6, 48
# The remainder of the series, of all people together.
_REMAINDER = 1e-12
# Factors of this many people are multiplied, whose logarithms add up to this at most.
_FEW_PEOPLE, _LARGEST_LOG = 1_000.0, 600.0
# Squares of larger factors might overflow.
_LARGEST_FACTOR = 1e150
# Numbers at a time, which stay in a processor's cache with all that comes of them.
_BLOCK = 1 << 12
# Rounding of a product, to which a factor of size d adds 4e-16 / d.
_ROUNDING, _ROUNDING_OF_FACTOR = 1e-10, 4e-16


class LogProduct:
    """The sum of count log(1 + gamma x) over groups of people, of complex x.

    Args:
        probabilities: Gamma of each group, in [0, 1], shape (groups,).
        counts: People in each group, shape (groups,).

    Attributes:
        probabilities: Gamma of each group, in [0, 1], shape (groups,).
        counts: People in each group, shape (groups,).
        remainder: By how much a sum may be off, apart from rounding.
    """

    def __init__(self, probabilities: Floats, counts: Floats) -> None:
        self.probabilities, self.counts = probabilities, counts
        self.remainder, self._people = 0.0, float(counts.sum())
        self._squares: list[tuple[float, ...]] = []
        if self._people <= _FEW_PEOPLE:
            self._squares = _squares_of(probabilities, counts.astype(np.int64))
        parts = set(self._squares)
        num_products = 2 * len(self._squares) + sum(map(len, parts))
        self._has_series = probabilities.size > _FEW_GROUPS and not (
            self._people <= _FEW_PEOPLE and num_products <= _FEW_PRODUCTS
        )
        if self._has_series:
            self._set_series()

    def _set_series(self) -> None:
        low, high = self.probabilities.min(), self.probabilities.max()
        self._middle = 0.5 * (low + high)
        steps = self.probabilities - self._middle
        # A little more than the farthest step, for rounding.
        farthest = 1.0000001 * float(np.abs(steps).max())
        allowed = 0.5 * _REMAINDER * (_TERMS + 1) / max(self._people, 1.0)
        ratio = allowed ** (1.0 / (_TERMS + 1))
        # Up to a half, 1 - r is at least the factor 0.5.
        self._largest = min(ratio, 0.5) / max(farthest, 1e-300)
        powers = steps ** np.arange(1, _TERMS + 1)[:, None]
        signs = -((-1.0) ** np.arange(1, _TERMS + 1))
        self._coefficients = signs / np.arange(1, _TERMS + 1) * (powers @ self.counts)
        self.remainder = _REMAINDER

    def __call__(self, x: Complexes) -> Complexes:
        """Returns the sums up to multiples of 2 pi i, shape as x, which has one axis."""
        if x.size <= _BLOCK:
            return self._sums(x)
        blocks = np.split(x, range(_BLOCK, x.size, _BLOCK))
        return np.concatenate([self._sums(block) for block in blocks])

    def scaled(self, x: Complexes, level: float) -> Complexes:
        """Returns the exponentials of the sums over e^level, shape as x, of one axis."""
        blocks = np.split(x, range(_BLOCK, x.size, _BLOCK))
        return np.concatenate([self._scaled(block, level) for block in blocks])

    def _scaled(self, x: Complexes, level: float) -> Complexes:
        few = not self._has_series and self._people <= _FEW_PEOPLE
        if not few or abs(level) > _LARGEST_LOG:
            return self._by_sums(x, level)
        safe = self._has_safe_product(x)
        if safe.all():
            return self._product(x) * math.exp(-level)
        scaled: Complexes = np.empty(x.shape, dtype=np.complex128)
        scaled[safe] = self._product(x[safe]) * math.exp(-level)
        scaled[~safe] = self._by_sums(x[~safe], level)
        return scaled

    def _by_sums(self, x: Complexes, level: float) -> Complexes:
        sums = self._sums(x)
        return exp_of(sums.real - level, sums.imag)

    def _sums(self, x: Complexes) -> Complexes:
        if not self._has_series:
            return self._direct(x)
        w = x / (1.0 + self._middle * x)
        # Not `>`: where 1 + c x is 0, w is no number.
        far = ~(np.abs(w) <= self._largest)
        series: Complexes = np.full(
            x.shape, self._coefficients[-1], dtype=np.complex128
        )
        for coefficient in self._coefficients[-2::-1]:
            series *= w
            series += coefficient
        series *= w
        series += self._people * log1p(self._middle * x)
        if far.any():
            series[far] = self._far(x[far])
        return series

    def _far(self, x: Complexes) -> Complexes:
        """Returns the sums where the series does not reach."""
        if self._people > _FEW_PEOPLE:
            return self._direct(x)
        safe = self._has_safe_product(x)
        result: Complexes = np.empty(x.shape, dtype=np.complex128)
        result[safe] = np.log(self._product(x[safe]))
        if not safe.all():
            result[~safe] = self._direct(x[~safe])
        return result

    def _has_safe_product(self, x: Complexes) -> NDArray[np.bool_]:
        """Returns where factors are neither so small nor so large that digits are lost."""
        low, high = self.probabilities.min(), self.probabilities.max()
        real = np.ascontiguousarray(x.real)
        square = real * real + x.imag**2
        # Factors lie between 1 + low x and 1 + high x, on a line; the nearest to 0 there.
        nearest = np.clip(-real / square, low, high)
        real *= 2.0
        # |1 + gamma x|^2, whose rounding is far below the least that is enough.
        least = 1.0 + nearest * (real + nearest * square)
        largest = 1.0 + high * np.maximum(real + high * square, 0.0)
        most = min(math.exp(_LARGEST_LOG / self._people), _LARGEST_FACTOR)
        enough = max(1.0 / most, self._people * _ROUNDING_OF_FACTOR / _ROUNDING)
        safe: NDArray[np.bool_] = (least >= enough**2) & (largest <= most**2)
        return safe

    def _product(self, x: Complexes) -> Complexes:
        """Returns the product of all people's factors."""
        known: dict[tuple[float, ...], Complexes] = {
            (): np.ones(x.shape, dtype=np.complex128)
        }
        product = known[()].copy()
        for probabilities in self._squares:
            product *= product
            if probabilities not in known:
                factors = 1.0 + probabilities[0] * x
                for probability in probabilities[1:]:
                    factors *= 1.0 + probability * x
                known[probabilities] = factors
            if probabilities:
                product *= known[probabilities]
        return product

    def _direct(self, x: Complexes) -> Complexes:
        # Probabilities are real: parts apart take half the products.
        logs = log1p_parts(
            np.multiply.outer(x.real, self.probabilities),
            np.multiply.outer(x.imag, self.probabilities),
        )
        result: Complexes = np.empty(x.shape, dtype=np.complex128)
        result.real, result.imag = (
            np.einsum("zg,g->z", part, self.counts) for part in logs
        )
        return result


def _squares_of(probabilities: Floats, counts: Ints) -> list[tuple[float, ...]]:
    """Returns whose factors are multiplied after each square of a product.

    From the highest binary digit of the counts to the lowest: groups of one size have the
    same digits.
    """
    digits = reversed(range(int(counts.max(initial=0)).bit_length()))
    return [
        tuple(probabilities[(counts >> digit) & 1 == 1].tolist()) for digit in digits
    ]
