"""The programs: claims by their papers' formulas, and chances of one event or count.

Most events are that nobody's message is in a set, or that somebody's is. Others hold what
makes it rarest: 0 for noise added to 0 or 1, the far end for Clip-Laplace noise.
"""

from shuffledp.errors import InvalidInputError
from shuffledp.papers.court.small.program import Program

EAPES_MARKED = Program(
    {"n": 2, "b": 1, "d": 0.5, "e": 3},
    """
from math import exp, log, sqrt; from scipy.stats import norm
{numbers}  # with chance d, a message says that it is true
s = log((exp(e) - d) / (1 - d)); mu = sqrt(2 * (1 + exp(b)) / (n - 1) / (1 - d))
claimed = (1 - d) * (norm.cdf(mu / 2 - s / mu) - exp(s) * norm.cdf(-mu / 2 - s / mu))
print(claimed, d)
""",
)

EAPES_RESPONSE = Program(
    {"n": 11, "b": 3, "e": 2},
    """
from math import exp, sqrt; from scipy.stats import norm
{numbers}; q = 1 / (1 + exp(b)); mu = sqrt(2 / (n - 1) / q)
claimed = norm.cdf(mu / 2 - e / mu) - exp(e) * norm.cdf(-mu / 2 - e / mu)
# Others hold 0. Nobody says 1:
print(claimed, (1 - q) ** (n - 1) * (1 - q - exp(e) * q))
""",
)

EAPES_LAPLACE = Program(
    {"n": 260, "v": 1, "b": 2, "e": 0.8, "t": 7},
    """
from math import exp, sqrt; from scipy.stats import laplace, norm
{numbers}; mu = sqrt(2 * (1 + exp(b)) / (n - 1))
claimed = norm.cdf(mu / 2 - e / mu) - exp(e) * norm.cdf(-mu / 2 - e / mu)
here, there, rest = laplace.cdf([v * (t - 1), v * t, b * t])  # below t
print(claimed, 1 - here * rest ** (n - 1) - exp(e) * (1 - there * rest ** (n - 1)))
""",
)

EAPES_GAUSSIAN = Program(
    {"n": 290, "v": 0.5, "b": 1, "d": 0.01, "e": 0.5, "t": 20},
    """
from math import exp, log, sqrt; from scipy.stats import norm; F = norm.cdf
{numbers}; c = sqrt(2 * log(1.25 / d))
s = log((exp(e) - d) / (1 - d)); G = F(t * b / c) ** (n - 1)
m = sqrt((1 + exp(b)) / (n - 1) / (1 - d) / 2); f = lambda x: 1 - F(x * v / c) * G
print((1 - d) * (F(m - s / m / 2) - exp(s) * F(-m - s / m / 2)), f(t - 1) - exp(e) * f(t))
""",
)

EAPES_LIBERAL = Program(
    {"n": 2, "v": 20, "b": 0.1, "e": 3, "t": 0.5},
    """
from math import exp, expm1, sqrt; from scipy.stats import norm
{numbers}; mu = sqrt(2 * (1 + exp(b)) / (n - 1))
claimed = norm.cdf(mu / 2 - e / mu) - exp(e) * norm.cdf(-mu / 2 - e / mu)
c = lambda a: expm1(a * t / 2) / expm1(a)  # within t of the other end
print(claimed, (1 - c(b)) ** (n - 1) * (1 - c(v) - exp(e) * (1 - c(-v))))
""",
)

APES_CLOSED = Program(
    {"n": 53, "v": 500, "b": 0.01, "e": 1, "t": 0.01},
    """
from math import exp, expm1, tanh; T = tanh
{numbers}; x = b * expm1(-v) / expm1(-b) / v * exp(-v)
S = (n - 1) * ((n - 1) * exp(-b) + x) / n; c = lambda a: expm1(a * t / 2) / expm1(a)
claimed = 4 * T(v / 2) * exp(-S * ((expm1(e) / T(v / 2) - 8 / S) / 8) ** 2)
print(claimed, (1 - c(b)) ** (n - 1) * (1 - c(v) - exp(e) * (1 - c(-v))))
""",
)

APES_NUMERICAL = Program(
    {"v": 20, "b": 0.05, "e": 0, "t": 0.2},
    """
from math import exp, expm1
{numbers}; c = lambda a: expm1(a * t / 2) / expm1(a)  # two people
a = 1 / (1 + exp(-v)); p = (exp(-b) + b * expm1(-v) / expm1(-b) / v * exp(-v)) / 2
claimed = (1 - p / 2) * (a - exp(e) * (1 - a))
print(claimed, (1 - c(b)) * (1 - c(v) - exp(e) * (1 - c(-v))))
""",
)

APES_APPENDIX = Program(
    {"n": 275, "b": 0.2, "e": 0.015},
    """
import numpy as np; from math import exp, expm1, tanh; from scipy.stats import binom
{numbers}; S = (n - 1) * exp(-b); T = tanh(b / 2); k = np.arange(n + 1)
claimed = 4 * T * exp(-(((S * expm1(e) / T - 8) / 8) ** 2)); q = 1 / (1 + exp(b / 2))
f = lambda p: p * binom.pmf(k - 1, n - 1, q) + (1 - p) * binom.pmf(k, n - 1, q)
print(claimed, np.maximum(f(q) - exp(e) * f(1 - q), 0).sum())  # negative messages
""",
)

APES_LOCAL = Program(
    {"d": 2, "e": 1},
    """
from math import exp, log
{numbers}; r = e / 2  # d coordinates, all 1 or all 0, and all messages are 1
mass = lambda x: 2 - exp(-r * (1 + x)) - exp(-r * (1 - x))
claimed = e
print(claimed, d * (r + log(mass(0) / mass(1))))
""",
)

APES_SELECTED = Program(
    {"d": 4, "k": 1, "e": 1},
    """
from math import exp, log
{numbers}; r = e / 2  # k of d coordinates, all 0 or all 1, and all messages are 0
mass = lambda x: 2 - exp(-r * (1 + x)) - exp(-r * (1 - x))
claimed = k * e
print(claimed, d * (r + log(mass(1) / mass(0))))
""",
)

UNIFORM = Program(
    {"b": 1, "e": 0},
    """
from math import exp, tanh
{numbers}; a = 1 / (1 + exp(-b)); q = exp(-b / 2) / 2  # two people
counts = (1 - exp(-b) / 2) * (a - exp(e) * (1 - a))
claimed = tanh(b / 2) * counts
print(claimed, (1 - q) * (1 - q - exp(e) * q))  # nobody's message is above 1/2
""",
)

TESTING_GAUSSIAN = Program(
    {"b": 1, "d": 1e-5, "t": 3},
    """
from math import log, sqrt; from scipy.stats import norm
{numbers}; c = sqrt(2 * log(1.25 / d)) / b  # two people; epsilon is 0
w = norm.sf(0.5 / c) - d / 2; claimed = (1 - d) * (1 - 2 * w) * (1 - w) + d
p, q = norm.sf((t - 1) / c), norm.sf(t / c)  # above t
print(claimed, (1 - q) * (p - q))
""",
)

TESTING_LAPLACE = Program(
    {"n": 15, "b": 3},
    """
import numpy as np; from scipy.stats import binom, laplace; f = binom.pmf
{numbers}; w = laplace.sf(b / 2); i = np.arange(n)  # epsilon is 0
claimed = (1 - 2 * w) * f(i, n - 1, 2 * w) @ f((i + 1) // 2, i, 0.5)
q = laplace.sf(b)  # others hold 0; nobody's message is above 1:
print(claimed, (1 - q) ** (n - 1) * (0.5 - q))
""",
)

TESTING_LONE = Program(
    {"n": 21, "v": 3, "b": 4},
    """
import numpy as np; from math import exp, log; from scipy.stats import binom, laplace
{numbers}; l = log(b / v); w = laplace.sf(b / 2); i = np.arange(n)
r = exp(-v * (b - l) / (b + v)) - exp(-v * (b + l) / (b - v)); f = binom.pmf
W = (1 - r) * f(i, n - 2, 2 * w) + r * f(i - 1, n - 2, 2 * w); q = laplace.sf(b)
print((1 - 2 * w) * W @ f((i + 1) // 2, i, 0.5), (1 - q) ** (n - 1) * (0.5 - laplace.sf(v)))
""",
)

TESTING_ALONE = Program(
    {"b": 2, "e": 1.2},
    """
from math import exp
{numbers}  # one person; the sum begins with one clone
claimed = 0
exact = 1 - exp((e - b) / 2)
print(claimed, exact)
""",
)

RATIO_MATRIX = Program(
    {"p": 3, "beta": 0.25, "q": 2, "r": 2},
    """
import numpy as np
{numbers}; y = beta / (p - 1); x, s = p * y, p * y / q
here, there, rest = np.array([[3, 1, 4, 0], [1, 3, 4, 0], [1.5, 1.5, 2, 3]]) / 8
claimed = (x - r * y) * s + max(0, (x - r * y) * (1 - 2 * s) - (r - 1) * (1 - x - y) * s)
D = np.outer(here - r * there, rest); print(claimed, np.maximum(D + D.T, 0).sum() / 2)
""",
)

RATIO_RESPONSE = Program(
    {"k": 4, "b": 3, "e": 2.5},
    """
import numpy as np; from math import exp
{numbers}; y = 1 / (exp(b) + k - 1); x, o, r = y * exp(b), y * (k - 3), exp(e)
here, there, rest = np.array([[x, y, y, o], [y, x, y, o], [y, y, x, o]])  # two people
claimed = (x - r * y) * y + max(0, (x - r * y) * (1 - 2 * y) - (r - 1) * (1 - x - y) * y)
D = np.outer(here - r * there, rest); print(claimed, np.maximum(D + D.T, 0).sum() / 2)
""",
)

SETS_ONE = Program(
    {"d": 3, "l": 0.1, "e": 0.1},
    """
from math import exp
{numbers}; u, r = 1 / d, exp(e)  # two people, one blanket message each, d items
delta = l * u + max(0, l * (1 - 2 * u) - (r - 1) * (1 - l) * u)
claimed = r * delta
print(claimed, l * ((1 - u) ** 2 + u**2 * max(0, 2 - r)))  # the total tells l from 1 - l
""",
)

SETS_TWO = Program(
    {"d": 10, "l": 0.1, "e": 1.5},
    """
from math import exp
{numbers}; u, r = 1 / d, exp(e / 2)  # two people, sets of two of d items
claimed = 2 * r**2 * (l * u + max(0, l * (1 - 2 * u) - (r - 1) * (1 - l) * u))
w = 2 * u; sent_one, sent_two = (1 - w) ** 2 + w**2 * max(0, 2 - r**2), 1 - w**2
print(claimed, 2 * l * (1 - l) * sent_one + l**2 * sent_two)
""",
)

EAPES_IMITATION = Program(
    {},
    """
from math import e, log
here = 0.6, 0.4  # R(x) and R(x'), chances of two messages
other = 0.6 / e, 1 - 0.6 / e  # R(x''): no ratio is above e
claimed = log(1 + e)
print(claimed, max(log(2 * p / q) for p, q in zip(here, other)))
""",
)

EAPES_PLACES = Program(
    {"n": 200, "b": 6, "c": 0.1, "e": 1},
    """
import numpy as np; from math import exp; from scipy.stats import binom; f = binom.pmf
{numbers}; a, q = 1 / (1 + exp(-b)), 1 / (exp(b) + 2)
i, k = np.ogrid[:n, :n + 1]; A, B = f(k, i, 0.5), f(k - 1, i, 0.5)  # of i clones
gain = np.maximum(a * B + (1 - a) * A - exp(e) * ((1 - a) * B + a * A), 0).sum(1)
print(f(i[:, 0], n - 1, 2 / (1 + exp(c))) @ gain, (1 + (n - 3) * q) / n - exp(e) * q)
""",
)

EAPES_NORMAL = Program(
    {"n": 50, "b": 0.1, "d": 0.02},
    """
import numpy as np; from scipy.stats import multinomial, multivariate_normal as normal
{numbers}; m = n - 1; a = (1 - d) / (1 + np.exp(b)); k = round(m * a)
F = normal([m * a, m * a], m * np.array([[a - a * a, -a * a], [-a * a, a - a * a]])).cdf
p = multinomial.pmf([k, k, m - 2 * k], m, [a, a, 1 - 2 * a]); h = k + 0.5
print(p - F([h, h]) + 2 * F([h, k]) - F([k, k]), 1.0)  # whole numbers have chances 1 and 0
""",
)

TESTING_VALUE = Program(
    {"x": -0.75},
    """
import numpy as np
{numbers}; z = np.arange(-0.9999995, 1, 1e-6); g = lambda u: np.exp(-u / 2)
f = lambda y: g(abs(z - y)) / (2 - g(1 + y) - g(1 - y)) / 2e6  # Clip-Laplace at budget 1
p = lambda y: min(f(y)[(f(y) <= f(s)) & (f(-s) < f(s))].sum() for s in (-1, 1))
print(1 - p(-1), 1 - p(x))
""",
)

APES_AGGREGATION = Program(
    {"L": 1, "mu": 10, "w": 1, "x": 1},
    """
{numbers}  # F(v) = v^2 / 2; noise x
m = L + mu  # the minimum of F(v) + mu / 2 (v - w)^2, and x
claimed = (L / (mu * m) + L / m**2 / 2 - 1 / mu) * w**2 + (1 / mu + L / m) * w * x
claimed += L / 2 * x**2
print(claimed, (mu * w / (1 + mu) + x) ** 2 / 2 - w**2 / 2)
""",
)

APES_ROUND = Program(
    {"L": 1, "mu": 10, "w": 1, "x": 1},
    """
{numbers}  # F(v) = v^2 / 2; noise x
m = L + mu; reached = mu * w / (1 + mu) + x  # no gradient is longer
claimed = (1 + 2 * (L / (mu * m) + L / m**2 - 1 / mu)) * w**2 / 2
claimed += reached * (1 / mu + L / m) * x + L / 2 * x**2
print(claimed, reached**2 / 2)
""",
)

APES_SQUARE = Program(
    {"C": 0.1, "e": 1},
    """
from math import exp; from scipy.integrate import quad
{numbers}; q = 1 / (exp(e) - 1)
claimed = 8 * C**2 / e**2 - (4 * C**2 + 8 * C / e) * q
I = lambda k: quad(lambda u: u**k * exp(-u * e / (2 * C)), 0, 2 * C)[0]
print(claimed, I(2) / I(0))
""",
)

APES_VARIANCE = Program(
    {"C": 0.1, "e": 1},
    """
from math import exp; from scipy.integrate import quad
{numbers}; q = 1 / (exp(e) - 1)
claimed = C**2 * (4 / e**2 - 8 * q - 32 * q / e - 8 * q**2)
I = lambda k: quad(lambda u: u**k * exp(-u * e / (2 * C)), 0, 2 * C)[0]
print(claimed, I(2) / I(0) - (I(1) / I(0)) ** 2)
""",
)

# By the beginning of a case's name: what it shows, with the fewest people.
PROGRAMS = {
    "V1": EAPES_MARKED,
    "V2": EAPES_RESPONSE,
    "V3": EAPES_LAPLACE,
    "V3b": EAPES_GAUSSIAN,
    "V3c": EAPES_LIBERAL,
    "V4": APES_CLOSED,
    "V4b": APES_NUMERICAL,
    "V5": APES_APPENDIX,
    "V6": APES_LOCAL,
    "V6b": APES_SELECTED,
    "V7": TESTING_GAUSSIAN,
    "V7b": TESTING_LAPLACE,
    "V8": TESTING_LONE,
    "V8b": TESTING_LONE,
    "V8c": TESTING_LONE,
    "V9": TESTING_ALONE,
    "V10": RATIO_MATRIX,
    "V10b": RATIO_RESPONSE,
    "V11": SETS_ONE,
    "V11b": SETS_TWO,
    "V12": UNIFORM,
    "V13": RATIO_RESPONSE,
    "V14": EAPES_IMITATION,
    "V15": EAPES_PLACES,
    "V16": EAPES_NORMAL,
    "V17": TESTING_VALUE,
    "V18": APES_AGGREGATION,
    "V19": APES_ROUND,
    "V20": APES_SQUARE,
    "V21": APES_VARIANCE,
}


def program_of(case: str) -> Program:
    """Returns the program that shows what a case shows, such as "V8-2".

    Raises:
        InvalidInputError: If the case is none of a claim that falls.
    """
    names = {name.lower(): program for name, program in PROGRAMS.items()}
    beginning = case.lower().split("-")[0]
    if beginning not in names:
        raise InvalidInputError(
            f"Expected a case of a claim that falls, {', '.join(PROGRAMS)}, got {case!r}."
        )
    return names[beginning]
