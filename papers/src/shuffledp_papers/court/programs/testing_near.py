import numpy as np; from scipy.stats import binom, laplace; F = laplace.cdf; f = binom.pmf
n, v, b, c, E = 75, 3, 5, 4.9, 0.1; s = b - c; l = np.log(b / c) / s; g = 1 - np.exp(-b / 2)
p = min(F(c * l) - F(-c * l), F(c * l + c * b / s) - F(c * (b - l * s) / (b + c)))
i = np.arange(n); m = (i + 1) * g // (2 * g + E); W = f(i, n - 2, 2 * p); h = 0.5
print(W @ (g * f(m, i, h) - E * binom.cdf(m - 1, i, h)), F(c) ** n * (F(v) - h - E / 2))
