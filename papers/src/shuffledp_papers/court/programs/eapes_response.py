import numpy as np; from scipy.stats import binom, norm; N = norm.cdf; f = binom.pmf
n, b, e = 2000, 5, 1.8857; k = np.arange(n + 1); a = 1 / (1 + np.exp(b)); r = np.exp(e)
m = (2 / ((n - 1) * a)) ** 0.5; claimed = N(m / 2 - e / m) - r * N(-m / 2 - e / m)
one, none = f(k - 1, n - 1, a), f(k, n - 1, a)  # the victim's bit 1 or 0, the others hold 0
print(claimed, np.maximum((1 - a - r * a) * none + (a - r * (1 - a)) * one, 0).sum())
