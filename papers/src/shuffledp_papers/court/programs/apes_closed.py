from math import exp, expm1, tanh; T = tanh
n, v, b, e, t = 53, 500, 0.01, 1, 0.01; x = b * expm1(-v) / expm1(-b) / v * exp(-v)
S = (n - 1) * ((n - 1) * exp(-b) + x) / n; c = lambda a: expm1(a * t / 2) / expm1(a)
claimed = 4 * T(v / 2) * exp(-S * ((expm1(e) / T(v / 2) - 8 / S) / 8) ** 2)
print(claimed, (1 - c(b)) ** (n - 1) * (1 - c(v) - exp(e) * (1 - c(-v))))
