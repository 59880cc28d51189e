import numpy as np
b, d, e = 1, 0.5, 3; a = (1 - d) / (1 + np.exp(b))  # with chance d, a message is marked
v, o = np.array([1 - d - a, a, d]), [a, a, 1 - 2 * a]  # the victim's count, the other's
D = np.outer(v - np.exp(e) * v[[1, 0, 2]], o); claimed = np.maximum(D + D.T, 0).sum() / 2
print(claimed, d)
