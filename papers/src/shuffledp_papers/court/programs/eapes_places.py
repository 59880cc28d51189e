import numpy as np; from math import exp; from scipy.stats import binom; f = binom.pmf
n, b, c, e = 200, 6, 0.1, 1; a, q = 1 / (1 + exp(-b)), 1 / (exp(b) + 2)
i, k = np.ogrid[:n, :n + 1]; A, B = f(k, i, 0.5), f(k - 1, i, 0.5)  # of i clones
gain = np.maximum(a * B + (1 - a) * A - exp(e) * ((1 - a) * B + a * A), 0).sum(1)
print(f(i[:, 0], n - 1, 2 / (1 + exp(c))) @ gain, (1 + (n - 3) * q) / n - exp(e) * q)
