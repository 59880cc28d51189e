"""Noise on the count of a bucket, of devices or of the shuffler: outcomes of a message.

No program: shuffledp_check_counts.py reads certificates, and composes the outcomes that are
returned here. README.md states the mathematics.
"""

import math
from typing import Any

from flint import arb, arb_series, ctx, fmpq

from shuffledp_check import COUNT, tell

# A bucket of slots has fewer trials than are counted with at most this probability.
FEWER = (-arb(34)).exp()
# Probabilities of outcomes with a message and without it; one that is 0 is so exactly.
Pairs = list[tuple[arb, arb]]

FLOOD = (float, 1e-9, 1e9)
NOISES: dict[str, Any] = {"poisson": {"mean": FLOOD}}
NOISES["geometric"] = {"decay": (float, 1e-100, 1 - 2**-53), "pairs": FLOOD}
NOISES["geometric"] |= {"shape": object, "surplus": (float, 1, 1e4)}
NOISES["shuffler"] = {"decay": (float, 1e-100, 1 - 2**-53), "dummies": (int, 1, 10**5)}
NOISES["slots"] = {
    "slots": COUNT,
    "longest": (int, 2, 64),
    "pairs": (float, 5e-324, 1e6),
}
NOISES["slots"] |= {
    "decay": (float, 5e-324, 1 - 2**-53),
    "strength": (float, 5e-324, 1e6),
}


class Noise:
    """Noise of a bucket: a number of pairs, or of messages, and geometric + and -.

    Of mean m, a negative binomial number of shape r has P(Z = z + 1) / P(Z = z) =
    t (z + r) / (z + 1), t = m / (r + m), and a Poisson number m / (z + 1).
    """

    def __init__(self, noise: dict[str, Any], times: arb) -> None:
        self.mean = times * (noise["mean"] if "mean" in noise else noise["pairs"])
        self.shape = times * noise["shape"] if noise.get("shape") else None
        self.ratio = self.mean / (self.shape + self.mean) if self.shape else arb(0)
        self.decay = arb(noise["decay"]) if "decay" in noise else None
        self.surplus = times * noise.get("surplus", 1)

    def outcomes(self, rate: arb, small: arb) -> Pairs:
        """Returns outcomes of one likelihood ratio each, but for those that are small."""
        if self.mean + 60 / (1 - self.ratio) > 1e6:
            raise ValueError("there is too much noise")
        step, numbers = self.mean, [(-self.mean).exp()]
        if self.shape:
            step, numbers = self.shape * self.ratio, [(1 - self.ratio) ** self.shape]
        while len(numbers) <= self.mean or numbers[-1] > small:
            z = len(numbers) - 1
            numbers.append(numbers[-1] * (step + self.ratio * z) / (z + 1))
        seen = [(mass * z / self.mean, mass) for z, mass in enumerate(numbers)]
        if self.decay:
            # g(u) = p^2 g(u - 1) + P(Z = u): outcomes u <= v, and one for all u > v.
            p, g, seen = self.decay, arb(0), []
            for mass in numbers:
                before, g = g, p * p * g + mass
                seen.append(((1 - p) * p * before, (1 - p) * g))
            top = (sum(numbers, arb(0)) + p * g) / (1 + p)
            seen.append((top, p * top))
        return [pair for pair in thinned(seen, rate) if pair[1] > small]

    def log_messages(self, x: arb_series) -> Any:
        """Returns the logarithm of E[x^N] for the number N of messages of noise."""
        if not self.decay:
            return self.mean * (x - 1)
        pairs, t, p = self.mean * (x * x - 1), self.ratio, self.decay
        if self.shape:
            pairs = self.shape * ((1 - t).log() - (1 - t * x * x).log())
        return pairs + 2 * self.surplus * ((1 - p).log() - (1 - p * x).log())


class Dummies:
    """Noise of the shuffler: U = u has a probability in proportion to p^|u - c|, u <= 2 c.

    With a message more, u has the probability of u - 1: the ratio is 0 at u = 0, p up to
    c, 1 / p up to 2 c, and infinite beyond.
    """

    def __init__(self, noise: dict[str, Any]) -> None:
        self.decay, self.most = arb(noise["decay"]), noise["dummies"]

    def outcomes(self, rate: arb, small: arb) -> Pairs:
        """Returns all outcomes, none of them left out."""
        del small
        p, end = self.decay, self.decay**self.most
        more = p * (1 - end) / (1 - p)
        sizes = [(arb(0), end), (more, 1 + more - end)]
        sizes += [(q, p) for p, q in reversed(sizes)]
        total = 1 + 2 * more
        return thinned([(p / total, q / total) for p, q in sizes], rate)


class Slots:
    """Noise in slots, each at most one jump, of one of the buckets that change.

    Others' slots are shown, and of the remaining ones which bucket they chose: Chernoff's
    bound says how many at least. Each of these jumps by j messages + , j messages - or j
    pairs, or not at all.
    """

    def __init__(
        self, noise: dict[str, Any], group: dict[str, Any], part: fmpq
    ) -> None:
        buckets, most, longest = group["buckets"], group["most"], noise["longest"]
        self.changing = min(2 * most, buckets)
        slots, half, decay = noise["slots"] * part, longest // 2, arb(noise["decay"])
        pairs = arb(noise["pairs"]) / noise["slots"] / (half * (half + 1) // 2)
        strength = arb(noise["strength"]) / noise["slots"]
        # Of j messages, by sign, and of j pairs, of any slot into one bucket.
        self.single = [strength * decay**j / j for j in range(1, longest + 1)]
        self.pairs = [pairs] * half
        into = 2 * sum(self.single, arb(0)) + half * pairs
        left = 1 - (buckets - self.changing) * into
        if not buckets * into < 1:
            raise ValueError("the jumps are too many for these slots")
        mean = arb(slots) * left / self.changing
        least = (mean - (68 * mean).sqrt()).lower() if buckets > 1 else arb(slots)
        self.slots = int(least.floor().fmpq()) if least > 0 else 0
        given = self.changing / left
        self.single = [given * a for a in self.single]
        self.pairs, self.none = [given * b for b in self.pairs], 1 - given * into

    def reach(self, small: arb, signs: tuple[int, int], pairs: int) -> int:
        """Returns about how far messages are from their mean; any number is right."""
        log, best, jumps = -float(small.log()), math.inf, list[tuple[int, float]]()
        for sign in signs:
            jumps += [(sign * j, float(a)) for j, a in enumerate(self.single, 1)]
        jumps += [(pairs * j, float(b)) for j, b in enumerate(self.pairs, 1)]
        for s in (2.0 ** (k / 4) / len(self.single) for k in range(-40, 12)):
            k = sum(a * (math.expm1(s * j) - s * j) for j, a in jumps)
            best = min(best, (self.slots * k + log) / s)
        return math.ceil(best)

    def outcomes(self, rate: arb, small: arb) -> Pairs:
        """Returns outcomes x, y: a power of slots by its logarithmic derivative.

        (x + y) f(x, y) none = sum over jumps of k messages of ((slots + 1) k - x - y)
        times the jump's probability times f before it.
        """
        enough = small * 1e10
        mean = self.slots * float(
            2 * sum((j * a for j, a in enumerate(self.single, 1)), arb(0))
            + 2 * sum((j * b for j, b in enumerate(self.pairs, 1)), arb(0))
        )
        last = math.ceil(mean) + self.reach(enough, (1, 1), 2)
        wide = self.reach(enough, (1, -1), 0) + 1
        if last > self.slots or last * wide > 10**6:
            raise ValueError("there are too few slots, or too much noise in them")
        rows = [{0: self.none**self.slots}]
        for size in range(1, last + 1):
            tell(f"noise in slots: row {size:,} of {last:,}")
            row = dict.fromkeys(
                range(max((size - wide) // 2, 0), size // 2 + 1), arb(0)
            )
            for k, a in enumerate(self.single[:size], 1):
                before, factor = (
                    rows[-k],
                    ((self.slots + 1) * k - size) / self.none / size,
                )
                for x in row:
                    row[x] += factor * a * (before.get(x, 0) + before.get(x - k, 0))
                    if k % 2 == 0:
                        b = self.pairs[k // 2 - 1]
                        row[x] += factor * b * before.get(x - k // 2, 0)
            # As many + and - the other way round.
            rows.append(row | {size - x: mass for x, mass in row.items()})
        # Where a + more is at x, it was at x - 1; what is beyond the window is left out.
        seen = [
            (rows[size - 1][x - 1] if x else arb(0), mass)
            for size, row in enumerate(rows)
            for x, mass in row.items()
            if mass > small and (x == 0 or x - 1 in rows[size - 1])
        ]
        return thinned(seen, rate)


def thinned(pairs: Pairs, rate: arb) -> Pairs:
    """Returns the outcomes of a message that is sent with this probability only."""
    return [(rate * p + (1 - rate) * q, q) for p, q in pairs]


def cut(noises: list[tuple[Noise, int]], room: int) -> arb:
    """Returns the probability that a person's noise in all buckets exceeds the room."""
    ctx.cap = room + 1
    x = arb_series([0, 1], prec=room + 1)
    logs = [noise.log_messages(x) * buckets for noise, buckets in noises]
    fitting = sum(logs, arb_series([0], prec=room + 1)).exp()
    return 1 - sum((fitting[m] for m in range(room + 1)), arb(0))
