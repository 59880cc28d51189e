import numpy as np; from scipy.stats import multinomial, multivariate_normal as normal
n, b, d = 50, 0.1, 0.02; m = n - 1; a = (1 - d) / (1 + np.exp(b)); k = round(m * a)
F = normal([m * a, m * a], m * np.array([[a - a * a, -a * a], [-a * a, a - a * a]])).cdf
p = multinomial.pmf([k, k, m - 2 * k], m, [a, a, 1 - 2 * a]); h = k + 0.5
print(p - F([h, h]) + 2 * F([h, k]) - F([k, k]), 1.0)  # whole numbers have chances 1 and 0
