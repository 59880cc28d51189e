from math import log, sqrt; from scipy.stats import norm
b, d, t = 1, 1e-05, 3; c = sqrt(2 * log(1.25 / d)) / b  # two people; epsilon is 0
w = norm.sf(0.5 / c) - d / 2; claimed = (1 - d) * (1 - 2 * w) * (1 - w) + d
p, q = norm.sf((t - 1) / c), norm.sf(t / c)  # above t
print(claimed, (1 - q) * (p - q))
