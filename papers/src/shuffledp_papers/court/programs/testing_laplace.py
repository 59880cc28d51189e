import numpy as np; from scipy.stats import binom, laplace; f = binom.pmf
n, b = 15, 3; w = laplace.sf(b / 2); i = np.arange(n)  # epsilon is 0
claimed = (1 - 2 * w) * f(i, n - 1, 2 * w) @ f((i + 1) // 2, i, 0.5)
q = laplace.sf(b)  # others hold 0; nobody's message is above 1:
print(claimed, (1 - q) ** (n - 1) * (0.5 - q))
