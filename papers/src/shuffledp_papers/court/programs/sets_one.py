from math import exp
d, l, e = 5, 0.3, 1; u, r = 1 / d, exp(e)  # two people, one blanket message each, d items
delta = l * u + max(0, l * (1 - 2 * u) - (r - 1) * (1 - l) * u)
claimed = r * delta
print(claimed, l * ((1 - u) ** 2 + u**2 * max(0, 2 - r)))  # the total tells l from 1 - l
