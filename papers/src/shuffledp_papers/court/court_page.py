"""Page of all cases, with the programs of the claims that fall."""

from collections.abc import Sequence

from shuffledp_papers.court.case import CourtVerdict, Ruling
from shuffledp_papers.court.small.programs import program_of
from shuffledp_papers.court.stated_claim import (
    CLAIMS,
    ClaimVerdict,
    claims_of,
    counts_of_verdicts,
    dependents,
    refutations,
)

_HEAD = """# Published claims, checked

Written by `shuffledp claims --document docs/papers/court.md --force`. A statement of a
paper is kept with its formulas as printed (the words are ours), its conditions, what an
attacker sees, how data sets differ, our reading, and the reading that is best for its
authors. What the cases show is one verdict of six; only the first is a refutation. An error
that several statements share is counted once: a statement that rests on another one, or
repeats its formula, falls with it.

**{refutations}**

{counts}

A statement with a constant that is not named is refuted by a family of populations that no
value covers, or not at all. Our readings may be wrong, and texts were read by machines:
[verdicts.md](verdicts.md) argues every verdict that was another one before. Corrections of
authors are part of the record.

Every case evaluates a published formula for one collection, and an attack on that
collection that shares no code with the accountant. *Exact* is the largest delta that it
reaches; what rounding may add is subtracted. A claim below it falls, as it is read. That a
claim stands here proves nothing: attacks are lower bounds.

Claim and attack are of the same people with the same noise at the same epsilon. Where there
is no epsilon, the claim is of local privacy, and the numbers are epsilons; of a *statement*
the setting says what they are. Cases that end
in `-small` have the fewest people for which the claim is known to fall, found by a search
over round numbers. `shuffledp claims --case V8` tries one case.
"""
_PROGRAMS = """
## Five lines each

These programs print what is claimed, and what one event or one data set reaches, which is
at most the exact number of the tables, without this library;
`shuffledp claims --case V8 --python | python` runs one. n is the number of people, v the
victim's budget, b everybody else's, e the epsilon of both numbers; d is a delta, a
dimension, or a number of items, k a number of categories or coordinates, l a sampling rate;
t is where messages are counted. In those of V8b and V8c one person has the largest budget,
b, all others, but for the victim v of V8b, have c, and E is e^epsilon - 1. Programs about
statements have the letters of their papers.

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
            _HEAD.format(refutations=refutations(), counts="\n".join(_counts())),
            "## Statements",
            "",
            *_statements(),
            f"## Claims that fall, as they are read ({len(fallen)})",
            "",
            *_table(fallen),
            "",
            f"## Claims that stand ({len(standing)})",
            "",
            *_table(standing),
            _PROGRAMS,
            *_programs(fallen),
        ]
    )


def _counts() -> list[str]:
    lines = [
        f"| verdict | counted, of {len(CLAIMS)} statements | fall with another one |",
        "|---|---|---|",
    ]
    counts = counts_of_verdicts()
    fallen = [claim.verdict for claim in dependents()]
    return [
        *lines,
        *(
            f"| {verdict} | {counts[verdict]} | {fallen.count(verdict) or ''} |"
            for verdict in ClaimVerdict
        ),
    ]


def _statements() -> list[str]:
    """Returns the whole record of every statement."""
    lines = []
    for claim in CLAIMS:
        cases = ", ".join(
            (*claim.cases, *(f"{name} (not run)" for name in claim.earlier))
        )
        # Formulas in code: asterisks and underscores would be markup.
        formulas = [f"  * `{formula}`" for formula in claim.statement]
        texts = [
            f"* {heading}: {text}"
            for heading, text in claim.record
            if heading not in ("statement", "verdict")
        ]
        lines += [f"### {claim.source}", "", f"**{claim.verdict}**; `{claim.name}`", ""]
        lines += ["* statement:", *formulas, *texts, f"* cases: {cases}", ""]
    return lines


def _table(rulings: Sequence[Ruling]) -> list[str]:
    lines = [
        "| case | claim | setting | epsilon | claimed | exact | certified | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for ruling in rulings:
        numbers = (ruling.epsilon, ruling.claimed, ruling.exact, ruling.certified)
        texts = ["-" if number is None else f"{number:.3g}" for number in numbers]
        words = (
            ruling.case,
            f"{ruling.bound}: {ruling.source}",
            ruling.setting,
            *texts,
            str(ruling.judgment),
        )
        lines.append("| " + " | ".join(words) + " |")
    return lines


def _programs(fallen: Sequence[Ruling]) -> list[str]:
    """Returns every program once, below the names of its cases."""
    # Cases of one claim share a program, such as V7 and V7-2.
    cases: dict[str, list[str]] = {}
    for ruling in fallen:
        cases.setdefault(program_of(ruling.case).text, []).append(ruling.case)
    parts = []
    for text, names in cases.items():
        claim = claims_of(names[0])[0]
        parts += [
            f"{', '.join(names)}:",
            "",
            "```python",
            claim.comment + text.rstrip("\n"),
        ]
        parts += ["```", ""]
    return parts
