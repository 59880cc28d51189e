"""The five documents and their contents."""

from dataclasses import dataclass

from shuffledp_papers.contents.paper_item import PaperItem
from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class Paper:
    """A document that is implemented here.

    Attributes:
        name: Short name.
        reference: Authors, year, title.
        prefix: Prefix of the names of its experiments.
        contents: All items of the document.
    """

    name: str
    reference: str
    prefix: str
    contents: tuple[PaperItem, ...]


# In the order of the sections of the page.
PAPERS = tuple(
    read_table(Paper, folder, "contents.toml")
    for folder in ("eapes", "apes", "lecture_notes", "hypothesis_testing", "segmented")
)
