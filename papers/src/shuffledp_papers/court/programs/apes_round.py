L, mu, w, x = 1, 10, 1, 1  # F(v) = v^2 / 2; noise x
m = L + mu; reached = mu * w / (1 + mu) + x  # no gradient is longer
claimed = (1 + 2 * (L / (mu * m) + L / m**2 - 1 / mu)) * w**2 / 2
claimed += reached * (1 / mu + L / m) * x + L / 2 * x**2
print(claimed, reached**2 / 2)
