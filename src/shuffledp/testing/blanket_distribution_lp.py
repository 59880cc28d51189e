"""An omega that is as good as a cover says, looked for message by message.

A cover does not name its messages. A linear program finds a mass w(y, c) of each message y
in each cell c, with the cell's mass and, for a pair of values, the message's chances,

    sum_y w(y, c) = omega(c),   sum_c w(y, c) base(c) = R(x')(y), and so for x,

that takes as little as possible of what everybody covers of a message,
sum_c w(y, c) <= f min_i,z R_i(z)(y) / gamma_i. The cover holds if f <= 1 can be had.
"""

import numpy as np
from scipy.optimize import linprog

from shuffledp.cover import Cover
from shuffledp.types import Floats


def smallest_factor(
    cover: Cover, here: Floats, there: Floats, table: Floats
) -> float | None:
    """Returns the least f of the program above, None if the cover is not of this pair.

    Args:
        cover: Of a victim.
        here: Chances of messages under x, shape (kinds,).
        there: Under x'.
        table: Chances of everybody, shape (levels, values, kinds).
    """
    gamma, bases = cover.blanket_probabilities, cover.bases
    counting = gamma > 0.0
    if not counting.any():
        return 0.0
    room = (table.min(axis=1)[counting] / gamma[counting, None]).min(axis=0)
    kinds, cells = here.size, cover.masses.size
    alone = np.zeros((2, 0)) if cover.uncovered is None else cover.uncovered
    extra = alone.shape[1]
    # Variables: the part of room that each message spends in each cell, which uncovered
    # kind it is part of, and f.
    size = kinds * cells + kinds * extra + 1
    equal, right = [], []
    for cell in range(cells):
        row = np.zeros(size)
        row[cell : kinds * cells : cells] = room
        equal.append(row)
        right.append(cover.masses[cell])
    for kind in range(extra):
        row = np.zeros(size)
        row[kinds * cells + kind : size - 1 : extra] = 1.0
        equal.append(row)
        right.append(1.0)
    for chances, density, stray in (
        (here, bases + cover.differences, alone[0]),
        (there, bases, alone[1]),
    ):
        for message in range(kinds):
            row = np.zeros(size)
            row[message * cells : (message + 1) * cells] = room[message] * density
            start = kinds * cells + message * extra
            row[start : start + extra] = stray
            scale = max(float(chances[message]), 1e-9)
            equal.append(row / scale)
            right.append(float(chances[message]) / scale)
    limits = np.zeros((kinds, size))
    for message in range(kinds):
        limits[message, message * cells : (message + 1) * cells] = 1.0
        limits[message, -1] = -1.0
    cost = np.zeros(size)
    cost[-1] = 1.0
    found = linprog(
        cost, limits, np.zeros(kinds), np.array(equal), np.array(right), method="highs"
    )
    return float(found.x[-1]) if found.status == 0 and found.x is not None else None
