"""Terminal table of published claims beside the certificate."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.format_number import plain
from shuffledp_papers.bounds.comparison import PublishedClaim
from shuffledp_papers.bounds.equal_noise import BoundValue, band_of, is_refuted


def claims_table(
    guarantee: Guarantee, claims: Sequence[PublishedClaim]
) -> RenderableType:
    """Returns a table of the certificate, then all claims in ascending order.

    Raises:
        InvalidInputError: If a claim is about another collection than the guarantee.
    """
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
    band = band_of(guarantee)
    table.add_row(
        "certified",
        plain(band.certified),
        "certified",
        guarantee.theorem,
        style="bold green",
    )
    stated = [claim for claim in claims if claim.number is not None]
    for claim in sorted(stated, key=lambda claim: claim.number or 0.0):
        number = claim.number or 0.0
        # Raises if a claim is about another collection than the guarantee.
        refuted = is_refuted(BoundValue(claim.query, claim.number), band)
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
        f"An attack shows that the true {symbol} is at least {plain(band.attack)}: what "
        "states less is too small. Bounds for one common budget are taken at the largest; "
        "for mixed levels their authors do not claim them."
    ]
    words += [
        f"{claim.name} states nothing here: {claim.note}"
        for claim in claims
        if claim.number is None
    ]
    if len(claims) == 1:
        words.append(claims[0].note)
    cautions = [Text(caution, style="yellow") for caution in guarantee.cautions]
    return Group(table, Text("\n".join(words)), *cautions)
