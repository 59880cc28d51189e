"""Tables of `shuffledp court`; numbers are never cut, whatever the width."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp_papers.court.case import CourtVerdict, Ruling
from shuffledp_papers.court.search import Search
from shuffledp_papers.court.withdrawn import Withdrawal

_NUMBERS = ("epsilon", "claimed delta", "exact >=", "accountant's >=", "certified <=")
# One row: name, bound, setting, numbers and verdict.
_Row = tuple[str, str, str, Sequence[str], str]
# Below this every row becomes lines of its own; above, settings stand below the numbers.
_WIDE = 100


def court_table(
    rulings: Sequence[Ruling], withdrawn: Sequence[Withdrawal] = (), *, width: int
) -> RenderableType:
    """Returns one row per case, and the withdrawn cases below.

    Args:
        rulings: In the order of the rows.
        withdrawn: Cases that are not tried, with the reason.
        width: Of the terminal, in characters.
    """
    fallen = sum(ruling.verdict is CourtVerdict.VIOLATED for ruling in rulings)
    lines = [f"{fallen} of {len(rulings)} claims fall."]
    if withdrawn:
        count = sum(len(withdrawal.cases) for withdrawal in withdrawn)
        lines += ["", f"Withdrawn, counted nowhere: {count} cases."]
    lines += [
        f"{', '.join(each.cases)} ({each.reason}): {each.claim}. {each.explanation}"
        for each in withdrawn
    ]
    return Group(
        _rows([_row(ruling) for ruling in rulings], "case", width),
        Text("\n".join(lines)),
    )


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
    verdict = str(ruling.verdict)
    # An attack above our own certificate is reported whatever the claim is.
    if not ruling.certificate_holds:
        verdict += ", and the certificate, too"
    if ruling.verdict != ruling.expected:
        verdict += f" (expected: {ruling.expected})"
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
