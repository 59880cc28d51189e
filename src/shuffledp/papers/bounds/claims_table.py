"""Published claims beside the certificate, for people who look at a terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.papers.bounds.comparison import PublishedClaim
from shuffledp.report.words import plain


def claims_table(
    guarantee: Guarantee, claims: Sequence[PublishedClaim]
) -> RenderableType:
    """Returns the certified row first, then what papers state, smallest number first."""
    at_delta = guarantee.delta is not None
    symbol = "epsilon" if at_delta else "delta"
    given = (
        f"delta = {plain(guarantee.delta)}"
        if guarantee.delta is not None
        else f"epsilon = {plain(guarantee.epsilon or 0.0)}"
    )
    table = Table(
        title=f"Central {symbol} of everybody, at {given}", title_justify="left"
    )
    table.add_column("method")
    table.add_column(symbol, justify="right")
    table.add_column("proven?")
    table.add_column("source")
    worst = guarantee.worst
    ends = (
        (worst.epsilon_central, worst.epsilon_central_lower)
        if at_delta
        else (worst.delta_central, worst.delta_central_lower)
    )
    table.add_row(
        "certified", plain(ends[0]), "certified", guarantee.theorem, style="bold green"
    )
    stated = [claim for claim in claims if claim.number is not None]
    for claim in sorted(stated, key=lambda claim: claim.number or 0.0):
        number = claim.number or 0.0
        refuted = number < ends[1]
        table.add_row(
            claim.name,
            f"{number:.6g}",
            Text(
                "too small here" if refuted else str(claim.proven),
                style="red" if refuted else "",
            ),
            claim.source,
        )
    words = [
        f"An attack shows that the true {symbol} is at least {plain(ends[1])}: what states "
        "less is too small. Bounds for one common budget are taken at the largest; for "
        "mixed levels their authors do not claim them."
    ]
    words += [
        f"{claim.name} states nothing here: {claim.note}"
        for claim in claims
        if claim.number is None
    ]
    if len(claims) == 1:
        words.append(claims[0].note)
    return Group(table, Text("\n".join(words)))
