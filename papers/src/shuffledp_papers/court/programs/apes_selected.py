from math import exp, log
d, k, e = 4, 1, 1; r = e / 2  # k of d coordinates, all 0 or all 1, and all messages are 0
mass = lambda x: 2 - exp(-r * (1 + x)) - exp(-r * (1 - x))
claimed = k * e
print(claimed, d * (r + log(mass(1) / mass(0))))
