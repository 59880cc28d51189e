L, mu, w, x = 1, 0.1, 1, 10  # F(v) = v^2 / 2; noise x in the gradient
m = mu  # the curvature of F is not below 0
claimed = (L / (mu * m) + L / m**2 / 2 - 1 / mu) * w**2 + (1 / mu + L / m) * w * x
claimed += L / 2 * x**2
print(claimed, (mu * w / (1 + mu) + x / mu) ** 2 / 2 - w**2 / 2)
