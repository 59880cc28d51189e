"""Tables of `shuffledp claims`; numbers are never cut, whatever the width."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp_papers.court.case import CourtVerdict, Ruling
from shuffledp_papers.court.search import Search
from shuffledp_papers.court.stated_claim import (
    CLAIMS,
    ClaimVerdict,
    StatedClaim,
    refutations,
)

_NUMBERS = ("epsilon", "claimed delta", "exact >=", "accountant's >=", "certified <=")
NOTE = (
    "Exact: the largest delta that an attack on this very collection reaches, by code of "
    "its own; a claim below it falls, as it is read. Beside it, what the accountant's "
    "attack reaches; it decides nothing. Certified: what `shuffledp account` states. Where "
    "epsilon is missing, the claim is of local privacy, and the numbers are epsilons; of a "
    "statement, its setting says what they are."
)
# One row: name, bound, setting, numbers and verdict.
_Row = tuple[str, str, str, Sequence[str], str]
# Below this every row becomes lines of its own; above, settings stand below the numbers.
_WIDE = 100


def headline() -> str:
    """Returns a sentence on refuted errors, and one on statements that are not refuted."""
    counts = Counter(claim.verdict for claim in CLAIMS)
    others = ", ".join(
        f"{verdict} {counts[verdict]}"
        for verdict in ClaimVerdict
        if verdict is not ClaimVerdict.FALSE
    )
    return f"{refutations()} Other statements, not refuted: {others}."


def register_table(claims: Sequence[StatedClaim] = CLAIMS) -> RenderableType:
    """Returns one paragraph per statement: verdict, reading, adversary and cases."""
    lines = [
        f"{claim.name} ({claim.source}): {claim.verdict}. Reading: {claim.reading}. "
        f"Adversary: {claim.adversary}. "
        f"Cases: {', '.join((*claim.cases, *claim.earlier))}."
        for claim in claims
    ]
    return Text("\n".join([*lines, "", headline()]))


def record_text(claim: StatedClaim) -> RenderableType:
    """Returns the whole record of a statement."""
    lines = [f"{heading}: {text}" for heading, text in claim.record]
    return Text("\n".join([f"\n{claim.source}", *lines]))


def court_table(rulings: Sequence[Ruling], *, width: int) -> RenderableType:
    """Returns one row per case.

    Args:
        rulings: In the order of the rows.
        width: Of the terminal, in characters.
    """
    return _rows([_row(ruling) for ruling in rulings], "case", width)


def search_table(search: Search, *, width: int) -> RenderableType:
    """Returns the worst trial of each bound.

    Args:
        search: The result of a random search.
        width: Of the terminal, in characters.
    """
    trials = "1 trial" if search.trials == 1 else f"{search.trials} trials"
    rows: list[_Row] = [
        (
            f"{finding.seed}/{finding.trial}",
            finding.bound,
            f"{finding.setting}; a victim at {finding.victim:g}",
            _shown(
                finding.epsilon,
                finding.claimed,
                finding.exact,
                finding.accountant,
                finding.certified,
            ),
            str(CourtVerdict.VIOLATED if finding.violated else CourtVerdict.CONSISTENT),
        )
        for finding in search.worst_first
    ]
    return Group(
        Text(f"Random search: {trials}, the worst of each bound"),
        _rows(rows, "trial", width),
        Text(f"{len(search.violations)} claims fall in all."),
    )


def _row(ruling: Ruling) -> _Row:
    verdict = str(ruling.judgment)
    # An attack above our own certificate is reported whatever the claim is.
    if not ruling.certificate_holds:
        verdict += "; the certificate falls, too"
    if ruling.verdict != ruling.expected:
        verdict += f" ({ruling.verdict}, expected: {ruling.expected})"
    numbers = _shown(
        ruling.epsilon,
        ruling.claimed,
        ruling.exact,
        ruling.accountant,
        ruling.certified,
    )
    return ruling.case, ruling.bound, ruling.setting, numbers, verdict


def _shown(epsilon: float | None, *numbers: float | None) -> list[str]:
    cells = ["-" if number is None else f"{number:.3g}" for number in numbers]
    return ["-" if epsilon is None else f"{epsilon:.4g}", *cells]


def _rows(rows: Sequence[_Row], key: str, width: int) -> RenderableType:
    if not rows:
        return Text("No bound speaks of what was tried.")
    wide = width >= _WIDE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in (key, "bound", *([] if wide else ["setting"])):
        table.add_column(heading)
    for heading in _NUMBERS:
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for name, bound, setting, numbers, verdict in rows:
        cells = (name, bound, *([] if wide else [setting]), *numbers, verdict)
        # As Text: rich would take [brackets] in a cell for a style.
        table.add_row(*(Text(cell) for cell in cells))
    if not wide:
        return table
    longest = max(len(row[0]) for row in rows)
    settings = [Text(f"{name:{longest}}  {setting}") for name, _, setting, _, _ in rows]
    return Group(table, *settings, Text())
