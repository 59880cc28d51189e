"""Privacy cost of drawing Poisson numbers with Bernoulli draws in double precision.

A device finds its number N of blanket messages by asking, for j = 0, 1, ..., cap - 1,
whether N stops at j: a Bernoulli draw of probability P(N = j) / P(N >= j), or of its
complement, whichever is at most one half. Draws hit with the probability they are
given, every bit of it; so do those that decide whether an item is sent. But
probabilities of stopping are computed.

*One draw.* With r_j = m / (j + 1), t_j = P(N >= j) / P(N = j) and u = 2^-53, it
computes

    t_j = 1 + r_j t_{j+1},   stop_j = 1 / t_j,   go_j = r_j (t_{j+1} / t_j),

beginning so far beyond cap and m that P(N >= there) is below e^-100 of P(N >= cap). All
terms are positive: a relative error e_{j+1} of t_{j+1} enters t_j as a part go_j of it, so
that e_j <= u + go_j (2 u + e_{j+1}), and unrolled

    e_j <= u (1 + 3 E[N - j | N >= j]) <= u (1 + 3 m),

as a Poisson number's mean residual life falls with j. So stop_j is off by at most
u (2 + 3 m) of itself, go_j by u (5 + 6 m), and the complement of a Bernoulli draw of at
most one half by no greater part of itself. With all products of errors, that is below
7e-16 (m + 1).

*All draws.* Probabilities below 6e-309 overflow, where m > 700, and are drawn as 0: the
omitted outcomes of all devices have a probability below 1e-290 (`never_drawn`).
Otherwise the probability of a person's N is a product of at most cap factors that are
right up to 7e-16 (m + 1) of themselves, and the probability of all honest people's
reports is right up to a factor of e^{+-tau},

    tau = (honest people) cap 7e-16 (m + 1), rounded up.

Let P and Q be the distributions of the reports in two worlds with exact draws, P' and
Q' with real ones. If P(S) <= e^eps Q(S) + delta for an event S, then

    P'(S) <= e^tau P(S) <= e^{tau + eps} Q(S) + e^tau delta
                        <= e^{eps + 2 tau} Q'(S) + e^tau delta,
    P'(S) - e^eps Q'(S) >= e^-tau (P(S) - e^{eps + 2 tau} Q(S)).

So (eps, delta) with exact draws is (eps + 2 tau, e^tau delta) with real ones, and a
lower bound at eps + 2 tau holds at eps, up to a factor of e^-tau. Epsilons below
2 tau, 2 tau - x, need the first line at -x, where P(S) - e^-x Q(S) <= P(S) - Q(S) + x.
"""

# Of a Bernoulli draw's probability, and of its complement; times m + 1.
_COIN_ERROR = 7e-16
# Probabilities below 6e-309 that are drawn as 0, of all people's draws.
_OVERFLOWS = 700.0
_NEVER = 1e-290


def coin_error(blanket: float) -> float:
    """Returns by which part of itself a Bernoulli draw's probability may be off."""
    return _COIN_ERROR * (blanket + 1.0)


def drift(blanket: float, cap: int, num_honest: int) -> float:
    """Returns tau: by which factor e^{+-tau} probabilities of reports may be off.

    Args:
        blanket: m, blanket messages per person in the mean.
        cap: The most blanket messages that a person sends.
        num_honest: How many people make draws that count.
    """
    # The logarithm of 1 - x is below -x by about x^2 / 2, and x is below 1e-10.
    return num_honest * cap * coin_error(blanket) * (1.0 + 1e-9)


def never_drawn(blanket: float) -> float:
    """Returns a bound of the probability of outcomes lost to overflowing draws."""
    return _NEVER if blanket > _OVERFLOWS else 0.0
