from math import exp, expm1
v, b, e, t = 20, 0.05, 0, 0.2; c = lambda a: expm1(a * t / 2) / expm1(a)  # two people
a = 1 / (1 + exp(-v)); p = (exp(-b) + b * expm1(-v) / expm1(-b) / v * exp(-v)) / 2
claimed = (1 - p / 2) * (a - exp(e) * (1 - a))
print(claimed, (1 - c(b)) * (1 - c(v) - exp(e) * (1 - c(-v))))
