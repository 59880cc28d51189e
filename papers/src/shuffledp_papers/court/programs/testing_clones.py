import numpy as np
v, b = 3, 1; z = np.arange(-40, 41, 1e-5); f = lambda a, x: a / 2 * np.exp(-a * abs(z - x))
zero, one, other = f(v, 0), f(v, 1), f(b, 0)  # densities of messages
p = min(other[(other < x) & (y < x)].sum() * 1e-5 for x, y in ((zero, one), (one, zero)))
print(1 - p, 1 - (other / (zero + one)).min())
