from math import exp, log
d, e = 2, 1; r = e / 2  # d coordinates, all 1 or all 0, and all messages are 1
mass = lambda x: 2 - exp(-r * (1 + x)) - exp(-r * (1 - x))
claimed = e
print(claimed, d * (r + log(mass(0) / mass(1))))
