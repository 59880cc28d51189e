"""Checks bits that are shuffled apart, rounds and lists, too: a third file beside two.

    python shuffledp_check_composed.py certificate.json

decides what shuffledp_check.py and shuffledp_check_counts.py decide, with their reading
and their exit codes, and several rounds or coordinates of single messages, unary encoding
and RAPPOR, and lists of all of these. It needs both files beside it.

*One shuffle.* F(E) is the largest divergence sum (V - E V')_+ of what one shuffle shows,
over all values and all data of the others. A bit that is 1 with a probability in
[low, high], whatever is held, has the worst data of docs/theory/two-messages.md: at
p = high, q = low for a bit that turns off, and with 0 and 1 exchanged for the same pair
the other way round. For other messages F is at most the blanket's sum
(docs/theory/theorem.md). F is convex, as a largest one of convex functions, falls from
F(0) = 1, is at least 1 - E, and with F' for V' against V

    F(1 / E) = 1 - 1 / E + F'(E) / E.

*From above.* A convex function through points at or above F has a pair (P, Q) whose
divergence it is: at E the mass of Q is the bend, that of P is E times it, and F of the last
point is left out of P. It dominates the shuffle, and products of such pairs dominate all
shuffles together (docs/theory/composition.md). Any convex function will do: points that
would bend it the wrong way are dropped.

*From below.* Between two points F is above the line through the two points left of there,
and above that of the two right of there, prolonged. The lower hull of where these lines
meet is below F, and so its pair is dominated. Of bits, one choice of data is such a pair.

Points are at ends of cells of the grid of the second file, which composes masses exactly.
"""

import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from flint import arb, fmpq, fmpz_poly

import shuffledp_check
import shuffledp_check_counts as counts
from shuffledp_check import (
    IDENTITY,
    Blanket,
    People,
    TwoMessages,
    check_kind,
    losses,
    need,
    others_of,
    shares,
    summed,
    tell,
)
from shuffledp_check_noise import Pairs

# How far a point may be above F, and room for the noise that raises the blanket's integral
# before a certificate is said not to hold.
LOOSE, ROOM = 2**-11, arb(1.001)
# How many times as many points are tried, while the bound is about so near.
FINER, NEAR = (1, 2, 4, 8), 0.05
# The least and the largest probability of a 1, at a level.
Ends = Callable[[float], list[arb]]
# Ends of cells, e^(width cell), and what F is there: a ball, or bounds of it.
Point = tuple[int, arb, arb]
# Masses of a pair that goes ahead, and of one the other way round.
Both = tuple[counts.Rows, counts.Rows]

RAPPOR: dict[str, Any] = {"bits": (int, 3, 2**22), "hashes": (int, 1, 64)}
RAPPOR |= dict.fromkeys(("one_given_one", "one_given_zero"), (float, 0, 1))
UNARY = {"categories": (int, 2, 2**22), "variant": {"symmetric", "optimized"}}


class Message:
    """A message of a set of many, in a shuffle of its own: the blanket's bound.

    Both directions are alike, as all pairs of values are.
    """

    # Points per deviation of a loss.
    fine = 25

    def __init__(
        self, sets: tuple[fmpq, fmpq], level: float, others: People, small: float
    ) -> None:
        self.sets, self.level, self.others, self.small = sets, level, others, small
        self.groups = [(1 / (1 + sets[0] * arb(e).expm1()), n) for e, n in others]
        self.messages = sum(float(gamma) * n for gamma, n in self.groups)
        self.limits = level, level
        # Where few messages are expected, noise would raise the integral.
        self.few = self.messages <= (60 if sets[1] > 0 else 300)
        self.exact = self.few or self.messages > 300

    def bound(self, epsilon: float, backward: bool, finer: int = 1) -> arb:
        """Returns a ball around the bound, which is the same either way round."""
        del backward, finer
        return self.value(epsilon)

    @functools.cache  # noqa: B019
    def value(self, epsilon: float) -> arb:
        """Returns the ball, computed once for all directions and spacings."""
        atoms = losses(*self.sets, self.level, epsilon)
        alone = atoms[0][0] * atoms[0][1].nonnegative_part()
        if not self.others:
            return alone
        if self.few:
            return alone.min(summed(atoms, self.groups, self.messages, self.small))
        noise = (4e-6 / (1 + arb(2 * epsilon).exp())).max(arb(1e-6))
        return alone.min(Blanket(atoms, self.groups, self.small, noise).bound())

    def below(self, points: list[Point], width: float, epsilon: float) -> list[Both]:
        """Returns pairs that are dominated, either way round; none if it is not known."""
        del epsilon
        pair = counts.cells(touching(points), width, False)
        return [(pair, counts.mirrored(pair))] * self.exact


class Bit(TwoMessages):
    """One bit at every data of the others, where its probabilities are given."""

    def __init__(
        self, ends: Ends, level: float, epsilon: float, others: People
    ) -> None:
        self.ends = ends  # type: ignore[assignment]
        super().__init__(level, epsilon, others)

    def corner(self) -> list[int]:
        """Returns the data with the largest exponent, which often are the worst."""
        rises = [one > zero for zero, one in self.exponents]
        return [n if rise else 0 for n, rise in zip(self.counts, rises, strict=True)]

    def worst(self, loose: float) -> arb:
        """Returns a ball around the divergence at the worst data, about so wide."""
        found, value = arb(1), self.exactly(self.corner())
        for _ in range(30):
            limit = float((value * (1 + loose)).upper())
            found = self.bound(limit)
            if found == 0:
                return value.union(arb(limit))
            value = found
        raise ValueError("no worst data of a bit")


class Bits:
    """Bits that turn off, and as many that turn on, each in a shuffle of its own."""

    # Their points take longer, and so do the library's.
    fine = 21

    def __init__(self, ends: Ends, level: float, others: People) -> None:
        self.sides, self.level, self.others = (ends, turned(ends)), level, others
        (low, high), (low_0, high_0) = (side(level) for side in self.sides)
        self.limits = above((high / low).log()), above((high_0 / low_0).log())
        self.alike = low.overlaps(low_0) and high.overlaps(high_0)

    @functools.cache  # noqa: B019
    def bound(self, epsilon: float, backward: bool, finer: int = 1) -> arb:
        """Returns a ball around the divergence of a bit that turns off, or on."""
        if backward and (self.alike or epsilon == 0):
            return self.bound(epsilon, False, finer)
        low, high = self.sides[backward](self.level)
        alone = (high - low * arb(epsilon).exp()).nonnegative_part()
        if not self.others or not alone > 0:
            return alone
        bit = Bit(self.sides[backward], self.level, epsilon, self.others)
        return bit.worst(LOOSE / finer**2)

    def below(self, points: list[Point], width: float, epsilon: float) -> list[Both]:
        """Returns pairs of a bit at data that are the worst nearby, each for one way."""
        del points
        if not self.others:
            return []
        low, high = self.sides[0](self.level)
        rows = []
        for backward, side in enumerate(self.sides):
            nearby = min(epsilon, self.limits[backward] / 2)
            data = Bit(side, self.level, nearby, self.others).corner()
            if backward:
                data = [n - k for (_, n), k in zip(self.others, data, strict=True)]
            rest = [arb(mass) / counts.UNIT for mass in self.ones(data)]
            pairs = [
                (high * a + (1 - high) * b, low * a + (1 - low) * b)
                for a, b in itertools.pairwise([arb(0), *rest, arb(0)])
            ]
            seen = [pair for pair in pairs if pair[1] > 0]
            rows.append(counts.cells(seen, width, False))
        return [
            (rows[0], counts.mirrored(rows[1])),
            (rows[1], counts.mirrored(rows[0])),
        ]

    def ones(self, data: list[int]) -> list[int]:
        """Returns masses of the number of others who send a 1, but for far tails."""
        total = fmpz_poly([counts.UNIT])
        for (level, count), holders in zip(self.others, data, strict=True):
            split = (count - holders, holders)
            for number, u in zip(split, self.sides[0](level), strict=True):
                if number:
                    total *= binomial(number, u)
                    total = fmpz_poly([int(c) // counts.UNIT for c in total])
        return [int(mass) for mass in total]


def binomial(number: int, u: arb) -> fmpz_poly:
    """Returns masses of a binomial number, from below; far tails are 0."""
    mode = min(int(float((number + 1) * u)), number)
    spread = 15 * math.sqrt(float(number * u * (1 - u))) + 60
    first, last = max(int(mode - spread), 0), min(int(mode + spread), number)
    logs = [arb(k + 1).lgamma() for k in (number, mode, number - mode)]
    top = (logs[0] - logs[1] - logs[2] + mode * u.log()).exp()
    top *= (((number - mode) * (1 - u).log()) if number > mode else arb(0)).exp()
    masses, odds = {mode: top}, u / (1 - u)
    for k in range(mode, last):
        masses[k + 1] = masses[k] * odds * (number - k) / (k + 1)
    for k in range(mode, first, -1):
        masses[k - 1] = masses[k] * k / odds / (number - k + 1)
    # Where they begin does not matter: a bit adds 1 or 0.
    floors = [counts.units(masses[k] * counts.UNIT) for k in range(first, last + 1)]
    return fmpz_poly(floors)


def turned(ends: Ends) -> Ends:
    """Returns the probabilities of a 0 instead of a 1."""
    return lambda level: [1 - u for u in reversed(ends(level))]


def above(x: arb) -> float:
    """Returns a number that is not below a ball."""
    return math.nextafter(float(x.upper()), math.inf)


# --- Points, and the pairs above and below them ---------------------------------------
def slope(first: Point, second: Point) -> arb:
    """Returns the slope of the line through two points."""
    return (second[2] - first[2]) / (second[1] - first[1])


def hull(points: list[Point]) -> list[Point]:
    """Returns the points of a convex function that falls, from (0, 1)."""
    kept = [(0, arb(0), arb(1))]
    for point in points:
        while len(kept) > 1 and not slope(*kept[-2:]) < slope(kept[-1], point):
            kept.pop()
        kept.append(point)
    while len(kept) > 1 and not slope(*kept[-2:]) < 0:
        kept.pop()
    return kept


def bends(kept: list[Point]) -> list[tuple[int, arb, arb]]:
    """Returns the cell, and the masses of P and Q, of every point but the first."""
    slopes = [slope(*kept[j : j + 2]) for j in range(len(kept) - 1)] + [arb(0)]
    return [
        (cell, e * (after - before), after - before)
        for (cell, e, _), (before, after) in zip(
            kept[1:], itertools.pairwise(slopes), strict=True
        )
    ]


def dominating(points: list[Point]) -> counts.Rows:
    """Returns masses of a pair that dominates what these points are balls of."""
    half = counts.HALF
    rows: counts.Rows = [0] * (2 * half + 1), [0] * (2 * half + 1)
    tops = [(cell, e, arb(value.upper())) for cell, e, value in points]
    for cell, *masses in bends(hull(tops)):
        for row, mass in zip(rows, masses, strict=True):
            row[half + cell] = counts.units(mass * counts.UNIT)
    return rows


def touching(points: list[Point]) -> Pairs:
    """Returns outcomes of a pair that is dominated by what these are balls of."""
    # F is 1 - E left of all points, or more, and 0 right of them.
    left, far = (0, arb(-1), arb(2)), points[-1][1] * 2
    known = [left, (0, arb(0), arb(1)), *points, (0, far, arb(0)), (0, 2 * far, arb(0))]
    met = []
    for j in range(len(known) - 3):
        (_, x0, y0), (_, x1, y1), (_, x2, y2), (_, x3, y3) = known[j : j + 4]
        falls = (
            (y1.lower() - y0.upper()) / (x1 - x0),
            (y3.upper() - y2.lower()) / (x3 - x2),
        )
        if falls[0] < falls[1]:
            x = (y2.lower() - falls[1] * x2 - y1.lower() + falls[0] * x1) / (
                falls[0] - falls[1]
            )
            met.append((0, x, y1.lower() + falls[0] * (x - x1)))
    return [(p, q) for _, p, q in bends(hull(met)) if q > 0]


def points_of(
    shuffle: Message | Bits, width: float, times: int, small: float, finer: int
) -> list[Point]:
    """Returns points of F at ends of cells, from left to right."""
    deviation = max(deviation_of(shuffle), 1e-300)
    # Most losses of a shuffle are about here, where all together are that large.
    middle = math.sqrt(-2 * math.log(small) / times) * deviation
    sides: list[dict[int, arb]] = []
    for backward in (False, True):
        known = {0: shuffle.bound(0.0, backward, finer)}
        limit, cell = shuffle.limits[backward], 0
        while known[cell].upper() > small:
            step = max(deviation, abs(cell * width - middle) / 2) / shuffle.fine / finer
            cell += max(round(step / width), 1)
            if cell * width >= limit:
                cell = math.ceil(limit / width)
                known[cell] = arb(0)
                break
            tell(f"points of one shuffle: {len(known)}, spacing 1 / {finer}")
            known[cell] = shuffle.bound(cell * width, backward, finer)
        sides.append(known)
    if max(max(side) for side in sides) > counts.HALF:
        raise ValueError("a single shuffle shows too much")
    points = []
    for cell, value in reversed(sides[1].items()):
        e = (-arb(width) * cell).exp()
        if cell:
            points.append((-cell, e, 1 - e + e * value))
    both = (sides[0][0].min(sides[1][0]), *list(sides[0].values())[1:])
    grown = [(arb(width) * cell).exp() for cell in sides[0]]
    return points + list(zip(sides[0], grown, both, strict=True))


def deviation_of(shuffle: Message | Bits) -> float:
    """Returns about the standard deviation of a loss; it only places points."""
    variation = float(shuffle.bound(0.0, False).upper())
    return min(2.5 * variation / (1.001 - min(variation, 1.0)), *shuffle.limits)


def composed(
    shuffles: list[tuple[Message | Bits, int, int]],
    epsilon: float,
    delta: float,
    finer: int = 1,
) -> tuple[arb, arb]:
    """Returns bounds below and above the divergence of all shuffles together.

    Of each it is said how many show a pair, and how many the pair the other way round.
    """
    times = sum(ahead + back for _, ahead, back in shuffles)
    small = max(delta, counts.LEAST) * 1e-4 / times
    variance = total = far = 0.0
    for shuffle, ahead, back in shuffles:
        deviation, limit = deviation_of(shuffle), max(shuffle.limits)
        variance += (ahead + back) * deviation**2
        total += (ahead + back) * limit
        far = max(far, min(2 * deviation * math.sqrt(-math.log(small)), limit))
    reach = epsilon + far + math.sqrt(variance * (40 - 2 * math.log(delta)))
    # A width of few binary digits, so that all its multiples are numbers.
    part, power = math.frexp(max(min(reach, total), 1e-9) / (counts.HALF - 8))
    width = math.ldexp(math.ceil(part * 2**20), power - 20)
    tops, floors = [], list[list[counts.Rows]]()
    for shuffle, *ways in shuffles:
        points = points_of(shuffle, width, times, small, finer)
        pair = dominating(points)
        tops.append(both_ways((pair, counts.mirrored(pair)), ways))
        found = shuffle.below(points, width, epsilon / math.sqrt(times))
        floors.append([both_ways(pairs, ways) for pairs in found])
    growth = arb(epsilon).exp()
    tell(f"{times} shuffles together, spacing of points 1 / {finer}")
    first, second = functools.reduce(counts.product, tops)
    most = 1 - common(first, second, growth) / counts.UNIT
    least = arb(0)
    for which in range(2 if all(floors) else 0):
        rows = [found[min(which, len(found) - 1)] for found in floors]
        first, second = functools.reduce(counts.product, rows)
        seen = sum(first) - common(first, second, growth)
        seen -= growth * (counts.UNIT - sum(second))
        least = least.max(seen / counts.UNIT)
    return least, most


def both_ways(pairs: Both, ways: list[int]) -> counts.Rows:
    """Returns the masses of so many losses of one pair, and of the other."""
    powers = [
        counts.repeated(rows, often)
        for rows, often in zip(pairs, ways, strict=True)
        if often
    ]
    return functools.reduce(counts.product, powers)


def common(first: list[int], second: list[int], growth: arb) -> arb:
    """Returns the mass under both P and e^epsilon Q, in units."""
    pairs = zip(first, second, strict=True)
    return sum((arb(a).min(growth * b) for a, b in pairs if a and b), arb(0))


# --- Certificates ---------------------------------------------------------------------
def ends_of(protocol: dict[str, Any]) -> tuple[Ends, int] | None:
    """Returns the probabilities of a bit, and how many bits turn off; None of others."""
    given, mechanism = protocol["parameters"], protocol["mechanism"]
    if mechanism == "unary-encoding" and set(given) == set(UNARY):
        need(protocol["statistic"] in ("message", "frequency"), "frequencies")
        check_kind(given, UNARY, "unary encoding")
        if given["variant"] == "optimized":
            return lambda e: [1 / (1 + arb(e).exp()), arb(0.5)], 1
        return lambda e: TwoMessages.ends(arb(e) / 2), 1
    if mechanism == "rappor" and set(given) == set(RAPPOR):
        need(protocol["statistic"] == "message", "a message")
        check_kind(given, RAPPOR, "RAPPOR")
        hashes, p, q = (
            given[f"{n}"] for n in ("hashes", "one_given_zero", "one_given_one")
        )
        need(given["bits"] > 2 * hashes and p < q, "room for two values, and p < q")
        return (
            lambda e: [
                p + (arb(q) - p) * kept
                for kept in TwoMessages.ends(arb(e) / (2 * hashes))
            ],
            hashes,
        )
    return None


def shuffles_of(
    part: dict[str, Any], level: float, others: People, times: int, small: float
) -> tuple[Message | Bits, int, int]:
    """Returns what a report shows, and in how many shuffles either way."""
    known = ends_of(part)
    if known is not None:
        ends, off = known
        return Bits(ends, level, others), off * times, off * times
    sets = shares(part)
    if sets == (fmpq(1, 2), fmpq(0)):
        return Bits(TwoMessages.ends, level, others), times, 0
    return Message(sets, level, others, small), times, 0


def check_level(record: dict[str, Any], about: str, level: Any) -> tuple[str, str]:
    """Returns the verdict on one level of a statement, and its reason."""
    people, chosen, (epsilon, delta) = record["people"], level["chosen"], level["at"]
    protocol, times = record["protocol"], record["rounds"] * record["coordinates"]
    parts, listed = [protocol], protocol["mechanism"] == "composition"
    if listed and protocol["statistic"] == "several":
        check_kind(protocol["parameters"], {"parts": [IDENTITY]}, "several protocols")
        parts = protocol["parameters"]["parts"]
        need(len(parts) > 1, "at least two protocols")
    alone = len(parts) == times == 1 and ends_of(protocol) is None
    if people is None or "target" in level or alone:
        return counts.check_level(record, about, level)
    named = (
        ("all reports in all protocols",) if listed else ("one message", "one report")
    )
    need(about in named, f"one of {named}")
    modes, theorem = {part["mode"] for part in parts}, level["rests_on"]
    mode = "stratified" if "stratified" in modes else "agnostic"
    need(protocol["mode"] == mode, "the mode of the parts")
    theorems = {"composition"} if listed else {"two messages", "blanket"}
    need(theorem in theorems | {"device"}, "its theorem")
    few = max(delta, counts.LEAST) / (len(parts) * times)
    shuffles, hidden = [], []
    for text, often in Counter(
        json.dumps(part, sort_keys=True) for part in parts
    ).items():
        part = json.loads(text)
        crowd: Any = (
            people if part["mode"] == "agnostic" else [[chosen, level["count"]]]
        )
        num_users = sum(count for _, count in crowd)
        hidden.append(max(num_users - record["absent"], 1))
        others = others_of(crowd, chosen, min(record["absent"], num_users - 1))
        shuffles.append(shuffles_of(part, chosen, others, often * times, few))
    need(level["hides_among"] == min(hidden), f"to hide among {min(hidden)}")
    budget = fmpq(*chosen.as_integer_ratio()) * len(parts) * times
    coalition = level["epsilon_coalition"]
    if coalition is not None and fmpq(*coalition.as_integer_ratio()) < budget:
        return (
            "does not hold",
            f"a coalition sees {len(parts) * times} reports of {chosen}",
        )
    if -(epsilon - arb(budget)).expm1() / (1 + (-arb(budget)).exp()) <= delta:
        return "holds", "the devices alone prove it"
    if sum(ahead + back for _, ahead, back in shuffles) > 10**4 or len(shuffles) > 30:
        raise ValueError("there are too many shuffles")
    if delta < counts.LEAST or epsilon > counts.MOST:
        raise ValueError("the number is too extreme")
    for finer in FINER:
        least, most = composed(shuffles, epsilon, delta, finer)
        if most <= delta:
            return "holds", f"at epsilon {epsilon} delta {delta} is proven"
        if least > ROOM * delta:
            known = float(least.lower())
            return "does not hold", f"delta {known} is above {delta}"
        # Twice as many points are four times as near.
        if most > (1 + NEAR / finer**2) * delta:
            break
    raise ValueError(f"delta is between {float(least):.6g} and {float(most):.6g}")


def main() -> NoReturn:
    """Checks the file that is named on the command line."""
    shuffledp_check.main(check_level)


if __name__ == "__main__":
    main()
