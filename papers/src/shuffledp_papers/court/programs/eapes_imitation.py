from math import e, log
first = 0.6, 0.4  # R(x) and R(x'), chances of two messages
other = 0.6 / e, 1 - 0.6 / e  # R(x''): no ratio is above e
claimed = log(1 + e)
print(claimed, max(log(2 * p / q) for p, q in zip(first, other)))
