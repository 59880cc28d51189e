import numpy as np
b, x = 0.95, -0.75; z = np.arange(-0.9999995, 1, 1e-6); g = lambda a, u: np.exp(-a * u / 2)
f = lambda a, y: a * g(a, abs(z - y)) / (2 - g(a, 1 + y) - g(a, 1 - y)) / 2e6; h = f(b, x)
p = lambda h: min(h[(h < f(1, s)) & (f(1, -s) < f(1, s))].sum() for s in (-1, 1))
print(1 - p(f(b, -1)), 1 - p(h))  # Clip-Laplace: the victim at 1, the other at b
