from math import exp
d, l, e = 10, 0.1, 1.5; u, r = 1 / d, exp(e / 2)  # two people, sets of two of d items
claimed = 2 * r**2 * (l * u + max(0, l * (1 - 2 * u) - (r - 1) * (1 - l) * u))
w = 2 * u; sent_one, sent_two = (1 - w) ** 2 + w**2 * max(0, 2 - r**2), 1 - w**2
print(claimed, 2 * l * (1 - l) * sent_one + l**2 * sent_two)
