"""Published claims beside a certificate, for `shuffledp account`."""

from shuffledp_papers.bounds.claims_table import claims_table
from shuffledp_papers.bounds.comparison import claims
from shuffledp_papers.commands.selection_claim import stated_of_selection

__all__ = ["claims", "claims_table", "stated_of_selection"]
