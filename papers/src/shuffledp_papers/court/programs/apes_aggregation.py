L, mu, w, x = 1, 10, 1, 1  # F(v) = v^2 / 2; noise x
m = L + mu  # the minimum of F(v) + mu / 2 (v - w)^2, and x
claimed = (L / (mu * m) + L / m**2 / 2 - 1 / mu) * w**2 + (1 / mu + L / m) * w * x
claimed += L / 2 * x**2
print(claimed, (mu * w / (1 + mu) + x) ** 2 / 2 - w**2 / 2)
