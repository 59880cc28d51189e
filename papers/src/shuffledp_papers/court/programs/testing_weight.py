from math import exp
b = 1  # Laplace noise, for values 0 and 1
claimed = 1 - exp(-b / 2) / 2  # 1 - p_1
p = 1 / (1 + exp(b))  # R is (1 - p) Q + p Q', and R' the reverse: below 0 R is e^b R'
print(claimed, 1 - p)
