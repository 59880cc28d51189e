"""Theorems, assumptions and numerical safeguards of a guarantee, as sentences."""

from collections.abc import Iterable

from shuffledp.accounting.statement import LevelGuarantee, RestsOn
from shuffledp.cover import LocalRandomizer
from shuffledp.types import Mode

# These sentences are part of certificates, and verification compares them letter by
# letter: with other words, stored certificates would no longer hold.
_THEOREMS: dict[RestsOn, str] = {
    "two messages": "worst data of all others, by branch and bound (two messages)",
    "blanket": "privacy blanket of Balle et al. (2019), with one randomizer per person",
    "items": (
        "exact composition over replaced items: Poisson counts, with a Bernoulli count on "
        "one side or the other"
    ),
    "counts": (
        "exact distributions of counts with and without one message, composed over the "
        "buckets that change"
    ),
    "shuffler": (
        "exact distributions of counts with and without one message, among dummies of a "
        "shuffler that is trusted to add them and to keep their numbers secret"
    ),
    "composition": (
        "composition of all protocols, through pairs of distributions that dominate each"
    ),
    "device": "local budgets, where nothing better is proven",
}
ORDER = (
    "The order of the messages says nothing of who sent them: the shuffler draws it "
    "uniformly and keeps it secret, or sorts sealed messages by their hashes."
)
_NEIGHBORS = (
    "Two collections are compared in which one person's value differs; that person's "
    "level, and how many people chose each level, are public."
)
UNLINKED = "{} travel apart from messages: no party can tell which belongs to which."
_LINKED = "Each message carries its level: people hide among those of their level only."
_PARTED = (
    "Every coordinate of a report is shuffled apart, and one changed value shows in at "
    "most {changes:,} of them."
)
_INDEPENDENT = "People are independent, and values do not depend on others' messages."
_ADAPTIVE = (
    "People are independent. What a device randomizes may depend on messages of earlier "
    "rounds, also of other people, as they were after their shuffle, and on no message "
    "in any other form.",
    "No device keeps anything that depends on its own noise, such as an error to make up "
    "for in a later round: then rounds would not compose.",
)


def assumptions_of(
    randomizer: LocalRandomizer,
    mode: Mode,
    absent: int,
    rounds: int,
    coordinates: int,
    *,
    adaptive: bool = False,
) -> tuple[str, ...]:
    """Returns the conditions under which the guarantee holds."""
    honesty = (
        f"{counted(absent)} are honest and really send a message; people who collude or "
        "are absent hide no one."
    )
    changes = randomizer.changes
    what = "message" if changes == 1 else "report"
    times = f"Each person sends one {what}, once."
    if rounds * coordinates > 1:
        parts = []
        if coordinates > 1:
            parts.append(f"{coordinates:,} {what}s, each shuffled apart,")
        parts.append(f"in each of {rounds:,} rounds" if rounds > 1 else "once")
        times = f"Each person sends {' '.join(parts)}, with independent randomness."
        if coordinates == 1:
            times = f"Each person sends one {what} {parts[-1]}, independently."
    parted = () if changes == 1 else (_PARTED.format(changes=changes),)
    linking = UNLINKED.format("Levels") if mode == "agnostic" else _LINKED
    return (
        honesty,
        times,
        *parted,
        *(_ADAPTIVE if adaptive else (_INDEPENDENT,)),
        ORDER,
        linking,
        _NEIGHBORS,
        *randomizer.assumptions,
    )


def counted(absent: int) -> str:
    """Returns the people who are assumed honest, as the subject of a sentence.

    >>> counted(0), counted(3)
    ('All people who are counted', 'All people who are counted, but 3 of the others,')
    """
    but = f", but {absent:,} of the others," if absent else ""
    return f"All people who are counted{but}"


def theorems(levels: Iterable[LevelGuarantee]) -> str:
    """Returns the theorems behind the certified numbers of these levels, with sources."""
    # A dict keeps the order of the levels; that of a set differs from run to run.
    return "; ".join(dict.fromkeys(_THEOREMS[level.rests_on] for level in levels))


def numerical_safeguards(times: int, *, adaptive: bool = False) -> tuple[str, ...]:
    """Returns how arithmetic errors are kept on the safe side."""
    words = [
        "Certified numbers have six digits, rounded outward, at which the bound was "
        "evaluated and held.",
        "Bounds of discretization, truncation and rounding are added to every certified "
        "delta; `slack` is the part of it that they and the smoothing take.",
    ]
    if times > 1:
        words.append(
            "Composed through a loss distribution that dominates the certified profile "
            "(chords between nodes), by an integral whose errors are added."
        )
    if adaptive:
        words.append("Rounds that depend on each other: Zhu et al. (2022), Theorem 10.")
    return tuple(words)
