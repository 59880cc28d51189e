import numpy as np; from math import exp, log; from scipy.stats import binom, laplace
n, v, b = 21, 3, 4; l = log(b / v); w = laplace.sf(b / 2); i = np.arange(n)
r = exp(-v * (b - l) / (b + v)) - exp(-v * (b + l) / (b - v)); f = binom.pmf
W = (1 - r) * f(i, n - 2, 2 * w) + r * f(i - 1, n - 2, 2 * w); q = laplace.sf(b)
print((1 - 2 * w) * W @ f((i + 1) // 2, i, 0.5), (1 - q) ** (n - 1) * (0.5 - laplace.sf(v)))
