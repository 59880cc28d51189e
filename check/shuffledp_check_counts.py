"""Checks certificates of counts and items, too: a second file beside shuffledp_check.py.

    python shuffledp_check_counts.py certificate.json

decides what that file decides, with its strict reading and its exit codes, and certificates
of counts among noise of devices (Poisson, geometric, in slots) or of the shuffler, of sets
of items among Poisson messages, and of several of these together. README.md states the
mathematics.
"""

import bisect
import functools
import itertools
import math
from typing import Any, NoReturn

from flint import arb, fmpq, fmpz_poly

import shuffledp_check
from shuffledp_check import COUNT, IDENTITY, NUMBER, check_kind, need, tell
from shuffledp_check_noise import FEWER, NOISES, Dummies, Noise, Pairs, Slots, cut

# Cells of losses to either side of 0, and what masses are whole multiples of.
HALF, UNIT = 2**14, 2**192
# Smaller deltas, larger epsilons and longer reports are not told.
LEAST, MOST, LONGEST = 1e-30, 600.0, 10**4
# So many outcomes of all changes together are enumerated.
MANY = 10**5
# Ratios that are nearer to each other, as a part of them, may be in either order.
TIE = 1e-12
# Probabilities with a message and without it, by the cell of the loss.
Rows = tuple[list[int], ...]
# Outcomes of a bucket, whether a message moves from one to another, and how many do.
Changes = list[tuple[Pairs, bool, int]]

RATES: dict[str, Any] = {"targets": [NUMBER], "rates": [(float, 0, 1)]}
COUNTS: dict[str, Any] = {"groups": [dict], "honest": COUNT, "meaning": object}
COUNTS |= {"report_size": object, "local_epsilon": object}
ITEMS: dict[str, Any] = dict.fromkeys(("items", "set_size", "report_size"), COUNT)
ITEMS |= {"items": (int, 2, 2**31), "blanket": (float, 1e-300, 1e5)}
GROUP: dict[str, Any] = {"buckets": COUNT, "most": COUNT, "noise": dict}


def exactly(pairs: Pairs, moved: bool, growth: arb) -> arb:
    """Returns a ball around the divergence of one change."""
    if not moved:
        gains = [
            [(p - growth * q, q - growth * p)[k] for p, q in pairs] for k in (0, 1)
        ]
        sums = [sum((g.nonnegative_part() for g in row), arb(0)) for row in gains]
        total = sums[0].max(sums[1])
        lost = 1 - sum((p for p, _ in pairs), arb(0)).min(
            sum((q for _, q in pairs), arb(0))
        )
        return (total - growth * lost).union(total + lost)
    ratios, tails = ratios_of(pairs), [(arb(0), arb(0))]
    order = sorted(range(len(pairs)), key=ratios.__getitem__)
    ratios, pairs = [ratios[k] for k in order], [pairs[k] for k in order]
    for p, q in reversed(pairs):
        tails.append((tails[-1][0] + p, tails[-1][1] + q))
    total, doubt, lost = arb(0), arb(0), 1 - tails[-1][0] * tails[-1][1]
    tails.reverse()
    for ratio, (p, q) in zip(ratios, pairs, strict=True):
        # Ratios of the first bucket that exceed this one so much, and those that might.
        limit = float(growth) * ratio
        near, far = (bisect.bisect_right(ratios, limit * x) for x in (1 - TIE, 1 + TIE))
        total += tails[far][0] * q - growth * tails[far][1] * p
        doubt += (tails[near][0] - tails[far][0]) * q
    return (total - growth * lost).union(total + 3 * TIE * doubt + lost)


def ratios_of(pairs: Pairs) -> list[float]:
    """Returns likelihood ratios, right to a few digits less than TIE has."""
    return [float(p / q) if q > 0 else math.inf for p, q in pairs]


def enumerated(changes: Changes, growth: arb) -> arb:
    """Returns the same of several changes that move, by all outcomes together."""
    seen = [(arb(1), arb(1))]
    for pairs, _, times in changes:
        twice = [(p * s, q * r) for (p, q), (r, s) in itertools.product(pairs, pairs)]
        for _ in range(times):
            both = itertools.product(seen, twice)
            seen = [(a * p, b * q) for (a, b), (p, q) in both]
    total = sum(((p - growth * q).nonnegative_part() for p, q in seen), arb(0))
    lost = 1 - sum((p for p, _ in seen), arb(0))
    return (total - growth * lost).union(total + lost)


def finite(pairs: Pairs) -> Pairs:
    """Returns the outcomes that may occur with the message and without it."""
    return [(p, q) for p, q in pairs if p > 0 and q > 0]


# --- Composition on a grid (docs/theory/composition.md) -------------------------------
def cells(pairs: Pairs, width: float, split: bool) -> Rows:
    """Returns masses by the cell of their loss, rounded down to whole units.

    Outcomes that are merged show less. Those that are split between the ends of a cell,
    with both totals, show more. Outcomes with larger losses are left out.
    """
    rows: Rows = [0] * (2 * HALF + 1), [0] * (2 * HALF + 1)
    for p, q in finite(pairs):
        cell = math.floor(float((p / q).log()) / width)
        if not -HALF <= cell < HALF:
            continue
        parts = [(cell, p, q)]
        if split:
            # Any cell is right: what rounding puts into a wrong one is left out.
            low, high = ((arb(width) * end).exp() for end in (cell, cell + 1))
            right = ((p - low * q) / (high - low)).min(q)
            left = q - abs(right)
            parts = [(cell, low * left, left), (cell + 1, high * right, right)]
        for place, *masses in parts:
            for row, mass in zip(rows, masses, strict=True):
                row[HALF + place] += units(mass * UNIT)
    return rows


def units(mass: arb) -> int:
    """Returns a number from below, as a whole number of at least 0."""
    return max(int(mass.lower().floor().fmpq()), 0)


def mirrored(rows: Rows) -> Rows:
    """Returns the masses where both distributions change places."""
    return rows[1][::-1], rows[0][::-1]


def product(first: Rows, second: Rows) -> Rows:
    """Returns the masses of the sum of two losses; what is beyond the cells is left out."""
    sums = [fmpz_poly(a) * fmpz_poly(b) for a, b in zip(first, second, strict=True)]
    return tuple([int(s[HALF + k]) // UNIT for k in range(2 * HALF + 1)] for s in sums)


def repeated(rows: Rows, times: int) -> Rows:
    """Returns the masses of the sum of this many losses."""
    if times == 1:
        return rows
    half = repeated(rows, times // 2)
    return product(product(half, half), rows) if times % 2 else product(half, half)


def either(rows: Rows, width: float) -> Rows:
    """Returns a pair that dominates this one, whose losses are on the grid, and its mirror.

    Its profile is the larger one at all ends of cells, and linear between them.
    """
    grown = [(arb(width) * k).exp() for k in range(-HALF, HALF + 1)]
    profiles = []
    for q in (rows[1], mirrored(rows)[1]):
        above, below, profile = arb(sum(q)), arb(0), []
        for end, mass in zip(grown, q, strict=True):
            above, below = above - mass, below + end * mass
            profile.append(UNIT - below - end * above)
        profiles.append(profile)
    larger = [a.max(b) for a, b in zip(*profiles, strict=True)]
    slopes = [
        (larger[k + 1] - larger[k]) / (grown[k + 1] - grown[k]) for k in range(2 * HALF)
    ]
    bends = [arb(0), *(b - a for a, b in itertools.pairwise(slopes)), arb(0)]
    both = [(e * bend, bend) for e, bend in zip(grown, bends, strict=True)]
    floors = [[units(mass) for mass in pair] for pair in both]
    return tuple(list(row) for row in zip(*floors, strict=True))


def composed(changes: Changes, epsilon: float, delta: float) -> arb:
    """Returns a ball around the divergence of independent changes together."""
    growth, (first, is_moved, number), rest = (
        arb(epsilon).exp(),
        changes[0],
        changes[1:],
    )
    if number == 1 and not rest:
        return exactly(first, is_moved, growth)
    outcomes = math.prod(len(pairs) ** (2 * times) for pairs, _, times in changes)
    if outcomes <= MANY and all(moved for _, moved, _ in changes):
        return enumerated(changes, growth)
    variance, far, ends = 0.0, 0.0, []
    for pairs, moved, times in changes:
        losses = [(float((p / q).log()), float(q)) for p, q in finite(pairs)]
        variance += times * (1 + moved) * sum(q * loss**2 for loss, q in losses)
        far = max(far, *(abs(loss) for loss, _ in losses))
    reach = epsilon + far + math.sqrt(variance * (40 - 2 * math.log(delta)))
    width = max(reach, 1e-9) / HALF
    # Few losses are multiples of the largest one: they are at ends of cells.
    width = max(far / max(far // width, 1), width)
    # Masses of what both worlds may show: the rest tells them apart.
    both = [arb(1), arb(1)]
    for pairs, moved, times in changes:
        shared = [
            1 - sum((pair[k] for pair in pairs if pair[1 - k] == 0), arb(0))
            for k in (0, 1)
        ]
        for k in (0, 1):
            both[k] *= (shared[k] * (shared[1 - k] if moved else 1)) ** times
    for split in (False, True):
        parts = []
        for pairs, moved, times in changes:
            tell(f"{times} changes of {len(pairs):,} outcomes on a grid")
            rows = cells(pairs, width, split)
            if moved:
                rows = product(rows, mirrored(rows))
            elif split:
                rows = either(rows, width)
            parts.append(repeated(rows, times))
        rows = functools.reduce(product, parts)
        for k, (one, other) in enumerate((rows, mirrored(rows))):
            masses = zip(one, other, strict=True)
            common = sum((arb(a).min(growth * b) for a, b in masses), arb(0))
            least = sum(one) - common - growth * (both[1 - k] * UNIT - sum(other))
            least += (1 - both[k]) * UNIT
            ends.append(((UNIT - common).upper() if split else least.lower()) / UNIT)
    return max(ends[0], ends[1], arb(0)).union(max(ends[2:]))


# --- Certificates ---------------------------------------------------------------------
def groups_of(protocol: dict[str, Any], target: float) -> tuple[Any, int, float, Any]:
    """Returns groups, how many people share the noise, the rate, and a report's size."""
    given, subject = protocol["parameters"], protocol["statistic"]
    need(protocol["mode"] == "agnostic", "targets apart from messages")
    if (subject, protocol["mechanism"]) == ("counts", "noisy-counts"):
        given = dict.fromkeys(("report_size", "meaning", "local_epsilon")) | given
        check_kind(given, COUNTS | RATES, "counts")
        groups, share = given["groups"], given["honest"]
    elif (subject, protocol["mechanism"]) == ("items", "poisson-items"):
        check_kind(given, ITEMS | RATES, "items")
        # Everybody's messages fall upon all items alike.
        noise, share = {"poisson": {"mean": given["blanket"]}}, given["items"]
        groups = [{"buckets": share, "most": given["set_size"], "noise": noise}]
    else:
        raise ValueError(f"{subject} by {protocol['mechanism']} is not checked here")
    targets, rates = given["targets"], given["rates"]
    need(targets == sorted(set(targets)) and target in targets, "a target of a list")
    need(
        len(targets) == len(rates) and groups != [], "groups, and a rate of each target"
    )
    return groups, share, rates[targets.index(target)], given["report_size"]


def changes_of(
    protocol: dict[str, Any], target: float, honest: int, delta: float
) -> tuple[Changes, arb, int]:
    """Returns what a person may change, the probability that noise is less, and people.

    That many honest people are needed for this noise.
    """
    groups, share, rate, size = groups_of(protocol, target)
    changes, drawn, needed, fewer = [], list[tuple[Noise, int]](), 0, arb(0)
    floor = protocol["parameters"].get("local_epsilon")
    for group in groups:
        check_kind(group, GROUP, "a group of buckets")
        most = group["buckets"] if floor is None else 1
        need(group["most"] <= most, f"at most {most} answers")
        need(len(group["noise"]) == 1, "one noise of each group")
        ((name, noise),) = group["noise"].items()
        if name not in NOISES:
            raise ValueError(f"noise of {name} is not checked here")
        check_kind(noise, NOISES[name], "noise")
        if noise.get("shape") is not None:
            check_kind(noise["shape"], (float, 1 + 2**-52, 1e4), "a shape")
        needed = share if name == "geometric" else needed
        seen: Noise | Slots | Dummies
        if name == "shuffler":
            seen = Dummies(noise)
        elif name == "slots":
            need(noise["slots"] % share == 0 and size is None, "as many slots of all")
            seen = Slots(noise, group, fmpq(honest, share))
            fewer += seen.changing * FEWER
        else:
            drawn.append((Noise(noise, 1 / arb(share)), group["buckets"]))
            seen = Noise(noise, arb(honest) / share)
        if rate > 0:
            pairs = seen.outcomes(arb(rate), arb(delta) * 1e-16)
            changes.append((pairs, group["buckets"] > 1, group["most"]))
    if size is None:
        return changes, fewer, needed
    answers = sum(group["most"] for group in groups)
    check_kind(size, (int, answers, 2**62), "a size")
    if size > LONGEST:
        raise ValueError("reports are too long")
    return changes, honest * cut(drawn, size - answers), needed


def is_from_shuffler(part: dict[str, Any]) -> bool:
    """Returns whether the shuffler adds the noise of all groups; devices add none then."""
    given = part["parameters"]
    adds = {"shuffler" in group["noise"] for group in given.get("groups", [])}
    need(len(adds) < 2, "noise of the shuffler in all groups, or in none")
    alone = given.get("honest") == 1 and given.get("report_size") is None
    need(True not in adds or alone, "no noise of people")
    return True in adds


def budget_of(parts: list[Any], times: int) -> fmpq | None:
    """Returns what devices alone keep of all answers, if they randomize them."""
    floors = [part["parameters"].get("local_epsilon") for part in parts]
    if None in floors:
        return None
    for floor in floors:
        check_kind(floor, (float, 1e-6, 700), "local_epsilon")
    return times * sum((fmpq(*floor.as_integer_ratio()) for floor in floors), fmpq(0))


def check_level(record: dict[str, Any], about: str, level: Any) -> tuple[str, str]:
    """Returns the verdict on one level of a statement, and its reason."""
    people, chosen, (epsilon, delta) = record["people"], level["chosen"], level["at"]
    if people is None or "target" not in level:
        return shuffledp_check.check_level(record, about, level)
    protocol, honest = record["protocol"], record["num_users"] - record["absent"]
    need(about in ("one report", "all reports in all protocols"), "all reports")
    need(level["hides_among"] == honest, f"target {chosen} to hide among {honest}")
    parts = [protocol]
    if (protocol["statistic"], protocol["mechanism"]) == ("several", "composition"):
        check_kind(protocol["parameters"], {"parts": [IDENTITY]}, "several protocols")
        parts = protocol["parameters"]["parts"]
        need(len(parts) > 1, "at least two protocols")
    times, changes = record["rounds"] * record["coordinates"], []
    lost, least = arb(0), 0
    coalition, budget = level["epsilon_coalition"], budget_of(parts, times)
    for part in parts:
        single, often, needed = changes_of(part, chosen, honest, max(delta, LEAST))
        changes += [(pairs, moved, most * times) for pairs, moved, most in single]
        lost, least = lost + times * often, max(least, needed)
    trusted = [is_from_shuffler(part) for part in parts]
    theorems = {"counts", "items"} if trusted == [False] else {"shuffler"}
    theorems = theorems if len(parts) == 1 else {"composition"}
    need(
        level["rests_on"] in theorems | {budget is not None and "device"}, "its theorem"
    )
    where = ", if the shuffler adds its noise" if any(trusted) else ""
    if budget is None and coalition is not None:
        return "does not hold", "single reports show the answers to a coalition"
    if budget is not None:
        if coalition is not None and fmpq(*coalition.as_integer_ratio()) < budget:
            return "does not hold", f"a coalition learns {float(arb(budget)):.7g}"
        alone = -(epsilon - arb(budget)).expm1() / (1 + (-arb(budget)).exp())
        if alone <= delta:
            return "holds", "what devices randomize proves it alone"
    if honest < least:
        return "does not hold", f"geometric noise is made for {least} people"
    if not changes:
        return "holds", "nothing is sent"
    if len(changes) > 30 or sum(most for _, _, most in changes) > 10**4:
        raise ValueError("there are too many changes")
    if delta < LEAST or epsilon > MOST:
        raise ValueError("the number is too extreme")
    found, best = composed(changes, epsilon, delta), arb(2)
    paid, near = (1 + arb(epsilon).exp()) * lost, epsilon
    total = found + paid
    # Any smaller epsilon proves it, too, and pays less for noise that is cut.
    while not total <= delta and paid > delta / 1000 and total < best:
        best, near = total, near * 0.8
        total = composed(changes, near, delta) + (1 + arb(near).exp()) * lost
    if total <= delta:
        return "holds", f"at epsilon {epsilon} delta {delta} is proven{where}"
    if found - paid > delta:
        known = float((found - paid).lower())
        return "does not hold", f"delta {known} is above {delta}"
    raise ValueError("the bounds are too wide")


def main() -> NoReturn:
    """Checks the file that is named on the command line."""
    shuffledp_check.main(check_level)


if __name__ == "__main__":
    main()
