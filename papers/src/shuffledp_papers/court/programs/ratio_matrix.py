import numpy as np
p, beta, q, r = 3, 0.25, 2, 2; y = beta / (p - 1); x, s = p * y, p * y / q
P, Q, other = np.array([[3, 1, 4, 0], [1, 3, 4, 0], [1.5, 1.5, 2, 3]]) / 8
claimed = (x - r * y) * s + max(0, (x - r * y) * (1 - 2 * s) - (r - 1) * (1 - x - y) * s)
D = np.outer(P - r * Q, other); print(claimed, np.maximum(D + D.T, 0).sum() / 2)
