"""Page of all cases, with the programs of the claims that fall."""

from collections.abc import Sequence

from shuffledp_papers.court.case import CourtVerdict, Ruling
from shuffledp_papers.court.small.programs import program_of
from shuffledp_papers.court.withdrawn import WITHDRAWN, withdrawn_names

_HEAD = """# Published claims on trial

Written by `shuffledp court --document docs/papers/court.md --force`. Every case is a
claim of a paper about one collection, evaluated by the published formula, and an attack on
that collection that shares no code with the accountant. *Exact* is the largest delta that
it reaches; what rounding may add is subtracted. A claim below it is **violated**. That a
claim stands here proves nothing: attacks are lower bounds.

Claim and attack are of the same people with the same noise at the same epsilon. Where there
is no epsilon, the claim is of local privacy, and the numbers are epsilons; of a *statement*
the setting says what they are. Cases that end
in `-small` have the fewest people for which the claim is known to fall, found by a search
over round numbers. `shuffledp court --case V8` tries one case. Cases that tried what their
paper does not state are [withdrawn](#withdrawn), with the reason.
"""
_PROGRAMS = """
## Five lines each

These programs print what is claimed and what is reached, without this library;
`shuffledp court --case V8 --python | python` runs one. n is the number of people, v the
victim's budget, b everybody else's, e the epsilon of both numbers; d is a delta, a
dimension, or a number of items, k a number of categories or coordinates, l a sampling rate;
t is where messages are counted. Programs about statements have the letters of their papers.

<!-- fmt: off -->
"""


def document(rulings: Sequence[Ruling]) -> str:
    """Returns the page, in Markdown.

    Args:
        rulings: Rulings on all cases.
    """
    fallen = [each for each in rulings if each.verdict is CourtVerdict.VIOLATED]
    standing = [each for each in rulings if each.verdict is CourtVerdict.CONSISTENT]
    return "\n".join(
        [
            _HEAD,
            f"## Claims that fall ({len(fallen)})",
            "",
            *_table(fallen),
            "",
            f"## Claims that stand ({len(standing)})",
            "",
            *_table(standing),
            "",
            "## Withdrawn",
            "",
            f"{len(withdrawn_names())} cases were brought here once and refute nothing. "
            "They are not tried, and counted nowhere.",
            "",
            *_withdrawn(),
            _PROGRAMS,
            *_programs(fallen),
        ]
    )


def _table(rulings: Sequence[Ruling]) -> list[str]:
    lines = [
        "| case | claim | setting | epsilon | claimed | exact | certified |",
        "|---|---|---|---|---|---|---|",
    ]
    for ruling in rulings:
        numbers = (ruling.epsilon, ruling.claimed, ruling.exact, ruling.certified)
        texts = ["-" if number is None else f"{number:.3g}" for number in numbers]
        words = (
            ruling.case,
            f"{ruling.bound}: {ruling.source}",
            ruling.setting,
            *texts,
        )
        lines.append("| " + " | ".join(words) + " |")
    return lines


def _withdrawn() -> list[str]:
    lines = ["| cases | claim | reason | in full |", "|---|---|---|---|"]
    for each in WITHDRAWN:
        words = (", ".join(each.cases), each.claim, str(each.reason), each.explanation)
        lines.append("| " + " | ".join(words) + " |")
    return lines


def _programs(fallen: Sequence[Ruling]) -> list[str]:
    """Returns every program once, below the names of its cases."""
    # Cases of one claim share a program, such as V8, V8b and V8c.
    cases: dict[str, list[str]] = {}
    for ruling in fallen:
        cases.setdefault(program_of(ruling.case).text, []).append(ruling.case)
    parts = []
    for text, names in cases.items():
        parts += [f"{', '.join(names)}:", "", "```python", text.rstrip("\n"), "```", ""]
    return parts
