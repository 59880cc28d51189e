from math import exp, log
e = 1; r = e / 2  # two coordinates, values (1, 0) and (-1/2, -1/2), and both messages are 1
mass = lambda x: 2 - exp(-r * (1 + x)) - exp(-r * (1 - x))
claimed = e
print(claimed, 2 * r + log(mass(0.5) ** 2 / (mass(1) * mass(0))))
