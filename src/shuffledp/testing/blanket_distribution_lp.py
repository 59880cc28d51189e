"""Linear program for the blanket distribution omega of a cover.

A cover does not name its messages. A linear program finds a mass w(y, c) of each message y
in each cell c, with the cell's mass and, for a pair of values, the message's probabilities,

    sum_y w(y, c) = omega(c),   sum_c w(y, c) base(c) = R(x')(y), and likewise for x,

and minimizes the factor f by which it exceeds the mass that all users cover of a message,
sum_c w(y, c) <= f min_i,z R_i(z)(y) / gamma_i. The cover holds if f <= 1 is feasible.
"""

import numpy as np
from scipy.optimize import linprog

from shuffledp.cover import Cover
from shuffledp.types import Floats


def smallest_factor(
    cover: Cover, first: Floats, second: Floats, table: Floats
) -> float | None:
    """Returns the least f of the program, None if the cover is not one of this pair.

    Args:
        cover: Cover of a target user.
        first: Probabilities of messages under x, shape (kinds,).
        second: Probabilities under x', shape (kinds,).
        table: Probabilities at all levels and values, shape (levels, values, kinds).
    """
    gamma, bases = cover.blanket_probabilities, cover.bases
    in_blanket = gamma > 0.0
    if not in_blanket.any():
        return 0.0
    # The least of R_i(z)(y) / gamma_i over values z and levels i in the blanket.
    capacity = (table.min(axis=1)[in_blanket] / gamma[in_blanket, None]).min(axis=0)
    kinds, cells = first.size, cover.masses.size
    uncovered = np.zeros((2, 0)) if cover.uncovered is None else cover.uncovered
    num_uncovered = uncovered.shape[1]
    # Variables: the part of its capacity that each message spends in each cell, its part of
    # each uncovered kind, and f.
    num_variables = kinds * cells + kinds * num_uncovered + 1
    equal_rows, equal_values = [], []
    # sum_y w(y, c) = omega(c).
    for cell in range(cells):
        row = np.zeros(num_variables)
        row[cell : kinds * cells : cells] = capacity
        equal_rows.append(row)
        equal_values.append(cover.masses[cell])
    # The messages' parts of an uncovered kind add up to the whole kind.
    for kind in range(num_uncovered):
        row = np.zeros(num_variables)
        row[kinds * cells + kind : num_variables - 1 : num_uncovered] = 1.0
        equal_rows.append(row)
        equal_values.append(1.0)
    for probabilities, density, uncovered_row in (
        (first, bases + cover.differences, uncovered[0]),
        (second, bases, uncovered[1]),
    ):
        for message in range(kinds):
            row = np.zeros(num_variables)
            row[message * cells : (message + 1) * cells] = capacity[message] * density
            start = kinds * cells + message * num_uncovered
            row[start : start + num_uncovered] = uncovered_row
            # Relative equations: the solver's tolerance is absolute.
            scale = max(float(probabilities[message]), 1e-9)
            equal_rows.append(row / scale)
            equal_values.append(float(probabilities[message]) / scale)
    # A message spends at most f times its capacity, over all cells.
    upper_rows = np.zeros((kinds, num_variables))
    for message in range(kinds):
        upper_rows[message, message * cells : (message + 1) * cells] = 1.0
        upper_rows[message, -1] = -1.0
    cost = np.zeros(num_variables)
    cost[-1] = 1.0
    solution = linprog(
        cost,
        upper_rows,
        np.zeros(kinds),
        np.array(equal_rows),
        np.array(equal_values),
        method="highs",
    )
    # Infeasible equations mean that the cover is not one of this pair.
    return (
        float(solution.x[-1])
        if solution.status == 0 and solution.x is not None
        else None
    )
