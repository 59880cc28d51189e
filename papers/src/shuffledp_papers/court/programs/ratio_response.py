import numpy as np; from math import exp
k, b, e = 3, 3, 2.5; y = 1 / (exp(b) + k - 1); x, o, r = y * exp(b), y * (k - 3), exp(e)
P, Q = np.array([[x, y, y, o], [y, x, y, o]])  # two people; the other one holds x, too
claimed = (x - r * y) * y + max(0, (x - r * y) * (1 - 2 * y) - (r - 1) * (1 - x - y) * y)
D = np.outer(P - r * Q, P); print(claimed, np.maximum(D + D.T, 0).sum() / 2)
