import numpy as np; from scipy.stats import binom, laplace; F = laplace.cdf; f = binom.pmf
n, b, c, E = 75, 5, 4.9, 0.1; s = b - c; l = np.log(b / c) / s; g = 1 - np.exp(-b / 2)
p = min(F(c * l) - F(-c * l), F(c * l + c * b / s) - F(c * (b - l * s) / (b + c)))
i = np.arange(n); m = (i + 1) * g // (2 * g + E); W = f(i, n - 1, 2 * p); h = (1 + E) / 2
print(W @ (g * f(m, i, 0.5) - E * binom.cdf(m - 1, i, 0.5)), F(c) ** (n - 1) * (F(b) - h))
