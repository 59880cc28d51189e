"""Checks a certificate of shuffledp, without a line of shuffledp.

`python shuffledp_check.py certificate.json` prints a verdict per level; exits with 0: all
hold, 1: one does not, 2: no certificate, 3: cannot tell. README.md states the mathematics.
"""

import functools
import hashlib
import itertools
import json
import math
import struct
import sys
from pathlib import Path
from typing import Any, NoReturn

from flint import acb, acb_mat, arb, arb_poly, arb_series, ctx, fmpq

ctx.prec = 128
People = list[tuple[float, int]]  # Level and count, levels rising.
Groups = list[tuple[arb, int]]  # Probability of a blanket message, and count.
Atoms = list[tuple[arb, arb]]  # Probability and value.
Box = list[tuple[int, int]]  # Of every level, how many send a 1 likelier than a 0.

# Kinds of values: a number in a range, one of a set, a text, an object, lists of these.
NUMBER, COUNT, FORMAT = (float, 0, 1e300), (int, 1, 2**62), "shuffledp-guarantee-3"
QUANTILES = ["minimum", "lower quartile", "median", "upper quartile", "maximum"]
THEOREMS = {"two messages", "blanket", "items", "counts", "composition", "device"}
IDENTITY: dict[str, Any] = dict.fromkeys(("statistic", "mechanism"), str)
IDENTITY |= {"parameters": dict, "mode": {"agnostic", "stratified"}}
CERTIFICATE: dict[str, Any] = {"protocol": IDENTITY, "people": object, "also": [dict]}
CERTIFICATE |= {"format": {FORMAT}, "certified": {True}, "absent": (int, 0, 2**62)}
CERTIFICATE |= dict.fromkeys(("num_users", "rounds", "coordinates"), COUNT)
CERTIFICATE |= {"assumptions": [str], "numerics": [str], "theorem": str, "version": str}
CERTIFICATE |= dict.fromkeys(("protocol_digest", "people_digest"), str)
OTHERS = dict.fromkeys(("unary-encoding", "rappor", "composition"), "composed")
OTHERS |= dict.fromkeys(("noisy-counts", "poisson-items"), "counts")
LEVEL: dict[str, Any] = {"rests_on": THEOREMS | {"shuffler"}}
LEVEL |= dict.fromkeys(("count", "hides_among"), COUNT) | {"epsilon_coalition": object}
LEVEL |= dict.fromkeys(("slack", "delta_coalition"), (float, 0, 1))


class CertificateError(Exception):
    """Raised where a file is not a complete and consistent certificate."""


def need(fact: bool, expected: str) -> None:
    """Raises CertificateError unless this is so."""
    if not fact:
        raise CertificateError(f"Expected {expected}.")


def tell(text: str) -> None:
    """Shows on a terminal, in one line, what is being computed."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text:.100}", end="", file=sys.stderr, flush=True)


def check_kind(value: Any, kind: Any, name: str) -> None:
    """Raises CertificateError unless a value is of a kind; true is no number."""
    if isinstance(kind, tuple):
        numeric = type(value) is int or type(value) is float is kind[0]
        need(numeric and kind[1] <= value <= kind[2], f"{name} in {kind[1:]}")
    elif isinstance(kind, set):
        need(isinstance(value, str | bool) and value in kind, f"{name} in {kind}")
    elif isinstance(kind, list):
        need(isinstance(value, list), f"{name} to be a list")
        for entry in value:
            check_kind(entry, kind[0], f"an entry of {name}")
    elif isinstance(kind, dict):
        need(type(value) is dict and set(value) == set(kind), f"{name}: {list(kind)}")
        for key in kind:
            check_kind(value[key], kind[key], key)
    else:
        need(isinstance(value, kind) and value != "", f"another value as {name}")


def read(content: bytes) -> dict[str, Any]:
    """Reads a certificate and raises CertificateError if it contradicts itself."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "every key once")
        return dict(pairs)

    try:
        record: Any = json.loads(content.decode(), object_pairs_hook=once)
        json.dumps(record, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise CertificateError("Expected JSON in UTF-8, finite numbers.") from None
    check_kind(record, dict, "a JSON object")
    main = {name: record.pop(name) for name in set(record) - set(CERTIFICATE)}
    check_kind(record, CERTIFICATE, "a certificate")
    need(record["assumptions"] != [] != record["numerics"], "assumptions and numerics")
    protocol = json.dumps(record["protocol"], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(protocol.encode()).hexdigest()
    need(digest == record["protocol_digest"], "the SHA-256 of the protocol")
    num_users, people = record["num_users"], record["people"]
    need(record["absent"] < num_users, "fewer absent users than all")
    if people is not None:
        check_kind(people, [list], "people")
        for pair in people:
            check_kind(dict(enumerate(pair)), {0: NUMBER, 1: COUNT}, "people")
        levels, counts = zip(*people, strict=True) if people else ((), ())
        need(list(levels) == sorted(set(levels)), "levels that rise")
        packed = struct.pack(f"<{len(people)}d{len(people)}q", *levels, *counts)
        digest = hashlib.sha256(packed).hexdigest()
        need(digest == record["people_digest"], "the SHA-256 of the people")
        need(num_users == sum(counts), "num_users people")
    statements = [main, *record["also"]]
    for statement in statements:
        check_statement(statement, people, num_users)
    return record | {"statements": statements}  # type: ignore[no-any-return]


def check_statement(statement: dict[str, Any], people: Any, num_users: int) -> None:
    """Refuses statements that are incomplete, or speak of levels that no user has."""
    given = "delta" if "delta" in statement else "epsilon"
    solved, most = ("epsilon", 1e300) if given == "delta" else ("delta", 1)
    limits = (float, 1e-300, 1 - 2**-53) if given == "delta" else NUMBER
    check_kind(statement, {"about": str, "levels": [dict], given: limits}, "statement")
    names, upper = list[Any](), f"{solved}_central"
    for level in statement["levels"]:
        name = level.pop("quantile", None)
        chosen = "target" if "target" in level else "epsilon_local"
        ends = {upper: (float, 0, most), f"{upper}_lower": (float, 0, most)}
        check_kind(level, LEVEL | {chosen: NUMBER} | ends, "a level")
        need(level[f"{upper}_lower"] <= level[upper], f"{upper} of its attack or more")
        if level["epsilon_coalition"] is not None:
            check_kind(level["epsilon_coalition"], NUMBER, "epsilon_coalition")
        need(name is None or name in QUANTILES, f"one of {QUANTILES}")
        names.append((level[chosen], name is not None and QUANTILES.index(name)))
        at = statement | {solved: level[upper]}
        level["chosen"], level["at"] = level[chosen], (at["epsilon"], at["delta"])
        need(people is None or [level[chosen], level["count"]] in people, "such people")
        if people is not None and name is not None:
            rank = QUANTILES.index(name) * (num_users - 1) // 4
            rank -= sum(count for other, count in people if other < level[chosen])
            need(0 <= rank < level["count"], f"the level of the {name}")
    need([] != names == sorted(set(names)), "levels that rise, each once")


# --- One message: those in a set S_x are e^level times as likely as others ------------
def shares(protocol: dict[str, Any]) -> tuple[fmpq, fmpq]:
    """Returns the shares of all messages in S_x, and in both S_x and S_x'."""
    statistic, mechanism = protocol["statistic"], protocol["mechanism"]
    given, ends = protocol["parameters"], {"low", "high"}
    if statistic == "mean" and isinstance(given.get("randomizer"), dict):
        given = given["randomizer"]
    names, used = {
        "kary-response": ({"categories"}, "message frequency"),
        "subset-selection": ({"categories", "subset_size"}, "message frequency"),
        "hadamard-response": ({"categories"}, "message frequency"),
        "local-hashing": ({"categories", "buckets"}, "message frequency"),
        "grid-response": (ends | {"values"}, "message mean"),
        "one-bit": (set() if statistic == "sum" else ends, "message mean sum"),
    }.get(mechanism, (set(), ""))
    # A third party's mechanism of the same name has another parameter: its class.
    if statistic not in used.split() or set(given) != names:
        raise ValueError(f"{statistic} by {mechanism} is not checked here")
    k, w = given.get("categories", given.get("values", 2)), given.get("subset_size", 1)
    check_kind(k, (int, 2, 2**31), "the number of values")
    check_kind(w, (int, 1, k - 1), "the size of a subset")
    if mechanism in ("hadamard-response", "local-hashing"):
        check_kind(g := given.get("buckets", 2), (int, 2, 2**31), "buckets")
        need(all(g % d for d in range(2, math.isqrt(g) + 1)), "a prime number")
        return fmpq(1, g), fmpq(1, g**2)
    return fmpq(w, k), fmpq(w * (w - 1), k * (k - 1))


def losses(inside: fmpq, both: fmpq, level: float, epsilon: float) -> Atoms:
    """Returns masses and values of (R(x) - e^epsilon R(x')) / uniform."""
    growth, only = arb(epsilon).exp(), arb(inside - both)
    low = 1 / (1 + inside * arb(level).expm1())
    high = low * arb(level).exp()
    values = high - growth * low, low - growth * high, low * (1 - growth)
    masses = only, only, 1 - 2 * only - both, arb(both)
    return [*zip(masses, (*values, high * (1 - growth)), strict=True)]


def others_of(people: People, level: float, absent: int) -> People:
    """Returns the others, without the absent: small levels, who give most cover."""
    left = [(other, count - (other == level)) for other, count in people]
    upto = itertools.accumulate(count for _, count in left)
    kept = [(e, min(n, k - absent)) for (e, n), k in zip(left, upto, strict=True)]
    return [(e, n) for e, n in kept if n > 0]


# --- The blanket theorem (docs/theory/theorem.md) -------------------------------------
def summed(atoms: Atoms, groups: Groups, mean: float, delta: float) -> arb:
    """Returns the bound as a sum over M, messages of S_x or S_x' alone, and of both."""
    # The summand never increases in M, so that M is `size` for all beyond.
    (only, first), (_, second), (none, neither), (both, alike) = atoms
    ctx.cap = size = 30 + int(mean + 14 * math.sqrt(mean + 4))
    series: Any = math.prod(arb_series([1 - g, g], prec=size) ** n for g, n in groups)
    masses = [series[m] for m in range(size)]
    masses.append((1 - sum(masses, arb(0))).nonnegative_part())
    total, ways, small = arb(0), [1], arb(delta) / 10**12 / size**2
    rest, scale = 1 - 2 * only, 1 / (first - second)
    rows = [arb_poly([none / rest, both / rest]) ** m for m in range(size + 2)]
    # A walk of `steps` must rise more often than steps lift + left drift + b rise.
    lift, drift = (1 - (first + second) * scale) / 2, -neither * scale
    for steps in range(1, size + 2):
        ways = [1, *(a + b for a, b in itertools.pairwise(ways)), 1]
        tails, weight = [0, *itertools.accumulate(ways)], only**steps / steps
        for m in range(steps - 1, size + 1):
            # P(steps of m + 1) / (m + 1) = 2 only P(steps - 1 of m) / steps.
            weight *= rest * m / (m - steps + 1) if m >= steps else 1
            mass, least = masses[m] * weight, steps * lift + (m + 1 - steps) * drift
            if (x := int(float(least))) > steps:
                break
            if (most := mass * first * (steps << steps)) < small:
                total += arb(0, most.upper())
                continue
            for part in rows[m + 1 - steps].coeffs():
                # Where the ball of `least` holds a number, that term's holds 0.
                while least >= x:
                    x += 1
                if x > steps:
                    break
                walk = x * ways[x] + (steps - 2 * least) * tails[steps - x + 1]
                total += mass * part * walk
                least += (neither - alike) * scale
    return total * (first - second) / 2


class Blanket:
    """The bound as an integral of phi'(z) G(phi(z)) / z over Re z = theta > 0.

    phi(z) = E[e^{z L}] e^{noise z^2 / 2}: noise raises the bound. G(u) = E[u^M].
    """

    def __init__(self, atoms: Atoms, groups: Groups, delta: float, noise: arb) -> None:
        self.atoms, self.groups, self.small = atoms, groups, arb(delta) * 1e-10
        mean = sum((m * v for m, v in atoms), arb(0))
        self.noise = noise * sum((m * (v - mean) * v for m, v in atoms), arb(0))
        self.sums = [sum((n * g**j for g, n in groups), arb(0)) for j in (1, 2)]
        # The integrand is about the smallest at theta; any number > 0 is right.
        tries = (arb(2.0 ** (j / 4)) for j in range(-160, 80))
        self.theta = min(tries, key=lambda x: self.g(u := self.phi(x)[0]) * u / x**2)

    def phi(self, z: Any) -> tuple[Any, Any]:
        """Returns phi and its derivative, at a real or complex ball."""
        waves = [(m * (z * loss).exp(), loss) for m, loss in self.atoms]
        total, slope = sum(w for w, _ in waves), sum(w * v for w, v in waves)
        smooth = (self.noise * z * z / 2).exp()
        return total * smooth, (slope + self.noise * z * total) * smooth

    def g(self, u: Any) -> Any:
        """Returns G(u)."""
        return math.prod((1 + gamma * (u - 1)) ** count for gamma, count in self.groups)

    def integrand(self, heights: arb, *, size: bool = False) -> Any:
        """Returns the integrand's real part, or a bound of its size at all heights."""
        z = acb(self.theta, heights)
        phi, slope = self.phi(z)
        if not size:
            return (slope * self.g(phi) / z).real
        # |1 + g x|^2 <= e^{2 g Re x + |g x|^2}.
        log_g = self.sums[0] * (phi.real.upper() - 1)
        log_g += self.sums[1] * (phi - 1).abs_upper() ** 2 / 2
        return slope.abs_upper() * log_g.exp() / z.abs_lower()

    def absolute(self, theta: arb) -> arb:
        """Returns E[|L| e^{theta L}], or more, of the smoothed loss."""
        more = self.noise * theta + self.noise.sqrt()
        sizes = (m * (theta * v).exp() * (abs(v) + more) for m, v in self.atoms)
        return sum(sizes, arb(0)) * (self.noise * theta**2 / 2).exp()

    def tail(self, start: arb) -> arb:
        """Returns a bound of the integral over heights beyond `start`, over pi."""
        # |phi'| <= absolute e^{-noise w^2 / 4}, since x e^{-x^2 / 4} < 1.
        power = self.noise * start**2
        g: arb = abs(self.g(self.phi(self.theta)[0] * (-power / 2).exp()))
        return g * self.absolute(self.theta) * (-power / 4).exp() * 2 / power / arb.pi()

    def bound(self) -> Any:
        """Returns a ball around the bound of the divergence."""
        mass, apart, last = self.absolute(arb(0)), self.theta / 2, 1
        most = self.absolute(x := self.theta + apart) * self.g(self.phi(x)[0])
        logs = [(each / self.small).log().nonnegative_part() for each in (mass, most)]
        width = float((self.theta / (2 + logs[0])).min(apart / (2 + logs[1])))
        step, far = arb(2 * math.pi * width), arb.pi() / arb(math.pi * width)
        # Poisson's sum, and what is beyond the last point.
        error = mass / (far * self.theta).expm1() + most / (far * apart).expm1()
        while not self.tail(step * last) <= self.small:
            last = last * 5 // 4 + 1
            if last > 5_000_000:
                raise ValueError("the integral would take too long")
        error += self.tail(step * last)
        total, blocks = self.integrand(arb(0)) / 2, [(1, last + 1)]
        while blocks:
            start, stop = blocks.pop()
            if stop - start <= 4:
                total += sum(self.integrand(step * j) for j in range(start, stop))
                continue
            heights = arb(start + stop - 1, stop - start) * step / 2
            most = self.integrand(heights, size=True) * step / arb.pi()
            if most * last <= self.small:
                error += most * (stop - start)
            else:
                blocks += [(start, half := (start + stop) // 2), (half, stop)]
        return total * step / arb.pi() + arb(0, error.upper())


# --- The worst data of all others (docs/theory/two-messages.md) -----------------------
class TwoMessages:
    """The exact divergence where a message is 1 or 0, at every data of the others.

    Data say how many of each level send a 1 with the larger one of two `ends`. With
    draws tilted by e^theta, D = scale e^X max H: X is linear in the data, H a Fourier sum.
    """

    ends = staticmethod(lambda e: [1 / (1 + arb(s * e).exp()) for s in (1, -1)])

    def __init__(self, level: float, epsilon: float, others: People) -> None:
        steep, (q, p) = arb(epsilon).expm1(), self.ends(level)
        top = p - q - q * steep
        self.scale, self.theta = top + steep, (steep / top).log1p()
        self.counts = [count for _, count in others]
        f, t = (-self.theta).expm1(), self.theta
        # Of either end: the tilted draw, its variance, and the exponent.
        self.tilted = [[u / (1 + f * (1 - u)) for u in self.ends(e)] for e, _ in others]
        self.variances = [[u * (1 - u) for u in pair] for pair in self.tilted]
        self.exponents = [[-(v * f).log1p() - t * v for v in p] for p in self.tilted]
        self.rows = functools.cache(self.fourier)

    def most(self, values: list[list[arb]], box: Box) -> arb:
        """Returns the most, over a box, of the sum over people of values at their ends."""
        people = zip(values, box, self.counts, strict=True)
        ends = ([(n - k) * u + k * v for k in pair] for (u, v), pair, n in people)
        return sum((low.max(high) for low, high in ends), arb(0))

    def fourier(self, scale: int) -> tuple[list[Any], acb_mat, arb]:
        """Returns the points of H for variances up to 2^(scale/4), and where they end."""
        # Bernstein: `reach` - 1 or more from the mean with probability 2 e^-60 at most.
        reach = 2 + math.ceil(20 + math.sqrt(400 + 120 * 2.0 ** (scale / 4)))
        size, fall, table = 2 * reach + 1, (-self.theta).expm1(), list[list[acb]]()
        rows: list[Any] = []
        for w in (2 * arb.pi() * j / size for j in range(1, reach + 1)):
            if (beyond := 1 - w.cos()) * 2.0 ** (scale / 4) > 60:
                return rows, acb_mat(table).transpose(), beyond
            z, turn = acb(self.theta, w), acb(0, w).exp() - 1
            kernel = 2 * turn * (1 - (-z * reach).exp()) / (1 - (-z).exp()) / size
            ends = [
                [((1 + u * turn) / (1 + u * fall)).log() - z * u for u in pair]
                for pair in self.tilted
            ]
            zeros = (n * zero for n, (zero, _) in zip(self.counts, ends, strict=True))
            rises = [one - zero for zero, one in ends]
            rows.append((z, sum(zeros, (self.scale * kernel).log()), rises))
            # Value, slope and bend in each cell of thresholds, and slopes in the data.
            cells = [(-z * (2 * cell + 1) / 8).exp() for cell in range(8)]
            slopes = [acb(1), -z, z * z, *rises]
            table.append([x * wave for x in slopes for wave in cells])
        return rows, acb_mat(table).transpose(), arb.pos_inf()

    def terms(self, box: Box) -> tuple[list[Any], arb, acb_mat]:
        """Returns the terms of D in the middle of a box, their error, and their table."""
        least = -self.most([[-u for u in pair] for pair in self.variances], box).upper()
        most, terms = float(self.most(self.variances, box).upper()), []
        rows, table, beyond = self.rows(math.ceil(4 * math.log2(max(most, 1)) + 1e-9))
        for z, log, rises in rows:
            pairs = zip(rises, box, strict=True)
            log = sum((rise * (low + high) / 2 for rise, (low, high) in pairs), log)
            terms.append((z, log.exp(), rises))
        error = 6 * arb(-60).exp() + 4 * (-least * beyond).exp()
        error *= self.scale * self.most(self.exponents, box).exp()
        return terms, error.upper(), table

    def above(self, box: Box) -> arb:
        """Returns an upper bound of the divergence at all data of a box."""
        terms, error, table = self.terms(box)
        best, halves = arb(0), [arb(high - low) / 2 for low, high in box]
        # Of e^y all beyond 1 + y, but for the threshold's square, is most at the most |y|.
        for z, wave, rises in terms:
            b, pairs = abs(z) / 8, zip(rises, halves, strict=True)
            y = sum((abs(rise) * half for rise, half in pairs), b)
            error += (abs(wave) * (y.exp() - 1 - y - b * b / 2)).upper()
        seen = (table * acb_mat([[wave] for _, wave, _ in terms])).entries()
        for cell in range(8):  # The best threshold is at most 2 above the mean.
            value, slope, bend, *slopes = (x.real for x in seen[cell::8])
            top = abs(slope) / 8 + bend.nonnegative_part() / 128
            if bend < 0:
                top = top.min(slope * slope / bend / -2)
            top += error * (-self.theta * cell / 4).exp()
            pairs = zip(slopes, halves, strict=True)
            best = best.max(sum((abs(g) * half for g, half in pairs), value + top))
        return best

    def exactly(self, data: list[int]) -> arb:
        """Returns a ball around the divergence at certain data."""
        terms, error, _ = self.terms(box := [(k, k) for k in data])
        mean, best = self.most(self.tilted, box), arb(0)
        first, last = (int(end.floor().fmpq()) for end in (mean.lower(), mean.upper()))
        for tau in (t - mean for t in range(first + 1, last + 3)):
            value = sum((wave * (-z * tau).exp() for z, wave, _ in terms), acb(0)).real
            best = best.max(value + arb(0, error) * (-self.theta * tau).exp())
        return best

    def bound(self, delta: float) -> arb:
        """Returns 0 if no data exceed delta, else the divergence of some that do."""
        boxes = [[(0, count) for count in self.counts]]
        rises = [float(one - zero) for zero, one in self.exponents]
        for box in boxes:  # It grows.
            tell(f"two messages: {len(boxes):,} boxes of data so far, 20,000 at most")
            if len(boxes) > 20_000:
                raise ValueError("no worst data among 20,000 boxes of data")
            widths = [high - low for low, high in box]
            # The data with the largest exponent often are the worst.
            value = self.exactly([e[r > 0] for e, r in zip(box, rises, strict=True)])
            if value > delta or not (any(widths) or value <= delta):
                return value
            loose = [w * (abs(r) + 1e-30) for w, r in zip(widths, rises, strict=True)]
            low, high = box[j := loose.index(max(loose))]
            for part in ((low, (low + high) // 2), ((low + high) // 2 + 1, high)):
                new = [*box[:j], part, *box[j + 1 :]]
                if low < high and not self.above(new) <= delta:
                    boxes.append(new)
        return arb(0)


def blanket(sets: tuple[fmpq, fmpq], atoms: Atoms, others: People, level: Any) -> Any:
    """Returns a ball around the blanket theorem's bound, as a sum or an integral."""
    epsilon, delta = level["at"]
    groups = [(1 / (1 + sets[0] * arb(e).expm1()), n) for e, n in others]
    messages = sum(float(g) * n for g, n in groups)
    if messages <= (100 if sets[1] > 0 else 500):
        return summed(atoms, groups, messages, delta)
    noise = (4e-8 / (1 + arb(2 * epsilon).exp())).max(arb(5e-10))
    return Blanket(atoms, groups, delta, noise).bound()


def check_level(record: dict[str, Any], about: str, level: Any) -> tuple[str, str]:
    """Returns the verdict on one level of a statement, and its reason."""
    people, chosen, (epsilon, delta) = record["people"], level["chosen"], level["at"]
    if people is None:
        raise ValueError("people are not listed, so that no program can tell")
    if (other := record["protocol"]["mechanism"]) in OTHERS:
        raise ValueError(f"{other} is checked by shuffledp-check-{OTHERS[other]}")
    sets, times = shares(record["protocol"]), record["rounds"] * record["coordinates"]
    need(about in ("one message", "one report") and "target" not in level, "a message")
    if record["protocol"]["mode"] == "stratified":
        people = [(chosen, level["count"])]
    num_users = sum(count for _, count in people)
    hidden = max(num_users - record["absent"], 1)
    need(level["hides_among"] == hidden, f"level {chosen} to hide among {hidden}")
    total, coalition = times * arb(chosen), level["epsilon_coalition"]
    if coalition is not None and arb(coalition) < total:
        return "does not hold", f"a coalition sees {times} reports of {chosen}"
    if arb(epsilon) >= total:
        return "holds", "the device alone proves it"
    if times > 1:
        raise ValueError("rounds are composed by shuffledp-check-composed")
    others = others_of(people, chosen, min(record["absent"], num_users - 1))
    atoms, theorem = losses(*sets, chosen, epsilon), level["rests_on"]
    least = atoms[0][0] * atoms[0][1].nonnegative_part()
    if theorem == "two messages" and others and not least <= delta:
        need(sets == (fmpq(1, 2), fmpq(0)), "no `two messages` where there are more")
        least = least.min(TwoMessages(chosen, epsilon, others).bound(delta))
    if theorem in ("blanket", "two messages") and others and not least <= delta:
        least = least.min(blanket(sets, atoms, others, level))
    if least <= delta:
        return "holds", f"at epsilon {epsilon} delta {delta} is proven"
    if least > delta * arb(1.0001):  # Noise raises the integral by less.
        return "does not hold", f"delta {float(least.lower())} is above {delta}"
    raise ValueError("the ball is too wide")


def check(content: bytes, judge: Any = check_level) -> list[tuple[str, str, str]]:
    """Returns every level of every statement, its verdict and the reason."""
    record, verdicts = read(content), list[tuple[str, str, str]]()
    times, levels = record["rounds"] * record["coordinates"], record["people"] or ()
    for each in record["statements"]:
        for level in each["levels"]:
            name = f"{each['about']!a} x {times:,}, {level['chosen']} of {len(levels)}"
            tell(f"level {len(verdicts) + 1}: {name}")
            try:
                verdicts.append((name, *judge(record, each["about"], level)))
            except (ArithmeticError, ValueError) as reason:
                verdicts.append((name, "cannot tell", f"{reason}"))
    return verdicts


def main(judge: Any = check_level) -> NoReturn:
    """Checks the file that is named on the command line."""
    try:
        need(len(sys.argv) == 2, "the name of one file, and nothing else")
        verdicts = check(Path(sys.argv[1]).read_bytes(), judge)
    except (CertificateError, OSError) as error:
        print(f"not a certificate: {error}", file=sys.stderr)
        sys.exit(2)
    tell("")
    print(*(f"{verdict}: {name}: {why}" for name, verdict, why in verdicts), sep="\n")
    print("Not compared: levels that are not listed, assumptions, attacks and texts.")
    seen = {verdict for _, verdict, _ in verdicts}
    sys.exit(1 if "does not hold" in seen else 3 if "cannot tell" in seen else 0)


if __name__ == "__main__":
    main()
