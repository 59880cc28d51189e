from math import exp, expm1, log1p, sqrt
C, e = 1, 0.45; n = (300 * C) ** 6; g = exp(0.5) - exp(e)  # one at 0.5, the others at 2
u = (g / (4 * n * expm1(e))) ** (1 / 3); q = u**4 / 2  # a message is above -2 ln u
claimed = (1 + exp(e)) * C / sqrt(n - 1); s = (n - 1) * log1p(-q)  # delta of G_mu: 0
print(claimed, expm1(e) * expm1(s) + exp(s) * g * u / 2)
